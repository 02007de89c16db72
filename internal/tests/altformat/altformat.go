// Package altformat converts the platform's responses to the second known response format. The client must read both
// formats. In the second format, a resource is in an envelope, the name of every id is "id", and responses that had
// no body have one.
package altformat

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing/iotest"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Transport returns a transport that converts the responses of next. It does not
// change errors and bodies other than resources and pages.
func Transport(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err != nil || resp.StatusCode < 200 || resp.StatusCode >= 300 {
			return resp, err
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil { // the body is incomplete
			resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), iotest.ErrReader(err)))
			return resp, nil // reading the body returns err
		}
		if altFormat := convert(r, resp, body); altFormat != nil {
			body, resp.Header = altFormat, resp.Header.Clone()
			resp.Header.Set("Content-Type", "application/json")
			resp.Header.Del("Content-Length")
			resp.ContentLength = int64(len(body))
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, nil
	})
}

// convert returns the converted body, or nil if the body does not change.
func convert(r *http.Request, resp *http.Response, body []byte) []byte {
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	switch {
	case resp.StatusCode == http.StatusNoContent && setsState(r):
		resp.StatusCode = http.StatusOK
		v = map[string]any{"id": 1, "object": "thing", "archived": true}
	case !strings.Contains(resp.Header.Get("Content-Type"), "json"), !json.Valid(body), d.Decode(&v) != nil, v == nil:
		return nil
	default:
		v = members(r, v)
	}
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return body
}

// setsState reports whether the response to r is only a status code.
func setsState(r *http.Request) bool {
	switch r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:] {
	case "accept-policy", "unsubscribe", "tag", "activate", "deactivate", "archive", "unarchive":
		return true
	}
	return r.Method == http.MethodDelete
}

// members renames the fields of the response to r.
func members(r *http.Request, v map[string]any) map[string]any {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	items, isPage := v["data"].([]any)
	switch {
	case strings.HasSuffix(r.URL.Path, "/import"), v["data"] == nil && !isResource(v):
		return v
	case isPage:
		for _, one := range items {
			if one, ok := one.(map[string]any); ok {
				item(path[0], one)
			}
		}
		return v
	case path[0] == "v2" && r.Method == http.MethodGet:
		return lookup(v)
	}
	out := map[string]any{"object": "thing", "data": v}
	if r.Method == http.MethodPost {
		out["created"] = true
	}
	move(v, "secret", out, "signature/key")
	move(v, "hash_function", out, "signature/hash_function")
	switch path[0] {
	case "v2", "emails", "suppressed-emails":
		move(v, "email", out, "email")
	default:
		item(path[len(path)-1], v)
		if id, ok := v["id"]; ok {
			out["id"] = id
		}
	}
	return out
}

// ids returns the fields that identify a resource. The least specific fields are last.
func ids() []string {
	return []string{"template_id", "campaign_id", "workflow_id", "webhook_id", "list_id", "id", "email"}
}

func isResource(v map[string]any) bool {
	return slices.ContainsFunc(ids(), func(id string) bool { _, ok := v[id]; return ok })
}

// item renames the fields of one resource. kind is the last part of its path, which identifies a tag.
func item(kind string, v map[string]any) {
	for _, id := range ids() {
		if _, taken := v["id"]; !taken && strings.HasSuffix(id, "_id") {
			move(v, id, v, "id")
		}
	}
	move(v, "list_id", v, "audience/list_id")
	if events, ok := v["events"].([]any); ok && len(events) == 1 {
		v["event"] = events[0]
		delete(v, "events")
	}
	if kind == "tags" {
		move(v, "name", v, "tag")
	}
}

func lookup(v map[string]any) map[string]any {
	move(v, "id", v, "email_id")
	move(v, "submitted_on", v, "submitted_time")
	move(v, "opens", v, "open")
	move(v, "clicks", v, "click")
	for _, name := range []string{"subject", "template_id", "type"} {
		move(v, name, v, "content/"+name)
	}
	return v
}

// move moves a field, if it exists, to the name as. The name "object/field" moves it into an object.
func move(from map[string]any, name string, to map[string]any, as string) {
	value, ok := from[name]
	if !ok {
		return
	}
	delete(from, name)
	if object, inner, deep := strings.Cut(as, "/"); deep {
		if to[object] == nil {
			to[object] = map[string]any{}
		}
		to, as = to[object].(map[string]any), inner
	}
	to[as] = value
}
