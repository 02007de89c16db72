package client

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// promisedRow is the row of the retry table that requires Unprocessed503WithRetryAfter.
const promisedRow = "503 as promised, below"

// ends maps each row of the retry table in doc.go to outcomes of an attempt.
var ends = map[string][]*Error{
	"no connection":                  {{result: notSent}},
	"rejected unprocessed by HTTP/2": {{result: unprocessed}}, // see TestNoResendOverHTTP2
	"429":                            {{StatusCode: 429, result: errorStatus}, {StatusCode: 429, result: postponed, RetryAfter: time.Second}},
	promisedRow:                      {{StatusCode: 503, result: postponed}},
	"408, 500, 502–504 or 520–530": {
		{StatusCode: 408, result: errorStatus},
		{StatusCode: 500, result: errorStatus},
		{StatusCode: 502, result: errorStatus},
		{StatusCode: 503, result: errorStatus},
		{StatusCode: 504, result: errorStatus},
		{StatusCode: 520, result: errorStatus},
		{StatusCode: 525, result: errorStatus},
		{StatusCode: 530, result: postponed},
		{StatusCode: 408, result: postponed},
		{StatusCode: 500, result: postponed},
		{StatusCode: 503, result: postponed},
	},
	"connection lost": {{result: responseLost}},
	"invalid response": {
		{StatusCode: 200, result: unreadable},
		{StatusCode: 201, result: unreadable},
		{StatusCode: 301, result: unreadable},
		{StatusCode: 307, result: unreadable},
		{StatusCode: 101, result: unreadable},
		{StatusCode: 200, result: mismatched},
	},
	"no result of an import": {{StatusCode: 202, result: unreported}},
	"another 5xx":            {{StatusCode: 501, result: errorStatus}, {StatusCode: 505, result: errorStatus}, {StatusCode: 519, result: errorStatus}, {StatusCode: 531, result: errorStatus}, {StatusCode: 599, result: errorStatus}, {StatusCode: 600, result: errorStatus}},
	"401":                    {{StatusCode: 401, result: errorStatus}}, // withToken has already requested another token; see auth_test.go
	"another 4xx":            {{StatusCode: 400, result: errorStatus}, {StatusCode: 404, result: errorStatus}, {StatusCode: 409, result: errorStatus}, {StatusCode: 422, result: errorStatus}},
}

// TestRetryTable: the table in doc.go is retryTable, and classify follows it.
func TestRetryTable(t *testing.T) {
	src, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(src), "Not repeatable\n")
	table, _, _ = strings.Cut(table, "//\n//")
	rules := RetryConfig{}.retryTable(&Error{})
	for i, line := range slices.Collect(strings.Lines(table)) {
		cells := regexp.MustCompile(`\s{2,}`).Split(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//")), -1)
		require.Less(t, i, len(rules), "doc.go has another row: %s", line)
		rule := rules[i]
		assert.Equal(t, []string{rule.outcome, string(rule.repeatable), string(rule.notRepeatable)}, cells)
		assert.NotEmpty(t, ends[rule.outcome], "the test has no case for %q", rule.outcome)
		for _, e := range ends[rule.outcome] {
			r := RetryConfig{Unprocessed503WithRetryAfter: rule.outcome == promisedRow}
			assert.Equal(t, rule.repeatable, r.classify(true, e), "%s: %+v", rule.outcome, *e)
			assert.Equal(t, rule.notRepeatable, r.classify(false, e), "%s: %+v", rule.outcome, *e)
		}
	}
	assert.Len(t, rules, len(ends))
	assert.Equal(t, len(rules), strings.Count(table, "\n"), "rows in doc.go")
}

func kinds(c *Client) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"read":   func(ctx context.Context) error { return last(c.Templates.Get(ctx, 1)) },
		"update": func(ctx context.Context) error { return last(c.Templates.Update(ctx, 1, TemplateUpdate{})) },
		"delete": func(ctx context.Context) error { return c.Templates.Delete(ctx, 1) },
		"state":  func(ctx context.Context) error { return c.Webhooks.Archive(ctx, "1") },
		"create": func(ctx context.Context) error { return last(c.Templates.Create(ctx, TemplateCreate{Name: "n"})) },
	}
}

