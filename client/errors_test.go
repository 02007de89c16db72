package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestErrorIs(t *testing.T) {
	all := []error{
		ErrUnauthorized, ErrForbidden, ErrNotFound, ErrConflict, ErrPolicyNotAccepted, ErrContactExists, ErrValidation,
		ErrTooLarge, ErrRateLimited, ErrServer, ErrInvalidResponse, ErrOutcomeUnknown, ErrNotQueued,
	}
	detail := func(rule string) string {
		return `{"detail":[{"loc":["body","contacts",3,"email"],"msg":"wrong","type":"` + rule + `"}]}`
	}
	for name, tc := range map[string]struct {
		status int
		body   string
		want   []error
	}{
		"400":             {400, "", []error{ErrValidation}},
		"401":             {401, "", []error{ErrUnauthorized}},
		"403":             {403, "", []error{ErrForbidden}},
		"404":             {404, "", []error{ErrNotFound}},
		"405":             {405, "", nil},
		"409":             {409, "", []error{ErrConflict}},
		"policy":          {409, detail("policy_not_accepted"), []error{ErrConflict, ErrPolicyNotAccepted}},
		"exists":          {409, detail("contact_exists"), []error{ErrConflict, ErrContactExists}},
		"one is odd":      {409, `{"detail":[{"loc":"body","type":"policy_not_accepted"},{"loc":7,"type":7}]}`, []error{ErrConflict, ErrPolicyNotAccepted}},
		"exists, but 422": {422, detail("contact_exists"), []error{ErrValidation, ErrContactExists}},
		"413":             {413, "", []error{ErrTooLarge}},
		"422":             {422, detail("missing"), []error{ErrValidation}},
		"429":             {429, "", []error{ErrRateLimited}},
		"500":             {500, "", []error{ErrServer, ErrOutcomeUnknown}},
		"599":             {599, "", []error{ErrServer, ErrOutcomeUnknown}},
		"302":             {302, "", []error{ErrInvalidResponse, ErrOutcomeUnknown}},
		"201, not JSON":   {201, "{", []error{ErrInvalidResponse, ErrOutcomeUnknown}},
		"201, wrong type": {201, `{"template_id":"x"}`, []error{ErrInvalidResponse, ErrOutcomeUnknown}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestClient(t, respondWith(tc.status, "application/json", tc.body), withoutRetries)
			_, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
			for _, target := range all {
				assert.Equal(t, slices.Contains(tc.want, target), errors.Is(err, target), "%v is %q", err, target)
			}
			assert.Equal(t, errors.Is(err, ErrOutcomeUnknown), strings.Contains(err.Error(), ErrOutcomeUnknown.Error()), "whether the outcome is unknown differs from the text")
			var e *Error
			if !errors.As(err, &e) || e.StatusCode != tc.status || e.RequestID != "req-1" || e.Method != "POST" || e.Path != "/templates" || e.Op != "createTemplate" || e.Attempts != 1 {
				t.Errorf("%#v", e)
			}
		})
	}
}

func TestErrorDetailLimits(t *testing.T) {
	long := strings.Repeat("ä", 600)
	c := newTestClient(t, respondWith(422, "application/json",
		`{"detail":[{"loc":["body"],"msg":"`+long+`","type":"t"}`+strings.Repeat(`,{"msg":"m"}`, 99_999)+`]}`))
	_, err := c.Lists.Create(t.Context(), ListCreate{Name: "n"})
	var e *Error
	require.ErrorAs(t, err, &e, "not 100 details")
	require.Len(t, e.Details, 100, "not 100 details")
	require.LessOrEqual(t, len(e.Details[0].Msg), 510, "not 100 details")
	require.True(t, strings.HasSuffix(e.Details[0].Msg, "ä…"), "not 100 details")
	text := e.Error()
	assert.LessOrEqual(t, len(text), 1000)
	assert.Contains(t, text, "ä… (t): m: m: m: m: and 99995 more")
}

