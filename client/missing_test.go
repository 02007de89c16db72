package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// promised returns the required field of a response value, and whether it is set. In a page, each item must have it.
func promised(v any) (member string, given bool) {
	switch v := v.(type) {
	case Template:
		return "template_id", v.ID != 0
	case List:
		return "list_id", v.ID != 0
	case Contact:
		return "id", v.ID != 0
	case SubmittedEmail:
		return "id", v.ID != ""
	case Email:
		return "id", v.ID != ""
	case TransactionalReceipt:
		return "id", v.ID != ""
	case Campaign:
		return "campaign_id", v.ID != 0
	case Workflow:
		return "workflow_id", v.ID != ""
	case SuppressedEmail:
		return "email", v.Email != ""
	case Webhook:
		return "webhook_id", v.ID != ""
	case WebhookSummary:
		return "webhook_id", v.ID != ""
	case Tag:
		return "name", v.Name != ""
	}
	data := reflect.Indirect(reflect.ValueOf(v)).FieldByName("Data")
	given = !data.IsNil()
	for i := range data.Len() {
		_, ok := promised(data.Index(i).Interface())
		given = given && ok
	}
	return "data", given
}

// promises reports whether the response has a required field. Imports have their own tests.
func (a knownResponse) promises() bool {
	switch a.want.(type) {
	case nil, string, ImportResult:
		return false
	}
	return true
}

// TestRequiredFieldMissing: a successful response without its required field is invalid.
func TestRequiredFieldMissing(t *testing.T) {
	bodies := map[string]string{
		"nothing":           "",
		"white space":       " \n",
		"null":              `null`,
		"an object":         `{}`,
		"another error":     `{"error":"no"}`,
		"a refusal":         `{"detail":[{"msg":"refused"}]}`,
		"other items":       `{"items":[{"id":1}],"pagination":{"page":1,"per_page":50}}`,
		"data is null":      `{"data":null,"pagination":{"page":1,"per_page":50}}`,
		"an empty id":       `{"id":"","template_id":null,"list_id":0,"campaign_id":0,"workflow_id":"","webhook_id":null,"email":""}`,
		"an empty one":      `{"data":{}}`,
		"an item of a kind": `{"data":[{"name":null}]}`,
	}
	for _, a := range knownResponses() {
		if !a.promises() {
			continue
		}
		op := a.op
		member, _ := promised(a.want)
		for name, body := range bodies {
			for _, status := range []int{200, 201, 204} {
				if status == 204 && body != "" {
					continue
				}
				c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(status, body), nil }, func(cfg *Config) {
					cfg.Retry.MaxAttempts, cfg.LookupLimiter = 1, NoLookupLimit{}
				})
				_, err := a.call(t.Context(), c)
				var e *Error
				if !errors.As(err, &e) || !errors.Is(err, ErrInvalidResponse) {
					t.Errorf("%s, %d %s: %v, want an ErrInvalidResponse", op, status, name, err)
					continue
				}
				named := strings.Contains(err.Error(), member) || strings.Contains(err.Error(), "no error of the platform")
				if !named && name != "an item of a kind" {
					t.Errorf("%s, %s: %v does not name %s", op, name, err, member)
				}
				if errors.Is(err, ErrOutcomeUnknown) != (e.Method != http.MethodGet) {
					t.Errorf("%s, %s: the outcome unknown: %v", op, name, err)
				}
				if name == "a refusal" && !strings.Contains(err.Error(), "refused") {
					t.Errorf("%s: %v does not say what the platform says", op, err)
				}
			}
		}
	}
}

// TestErrorInSuccessResponse: operations without a required field fail only if the response contains an error.
func TestErrorInSuccessResponse(t *testing.T) {
	bodies := map[string]bool{ // whether the body is an error
		"": false, "{}": false, "null": false, "[]": false, "OK": false, `{"id":1,"object":"webhook","archived":true}`: false,
		`{"detail":[]}`: false, `{"detail":[ ]}`: false, `{"detail":"tagged"}`: false, `{"detail":null}`: false, `{"error":null,"errors":[]}`: false,
		`{"error":""}`: false, `{"error":false}`: false, `{"error":"no"} and more`: false, `{"error":"no"`: false,
		`{"detail":[{"msg":"refused"}]}`: true, `{"error":"no such contact"}`: true, `{"ok":false,"error":{"code":7}}`: true,
		`{"error":"no","more":1}`: true, `{"error":["no"]}`: true,
	}
	for _, a := range knownResponses() {
		if a.want != nil {
			continue
		}
		for body, refused := range bodies {
			c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(200, body), nil }, withoutRetries)
			if _, err := a.call(t.Context(), c); errors.Is(err, ErrInvalidResponse) != refused || (err != nil) != refused {
				t.Errorf("%s with the response %s: %v", a.op, body, err)
			}
		}
	}
}

