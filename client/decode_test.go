package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/json/jsonscan"
)

// TestGeneratedDecoders: each generated decoder reads the output of encoding/json for a value with all fields set.
func TestGeneratedDecoders(t *testing.T) {
	readsBack(t, readTemplate)
	readsBack(t, readTemplatePage)
	readsBack(t, readList)
	readsBack(t, readListPage)
	readsBack(t, readContact)
	readsBack(t, readContactPage)
	readsBack(t, readTagPage)
	readsBack(t, func(c *jsonscan.Cursor) ImportResult {
		var calculated struct{ Accepted int64 } // not read from a response
		ahead := *c
		_ = json.Unmarshal(ahead.Raw(), &calculated)
		result := readImportResponse(c).ImportResult
		result.Accepted = calculated.Accepted
		return result
	})
	readsBack(t, readSubmittedEmail)
	readsBack(t, readEmail)
	readsBack(t, readTransactionalReceipt)
	readsBack(t, readCampaign)
	readsBack(t, readCampaignPage)
	readsBack(t, readWorkflow)
	readsBack(t, readWorkflowPage)
	readsBack(t, readSuppressedEmail)
	readsBack(t, readSuppressedEmailPage)
	readsBack(t, readWebhook)
	readsBack(t, readWebhookPage)
}

func readsBack[T any](t *testing.T, read func(*jsonscan.Cursor) T) {
	t.Helper()
	var want T
	randomFields{Rand: rand.New(rand.NewPCG(1, 2)), all: true}.fill(reflect.ValueOf(&want).Elem())
	text, err := json.Marshal(want)
	require.NoError(t, err)
	text = bytes.ReplaceAll(text, []byte(redacted), []byte("shown")) // json.Marshal redacts a Secret
	var plain T
	require.NoError(t, json.Unmarshal(text, &plain))
	c := jsonscan.New(string(inUnixSeconds(text)))
	got := read(c)
	if err := c.End(); err != nil || !reflect.DeepEqual(got, plain) {
		t.Errorf("%T: %v\ngot  %+v\nwant %+v", got, err, got, plain)
	}
}

// inUnixSeconds replaces the times of a JSON text with Unix seconds.
func inUnixSeconds(text []byte) []byte {
	return regexp.MustCompile(`"1970-[^"]*Z"`).ReplaceAllFunc(text, func(quoted []byte) []byte {
		at, err := time.Parse(`"`+time.RFC3339+`"`, string(quoted))
		if err != nil {
			panic(err)
		}
		return strconv.AppendInt(nil, at.Unix(), 10)
	})
}

// FuzzFieldOrder: the decoders have a fast path for texts without white space whose fields are in the order of
// openapi.yaml. The fast path must decode each text to the same result as the general path.
func FuzzFieldOrder(f *testing.F) {
	for _, item := range []string{
		`{"id":1,"email":"a","status":"active","subscribed_on":7,"custom_attributes":[{"name":"n","value":"v"}],"tags":["t"],"interests":[],"last_bounce_type":"none","bounces_count":0}`,
		`{"email":"a","id":1,"custom_attributes":[{"value":"v","name":"n"}],"tags":["t"],"status":"active"}`,
		`{"id":1,"email":"a","id":2,"email":null,"tags":null}`,
		`{"email":"outer","data":{"id":1,"email":null,"status":"active"}}`,
		`{"id":1,"email":7,"status":{"email":"inner"}}`,
		`{"webhook_id":1,"url":"u","events":["e"],"rate_limit":1}`,
		`{"template_id":1,"name":"n","content":{},"created_on":1,"updated_on":null}`,
	} {
		f.Add(item)
		f.Add(`{"data":[` + item + `,` + item + `],"pagination":{"page":1}}`)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var spaced bytes.Buffer // white space before each name prevents the fast path
		if len(text) > 2000 || json.Indent(&spaced, []byte(text), "", " ") != nil {
			return // for longer texts, the memory limit depends on the length
		}
		var dense bytes.Buffer
		require.NoError(t, json.Compact(&dense, []byte(text)))
		sameDecoded(t, dense, spaced, readContact)
		sameDecoded(t, dense, spaced, readContactPage)
		sameDecoded(t, dense, spaced, readWebhookPage)
		sameDecoded(t, dense, spaced, readTemplatePage)
		sameDecoded(t, dense, spaced, readCampaign)
	})
}

// sameDecoded fails if two texts decode to different values, or to errors with a different path or kind.
func sameDecoded[T any](t *testing.T, dense, spaced bytes.Buffer, read func(*jsonscan.Cursor) T) {
	t.Helper()
	got, gotErr := decode(dense.Bytes(), read)
	want, wantErr := decode(spaced.Bytes(), read)
	assert.Equal(t, want, got, "%s", dense.Bytes())
	assert.Equal(t, withoutOffset(wantErr), withoutOffset(gotErr), "%s", dense.Bytes())
}

func withoutOffset(err error) (e jsonscan.Error) {
	if p := new(jsonscan.Error); errors.As(err, &p) {
		e = *p
		e.Offset = 0
	}
	return e
}

