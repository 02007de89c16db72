package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"example.com/emailplatform/client"
)

// result contains the last response to a call, and the client's interpretation of the
// response.
type result struct {
	status int // 0 if none came
	header http.Header
	body   any // nil if it is not JSON
	text   string
	err    error
}

// ask calls an operation and returns its value and the response.
func ask[T, A any](ctx context.Context, call func(context.Context, A) (T, error), argument A) (value T, r result) {
	ctx = client.WithResponseHook(ctx, func(response client.Response) {
		r.status, r.header, r.text, r.body = response.StatusCode, response.Header, string(response.Body), nil
		d := json.NewDecoder(strings.NewReader(r.text))
		d.UseNumber()
		if d.Decode(&r.body) != nil {
			r.body = nil
		}
	})
	value, r.err = call(ctx, argument)
	return value, r
}

// callWithoutResult calls an operation that returns no value.
func callWithoutResult(ctx context.Context, call func(context.Context, int64) error, id int64) result {
	_, r := ask(ctx, func(ctx context.Context, id int64) (struct{}, error) { return struct{}{}, call(ctx, id) }, id)
	return r
}

// object returns the body if it is an object.
func (r result) object() map[string]any {
	o, _ := r.body.(map[string]any)
	return o
}

// items returns the items and the pagination object of a page.
func (r result) items() (items []any, pagination map[string]any) {
	items, _ = r.object()["data"].([]any)
	pagination, _ = r.object()["pagination"].(map[string]any)
	return items, pagination
}

// outcome is the result of a check.
type outcome string

const (
	matches outcome = "matches"
	differs outcome = "differs"
	skipped outcome = "skipped"
)

// verdict is an outcome with an optional explanation.
type verdict struct {
	outcome
	note string
}

// String returns for example "differs: 200 instead of 204". It replaces control
// characters, because the text may come from the platform.
func (v verdict) String() string {
	if v.note == "" {
		return string(v.outcome)
	}
	return string(v.outcome) + ": " + strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return '\ufffd'
		}
		return r
	}, v.note)
}

// differ returns the verdict for findings. If there are no findings and no error, the platform matches the
// decision. The verdict includes the client's interpretation of the response.
func (r result) differ(findings ...string) verdict {
	findings = slices.DeleteFunc(findings, func(f string) bool { return f == "" })
	switch {
	case r.err != nil:
		findings = append(findings, "the client returns an error: "+r.err.Error())
	case len(findings) > 0:
		findings = append(findings, "the client can read it")
	default:
		return verdict{outcome: matches}
	}
	return verdict{differs, strings.Join(findings, "; ")}
}

// code reports a status code other than want.
func (r result) code(want int) string {
	if r.status == want {
		return ""
	}
	return fmt.Sprintf("%d instead of %d", r.status, want)
}

// rejected returns the verdict for a request that must fail with the status want and, unless it is empty, the detail type.
func (r result) rejected(want int, detail string) verdict {
	var e *client.Error
	switch {
	case r.err == nil:
		return verdict{differs, fmt.Sprintf("%d and no error", r.status)}
	case !errors.As(r.err, &e) || r.status != want:
		return verdict{differs, r.err.Error()}
	case detail != "" && !slices.ContainsFunc(e.Details, func(d client.ErrorDetail) bool { return d.Type == detail }):
		return verdict{differs, fmt.Sprintf("%d without a detail of type %s", want, detail)}
	}
	return verdict{outcome: matches}
}

// format reports that a resource is wrapped, has no field id, or has an invalid time.
func format(resource map[string]any, id string) string {
	var found []string
	inner, enveloped := resource["data"].(map[string]any)
	if enveloped {
		found = append(found, `wrapped in "data"`)
	} else {
		inner = resource
	}
	if _, ok := inner[id]; !ok {
		found = append(found, fmt.Sprintf("no %q", id))
	}
	if t := times(inner); t != "" {
		found = append(found, t)
	}
	return strings.Join(found, ", ")
}

// times reports a time that is not in Unix seconds.
func times(resource map[string]any) string {
	for _, name := range []string{"created_on", "updated_on", "subscribed_on", "submitted_on"} {
		n, isNumber := resource[name].(json.Number)
		if _, err := n.Int64(); resource[name] != nil && (!isNumber || err != nil) {
			return fmt.Sprintf("%s is %v", name, resource[name])
		}
	}
	return ""
}
