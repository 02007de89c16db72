package client

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
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