// hijack writes raw to the connection and closes it.
func hijack(t *testing.T, w http.ResponseWriter, raw string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = io.WriteString(conn, raw)
	_ = conn.Close()
}

// TestUnusableResponses: after an unusable response, the client does not repeat an operation that creates something.
// It sends any other operation three times in total. TestFaultMatrix covers temporary faults.
func TestUnusableResponses(t *testing.T) {
	for name, tc := range map[string]struct {
		response string
		is       error // nil: any error
	}{
		"503 with garbage":           {"HTTP/1.1 503 x\r\nRetry-After: soon\r\n\r\n", ErrServer},
		"closed before the response": {"", io.EOF},
		"closed in the header":       {"HTTP/1.1 200 OK\r\n", io.ErrUnexpectedEOF},
		"not HTTP":                   {"SSH-2.0-x\r\n", nil},
		"truncated":                  {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"template_id\":1", io.ErrUnexpectedEOF},
		"truncated chunk":            {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{\"template_id\":1", io.ErrUnexpectedEOF},
		"too large by header":        {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", ErrInvalidResponse},
		"too large":                  {"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat(" ", 2000), ErrInvalidResponse},
		"redirect with the body":     {"HTTP/1.1 307 x\r\nLocation: /elsewhere\r\n\r\n", ErrInvalidResponse},
		"redirect to nowhere":        {"HTTP/1.1 301 x\r\n\r\n", ErrInvalidResponse},
		"redirect to garbage":        {"HTTP/1.1 301 x\r\nLocation: http://[\r\n\r\n", ErrInvalidResponse},
		"not modified":               {"HTTP/1.1 304 x\r\nConnection: close\r\n\r\n", ErrInvalidResponse},
	} {
		for op := range kinds(nil) {
			t.Run(name+"/"+op, func(t *testing.T) {
				requests := 0
				c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
					requests++
					_, _ = io.Copy(io.Discard, r.Body)
					hijack(t, w, tc.response)
				}, func(cfg *Config) { cfg.MaxResponseBytes = 1000 })
				err := kinds(c)[op](t.Context())
				attempts := 3
				if op == "create" {
					attempts = 1
				}
				var e *Error
				if !errors.As(err, &e) || tc.is != nil && !errors.Is(err, tc.is) || e.Attempts != attempts || requests != attempts {
					t.Fatalf("error %v after %d requests, want %v after %d", err, requests, tc.is, attempts)
				}
				if text := err.Error(); strings.Contains(text, "\n") || strings.Contains(text, "127.0.0.1") || strings.Contains(text, "no response within") {
					t.Errorf("error %v, want one line without the base URL, and no timeout", err)
				}
				assert.Equal(t, op != "read", errors.Is(err, ErrOutcomeUnknown), "%v is ErrOutcomeUnknown", err)
			})
		}
	}
}

// TestRedirectHidesSecrets: errors contain a Location without its query, fragment and user.
func TestRedirectHidesSecrets(t *testing.T) {
	for location, want := range map[string]string{
		"/login?session=1": "to /login", "https://[/x?session=1": "to https://[/x", "%zz?session=1": "to %zz", ":?session=1": "to :",
		"https://x/#session=1": "to https://x/", "https://user:session@x/y?z": "to https://x/y", "//session@x": "to //x", "https://x/a@b": "to https://x/a@b",
		"?session=1": "to ", "#session": "to ", "https://@x/": "to https://x/",
	} {
		var header string
		c := newBubbleClient(t, inOrder(respond(302, "", "Location", location)))
		ctx := WithResponseHook(t.Context(), func(r Response) { header = r.Header.Get("Location") })
		err := kinds(c)["create"](ctx)
		if !errors.Is(err, ErrInvalidResponse) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "session") {
			t.Errorf("%s: got %v, want %q", location, err, want)
		}
		assert.Equal(t, location, header, "the Location in WithResponseHook")
	}
}

// TestHugeHeaders: a header of the platform or a proxy cannot make an error, and each log record of it, huge.
func TestHugeHeaders(t *testing.T) {
	huge := strings.Repeat("x", 1<<20)
	c := newBubbleClient(t, inOrder(respond(302, "", "Location", "/"+huge, "X-Request-Id", huge, "Content-Encoding", huge)))
	err := kinds(c)["create"](t.Context())
	assert.ErrorIs(t, err, ErrInvalidResponse)
	assert.Less(t, len(err.Error()), 2000)
}

