package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/events"
)

// TestOddValues: a value of the wrong type costs only that value, and is reported.
func TestOddValues(t *testing.T) {
	for body, where := range map[string]string{
		`{"id":7,"email":5,"status":"active"}`: "email", `{"id":"7","status":["active"],"email":"a"}`: "status",
		`{"id":7.0,"tags":[{}],"interests":"i"}`: "tags[0]", `{"id":7,"custom_attributes":[{"name":"n","value":[]}]}`: "custom_attributes[0].value",
		`{"id":7,"custom_attributes":[{"name":"n"}, 5]}`: "custom_attributes[1]", `{"id":7,"custom_attributes":{"n":[]}}`: "custom_attributes.n",
		`{"id":7,"custom_attributes":"n"}`: "custom_attributes", `{"id":7e0,"subscribed_on":false}`: "subscribed_on",
		`{"id":7,"tags":null,"custom_attributes":null,"status":null}`: "",
	} {
		var log strings.Builder
		var ignored error
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(200, body), nil }, func(cfg *Config) {
			cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
			cfg.Observe = func(ctx context.Context, _ Call) (context.Context, Observer) {
				return ctx, Observer{End: func(o Observation) { ignored = o.Ignored }}
			}
		})
		for range 2 {
			if got, err := c.Contacts.Get(t.Context(), 1, 7); got.ID != 7 || err != nil {
				t.Errorf("%s: %+v, %v", body, got, err)
			}
		}
		if where == "" {
			assert.NoError(t, ignored)
			assert.Empty(t, log.String())
			continue
		}
		assert.ErrorContains(t, ignored, where+":", "%s", body)
		assert.Equal(t, 1, strings.Count(log.String(), "response value ignored"), "%s", log.String())
	}
}

// TestAttributeForms: attributes can be an array or an object, and their values can be numbers or booleans.
func TestAttributeForms(t *testing.T) {
	for attributes, want := range map[string]Attributes{
		`[{"name":"age","value":42},{"value":1.50,"name":"sum"},{"name":"vip","value":true},{"name":"none","value":null}]`: {{"age", "42"}, {"sum", "1.50"}, {"vip", "true"}, {"none", ""}},
		`{"age":42,"na\u006de":"Ann", "vip": false ,"none":null}`:                                                          {{"age", "42"}, {"name", "Ann"}, {"vip", "false"}, {"none", ""}},
		`{"lost":{"a":1},"kept":"v","list":[1]}`:                                                                           {{"kept", "v"}}, `{"a":"1","b":2,"a":"3"}`: {{"a", "3"}, {"b", "2"}}, `{}`: {}, `[]`: {}, `null`: nil,
	} {
		c := newBubbleClient(t, inOrder(respond(200, `{"id":7,"custom_attributes":`+attributes+`,"tags":["t"]}`)))
		contact, err := c.Contacts.Get(t.Context(), 1, 7)
		assert.NoError(t, err)
		assert.Equal(t, want, contact.CustomAttributes, attributes)
		assert.Equal(t, []string{"t"}, contact.Tags, attributes)
	}
}

// TestBooleanForms: true and false can be written as 1 and 0, or as text.
func TestBooleanForms(t *testing.T) {
	for text, want := range map[string]bool{`true`: true, `1`: true, `"true"`: true, `"1"`: true, `"True"`: true, `false`: false, `0`: false, `"0"`: false, `2`: false, `"yes"`: false, `"t"`: false, `null`: false} {
		c := newBubbleClient(t, inOrder(respond(200, `{"id":"e","unsubscribed":`+text+`,"status":"delivered"}`)), func(cfg *Config) { cfg.LookupLimiter = NoLookupLimit{} })
		e, err := c.Emails.Get(t.Context(), "e")
		assert.NoError(t, err)
		assert.Equal(t, want, e.Unsubscribed, text)
		assert.Equal(t, EmailStatus("delivered"), e.Status, text)
	}
}