// TestFieldTypeMismatch: a field of another type does not affect the other fields.
func TestFieldTypeMismatch(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want List
		path string // path of the field in the error; empty: no error
	}{
		"optional integer":     {`{"list_id":7,"created_on":"in May","name":"n"}`, List{ID: 7, Name: "n"}, ""},
		"optional boolean":     {`{"list_id":7,"name":"n","policy_accepted":2}`, List{ID: 7, Name: "n"}, ""},
		"integer as a string":  {`{"list_id":"7","created_on":"8","name":"n"}`, List{ID: 7, CreatedOn: time.Unix(8, 0).UTC(), Name: "n"}, ""},
		"required string":      {`{"name":5,"list_id":7,"created_on":8}`, List{ID: 7, CreatedOn: time.Unix(8, 0).UTC()}, ""},
		"required integer":     {`{"list_id":"x7","name":"n"}`, List{Name: "n"}, "list_id"},
		"fraction":             {`{"list_id":7.5,"name":"n"}`, List{Name: "n"}, "list_id"},
		"both":                 {`{"list_id":"","created_on":[],"name":"n"}`, List{Name: "n"}, "list_id"},
		"both, optional first": {`{"created_on":[],"name":"n","list_id":{}}`, List{Name: "n"}, "list_id"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestClient(t, respondWith(201, "application/json", tc.body))
			got, err := c.Lists.Create(t.Context(), ListCreate{Name: "n"})
			assert.Equal(t, tc.want, got)
			assert.Equal(t, tc.path != "", errors.Is(err, ErrInvalidResponse))
			assert.Equal(t, tc.path != "", errors.Is(err, ErrOutcomeUnknown))
			if err != nil && !strings.Contains(err.Error(), tc.path) {
				t.Errorf("%v does not name %q", err, tc.path)
			}
		})
	}
}

func TestFieldTypeMismatchInItems(t *testing.T) {
	for _, id := range []string{"0", "9"} {
		c := newTestClient(t, respondWith(200, "application/json",
			`{"webhook_id":`+id+`,"url":"u","events":"all","rate_limit":{},"secret":"s","status":"active"}`))
		hook, err := c.Webhooks.Get(t.Context(), id)
		hook.Events = nil
		want := (Webhook{ID: id, URL: "u", Secret: NewSecret("s"), Status: WebhookStatusActive})
		assert.Equal(t, want, hook)
		assert.ErrorIs(t, err, ErrInvalidResponse)
	}
	c := newTestClient(t, respondWith(200, "application/json",
		`{"data":[{"id":1,"email":"a","status":"active","tags":["a",5,"b"]},{"id":true,"email":"b"}],"pagination":{"page":1,"per_page":50}}`))
	page, err := c.Contacts.List(t.Context(), 1, ListContactsParams{})
	assert.ErrorContains(t, err, "data[1]", "List")
	assert.ErrorContains(t, err, `"id"`, "List")
	assert.Equal(t, []Contact{{ID: 1, Email: "a", Status: "active", Tags: []string{"a", "b"}}, {Email: "b"}}, page.Data, "List")
	c = newTestClient(t, respondWith(200, "application/json", `{"name":"n","list_id":7,`))
	if l, err := c.Lists.Get(t.Context(), 7); l != (List{}) || !errors.Is(err, ErrInvalidResponse) {
		t.Errorf("a body that is not JSON: %+v, %v", l, err)
	}
}

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
			got, err := c.Contacts.Get(t.Context(), 1, 7)
			assert.EqualValues(t, 7, got.ID, body)
			assert.NoError(t, err, body)
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

func TestTimes(t *testing.T) {
	for field, want := range map[string]time.Time{
		`"delivered_on":1700000000`:   time.Date(2023, 11, 14, 22, 13, 20, 0, time.UTC),
		`"delivered_on":"1700000000"`: time.Date(2023, 11, 14, 22, 13, 20, 0, time.UTC),
		`"delivered_on":0`:            {},
		`"delivered_on":null`:         {},
		`"delivered_on":"soon"`:       {},
		`"status":"queued"`:           {},
	} {
		c := newTestClient(t, respondWith(200, "application/json", `{"id":"e-1",`+field+`}`))
		email, err := c.Emails.Get(t.Context(), "e-1")
		require.NoError(t, err, field)
		assert.Equal(t, want, email.DeliveredOn, field)
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
		e, err := c.Emails.Send(t.Context(), EmailSubmission{})
		require.NoError(t, err, "Send")
		assert.Equal(t, want, e.ID, "Send")
		if e, err := c.Emails.SendLegacy(t.Context(), TransactionalSubmission{}); err != nil || e.ID != want {
			t.Errorf("SendLegacy: id %q, %v, want %q", e.ID, err, want)
		}
	}
}

// TestNullLists: null is an empty list, unless the response contains an error or a count above 0.
func TestNullLists(t *testing.T) {
	for body, good := range map[string]bool{
		`{"data":null}`: true, `{"data":null,"pagination":{"page":1,"per_page":50,"count":0}}`: true, `{"data": null , "pagination":null}`: true,
		`{"data":null,"pagination":{"count":3}}`: false, `{"data":null,"detail":[{"msg":"no"}]}`: false, `{"data":{}}`: false, `{"data":""}`: false, `null`: false,
	} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(200, body), nil }, withoutRetries)
		names, err := collect(t, c, ListTagsParams{})
		require.Empty(t, names, "All of %s", body)
		assert.Equal(t, good, err == nil, "All of %s", body)
		if _, err := c.Lists.Find(t.Context(), "n"); errors.Is(err, ErrNotFound) != good {
			t.Errorf("Find in %s: %v", body, err)
		}
	}
}