func TestRenderRequiresHTML(t *testing.T) {
	for contentType, good := range map[string]bool{"text/html": true, "text/html; charset=utf-8": true, "": true, "application/json": false, "application/problem+json": false} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			return respond(200, `{"detail":[{"msg":"refused"}]}`, "Content-Type", contentType), nil
		}, withoutRetries)
		html, err := c.Templates.Render(t.Context(), 1)
		if (err == nil) != good || errors.Is(err, ErrInvalidResponse) == good || (html != "") != good {
			t.Errorf("%s: %q, %v", contentType, html, err)
		}
	}
}

// TestPageWithoutItems: one invalid page of ten ends the iteration with an error.
func TestPageWithoutItems(t *testing.T) {
	for _, body := range []string{``, `null`, `{"error":"no"}`, `{"items":[{"name":"a"}]}`, `{"data":null}`, `{"data":{}}`, `{"data":[],"error":"the database is away"}`, `{"error":{"code":7},"data":[]}`, `{"data":[],"detail":[{"msg":"refused"}]}`, `{"data":[{"name":"a"},{"label":"b"}]}`, `[]`, `{"detail":[{"msg":"refused"}]}`} {
		for _, bad := range []string{"1", "7"} {
			for _, lookahead := range []int{0, 3} {
				pages := &tagPages{pages: pagesOf(3, 3, 3, 3, 3, 3, 3, 3, 3, 1), perPage: 3}
				c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
					if r.URL.Query().Get("page") == bad {
						return respond(200, body), nil
					}
					return pages.RoundTrip(r)
				}, withoutRetries)
				n, _ := strconv.Atoi(bad)
				got, err := collect(t, c, ListTagsParams{Page: 1}, Prefetch(lookahead))
				if len(got) != 3*(n-1) || !errors.Is(err, ErrInvalidResponse) {
					t.Errorf("page %s is %s: %d items, then %v", bad, body, len(got), err)
				}
			}
		}
	}
}

// TestListGrows: the list grows during the iteration, so its last page is full when it is read again.
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
	if fmt.Sprint(got) != "[0 1 2 3 4 6 7]" || err != nil || fmt.Sprint(asked) != "[1 2 3 2 4]" {
		t.Errorf("%v, %v; asked for %v", got, err, asked)
	}
}

func TestMissingFieldPath(t *testing.T) {
	c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
		return respond(200, `{"data":[{"list_id":1},{"id":2},{"name":"a"}]}`), nil
	}, withoutRetries)
	page, err := c.Lists.List(t.Context(), ListListsParams{})
	if err == nil || !strings.Contains(err.Error(), `json: data[2]: expected an object with the field "list_id" at offset `) {
		t.Error(err)
	}
	if len(page.Data) != 3 || page.Data[1].ID != 2 { // what could be read comes with the error
		t.Errorf("%+v", page)
	}
}

// responseFieldNames are field names of both response formats, and others.
var responseFieldNames = []string{
	"data", "id", "template_id", "list_id", "campaign_id", "workflow_id", "webhook_id", "email_id", "email", "name", "tag", "status",
	"pagination", "page", "per_page", "count", "event", "events", "signature", "key", "secret", "hash_function", "audience", "content", "subject",
	"html", "open", "click", "hard_bounced", "bounce", "errors", "imported", "updated", "index", "loc", "msg", "detail", "error", "items", "object", "tags", "",
}

