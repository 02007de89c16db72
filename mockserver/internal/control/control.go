// Package control is what tests do and see, over HTTP: the routes under /_mock/.
// docs/control.md is their manual. They share the port of the API.
//
// routes.go lists them all. What they have in common is below it: who may call
// them (guard.go), bodies and answers (body.go), lists (list.go).
package control

import (
	"net/http"
	"time"

	"example.com/emailplatform/mockserver/internal/world"
)

// Prefix is where the routes are.
const Prefix = "/_mock/"

// Options say what the routes cannot see themselves.
type Options struct {
	Console       http.Handler // answers what is read and no route takes, if set
	RetrySchedule []time.Duration
	NeedsToken    func(*http.Request) bool
}

// Control answers the control routes of a world.
type Control struct {
	*world.World

	options Options
}