func TestCanceledInFlight(t *testing.T) {
	for _, op := range []string{"read", "update", "delete", "state", "create"} {
		t.Run(op, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var requests atomic.Int64
			c := newTestClient(t, func(_ http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				_, _ = io.Copy(io.Discard, r.Body)
				cancel()
				<-r.Context().Done()
			})
			err := kinds(c)[op](ctx)
			if !errors.Is(err, context.Canceled) || errors.Is(err, ErrOutcomeUnknown) != (op != "read") || requests.Load() != 1 {
				t.Errorf("%v after %d requests", err, requests.Load())
			}
		})
	}
}

func TestAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests int
		c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			if requests++; requests == 1 {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return respond(200, `{"template_id":1}`), nil
		}, func(cfg *Config) { cfg.Timeout = 7 * time.Second; cfg.Retry.BaseDelay = -1 })
		start := time.Now()
		if _, err := c.Templates.Get(t.Context(), 1); err != nil || time.Since(start) != 7*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		requests = 0
		_, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrOutcomeUnknown) || !strings.Contains(err.Error(), "no response within 7s") {
			t.Error(err)
		}
	})
}

// TestOutcomeStaysUnknown: the platform may have processed the first attempt, although it rejects the second.
func TestOutcomeStaysUnknown(t *testing.T) {
	for _, second := range []int{403, 422} {
		c := newBubbleClient(t, inOrder(respond(500, ""), respond(second, "")), withoutPauses)
		assert.ErrorIs(t, kinds(c)["update"](t.Context()), ErrOutcomeUnknown, "500, then %d", second)
	}
}

// TestDeleteNotFoundAfterRetry: a 404 is a success if an earlier attempt may have deleted the record.
func TestDeleteNotFoundAfterRetry(t *testing.T) {
	for name, tc := range map[string]struct {
		first *http.Response
		with  func(*Config)
		want  error
	}{
		"outcome unknown":   {respond(500, ""), withoutPauses, nil},
		"unavailable":       {respond(503, "", "Retry-After", "0"), withoutPauses, nil},
		"not processed":     {respond(503, "", "Retry-After", "0"), withPromised503, ErrNotFound},
		"too many requests": {respond(429, ""), withoutPauses, ErrNotFound},
	} {
		c := newBubbleClient(t, inOrder(tc.first, respond(404, "")), withoutPauses, tc.with)
		assert.ErrorIs(t, c.Templates.Delete(t.Context(), 1), tc.want, name)
	}
	assert.ErrorIs(t, newBubbleClient(t, inOrder(respond(404, ""))).Templates.Delete(t.Context(), 1), ErrNotFound, "without a retry")
}

// TestBudget: the budget limits the retries of 1,000 calls that fail with a 503.
func TestBudget(t *testing.T) {
	for name, tc := range map[string]struct{ budget, most int }{"default": {0, 1100}, "none": {-1, 3000}, "small": {10, 1010}} {
		var requests atomic.Int64
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			requests.Add(1)
			return respond(503, ""), nil
		}, func(cfg *Config) { cfg.Retry.Budget, cfg.Retry.BaseDelay = tc.budget, -1 })
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				for range 100 {
					_, _ = c.Templates.Get(t.Context(), 1)
				}
			})
		}
		wg.Wait()
		if got := int(requests.Load()); got != tc.most {
			t.Errorf("%s: %d requests, want %d", name, got, tc.most)
		}
	}
}

