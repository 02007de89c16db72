// Package control is what tests do and see, over HTTP: the routes under /_mock/.
// docs/control-api.md is their manual. They share the port of the API.
//
// Each file declares the routes that it answers (route.go says how), and
// routes.go puts them together: what they refuse, the manual and the document are
// made of the declarations. What they have in common is below: who may call them
// (guard.go), parameters (param.go), bodies (body.go, schema.go), lists (list.go).
package control

import (
	"net/http"
	"time"

	"example.com/emailplatform/mockserver/internal/environment"
)

// Prefix is where the routes are.
const Prefix = "/_mock/"

// Options say what the routes cannot see themselves.
type Options struct {
	Console       http.Handler // answers what is read and no route takes, if set
	RetrySchedule []time.Duration
	NeedsToken    func(*http.Request) bool
	DefaultToken  string // known to everybody
}

// Control answers the control routes of a world.
type Control struct {
	*environment.Environment

	options Options
}