// TestOddEmailStatus: if the status is not text, the email may be rejected, so the outcome is unknown.
func TestOddEmailStatus(t *testing.T) {
	for body, unknown := range map[string]bool{
		`{"id":"e","status":["rejected"]}`: true, `{"id":"e","status":{"code":"rejected"}}`: true, `{"id":"e","status":3}`: true,
		`{"id":"e","email":5,"status":false}`: true, `{"id":"e","email":5,"status":null}`: false, `{"id":"e","email":5,"status":"queued"}`: false,
	} {
		c := newBubbleClient(t, inOrder(respond(201, body)))
		e, err := c.Emails.Send(t.Context(), EmailSubmission{})
		assert.Equal(t, "e", e.ID, body)
		assert.Equal(t, unknown, errors.Is(err, ErrInvalidResponse) && errors.Is(err, ErrOutcomeUnknown), "%s: %v", body, err)
		assert.Equal(t, unknown, err != nil, "%s: %v", body, err)
	}
}

// TestNumericIDs: an id can be a number or text.
func TestNumericIDs(t *testing.T) {
	for id, want := range map[string]string{
		`18858926273619457`: "18858926273619457", `"e-1"`: "e-1", `42.0`: "42", `4e1`: "40", `-1`: "-1", `1.5`: "1.5", `123456789012345678901`: "123456789012345678901",
	} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			return respond(201, `{"id":`+id+`,"status":"queued"}`), nil
		})
		if e, err := c.Emails.Send(t.Context(), EmailSubmission{}); err != nil || e.ID != want {
			t.Errorf("Send: id %q, %v, want %q", e.ID, err, want)
		}
		if e, err := c.Emails.SendLegacy(t.Context(), TransactionalSubmission{}); err != nil || e.ID != want {
			t.Errorf("SendLegacy: id %q, %v, want %q", e.ID, err, want)
		}
	}
}

// TestNullLists: null is an empty list, unless the response contains an error or counts items.
func TestNullLists(t *testing.T) {
	for body, good := range map[string]bool{
		`{"data":null}`: true, `{"data":null,"pagination":{"page":1,"per_page":50,"count":0}}`: true, `{"data": null , "pagination":null}`: true,
		`{"data":null,"pagination":{"count":3}}`: false, `{"data":null,"detail":[{"msg":"no"}]}`: false, `{"data":{}}`: false, `{"data":""}`: false, `null`: false,
	} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(200, body), nil }, withoutRetries)
		names, err := collect(t, c, ListTagsParams{})
		if len(names) != 0 || (err == nil) != good {
			t.Errorf("All of %s: %v, %v", body, names, err)
		}
		if _, err := c.Lists.Find(t.Context(), "n"); errors.Is(err, ErrNotFound) != good {
			t.Errorf("Find in %s: %v", body, err)
		}
	}
}

// TestLetterCase: a known value is recognized in any letter case, and an unknown value stays as it is.
func TestLetterCase(t *testing.T) {
	for status, want := range map[string]error{"Rejected": ErrNotQueued, "ERROR": ErrNotQueued, "Queued": nil, "Held": nil} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			return respond(201, `{"id":"e","status":"`+status+`"}`), nil
		})
		e, err := c.Emails.Send(t.Context(), EmailSubmission{})
		if !errors.Is(err, want) || (err == nil) != (want == nil) || status == "Held" && e.Status != "Held" {
			t.Errorf("%s: %+v, %v", status, e, err)
		}
	}
	c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
		return respond(200, `{"id":1,"email":"a","status":"UNSUBSCRIBED","last_bounce_type":"Hard","webhook_id":"1","url":"https://a.example",
			"events":["email.bounced","EMAIL.OPENED","Other.Event"],"rate_limit_period":"Hour","type":"Transactional","campaign_id":1}`), nil
	})
	contact, err := c.Contacts.Get(t.Context(), 1, 1)
	assert.NoError(t, err)
	assert.Equal(t, Contact{ID: 1, Email: "a", Status: events.ContactStatusUnsubscribed, LastBounceType: events.BounceTypeHard}, contact)
	hook, err := c.Webhooks.Get(t.Context(), "1")
	assert.NoError(t, err)
	assert.Equal(t, []events.Name{events.NameEmailBounced, events.NameEmailOpened, "Other.Event"}, hook.Events)
	assert.Equal(t, RateLimitPeriodHour, hook.RateLimitPeriod)
	for status, settled := range map[string]bool{"Queued": false, "SUBMITTED": false, "Processing": false, "Delivered": true} {
		assert.Equal(t, settled, Email{Status: EmailStatus(status)}.Settled(), status)
	}
	assert.False(t, Campaign{Status: "Delivering"}.Settled())
}