func randomJSON(r *rand.Rand, b *strings.Builder, depth int) {
	kind := r.IntN(10)
	if depth == 0 {
		kind = 4 + r.IntN(6)
	}
	switch kind {
	case 0, 1, 2:
		b.WriteByte('{')
		for i := range r.IntN(6) {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(b, "%q:", responseFieldNames[r.IntN(len(responseFieldNames))])
			randomJSON(r, b, depth-1)
		}
		b.WriteByte('}')
	case 3:
		b.WriteByte('[')
		for i := range r.IntN(4) {
			if i > 0 {
				b.WriteByte(',')
			}
			randomJSON(r, b, depth-1)
		}
		b.WriteByte(']')
	default:
		scalars := []string{"null", "true", "false", "0", "7", "-1", "1.5", "1e3", `""`, `"x"`, `"8"`, `"1.5"`, "9223372036854775808", `"[redacted]"`}
		b.WriteString(scalars[r.IntN(len(scalars))])
	}
}

// FuzzPromises: if an operation succeeds with a random response, the required field is set from the response.
func FuzzPromises(f *testing.F) {
	for i, a := range knownResponses() {
		f.Add(a.body, uint64(i))
	}
	f.Add(`{"detail":[{"msg":"refused"}]}`, uint64(7))
	f.Add(`{"data":[{"name":"a"},{"tag":7},null],"data":{"id":0}}`, uint64(8))
	f.Add("", uint64(9))
	var body string
	c, err := New(Config{
		BaseURL: "https://example.com", Token: testToken, Retry: RetryConfig{MaxAttempts: 1}, LookupLimiter: NoLookupLimit{},
		HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		})},
	})
	fatal(f, err)
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if seed%2 == 1 {
			var b strings.Builder
			randomJSON(rand.New(rand.NewPCG(seed, uint64(len(text)))), &b, 4)
			text = b.String()
		}
		body = text
		for _, a := range knownResponses() {
			v, err := a.call(t.Context(), c)
			if err != nil || !a.promises() {
				continue
			}
			member, given := promised(v)
			if !given || !json.Valid([]byte(text)) {
				t.Errorf("%s with the response %s: got %+v without %s, want an error", a.op, text, v, member)
			}
			checkSource(t, text, v)
		}
		checkFuzzedImport(t, c, text)
	})
}

// checkFuzzedImport: if an import succeeds, each contact is accounted for.
func checkFuzzedImport(t *testing.T, c *Client, text string) {
	t.Helper()
	batch := ImportBatch{Contacts: []ImportContact{{Email: "a@b.example"}, {Email: "b@b.example"}, {Email: "c@b.example"}}}
	result, err := c.Contacts.ImportBatch(t.Context(), 1, batch)
	if err != nil {
		return
	}
	rejected := map[int64]bool{}
	for _, e := range result.Errors {
		rejected[e.Index] = true
	}
	if result.Imported+result.Updated+result.Accepted+int64(len(rejected)) != 3 || !strings.ContainsAny(text, "{") {
		t.Errorf("an import with the response %s: got %+v", text, result)
	}
}

// checkSource finds the required fields of v in the text with encoding/json.
func checkSource(t *testing.T, text string, v any) {
	t.Helper()
	var raw any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&raw); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if data := reflect.ValueOf(v).FieldByName("Data"); data.IsValid() {
		items, ok := raw.(map[string]any)["data"].([]any)
		if !ok || len(items) != data.Len() {
			t.Errorf("%s: %d items were read", text, data.Len())
			return
		}
		for i, item := range items {
			checkMember(t, text, data.Index(i).Interface(), item)
		}
		return
	}
	outer, _ := raw.(map[string]any)
	checkMember(t, text, v, outer, outer["data"])
}

func checkMember(t *testing.T, text string, v any, objects ...any) {
	t.Helper()
	member, _ := promised(v)
	var found []string
	for _, o := range objects {
		o, _ := o.(map[string]any)
		for _, name := range []string{member, "id", "email_id", "tag"} {
			if value, ok := o[name]; ok {
				found = append(found, fmt.Sprint(value))
			}
		}
	}
	read := fmt.Sprint(reflect.ValueOf(v).Field(firstField(v, member)).Interface())
	if !slices.Contains(found, read) {
		t.Errorf("%s: %s is %q, the response has %q", text, member, read, found)
	}
}

func firstField(v any, member string) int {
	for i := range reflect.TypeOf(v).NumField() {
		if reflect.TypeOf(v).Field(i).Tag.Get("json") == member {
			return i
		}
	}
	panic(member)
}