// TestErrorDetails: an invalid detail does not affect the other details.
func TestErrorDetails(t *testing.T) {
	long, most := strings.Repeat("x", maxDetailText), strings.TrimSuffix(strings.Repeat(`"a",`, maxLocation), ",")
	for body, want := range map[string][]string{
		`{"code":7,"detail":"no","more":[]}`:                 {"no"},
		`{"detail":[{"msg":"m","type":"t","ctx":"x"}]}`:      {"m (t)"},
		`{"detail":[{"loc":["body","x"]}]}`:                  {"body.x"},
		`{"detail":[{"type":"t"},{},{"msg":""},{"loc":[]}]}`: {" (t)"},
		`{"detail":[{"loc":0,"msg":"m"}]}`:                   {"0: m"},
		`{"detail":[{"loc":9,"msg":"m"}]}`:                   {"9: m"},
		`{"detail":[{"loc":"body","msg":"m"}]}`:              {"body: m"},
		`{"detail":[{"loc":{"a":1},"msg":"m"}]}`:             {"m"},
		`{"detail":[{"msg":7,"type":[]},{"msg":"m"}]}`:       {"m"},
		`{"detail":{"msg":"m"},"more":[]}`:                   nil,
		`{"detail":[{"msg":"` + long + `"}]}`:                {long},
		`{"detail":[{"msg":"` + long + `x"}]}`:               {long + "…"},
		`{"detail":[{"msg":"` + testToken + long + `"}]}`:    {redacted + long[len(redacted):] + "…"},
		`{"detail":[{"loc":[` + most + `,"b"],"msg":"m"}]}`:  {strings.TrimSuffix(strings.Repeat("a.", maxLocation), ".") + ": m"},
		`{"detail":"no"`:    nil,
		`{"detail":"no"} x`: nil,
		`["no"]`:            nil,
		`{"message":"no"}`:  nil,
		`{"detail":[{"loc":[{}],"msg":7,"type":"t"},"and",5,{"loc":-1,"type":"u"}]}`: {"{} (t)", "and", " (u)"},
	} {
		var got []string
		details, more := parseDetails(body, testToken)
		for _, d := range details {
			got = append(got, d.String())
		}
		if !slices.Equal(got, want) || more != 0 {
			t.Errorf("%.100s: %q and %d more, want %q", body, got, more, want)
		}
	}
}

func TestLocation(t *testing.T) {
	for text, want := range map[string]string{
		`["body",3,"a"]`: "body.3.a", `"body"`: "body", `0`: "0", `9`: "9", `42`: "42", `[]`: "", `null`: "",
		`-1`: "error", `{}`: "error", `true`: "error", `["`: "error", `"`: "error", ``: "error",
	} {
		var l Location
		got := "error"
		if err := l.UnmarshalJSON([]byte(text)); err == nil {
			got = l.String()
		}
		assert.Equal(t, want, got, text)
	}
}

func TestErrorBodies(t *testing.T) {
	for name, tc := range map[string]struct {
		contentType, body string
		want              string // part of the error's text
		keeps             int    // number of bytes of the body in the error
	}{
		"details":       {"application/json", `{"detail":[{"loc":["body",3,"email"],"msg":"wrong","type":"t"},{"msg":"too"}]}`, "body.3.email: wrong (t): too", 78},
		"HTML":          {"text/html", "<h1>No</h1>", "422 Unprocessable Entity: HTML page instead of JSON", 11},
		"nothing":       {"", "", "422 Unprocessable Entity [", 0},
		"more than 4 K": {"text/plain", strings.Repeat("x", 10_000), "422 Unprocessable Entity [", 4096},
		"too large":     {"application/json", `{"detail":[{"msg":"x"}]}` + strings.Repeat(" ", 30_000), "422 Unprocessable Entity", 4096},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestClient(t, respondWith(422, tc.contentType, tc.body), func(cfg *Config) { cfg.MaxResponseBytes = 20_000 })
			_, err := c.Lists.Create(t.Context(), ListCreate{})
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, 422, e.StatusCode)
			assert.Contains(t, e.Error(), tc.want)
			assert.Len(t, e.Body, tc.keeps)
		})
	}
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		hijack(t, w, "HTTP/1.1 409 Conflict\r\nContent-Length: 100\r\nX-Request-Id: r\r\n\r\n{\"detail\":")
	})
	_, err := c.Lists.Create(t.Context(), ListCreate{Name: "n"})
	var e *Error
	require.ErrorAs(t, err, &e, "a truncated 409")
	assert.Equal(t, 409, e.StatusCode, "a truncated 409")
	assert.Equal(t, "r", e.RequestID, "a truncated 409")
	assert.NotErrorIs(t, err, ErrOutcomeUnknown, "a truncated 409")
}

