package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// required returns the name of the required field of v, and whether v has a value for it. The required field
// is the only field without the option omitzero. On a page, each item must have a value for its own required
// field.
func required(v any) (name string, given bool) {
	for field, value := range reflect.ValueOf(v).Fields() {
		name = field.Tag.Get("json")
		switch {
		case strings.HasSuffix(name, ",omitzero"):
			continue
		case name != "data":
			return name, !value.IsZero()
		}
		given = !value.IsNil()
		for i := range value.Len() {
			_, ok := required(value.Index(i).Interface())
			given = given && ok
		}
		return name, given
	}
	panic(fmt.Sprintf("%T has no required field", v))
}

// requires reports whether the response to op has a required field. Other tests check imports.
func requires(op operation) bool {
	switch op.known[0].want.(type) {
	case nil, string, ImportResult:
		return false
	}
	return true
}

// TestRequiredFieldMissing: a successful response without its required field is invalid.
func TestRequiredFieldMissing(t *testing.T) {
	bodies := map[string]string{
		"nothing":            "",
		"white space":        " \n",
		"null":               `null`,
		"an object":          `{}`,
		"another error":      `{"error":"no"}`,
		"an error":           `{"detail":[{"msg":"rejected"}]}`,
		"other items":        `{"items":[{"id":1}],"pagination":{"page":1,"per_page":50}}`,
		"null and an error":  `{"data":null,"error":"the database is away"}`,
		"an empty id":        `{"id":"","template_id":null,"list_id":0,"campaign_id":0,"workflow_id":"","webhook_id":null,"email":""}`,
		"an item without it": `{"data":[{"name":null}]}`,
		"an empty object":    `{"data":{}}`,
		"items and an error": `{"data":[],"error":"the database is away"}`,
		"error and items":    `{"error":{"code":7},"data":[]}`,
		"items and details":  `{"data":[],"detail":[{"msg":"rejected"}]}`,
		"an array":           `[]`,
	}
	for _, op := range allOperations() {
		if !requires(op) {
			continue
		}
		field, _ := required(op.known[0].want)
		for name, body := range bodies {
			c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(201, body), nil }, withoutRetries,
				func(cfg *Config) { cfg.LookupLimiter = NoLookupLimit{} })
			_, err := op.call(env{c, knownRecords(), t.Context(), nil})
			var e *Error
			if !errors.As(err, &e) || !errors.Is(err, ErrInvalidResponse) || errors.Is(err, ErrOutcomeUnknown) != (e.Method != http.MethodGet) {
				t.Errorf("%s, %s: %v, want an ErrInvalidResponse", op.id, name, err)
			}
			named := strings.Contains(fmt.Sprint(err), field) || strings.Contains(fmt.Sprint(err), "no error of the platform")
			if !named && name != "an item without it" && name != "an array" {
				t.Errorf("%s, %s: %v does not name %s", op.id, name, err, field)
			}
			if name == "an error" && !strings.Contains(fmt.Sprint(err), "rejected") {
				t.Errorf("%s: %v does not contain the platform's message", op.id, err)
			}
		}
	}
}

// TestErrorInSuccessResponse: operations without a required field fail only if the response contains an error.
func TestErrorInSuccessResponse(t *testing.T) {
	bodies := map[string]bool{ // whether the body contains an error
		"": false, "{}": false, "null": false, "[]": false, "OK": false, `{"id":1,"object":"webhook","archived":true}`: false,
		`{"detail":[]}`: false, `{"detail":[ ]}`: false, `{"detail":"tagged"}`: false, `{"detail":null}`: false, `{"error":null,"errors":[]}`: false,
		`{"error":""}`: false, `{"error":false}`: false, `{"error":"no"} and more`: false, `{"error":"no"`: false,
		`{"detail":[{"msg":"rejected"}]}`: true, `{"error":"no such contact"}`: true, `{"ok":false,"error":{"code":7}}`: true,
		`{"error":"no","more":1}`: true, `{"error":["no"]}`: true,
	}
	for _, op := range allOperations() {
		if op.known[0].want != nil {
			continue
		}
		for body, isError := range bodies {
			c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(200, body), nil }, withoutRetries)
			if _, err := op.call(env{c, knownRecords(), t.Context(), nil}); errors.Is(err, ErrInvalidResponse) != isError || (err != nil) != isError {
				t.Errorf("%s with the response %s: %v", op.id, body, err)
			}
		}
	}
}

