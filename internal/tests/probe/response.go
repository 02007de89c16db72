package probe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Response is a complete response. Its methods check it and return parts of its body.
type Response struct {
	testing.TB

	Request string // the beginning of the request
	Status  int
	Header  http.Header
	Body    string
}

// OK checks that the request succeeded.
func (r Response) OK() Response {
	r.Helper()
	require.Equal(r, 2, r.Status/100, "%s: status %d: %s", r.Request, r.Status, r.Body)
	return r
}

// Is checks the status and compares the body with a pattern (see [Captures.Mismatches]). "" means no body.
func (r Response) Is(status int, pattern string) Response {
	r.Helper()
	require.Equal(r, status, r.Status, "%s: %s", r.Request, r.Body)
	if pattern == "" {
		assert.Empty(r, r.Body, "%s: the body", r.Request)
		return r
	}
	assert.Equal(r, "application/json", r.Header.Get("Content-Type"), "%s: the content type", r.Request)
	for _, m := range Mismatches(r.JSON(), pattern) {
		r.Errorf("%s: %s", r.Request, m)
	}
	return r
}

// Has checks the status and a part of the body.
func (r Response) Has(status int, part string) Response {
	r.Helper()
	assert.Equal(r, status, r.Status, "%s: %s", r.Request, r.Body)
	assert.Contains(r, r.Body, part, r.Request)
	return r
}

// Problem checks that the response is an error with a detail of this type and location.
func (r Response) Problem(status int, kind, loc string) Response {
	r.Helper()
	r.Is(status, `{"detail":"<array>"}`)
	var body struct {
		Detail []struct {
			Loc  []any
			Msg  string
			Type string
		}
	}
	require.NoError(r, json.Unmarshal([]byte(r.Body), &body))
	for _, d := range body.Detail {
		if d.Type == kind && d.Msg != "" && strings.Trim(strings.ReplaceAll(fmt.Sprint(d.Loc), " ", "."), "[]") == loc {
			return r
		}
	}
	r.Errorf("%s: want a detail of type %s at %s: %s", r.Request, kind, loc, r.Body)
	return r
}

// JSON returns the body as [Parse] returns it.
func (r Response) JSON() any {
	r.Helper()
	value, err := Parse(r.Body)
	require.NoError(r, err, "%s: %s", r.Request, r.Body)
	return value
}

// Field returns a field of the body, or nil if the body does not have it.
func (r Response) Field(name string) any {
	r.Helper()
	object, ok := r.JSON().(map[string]any)
	require.True(r, ok, "%s: want an object, got %s", r.Request, r.Body)
	return object[name]
}

// Int returns a field that is an integer.
func (r Response) Int(name string) int64 {
	r.Helper()
	n, _ := r.Field(name).(json.Number)
	i, err := n.Int64()
	require.NoError(r, err, "%s: %s is not an integer: %s", r.Request, name, r.Body)
	return i
}

// Text returns a field that is a string or a number, for example an id.
func (r Response) Text(name string) string {
	r.Helper()
	switch value := r.Field(name).(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	r.Fatalf("%s: %s is not a string: %s", r.Request, name, r.Body)
	return ""
}

// Column returns one field of every item of a page.
func (r Response) Column(name string) []string {
	r.Helper()
	r.Is(http.StatusOK, `{"data":"<array>","…":0}`)
	var out []string
	for _, item := range r.Field("data").([]any) {
		out = append(out, fmt.Sprint(item.(map[string]any)[name]))
	}
	return out
}
