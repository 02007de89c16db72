package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

func TestWebhookJSONOmitsSecret(t *testing.T) {
	text, err := json.Marshal(Webhook{Secret: NewSecret("s")})
	require.NoError(t, err)
	var back Webhook
	if err := json.Unmarshal(text, &back); err == nil || back.Secret != (Secret{}) {
		t.Errorf("%s became the secret %q: %v", text, back.Secret.Reveal(), err)
	}
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
		if err != nil || email.DeliveredOn != want {
			t.Errorf("%s: got %v, %v; want %v", field, email.DeliveredOn, err, want)
		}
	}
}

// TestOtherFormat: a response in another format than the specification's is invalid, even if it contains the values.
func TestOtherFormat(t *testing.T) {
	for _, body := range []string{
		`{"id":8,"name":"n"}`, `{"data":{"list_id":7}}`, `{"data":{"id":8}}`, `{"list_id":null,"id":8}`, `{"list":{"list_id":7}}`, `[{"list_id":7}]`,
	} {
		c := newTestClient(t, respondWith(200, "text/plain", body))
		if got, err := c.Lists.Get(t.Context(), 7); got.ID != 0 || !errors.Is(err, ErrInvalidResponse) {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}

// FuzzFieldOrder: the decoders have a fast path for texts whose fields are in the order of openapi.yaml and without
// white space. The fast path must decode each text to the same result as the general path.
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
	if !reflect.DeepEqual(got, want) || withoutOffset(gotErr) != withoutOffset(wantErr) {
		t.Errorf("%s: got %+v, %v, want %+v, %v", dense.Bytes(), got, gotErr, want, wantErr)
	}
}

func withoutOffset(err error) (e jsonscan.Error) {
	if p := new(jsonscan.Error); errors.As(err, &p) {
		e = *p
		e.Offset = 0
	}
	return e
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