// TestRateLimitKeepsBudget: 50 goroutines send more than the 50 emails per second that the platform accepts. Many
// requests are therefore retried, but no call fails, because a retry after a 429 with Retry-After costs nothing from
// the budget.
func TestRateLimitKeepsBudget(t *testing.T) {
	for name, tc := range map[string]struct {
		retryAfter string
		ignored    bool
		fails      bool
	}{"delay": {"1", false, false}, "fraction": {"0.9", false, false}, "zero": {"0", false, false}, "ignored delay": {"1", true, true}} {
		synctest.Test(t, func(t *testing.T) { // starts at 2000-01-01 00:00:00 UTC
			var mu sync.Mutex
			var second int64
			accepted := 0
			c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
				mu.Lock()
				defer mu.Unlock()
				if now := time.Now().Unix(); now > second {
					second, accepted = now, 0
				}
				if accepted++; accepted > 50 {
					return respond(429, "", "Retry-After", tc.retryAfter), nil
				}
				return respond(201, `{"id":"e-1"}`), nil
			}, func(cfg *Config) {
				cfg.Retry.Budget = 5
				if tc.ignored {
					cfg.Retry.MaxRetryAfter = -1
				}
			})
			var wg sync.WaitGroup
			var failed atomic.Int64
			for range 50 {
				wg.Go(func() {
					for range 6 {
						if _, err := c.Emails.Send(t.Context(), EmailSubmission{To: "a@x"}); err != nil {
							failed.Add(1)
						}
					}
				})
			}
			wg.Wait()
			assert.Equal(t, tc.fails, failed.Load() > 0, "%s: %d of 300 calls failed", name, failed.Load())
		})
	}
}

// TestRateLimitEnds: a call that the platform always rejects with 429 ends when its delays exceed MaxRetryAfter.
func TestRateLimitEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		retryAfter string
		change     func(*Config)
		attempts   int // WithMaxAttempts
		sent       int
	}{
		"default":         {"10", withoutPauses, 0, 7},
		"fraction":        {"7.5", withoutPauses, 0, 9},
		"no delay":        {"", withoutPauses, 0, 3},
		"zero":            {"0", withoutPauses, 0, 601},
		"short delay":     {"0.01", withoutPauses, 0, 601},
		"past date":       {"Fri, 31 Dec 1999 00:00:00 GMT", withoutPauses, 0, 601},
		"long delay":      {"50", withoutPauses, 0, 3},
		"other limit":     {"1", func(cfg *Config) { cfg.Retry.BaseDelay, cfg.Retry.MaxRetryAfter = -1, 5*time.Second }, 0, 6},
		"retries are off": {"1", withoutRetries, 0, 1},
		"attempts":        {"1", withoutPauses, 4, 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			sent := 0
			c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
				sent++
				return respond(429, "", "Retry-After", tc.retryAfter), nil
			}, tc.change)
			_, err := c.Emails.Send(WithMaxAttempts(t.Context(), tc.attempts), EmailSubmission{To: "a@x"})
			if sent != tc.sent || !errors.Is(err, ErrRateLimited) || errors.Is(err, ErrOutcomeUnknown) {
				t.Errorf("%s: %v after %d requests, want %d", name, err, sent, tc.sent)
			}
		})
	}
}

// TestRateLimitUncounted: attempts that the platform rejects with 429 and a delay do not count, do not increase the
// backoff and do not add to the budget.
func TestRateLimitUncounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var responses []*http.Response
		for range 10 {
			responses = append(responses, respond(429, "", "Retry-After", "1"))
		}
		responses = append(responses, respond(500, ""), respond(429, "", "Retry-After", "1"), respond(500, ""), respond(200, `{"template_id":1}`))
		c := newBubbleClient(t, inOrder(responses...), func(cfg *Config) { cfg.Retry.MaxDelay = time.Hour })
		start := time.Now()
		must(t)(c.Templates.Get(t.Context(), 1))
		most := 11*(time.Second+400*time.Millisecond) + 600*time.Millisecond
		assert.LessOrEqual(t, time.Since(start), most, "the delays")

		bucket := newBudget(2)
		require.True(t, bucket.spend())
		p := retrier{RetryConfig{}.withDefaults(), bucket}
		limited := true
		send := withRetries(func(context.Context, *call) error {
			if limited {
				limited = false
				return &Error{StatusCode: 429, result: postponed, RetryAfter: time.Second}
			}
			return nil
		}, p)
		require.NoError(t, send(t.Context(), &call{}))
		assert.Equal(t, 6, bucket.left, "the budget grows as after the first attempt")
	})
}