// TestContentTypes: the body and not its Content-Type determines whether a response is JSON. An HTML page of a proxy
// keeps the meaning of its status.
func TestContentTypes(t *testing.T) {
	for _, contentType := range []string{"text/html; charset=UTF-8", "text/plain", "application/octet-stream", "application/xml", ""} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			return respond(201, "\ufeff {\"id\":\"e1\",\"list_id\":42}", "Content-Type", contentType), nil
		})
		if e, err := c.Emails.Send(t.Context(), EmailSubmission{}); err != nil || e.ID != "e1" {
			t.Errorf("%s: %+v, %v", contentType, e, err)
		}
		if l, err := c.Lists.Get(t.Context(), 42); err != nil || l.ID != 42 {
			t.Errorf("%s: %+v, %v", contentType, l, err)
		}
	}
	for status, want := range map[int]error{200: ErrInvalidResponse, 401: ErrUnauthorized, 403: ErrForbidden, 404: ErrNotFound} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			return respond(status, "<!DOCTYPE html>", "Content-Type", "text/html"), nil
		}, withoutRetries)
		_, err := c.Emails.Send(t.Context(), EmailSubmission{})
		if !errors.Is(err, want) || errors.Is(err, ErrOutcomeUnknown) != (status == 200) || !strings.Contains(err.Error(), "HTML page") {
			t.Errorf("%d: %v", status, err)
		}
	}
	c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
		return respond(200, "<p>", "Content-Type", "application/json"), nil
	})
	html, err := c.Templates.Render(t.Context(), 1)
	assert.NoError(t, err)
	assert.Equal(t, "<p>", html)
}

// TestCompressedResponses: the client reads a response that the transport left compressed with gzip, and names any other
// content encoding.
func TestCompressedResponses(t *testing.T) {
	compressed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = io.WriteString(w, text)
		_ = w.Close()
		return b.String()
	}
	list := compressed(`{"list_id":42}`)
	for name, tc := range map[string]struct {
		status         int
		body, encoding string
		want           string // in the error
	}{
		"gzip": {200, list, "gzip", ""}, "no header": {200, list, "", ""}, "other name": {200, list, "x-gzip", ""},
		"not compressed": {200, `{"list_id":42}`, "gzip", ""}, "truncated": {200, list[:len(list)-9], "gzip", "truncated"},
		"unknown":  {200, "\x0b\x02", "br", `content encoding "br"`},
		"too long": {200, compressed(strings.Repeat(" ", 2000)), "gzip", "response too large"},
		"error":    {422, compressed(`{"detail":[{"msg":"no such list"}]}`), "gzip", "no such list"},
	} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			return respond(tc.status, tc.body, "Content-Encoding", tc.encoding), nil
		}, withoutRetries, func(cfg *Config) { cfg.MaxResponseBytes = 1000 })
		got, err := c.Lists.Get(t.Context(), 42)
		if tc.want == "" && (err != nil || got.ID != 42) || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestImportJob: a response without a result has an unknown outcome after one request.
func TestImportJob(t *testing.T) {
	for body, once := range map[string]bool{
		`{"job_id":7}`: true, `{"job_id":7,"errors":[]}`: true, `{"job_id":7,"errors":null,"error":null,"detail":[]}`: true, `{"imported":null,"updated":null}`: true,
		`{"id":"j","status":"pending"}`: true, `"job-7"`: true, `17`: true, `{}`: true, `{"imported":0}`: false, `{"imported"`: false,
	} {
		requests := 0
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			requests++
			return respond(202, body), nil
		}, withoutPauses)
		_, err := c.Contacts.ImportBatch(t.Context(), 1, ImportBatch{Contacts: []ImportContact{{Email: "a@x"}}})
		if !errors.Is(err, ErrOutcomeUnknown) || !errors.Is(err, ErrInvalidResponse) || (requests == 1) != once {
			t.Errorf("%s: %v after %d requests", body, err, requests)
		}
	}
}
