// Package control serves the control routes under /_mock/: what tests do and see,
// over HTTP. docs/control-api.md is the manual. The routes share the port of the API.
//
// A file refers only to files below it: routes.go (all routes) and openapi.go (their
// description); a file for each section of the manual, from server.go to stream.go;
// wait.go; lists (list.go), routes (route.go), parameters (param.go), bodies (body.go),
// the schemas of Go types (schema.go); who may call (guard.go); and this file.
package control

import (
	"net/http"
	"time"

	"example.com/emailplatform/mockserver/internal/environment"
)

// Prefix is the path of the routes.
const Prefix = "/_mock/"

// Options are what the routes cannot see themselves.
type Options struct {
	Console       http.Handler // serves reads that match no route, if set
	RetrySchedule []time.Duration
	NeedsToken    func(*http.Request) bool
	DefaultToken  string // not a secret
}

// Control serves the control routes of an environment.
type Control struct {
	*environment.Environment

	options Options
}