func TestBudgetDoesNotOverflow(t *testing.T) {
	for _, size := range []int{math.MaxInt, math.MaxInt / 5, math.MaxInt/5 - 1, math.MaxInt/2 + 1} {
		b := newBudget(size)
		b.succeeded(1)
		b.succeeded(2)
		for range 100 {
			if !b.spend() {
				t.Fatalf("a budget of %d is empty at the start", size)
			}
		}
	}
	if b := newBudget(math.MinInt); !b.spend() {
		t.Error("a negative budget limits retries")
	}
}

// TestBudgetRecovers: five successes at the first attempt, or one success after a retry, restore one retry. The budget
// does not grow beyond its size.
func TestBudgetRecovers(t *testing.T) {
	b := newBudget(2)
	for i, step := range "rr-1111-1r-2r-22222222222rr-" {
		switch step {
		case '1', '2':
			b.succeeded(int(step - '0'))
		default:
			require.Equal(t, step == 'r', b.spend(), "step %d: a retry is allowed", i)
		}
	}
}

func TestPauses(t *testing.T) {
	const jitter = 600 * time.Millisecond // maximum sum for two pauses
	for name, tc := range map[string]struct {
		retryAfter string
		date       string
		cfg        RetryConfig
		from, to   time.Duration // limits of the sum of both pauses
	}{
		"backoff":               {"", "", RetryConfig{}, 0, jitter},
		"none":                  {"", "", RetryConfig{BaseDelay: -1}, 0, 0},
		"long backoff":          {"", "", RetryConfig{BaseDelay: time.Hour, MaxDelay: time.Second}, 0, 2 * time.Second},
		"seconds":               {"7", "", RetryConfig{}, 14 * time.Second, 14*time.Second + jitter},
		"no jitter":             {"7", "", RetryConfig{BaseDelay: -1}, 14 * time.Second, 14 * time.Second},
		"as much as allowed":    {"60", "", RetryConfig{}, 2 * time.Minute, 2*time.Minute + jitter},
		"more than allowed":     {"61", "", RetryConfig{}, 0, 0},
		"huge":                  {"99999999999999999999999", "", RetryConfig{}, 0, 0},
		"other limit":           {"7", "", RetryConfig{MaxRetryAfter: time.Second}, 0, 0},
		"no limit":              {"86400", "", RetryConfig{MaxRetryAfter: math.MaxInt64, MaxDelay: math.MaxInt64}, 48 * time.Hour, 48*time.Hour + jitter},
		"ignored":               {"86400", "", RetryConfig{MaxRetryAfter: -1}, 0, jitter},
		"fraction":              {"0.5", "", RetryConfig{BaseDelay: -1}, time.Second, time.Second},
		"zero fraction":         {"7.0", "", RetryConfig{BaseDelay: -1}, 14 * time.Second, 14 * time.Second},
		"spaces":                {"  7 ", "", RetryConfig{BaseDelay: -1}, 14 * time.Second, 14 * time.Second},
		"list":                  {"3, 7,5", "", RetryConfig{BaseDelay: -1}, 14 * time.Second, 14 * time.Second},
		"list with a date":      {"3, Sat, 01 Jan 2000 00:00:09 GMT", "Sat, 01 Jan 2000 00:00:00 GMT", RetryConfig{BaseDelay: -1}, 18 * time.Second, 18 * time.Second},
		"list of dates":         {"Sat, 01 Jan 2000 00:00:09 GMT, Sat, 01 Jan 2000 00:00:02 GMT", "Sat, 01 Jan 2000 00:00:00 GMT", RetryConfig{BaseDelay: -1}, 18 * time.Second, 18 * time.Second},
		"list with garbage":     {"soon, 7", "", RetryConfig{BaseDelay: -1}, 14 * time.Second, 14 * time.Second},
		"not a number":          {"NaN", "", RetryConfig{}, 0, jitter},
		"infinite":              {"1e999", "", RetryConfig{}, 0, 0},
		"date of C":             {"Sat Jan  1 00:00:09 2000", "Sat, 01 Jan 2000 00:00:00 GMT", RetryConfig{BaseDelay: -1}, 18 * time.Second, 18 * time.Second},
		"date with an offset":   {"Sat, 01 Jan 2000 02:00:09 +0200", "Sat, 01 Jan 2000 00:00:00 GMT", RetryConfig{BaseDelay: -1}, 18 * time.Second, 18 * time.Second},
		"date with one digit":   {"Sat, 1 Jan 2000 00:00:09 GMT", "Sat, 1 Jan 2000 00:00:00 UTC", RetryConfig{BaseDelay: -1}, 18 * time.Second, 18 * time.Second},
		"ISO 8601":              {"2000-01-01T01:00:09.5+01:00", "Sat, 01 Jan 2000 00:00:00 GMT", RetryConfig{BaseDelay: -1}, 19 * time.Second, 19 * time.Second},
		"negative":              {"-5", "", RetryConfig{}, 0, jitter},
		"garbage":               {"soon", "", RetryConfig{}, 0, jitter},
		"date":                  {"Sat, 01 Jan 2000 00:00:09 GMT", "", RetryConfig{}, 9 * time.Second, 10 * time.Second},
		"date of another clock": {"Fri, 20 Nov 2026 10:00:05 GMT", "Fri, 20 Nov 2026 10:00:00 GMT", RetryConfig{}, 10 * time.Second, 10*time.Second + jitter},
		"old format":            {"Saturday, 01-Jan-00 00:00:09 GMT", "Sat, 01 Jan 2000 00:00:00 GMT", RetryConfig{}, 18 * time.Second, 18*time.Second + jitter},
		"date in the past":      {"Fri, 31 Dec 1999 00:00:00 GMT", "", RetryConfig{}, 0, jitter},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // starts at 2000-01-01 00:00:00 UTC
				c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
					h := []string{"Retry-After", tc.retryAfter}
					if tc.date != "" {
						h = append(h, "Date", tc.date)
					}
					return respond(503, "", h...), nil
				}, func(cfg *Config) { cfg.Retry = tc.cfg })
				start := time.Now()
				_, err := c.Templates.Get(t.Context(), 1)
				if d := time.Since(start); !errors.Is(err, ErrServer) || d < tc.from || d > tc.to {
					t.Errorf("%v after %v, want %v to %v", err, d, tc.from, tc.to)
				}
			})
		})
	}
}

