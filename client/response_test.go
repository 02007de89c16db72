package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestContentTypes: the body and not its Content-Type determines whether a response is JSON. An HTML page of a proxy
// keeps the meaning of its status.
func TestContentTypes(t *testing.T) {
	for _, contentType := range []string{"text/html; charset=UTF-8", "text/plain", "application/octet-stream", "application/xml", ""} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			return respond(201, "\ufeff {\"id\":\"e1\",\"list_id\":42}", "Content-Type", contentType), nil
		})
		e, err := c.Emails.Send(t.Context(), EmailSubmission{})
		require.NoError(t, err, contentType)
		assert.Equal(t, "e1", e.ID, contentType)
		if l, err := c.Lists.Get(t.Context(), 42); err != nil || l.ID != 42 {
			t.Errorf("%s: %+v, %v", contentType, l, err)
		}
	}
	for status, want := range map[int]error{200: ErrInvalidResponse, 401: ErrUnauthorized, 403: ErrForbidden, 404: ErrNotFound} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			return respond(status, "<!DOCTYPE html>", "Content-Type", "text/html"), nil
		}, withoutRetries)
		_, err := c.Emails.Send(t.Context(), EmailSubmission{})
		assert.ErrorIs(t, err, want, "%+v", status)
		assert.Equal(t, status == 200, errors.Is(err, ErrOutcomeUnknown), "%+v", status)
		assert.ErrorContains(t, err, "HTML page", "%+v", status)
	}
	c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
		return respond(200, "<p>", "Content-Type", "application/json"), nil
	})
	html, err := c.Templates.Render(t.Context(), 1)
	assert.NoError(t, err)
	assert.Equal(t, "<p>", html)
}

// TestOtherFormat: if the format of a response differs from the specification, the response is invalid, even if it
// contains the required values.
func TestOtherFormat(t *testing.T) {
	for _, body := range []string{
		`{"id":8,"name":"n"}`, `{"data":{"list_id":7}}`, `{"data":{"id":8}}`, `{"list_id":null,"id":8}`, `{"list":{"list_id":7}}`, `[{"list_id":7}]`,
	} {
		c := newTestClient(t, respondWith(200, "text/plain", body))
		got, err := c.Lists.Get(t.Context(), 7)
		assert.Zero(t, got.ID, body)
		assert.ErrorIs(t, err, ErrInvalidResponse, body)
	}
}

