// Package control serves the control routes under /_mock/ for tests, on the same port
// as the API. docs/control-api.md is the manual.
//
// The files form three layers. The highest layer contains all routes (routes.go) and
// their description (openapi.go). The middle layer contains a file for each section
// of the manual, and wait.go for the route POST wait. The lowest layer contains
// list.go, route.go, param.go, body.go, schema.go, guard.go and this file.
package control

import (
	"net/http"
	"time"

	"example.com/emailplatform/mockserver/internal/environment"
)

// Prefix is the path prefix of the routes.
const Prefix = "/_mock/"

// Options configures the control routes.
type Options struct {
	Console       http.Handler // serves GET requests that match no route, if set
	RetrySchedule []time.Duration
	NeedsToken    func(*http.Request) bool
	DefaultToken  string // not a secret
}

// Control serves the control routes of an environment.
type Control struct {
	*environment.Environment

	options Options
}