// TestErrorLog: the text and the log record of an error contain no empty parts.
func TestErrorLog(t *testing.T) {
	for want, e := range map[string]*Error{
		`err.op=createList err.method=POST err.path=/lists err.status=503 err.attempts=2 err.error="503 Service Unavailable: down" ` +
			`err.request_id=r err.retry_after=5s err.outcome_unknown=true`: {
			Op: "createList", Method: "POST", Path: "/lists", StatusCode: 503, RequestID: "r", Attempts: 2, RetryAfter: 5e9, effect: maybeDone,
			Details: []ErrorDetail{{Msg: "down"}},
		},
		`err.op=getList err.method=GET err.path=/lists/1 err.status=422 err.attempts=1 err.error="422 Unprocessable Entity: m: m: m: m: m: EOF"`: {
			Op: "getList", Method: "GET", Path: "/lists/1", StatusCode: 422, Attempts: 1,
			Details: slices.Repeat([]ErrorDetail{{Msg: "m"}}, maxShownDetails), cause: io.EOF,
		},
	} {
		var b bytes.Buffer
		slog.New(slog.NewTextHandler(&b, nil)).Error("x", "err", e)
		if _, got, _ := strings.Cut(strings.TrimSpace(b.String()), "msg=x "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := fmt.Sprintf("%v|%+v|%#v|%s", e, e, e, e); strings.Count(got, e.Error()) != 4 {
			t.Errorf("verbs print %s", got)
		}
		assert.Equal(t, fmt.Sprintf("%q", e.Error()), fmt.Sprintf("%q", e), "%q")
	}
}

func TestErrorJoined(t *testing.T) {
	e := &Error{cause: io.EOF}
	for _, err := range []error{nil, io.EOF} {
		if e.wrapping(err) != e {
			t.Errorf("wrapping %v: %v", err, e.wrapping(err))
		}
	}
	both := e.wrapping(io.ErrClosedPipe)
	assert.ErrorIs(t, both, io.EOF, "wrapping another")
	assert.ErrorIs(t, both, io.ErrClosedPipe, "wrapping another")
	assert.NotErrorIs(t, e, io.ErrClosedPipe, "wrapping another")
}

// FuzzResponse: the client handles any response without a panic, and no error contains the token.
func FuzzResponse(f *testing.F) {
	f.Add(200, "application/json", `{"data":[{"id":1,"email":"a","tags":["x"],"custom_attributes":null}],"pagination":{"page":1}}`)
	f.Add(422, "application/json", `{"detail":[{"loc":["body",1],"msg":"m","type":"t"}]}`)
	f.Add(500, "text/html; charset", `<`)
	f.Fuzz(func(t *testing.T, status int, contentType, body string) {
		if status < 200 || status > 999 {
			return
		}
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			return respond(status, body, "Content-Type", contentType, "X-Request-Id", testToken), nil
		}, withoutRetries)
		_, err := c.Contacts.List(t.Context(), 1, ListContactsParams{})
		if err == nil {
			if status >= 300 {
				t.Fatalf("%d is a success", status)
			}
			return
		}
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, status, e.StatusCode)
		require.LessOrEqual(t, len(e.Body), maxErrorBody)
		require.NotContains(t, fmt.Sprintf("%v %s", err, e.Body), testToken, "the token shows")
	})
}

// TestErrorIsOneLine: errors escape control characters, line separators and bidirectional controls.
func TestErrorIsOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 😀 \u00a0": "plain é 😀 \u00a0",
		`a \n "quoted"`:    `a \n "quoted"`,
		"\n" + `a \ "q"`:   `\n` + `a \ "q"`,
		"\x1b[2Jgone\r\n":  `\x1b[2Jgone\r\n`,
		"\x00\x7f\u0085":   `\x00\x7f\u0085`,
		"a\u2028b\u2029c":  `a\u2028b\u2029c`,
		"\u202egnp.exe":    `\u202egnp.exe`,
		"\xff\xc3(\ufffd":  `\xff\xc3(` + "\ufffd",
	} {
		assert.Equal(t, want, escapeControls(in), "%q", in)
	}
	c := newTestClient(t, respondWith(422, "application/json", `{"detail":[{"loc":["body","a\nb"],"msg":"no\u001b[31m","type":"x\ry"}]}`))
	_, err := c.Lists.Create(t.Context(), ListCreate{Name: "n"})
	want := `createList: POST /lists: 422 Unprocessable Entity: body.a\nb: no\x1b[31m (x\ry) [request req-1]`
	assert.EqualError(t, err, want)
	assert.Equal(t, want, fmt.Sprintf("%s", err))
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Error("x", "err", err)
	slog.New(slog.NewJSONHandler(&log, nil)).Error("x", "err", err)
	assert.NotContains(t, log.String(), "\x1b")
	assert.NotContains(t, log.String(), `\u001b`)
}

// causeLimiter returns only the cause of the cancellation.
type causeLimiter struct{}