func TestRenderRequiresHTML(t *testing.T) {
	for contentType, good := range map[string]bool{"text/html": true, "text/html; charset=utf-8": true, "": true, "application/json": false, "application/problem+json": false} {
		c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			assert.Equal(t, "text/html", r.Header.Get("Accept"), "Accept")
			return respond(200, `{"detail":[{"msg":"rejected"}]}`, "Content-Type", contentType), nil
		}, withoutRetries)
		html, err := c.Templates.Render(t.Context(), 1)
		if (err == nil) != good || errors.Is(err, ErrInvalidResponse) == good || (html != "") != good {
			t.Errorf("%s: %q, %v", contentType, html, err)
		}
	}
}

// TestPageWithoutItems: an invalid page ends the iteration with an error after the items of the earlier pages.
func TestPageWithoutItems(t *testing.T) {
	for _, bad := range []int{1, 7} {
		for _, depth := range []int{0, 3} {
			pages := &tagPages{pages: pagesOf(3, 3, 3, 3, 3, 3, 3, 3, 3, 1), perPage: 3}
			c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
				if r.URL.Query().Get("page") == strconv.Itoa(bad) {
					return respond(200, `{"data":[{"name":"a"},{"label":"b"}]}`), nil
				}
				return pages.RoundTrip(r)
			}, withoutRetries)
			if got, err := collect(t, c, ListTagsParams{Page: 1}, Prefetch(depth)); len(got) != 3*(bad-1) || !errors.Is(err, ErrInvalidResponse) {
				t.Errorf("page %d, Prefetch(%d): %d items, then %v", bad, depth, len(got), err)
			}
		}
	}
}

// TestListGrows: the list grows during the iteration, so another page follows a short page.
func TestListGrows(t *testing.T) {
	before, after := &tagPages{pages: pagesOf(3, 2), perPage: 3}, &tagPages{pages: pagesOf(3, 3, 2), perPage: 3}
	var asked []string
	c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.URL.Query().Get("page"))
		if len(asked) <= 2 {
			return before.RoundTrip(r)
		}
		return after.RoundTrip(r)
	})
	got, err := collect(t, c, ListTagsParams{})
	if fmt.Sprint(got) != "[0 1 2 3 4 6 7]" || err != nil || fmt.Sprint(asked) != "[1 2 3 4]" {
		t.Errorf("%v, %v; asked for %v", got, err, asked)
	}
}

// FuzzRequiredFields: if an operation succeeds, its response is JSON with the required field.
func FuzzRequiredFields(f *testing.F) {
	for _, op := range allOperations() {
		f.Add(op.known[0].body)
	}
	f.Add(`{"detail":[{"msg":"rejected"}]}`)
	f.Add(`{"data":[{"name":"a"},{"tag":7},null],"data":{"id":0}}`)
	f.Add("")
	var body string
	c := newBubbleClient(f, func(*http.Request) (*http.Response, error) { return respond(200, body), nil }, withoutRetries, func(cfg *Config) {
		cfg.LookupLimiter = NoLookupLimit{}
	})
	f.Fuzz(func(t *testing.T, text string) {
		body = text
		for _, op := range allOperations() {
			v, err := op.call(env{c, knownRecords(), t.Context(), nil})
			if err != nil || !requires(op) {
				continue
			}
			if field, given := required(v); !given || !json.Valid([]byte(text)) {
				t.Errorf("%s with the response %s: got %+v without %s, want an error", op.id, text, v, field)
			}
		}
	})
}
