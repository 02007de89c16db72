package client

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
)

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
				text := err.Error()
				assert.NotContains(t, text, "\n")
				assert.NotContains(t, text, "127.0.0.1")
				assert.NotContains(t, text, "no response within")
				assert.Equal(t, op != "read", errors.Is(err, ErrOutcomeUnknown), "%v is ErrOutcomeUnknown", err)
			})
		}
	}
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
			assert.Equal(t, tc.sent, sent, name)
			assert.ErrorIs(t, err, ErrRateLimited, name)
			assert.NotErrorIs(t, err, ErrOutcomeUnknown, name)
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
		check.Need(c.Templates.Get(t.Context(), 1))(t)
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
				d := time.Since(start)
				assert.ErrorIs(t, err, ErrServer)
				assert.GreaterOrEqual(t, d, tc.from)
				assert.LessOrEqual(t, d, tc.to)
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
			require.True(t, low, "%+v", asked)
			assert.True(t, high, "%+v", asked)
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
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, ErrServer)
		assert.Equal(t, 3*time.Second, time.Since(start))
	})
}

// TestRetryDiscardsInvalidResponse: no field of an invalid response remains after a retry.
func TestRetryDiscardsInvalidResponse(t *testing.T) {
	then := func(first string, status int, second string) *Client {
		return newBubbleClient(t, inOrder(respond(200, first), respond(status, second)), withoutPauses)
	}
	const invalid = `{"list_id":7.5,"name":"n","policy_accepted":true}`
	list, err := then(invalid, 200, `{"list_id":99}`).Lists.Get(t.Context(), 99)
	require.NoError(t, err)
	assert.Equal(t, List{ID: 99}, list)
	if list, err := then(invalid, 404, "").Lists.Get(t.Context(), 99); !errors.Is(err, ErrNotFound) || list != (List{}) {
		t.Errorf("with a 404: got %+v, %v", list, err)
	}
	for _, first := range []string{`{"imported":1.5}`, `{"errors":[{"index":5000}]}`} {
		report, err := then(first, 200, `{"imported":1}`).Contacts.Import(t.Context(), 1, numbered(1, 0), ImportOptions{})
		require.NoError(t, err, first)
		assert.EqualValues(t, 1, report.Imported, first)
		assert.Zero(t, report.Accepted, first)
	}
}