// TestJitter: random delays cover their range, and the client adds them to Retry-After.
func TestJitter(t *testing.T) {
	r := RetryConfig{}.withDefaults()
	for n := 1; n <= 70; n++ {
		bound := r.MaxDelay
		if n < 6 {
			bound = min(r.BaseDelay<<(n-1), r.MaxDelay)
		}
		for _, asked := range []time.Duration{0, 7 * time.Second} {
			var low, high bool
			for range 200 {
				d := r.delay(n, asked) - asked
				if d < 0 || d > bound {
					t.Fatalf("pause %d is %v beyond %v, want up to %v", n, d, asked, bound)
				}
				low, high = low || d < bound/4, high || d > bound*3/4
			}
			if !low || !high {
				t.Errorf("pause %d is not spread beyond %v", n, asked)
			}
		}
	}
	if d := (RetryConfig{BaseDelay: 1}).withDefaults().delay(1, 0); d < 0 || d > 1 {
		t.Errorf("pause is %v, want up to 1ns", d)
	}
}

func TestRetryAfterTooLong(t *testing.T) {
	for _, op := range []string{"create", "lookup"} {
		c := newBubbleClient(t, inOrder(respond(429, "", "Retry-After", "3600")))
		calls := kinds(c)
		calls["lookup"] = func(ctx context.Context) error { return last(c.Emails.Get(ctx, "1")) }
		err := calls[op](t.Context())
		var e *Error
		if !errors.As(err, &e) || e.RetryAfter != time.Hour || !errors.Is(err, ErrRateLimited) || e.Attempts != 1 ||
			!strings.Contains(err.Error(), "retry not before 1h0m0s") {
			t.Errorf("%s: %v, want the hour in the error after one request", op, err)
		}
	}
}

func TestNoPausePastDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(503, "", "Retry-After", "10"), nil }, withPromised503)
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		start := time.Now()
		_, err := c.Templates.Create(ctx, TemplateCreate{Name: "n"})
		var e *Error
		if !errors.As(err, &e) || e.StatusCode != 503 || e.Attempts != 2 || e.RetryAfter != 10*time.Second || time.Since(start) > 10200*time.Millisecond {
			t.Errorf("%v after %v, want the second 503 immediately", err, time.Since(start))
		}
		canceled, stop := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, stop)
		start = time.Now()
		_, err = c.Templates.Get(canceled, 1)
		if !errors.Is(err, context.Canceled) || !errors.Is(err, ErrServer) || time.Since(start) != 3*time.Second {
			t.Errorf("%v after %v, want both errors when the context is canceled", err, time.Since(start))
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "1", "-1", "1e3", "Fri, 20 Nov 2026 10:00:05 GMT", "99999999999999999999"} {
		f.Add(s, "Fri, 20 Nov 2026 10:00:00 GMT")
	}
	f.Fuzz(func(t *testing.T, value, date string) {
		d, ok := retryAfter(http.Header{"Retry-After": {value}, "Date": {date}})
		if d < 0 || !ok && d != 0 {
			t.Errorf("retryAfter(%q, %q) = %v, %v", value, date, d, ok)
		}
	})
}

// TestRetryAfterAsTime: a platform can write the time as Unix seconds or milliseconds.
func TestRetryAfterAsTime(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"1795168805": 5 * time.Second, "1795168805000": 5 * time.Second, "1795168805.5": 5 * time.Second, "1795168000": 0,
		"999999999": 999999999 * time.Second, "10000000000": math.MaxInt64, "99999999999999": math.MaxInt64,
	} {
		d, ok := retryAfter(http.Header{"Retry-After": {value}, "Date": {"Fri, 20 Nov 2026 10:00:00 GMT"}})
		if d != want || !ok {
			t.Errorf("%s: got %v, %v, want %v", value, d, ok, want)
		}
	}
}

// TestRetryDiscardsInvalidResponse: no field of an invalid response remains after a retry.
func TestRetryDiscardsInvalidResponse(t *testing.T) {
	then := func(first string, status int, second string) *Client {
		return newBubbleClient(t, inOrder(respond(200, first), respond(status, second)), withoutPauses)
	}
	const invalid = `{"list_id":7.5,"name":"n","policy_accepted":true}`
	if list, err := then(invalid, 200, `{"list_id":99}`).Lists.Get(t.Context(), 99); err != nil || list != (List{ID: 99}) {
		t.Errorf("got %+v, %v", list, err)
	}
	if list, err := then(invalid, 404, "").Lists.Get(t.Context(), 99); !errors.Is(err, ErrNotFound) || list != (List{}) {
		t.Errorf("with a 404: got %+v, %v", list, err)
	}
	for _, first := range []string{`{"imported":1.5}`, `{"errors":[{"index":5000}]}`} {
		report, err := then(first, 200, `{"imported":1}`).Contacts.Import(t.Context(), 1, numbered(1, 0), ImportOptions{})
		if err != nil || report.Imported != 1 || report.Accepted != 0 {
			t.Errorf("%s: got %+v, %v", first, report.ImportCounts, err)
		}
	}
}

// closing is a response body that records whether it was read and closed.
type closing struct {
	io.Reader
	read, closed bool
}

func (c *closing) Read(b []byte) (int, error) {
	c.read = true
	return c.Reader.Read(b)
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// TestResponseBodyIsClosed: the client closes each response body, because a connection cannot be reused while the
// body is open. The client does not read the body of a 101 response, because that body never ends.
func TestResponseBodyIsClosed(t *testing.T) {
	for name, row := range map[string]struct {
		status int
		body   string
		read   bool
	}{
		"read whole":          {200, `{"template_id":1}`, true},
		"an error":            {400, `{}`, true},
		"too large":           {200, strings.Repeat(" ", 100), true},
		"switching protocols": {101, "", false},
	} {
		body := &closing{Reader: strings.NewReader(row.body)}
		c := newClient(t, "https://example.com", roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: row.status, ContentLength: -1, Body: body}, nil
		}), withoutRetries, func(cfg *Config) { cfg.MaxResponseBytes = 50 })
		_, err := c.Templates.Get(t.Context(), 1)
		if !body.closed || body.read != row.read {
			t.Errorf("%s (%v): closed is %v, want true; read is %v, want %v", name, err, body.closed, body.read, row.read)
		}
		if row.status == 101 && !errors.Is(err, ErrInvalidResponse) {
			t.Errorf("%s: got %v, want ErrInvalidResponse", name, err)
		}
	}
}