func (causeLimiter) Acquire(ctx context.Context, _ string) (func(time.Duration), error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// TestContextCause: the error of a canceled call matches context.Canceled and the cause.
func TestContextCause(t *testing.T) {
	closing := errors.New("the shop closes\nnow " + testToken)
	busy := roundTrip(func(*http.Request) (*http.Response, error) { return respond(503, "", "Retry-After", "59"), nil })
	tooEarly := roundTrip(func(*http.Request) (*http.Response, error) { return respond(429, ""), nil })
	queued := roundTrip(func(*http.Request) (*http.Response, error) { return respond(200, `{"id":"e","status":"queued"}`), nil })
	get := func(ctx context.Context, c *Client) error { return last(c.Lists.Get(ctx, 1)) }
	lookup := func(ctx context.Context, c *Client) error { return last(c.Emails.Get(ctx, "e")) }
	importOne := func(ctx context.Context, c *Client) error {
		return last(c.Contacts.Import(ctx, 1, numbered(1, 0), ImportOptions{}))
	}
	for name, tc := range map[string]struct {
		after  time.Duration // when the context is canceled
		change func(*Config)
		call   func(context.Context, *Client) error
	}{
		"before the call":         {0, func(*Config) {}, get},
		"during a request":        {time.Second, func(*Config) {}, get},
		"in a pause":              {time.Second, func(cfg *Config) { cfg.HTTPClient.Transport = busy }, get},
		"waiting for a slot":      {time.Second, func(cfg *Config) { cfg.LookupLimiter = causeLimiter{} }, lookup},
		"after a rejected lookup": {time.Second, func(cfg *Config) { cfg.HTTPClient.Transport = tooEarly }, lookup},
		"waiting for a status": {time.Second / 2, func(cfg *Config) { cfg.HTTPClient.Transport = queued }, func(ctx context.Context, c *Client) error {
			return last(c.Emails.Wait(ctx, "e", Email.Settled))
		}},
		"before an import": {0, func(*Config) {}, importOne},
		"during an import": {time.Second, func(*Config) {}, importOne},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}, tc.change)
				time.AfterFunc(tc.after, func() { cancel(closing) })
				time.Sleep(time.Nanosecond) // with an interval of 0, the context is canceled before the call
				err := tc.call(ctx, c)
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, closing)
				e, sent := errors.AsType[*Error](err)
				if got := err.Error(); strings.Count(got, `the shop closes\nnow `) != 1 || sent && e.Attempts > 0 && strings.Contains(got, testToken) {
					t.Errorf("got %s", got)
				}
			})
		})
	}
	c := newTestClient(t, respondWith(404, "application/json", ""))
	ctx, cancel := context.WithCancelCause(t.Context())
	ctx = WithResponseHook(ctx, func(Response) { cancel(closing) })
	_, err := c.Lists.Get(ctx, 1)
	assert.ErrorIs(t, err, ErrNotFound, "a call that did not end by its context")
	assert.NotErrorIs(t, err, closing, "a call that did not end by its context")
}

// sharedErrors is a log handler that keeps each logged error, and a copy of the error at the time of the log
// record.
type sharedErrors struct {
	slog.Handler
	errs   []*Error
	before []Error
}

func (*sharedErrors) Enabled(context.Context, slog.Level) bool { return true }

func (s *sharedErrors) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if e, ok := a.Value.Any().(*Error); ok {
			s.errs, s.before = append(s.errs, e), append(s.before, *e)
		}
		return true
	})
	return nil
}

// No layer changes an error of an inner layer, because log handlers and observers may have kept it.
func TestErrorsNeverChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shared sharedErrors
		responses := inOrder(
			respond(500, ""), respond(503, ""), respond(500, ""), // GET
			respond(500, ""),                                                         // POST
			respond(429, ""), respond(429, "", "Retry-After", "1"), respond(404, ""), // lookup
		)
		c := newBubbleClient(t, responses, func(cfg *Config) { cfg.Logger = slog.New(&shared) })
		_, err := c.Templates.Get(t.Context(), 1)
		assert.ErrorIs(t, err, ErrServer)
		_, err = c.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
		assert.ErrorIs(t, err, ErrOutcomeUnknown)
		_, err = c.Emails.Get(t.Context(), "1")
		assert.ErrorIs(t, err, ErrNotFound)
		assert.Len(t, shared.errs, 7+4, "7 responses and 4 retries")
		for i, e := range shared.errs {
			assert.Equal(t, shared.before[i], *e)
		}
	})
}

// TestHugeHeaders: a huge header from the platform or a proxy cannot cause a huge error or huge log records.
func TestHugeHeaders(t *testing.T) {
	huge := strings.Repeat("x", 1<<20)
	c := newBubbleClient(t, inOrder(respond(302, "", "Location", "/"+huge, "X-Request-Id", huge, "Content-Encoding", huge)))
	err := kinds(c)["create"](t.Context())
	assert.ErrorIs(t, err, ErrInvalidResponse)
	assert.Less(t, len(err.Error()), 2000)
}