// TestResponseMemory compares the memory that a response needs with the limit in SECURITY.md.
func TestResponseMemory(t *testing.T) {
	const maxFactor = 16 // including 4 for the buffer
	const size = 1 << 19 // large enough to ignore the fixed cost of a response
	list := func(c *Client) error {
		_, err := c.Contacts.List(t.Context(), 1, ListContactsParams{})
		return err
	}
	get := func(c *Client) error {
		_, err := c.Contacts.Get(t.Context(), 1, 1)
		return err
	}
	imported := func(c *Client) error {
		_, err := c.Contacts.ImportBatch(t.Context(), 1, ImportBatch{Contacts: make([]ImportContact, 1)})
		return err
	}
	for name, tc := range map[string]struct {
		status            int
		head, again, tail string
		call              func(*Client) error
	}{
		"empty items":      {200, `{"data":[`, `{},`, `{}]}`, list},
		"null items":       {200, `{"data":[`, `null,`, `null]}`, list},
		"empty tags":       {200, `{"id":1,"tags":[`, `"",`, `""]}`, get},
		"short tags":       {200, `{"id":1,"tags":[`, `"a","b",`, `""]}`, get},
		"different tags":   {200, `{"id":1,"tags":[`, `"\u00e4","b\u00e4","abcdefghi",`, `""]}`, get},
		"empty attributes": {200, `{"id":1,"custom_attributes":[`, `{},`, `{}]}`, get},
		"attribute object": {200, `{"id":1,"custom_attributes":{`, `"":1,`, `"":1}}`, get},
		"attributes again": {200, `{`, `"custom_attributes":[{}],`, `"id":1}`, get},
		"tags of items":    {200, `{"data":[`, `{"tags":["","","","","","","","","","","","","","","","",""]},`, `{}]}`, list},
		"one of each":      {200, `{"data":[`, `{"tags":[""],"interests":[""],"custom_attributes":[{}]},`, `{}]}`, list},
		"not UTF-8":        {200, `{"id":1,"email":"`, "\xff", `"}`, get},
		"escapes":          {200, `{"id":1,"email":"`, `\u00e4`, `"}`, get},
		"empty errors":     {200, `{"imported":1,"errors":[`, `{},`, `{}]}`, imported},
		"locations":        {200, `{"imported":1,"errors":[{"loc":[`, `1,`, `0]}]}`, imported},
		"empty details":    {422, `{"detail":[`, `{},`, `{}]}`, get},
		"null details":     {422, `{"detail":[`, `null,`, `null]}`, get},
		"short details":    {422, `{"detail":[`, `{"msg":"m"},`, `{}]}`, get},
		"long location":    {422, `{"detail":[{"loc":[`, `1,`, `1],"msg":"m"}]}`, get},
		"one long detail":  {422, `{"detail":[{"msg":"`, `\u00e4`, `"}]}`, get},
		"a long text":      {422, `{"detail":"`, `ab`, `"}`, get},
		"the token":        {422, `{"detail":"`, testToken, `"}`, get},
	} {
		t.Run(name, func(t *testing.T) {
			body := tc.head + strings.Repeat(tc.again, size/len(tc.again)) + tc.tail
			as := roundTrip(func(*http.Request) (*http.Response, error) { return respond(tc.status, body), nil })
			c := newBubbleClient(t, nil, func(cfg *Config) {
				cfg.HTTPClient.Transport = as
				cfg.Retry.MaxAttempts = 1
			})
			var err error
			all := allocated(func() { err = tc.call(c) })
			buffer := allocated(func() { _, _ = new(bytes.Buffer).ReadFrom(strings.NewReader(body)) }) // 4 times the body, 8 times with -race
			if factor := float64(all-buffer) / float64(len(body)); factor > maxFactor-4 {
				t.Errorf("%.1f bytes are allocated for each byte of the response, and its buffer: %.200v", factor, err)
			}
			var e *Error
			if err != nil && !errors.As(err, &e) {
				t.Error(err)
			}
		})
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestTolerantReader: each 2xx is a success, and unknown fields and null are ignored.
func TestTolerantReader(t *testing.T) {
	for status, good := range map[int]bool{200: true, 201: true, 299: true, 300: false, 399: false, 400: false} {
		c := newTestClient(t, respondWith(status, "application/json", `{"x":{"y":[null]},"template_id":1,"name":null,"z":1e9}`))
		if got, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"}); (err == nil) != good || good && got != (Template{ID: 1}) {
			t.Errorf("status %d: %+v, %v, want success: %v", status, got, err, good)
		}
	}
	for body, good := range map[string]bool{"": true, " \n": true, "<p>": false} { // a proxy may set a type on an empty body
		c := newTestClient(t, respondWith(200, "text/html", body))
		if err := c.SuppressedEmails.Remove(t.Context(), "a@example.com"); (err == nil) != good {
			t.Errorf("a 2xx response with %q as HTML: %v, want success: %v", body, err, good)
		}
	}
}

// required returns the name of the required field of v, and whether v has a value for it. The required field
// is the only field without the option omitzero. If v is a page, given is true only if each item also has a
// value for the required field of the item.
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
			require.ErrorAs(t, err, &e, "%s, %s", op.id, name)
			assert.ErrorIs(t, err, ErrInvalidResponse, "%s, %s", op.id, name)
			assert.Equal(t, e.Method != http.MethodGet, errors.Is(err, ErrOutcomeUnknown), "%s, %s", op.id, name)
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
			_, err := op.call(env{c, knownRecords(), t.Context(), nil})
			assert.Equal(t, isError, errors.Is(err, ErrInvalidResponse), "%s with the response %s", op.id, body)
			assert.Equal(t, isError, err != nil, "%s with the response %s", op.id, body)
		}
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
			field, given := required(v)
			require.True(t, given, "%s: %s", op.id, field)
			assert.True(t, json.Valid([]byte(text)), op.id)
		}
	})
}
