package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/emailplatform/client"
)

// result contains the last response to a call, and the interpretation of the
// client.
type result struct {
	status int // 0 if none came
	header http.Header
	body   any // nil if it is not JSON
	text   string
	err    error
}

// ask makes a call and returns the response.
func ask(ctx context.Context, call func(context.Context) error) (a result) {
	a.err = call(client.WithResponseHook(ctx, func(r client.Response) {
		a.status, a.header, a.text, a.body = r.StatusCode, r.Header, string(r.Body), nil
		d := json.NewDecoder(strings.NewReader(a.text))
		d.UseNumber()
		if d.Decode(&a.body) != nil {
			a.body = nil
		}
	}))
	return a
}

// object returns the body if it is an object.
func (a result) object() map[string]any {
	o, _ := a.body.(map[string]any)
	return o
}

// items returns the items of a page, and what it says of itself.
func (a result) items() (items []any, pagination map[string]any) {
	items, _ = a.object()["data"].([]any)
	pagination, _ = a.object()["pagination"].(map[string]any)
	return items, pagination
}

// differ returns the verdict for findings; without findings the decision holds.
// The verdict includes the client's interpretation of the response.
func (a result) differ(findings ...string) verdict {
	findings = slices.DeleteFunc(findings, func(f string) bool { return f == "" })
	switch {
	case a.err != nil:
		findings = append(findings, "the client cannot use it: "+a.err.Error())
	case len(findings) > 0:
		findings = append(findings, "read all the same")
	default:
		return verdict{outcome: holds}
	}
	return verdict{differs, strings.Join(findings, "; ")}
}

// code says that the status is another than wanted.
func (a result) code(want int) string {
	if a.status == want {
		return ""
	}
	return fmt.Sprintf("%d in place of %d", a.status, want)
}

// refused returns the verdict for an error that was to come.
func (a result) refused(want int, detail string) verdict {
	var e *client.Error
	switch {
	case a.err == nil:
		return verdict{differs, fmt.Sprintf("no error, but %d", a.status)}
	case !errors.As(a.err, &e) || a.status != want:
		return verdict{differs, a.err.Error()}
	case detail != "" && !slices.ContainsFunc(e.Details, func(d client.ErrorDetail) bool { return d.Type == detail }):
		return verdict{differs, fmt.Sprintf("%d without a detail of the type %s", want, detail)}
	}
	return verdict{outcome: holds}
}

// spelling says how a resource is spelled that should be bare, with id as the
// name of its id.
func spelling(resource map[string]any, id string) string {
	var found []string
	inner, enveloped := resource["data"].(map[string]any)
	if enveloped {
		found = append(found, `it is in "data"`)
	} else {
		inner = resource
	}
	if _, ok := inner[id]; !ok {
		found = append(found, other(inner, id))
	}
	if t := times(inner); t != "" {
		found = append(found, t)
	}
	return strings.Join(found, ", ")
}

// other reports the name that replaces another name.
func other(resource map[string]any, name string) string {
	for _, candidate := range []string{"id", "email_id", "tag"} {
		if _, ok := resource[candidate]; ok {
			return fmt.Sprintf("%q in place of %q", candidate, name)
		}
	}
	return fmt.Sprintf("no %q", name)
}

// times names a time that is not in Unix seconds.
func times(resource map[string]any) string {
	for _, name := range []string{"created_on", "updated_on", "subscribed_on", "submitted_on"} {
		n, isNumber := resource[name].(json.Number)
		if _, err := n.Int64(); resource[name] != nil && (!isNumber || err != nil) {
			return fmt.Sprintf("%s is %v", name, resource[name])
		}
	}
	return ""
}
