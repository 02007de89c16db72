package client

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// ends maps each row of the retry table in doc.go to outcomes of an attempt.
var ends = map[string][]*Error{
	"no connection":                  {{}},
	"rejected unprocessed by HTTP/2": {{}}, // see TestNoResendOverHTTP2
	"429":                            {{StatusCode: 429, reached: true}, {StatusCode: 429, reached: true, refused: true, RetryAfter: time.Second}},
	"503 with Retry-After":           {{StatusCode: 503, reached: true, refused: true}},
	"408, 500, 502, 503 or 504": {
		{StatusCode: 408},
		{StatusCode: 500},
		{StatusCode: 502},
		{StatusCode: 503},
		{StatusCode: 504},
		{StatusCode: 408, refused: true},
		{StatusCode: 500, refused: true},
	},
	"connection lost": {{reached: true}},
	"invalid response": {
		{StatusCode: 200, invalidResponse: true},
		{StatusCode: 201, invalidResponse: true},
		{StatusCode: 301, invalidResponse: true},
		{StatusCode: 307, invalidResponse: true},
		{StatusCode: 101, invalidResponse: true},
	},
	"another 5xx": {{StatusCode: 501}, {StatusCode: 505}, {StatusCode: 599}, {StatusCode: 600}},
	"401":         {{StatusCode: 401}}, // the layer below has asked for another token; see auth_test.go
	"another 4xx": {{StatusCode: 400}, {StatusCode: 404}, {StatusCode: 409}, {StatusCode: 422}},
}

// TestRetryTable compares judge with the retry table in doc.go.
func TestRetryTable(t *testing.T) {
	src, err := os.ReadFile("doc.go")
	fatal(t, err)
	_, table, _ := strings.Cut(string(src), "Not repeatable\n")
	table, _, _ = strings.Cut(table, "//\n//")
	rows := 0
	for line := range strings.Lines(table) {
		cells := regexp.MustCompile(`\s{2,}`).Split(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//")), -1)
		if len(cells) != 3 {
			continue
		}
		rows++
		if len(ends[cells[0]]) == 0 {
			t.Errorf("the test does not know %q", cells[0])
		}
		for _, e := range ends[cells[0]] {
			for repeatable, cell := range map[bool]string{true: cells[1], false: cells[2]} {
				want := verdict{again: strings.HasPrefix(cell, "retry"), maybeDone: strings.HasSuffix(cell, "maybe done")}
				if got := judge(repeatable, e); got != want {
					t.Errorf("%s: %+v, repeatable %v: %+v, want %+v", cells[0], *e, repeatable, got, want)
				}
			}
		}
	}
	if rows != len(ends) {
		t.Errorf("the documentation has %d rows, the test %d", rows, len(ends))
	}
}

func operations(c *Client) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"read":   func(ctx context.Context) error { _, err := c.Templates.Get(ctx, 1); return err },
		"update": func(ctx context.Context) error { _, err := c.Templates.Update(ctx, 1, TemplateUpdate{}); return err },
		"delete": func(ctx context.Context) error { return c.Templates.Delete(ctx, 1) },
		"state":  func(ctx context.Context) error { return c.Webhooks.Archive(ctx, "1") },
		"create": func(ctx context.Context) error {
			_, err := c.Templates.Create(ctx, TemplateCreate{Name: "n"})
			return err
		},
	}
}

// hijack writes raw on the connection and closes it.
func hijack(t *testing.T, w http.ResponseWriter, raw string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = io.WriteString(conn, raw)
	_ = conn.Close()
}

func TestFaults(t *testing.T) {
	status := func(code int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			if code >= 200 && code < 300 {
				_, _ = io.WriteString(w, "<html>")
			}
		}
	}
	raw := func(s string) func(*testing.T) http.HandlerFunc {
		return func(t *testing.T) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				hijack(t, w, s)
			}
		}
	}
	plain := func(h http.HandlerFunc) func(*testing.T) http.HandlerFunc {
		return func(*testing.T) http.HandlerFunc { return h }
	}
	for name, tc := range map[string]struct {
		fault   func(*testing.T) http.HandlerFunc
		refused bool // certainly nothing was done
		is      error
	}{
		"429":                    {plain(status(429)), true, ErrRateLimited},
		"429 with Retry-After":   {plain(status(429, "Retry-After", "0")), true, ErrRateLimited},
		"503 with Retry-After":   {plain(status(503, "Retry-After", "0")), true, ErrServer},
		"503 with garbage":       {plain(status(503, "Retry-After", "soon")), false, ErrServer},
		"500":                    {plain(status(500)), false, ErrServer},
		"502":                    {plain(status(502, "Content-Type", "text/html")), false, ErrServer},
		"503":                    {plain(status(503)), false, ErrServer},
		"504":                    {plain(status(504)), false, ErrServer},
		"closed before answer":   {raw(""), false, io.EOF},
		"closed in the header":   {raw("HTTP/1.1 200 OK\r\n"), false, io.ErrUnexpectedEOF},
		"not HTTP":               {raw("SSH-2.0-x\r\n"), false, ErrOutcomeUnknown},
		"truncated":              {raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"template_id\":1"), false, io.ErrUnexpectedEOF},
		"truncated chunk":        {raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{\"template_id\":1"), false, io.ErrUnexpectedEOF},
		"too large by header":    {raw("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"), false, ErrInvalidResponse},
		"too large":              {raw("HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat(" ", 2000)), false, ErrInvalidResponse},
		"HTML":                   {plain(status(200, "Content-Type", "text/html; charset=utf-8")), false, ErrInvalidResponse},
		"redirect":               {plain(status(302, "Location", "/login?session=1")), false, ErrInvalidResponse},
		"redirect with the body": {plain(status(307, "Location", "/elsewhere")), false, ErrInvalidResponse},
		"redirect to nowhere":    {plain(status(301)), false, ErrInvalidResponse},
		"redirect to garbage":    {plain(status(301, "Location", "http://[")), false, ErrInvalidResponse},
		"not modified":           {plain(status(304)), false, ErrInvalidResponse},
	} {
		for _, op := range []string{"read", "update", "delete", "state", "create"} {
			t.Run(name+"/"+op, func(t *testing.T) {
				for passes := range 4 { // how many requests callUnderFault the fault
					var requests atomic.Int64
					fault := tc.fault(t)
					c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
						if int(requests.Add(1)) <= passes {
							fault(w, r)
							return
						}
						respondWith(200, "application/json", `{"template_id":1}`)(w, r)
					}, func(cfg *Config) { cfg.MaxResponseBytes = 1000 })
					checkFault(t, operations(c)[op](t.Context()), op, passes, int(requests.Load()), tc.refused, tc.is)
				}
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
		c := newTestClient(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(302)
		})
		ctx := WithResponseHook(t.Context(), func(r Response) { header = r.Header.Get("Location") })
		err := operations(c)["create"](ctx)
		if !errors.Is(err, ErrInvalidResponse) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "session") {
			t.Errorf("%s: got %v, want %q", location, err, want)
		}
		if header != location {
			t.Errorf("WithResponseHook got the Location %q, want %q", header, location)
		}
	}
}

// checkFault checks a call whose first faulty requests met a fault.
func checkFault(t *testing.T, err error, op string, faulty, requests int, refused bool, is error) {
	t.Helper()
	attempts := min(faulty+1, 3)
	if op == "create" && !refused {
		attempts = 1
	}
	if requests != attempts {
		t.Errorf("%d requests with %d faults, want %d (%v)", requests, faulty, attempts, err)
	}
	if faulty < attempts {
		if err != nil {
			t.Errorf("after %d faults: %v", faulty, err)
		}
		return
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want an *Error", err)
	}
	if is != ErrOutcomeUnknown && !errors.Is(err, is) || e.Attempts != attempts || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v after %d attempts, want %v after %d", err, e.Attempts, is, attempts)
	}
	if strings.Contains(err.Error(), "no response within") {
		t.Errorf("error %v, though no attempt took too long", err)
	}
	if unknown := op != "read" && !refused; errors.Is(err, ErrOutcomeUnknown) != unknown {
		t.Errorf("%v is ErrOutcomeUnknown: %v, want %v", err, !unknown, unknown)
	}
}

func TestDialRefused(t *testing.T) {
	// No server listens on port 1. A free port could soon belong to a test in another
	// process.
	const nobody = "http://127.0.0.1:1"
	c, err := New(Config{BaseURL: nobody, Token: testToken, Retry: RetryConfig{BaseDelay: -1}})
	fatal(t, err)
	for name, call := range operations(c) {
		var e *Error
		err := call(t.Context())
		if !errors.As(err, &e) || e.Attempts != 3 || errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("%s: %v, want 3 attempts and a known outcome", name, err)
		}
	}
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
			err := operations(c)[op](ctx)
			if !errors.Is(err, context.Canceled) || errors.Is(err, ErrOutcomeUnknown) != (op != "read") || requests.Load() != 1 {
				t.Errorf("%v after %d requests", err, requests.Load())
			}
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("for a reason"))
	c := newTestClient(t, func(http.ResponseWriter, *http.Request) { t.Error("sent something") })
	for name, call := range operations(c) {
		if err := call(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("%s with a dead context: %v", name, err)
		}
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

// TestOutcomeStaysUnknown: the first attempt may have been processed, the second certainly was not.
func TestOutcomeStaysUnknown(t *testing.T) {
	for name, second := range map[string]int{"429": 429, "403": 403, "422": 422} {
		var requests atomic.Int64
		c := newTestClient(t, func(w http.ResponseWriter, _ *http.Request) {
			if requests.Add(1) == 1 {
				w.WriteHeader(500)
				return
			}
			w.WriteHeader(second)
		})
		if err := operations(c)["update"](t.Context()); !errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("500, then %s: %v, want ErrOutcomeUnknown", name, err)
		}
	}
}

func TestDeleteNotFoundAfterRetry(t *testing.T) {
	for name, tc := range map[string]struct {
		first   int
		header  string
		want    error
		request int64
	}{
		"at once":                 {404, "", ErrNotFound, 1},
		"after it maybe was done": {500, "", nil, 2},
		"after it was refused":    {503, "0", ErrNotFound, 2},
		"after too many requests": {429, "", ErrNotFound, 2},
	} {
		var requests atomic.Int64
		c := newTestClient(t, func(w http.ResponseWriter, _ *http.Request) {
			if requests.Add(1) == 1 {
				if tc.header != "" {
					w.Header().Set("Retry-After", tc.header)
				}
				w.WriteHeader(tc.first)
				return
			}
			w.WriteHeader(404)
		})
		if err := c.Templates.Delete(t.Context(), 1); !errors.Is(err, tc.want) || requests.Load() != tc.request {
			t.Errorf("%s: %v after %d requests, want %v", name, err, requests.Load(), tc.want)
		}
	}
}

func TestRetriesOff(t *testing.T) {
	var requests atomic.Int64
	c := newTestClient(t, func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(429)
	}, withoutRetries)
	_, _ = c.Templates.Get(t.Context(), 1)
	_, _ = c.Emails.Get(t.Context(), "1")
	if requests.Load() != 2 {
		t.Errorf("%d requests, want one each", requests.Load())
	}
}

// TestBudget: 1,000 calls fail with a 503.
func TestBudget(t *testing.T) {
	for name, tc := range map[string]struct{ budget, most int }{"default": {0, 1100}, "none": {-1, 3000}, "small": {10, 1010}} {
		var requests atomic.Int64
		c := newTestClient(t, nil, func(cfg *Config) {
			cfg.Retry.Budget = tc.budget
			cfg.HTTPClient = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				requests.Add(1)
				return respond(503, ""), nil
			})}
		})
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

func TestBudgetDoesNotOverflow(t *testing.T) {
	for _, size := range []int{math.MaxInt, math.MaxInt / 5, math.MaxInt/5 - 1, math.MaxInt/2 + 1} {
		b := newBudget(size)
		b.succeeded(1)
		b.succeeded(2)
		for range 100 {
			if !b.spend() {
				t.Fatalf("a budget of %d has nothing left", size)
			}
		}
	}
	if b := newBudget(math.MinInt); !b.spend() {
		t.Error("a negative budget is a limit")
	}
}

func TestBudgetRecovers(t *testing.T) {
	b := newBudget(2)
	for range 2 {
		if !b.spend() {
			t.Fatal("the budget is smaller than said")
		}
	}
	if b.spend() {
		t.Fatal("the budget is larger than said")
	}
	for range 4 {
		b.succeeded(1)
	}
	if b.spend() {
		t.Error("four successes give a retry back")
	}
	b.succeeded(1)
	if !b.spend() {
		t.Error("five successes give no retry back")
	}
	b.succeeded(2)
	if !b.spend() {
		t.Error("a success after a retry does not give it back")
	}
	for range 100 {
		b.succeeded(2)
	}
	if b.left != b.max {
		t.Errorf("%d left of at most %d", b.left, b.max)
	}
}

func TestPauses(t *testing.T) {
	const jitter = 600 * time.Millisecond // of two pauses together, at most
	for name, tc := range map[string]struct {
		retryAfter string
		date       string
		cfg        RetryConfig
		from, to   time.Duration // of the two pauses together
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
		"negative":              {"-5", "", RetryConfig{}, 0, jitter},
		"garbage":               {"soon", "", RetryConfig{}, 0, jitter},
		"date":                  {"Sat, 01 Jan 2000 00:00:09 GMT", "", RetryConfig{}, 9 * time.Second, 10 * time.Second},
		"date of another clock": {"Fri, 20 Nov 2026 10:00:05 GMT", "Fri, 20 Nov 2026 10:00:00 GMT", RetryConfig{}, 10 * time.Second, 10*time.Second + jitter},
		"old format":            {"Saturday, 01-Jan-00 00:00:09 GMT", "Sat, 01 Jan 2000 00:00:00 GMT", RetryConfig{}, 18 * time.Second, 18*time.Second + jitter},
		"date in the past":      {"Fri, 31 Dec 1999 00:00:00 GMT", "", RetryConfig{}, 0, jitter},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // begins at 2000-01-01 00:00:00 UTC
				c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
					h := []string{"Retry-After", tc.retryAfter}
					if tc.date != "" {
						h = append(h, "Date", tc.date)
					}
					return respond(429, "", h...), nil
				}, func(cfg *Config) { cfg.Retry = tc.cfg })
				start := time.Now()
				_, err := c.Templates.Get(t.Context(), 1)
				if d := time.Since(start); !errors.Is(err, ErrRateLimited) || d < tc.from || d > tc.to {
					t.Errorf("%v after %v, want %v to %v", err, d, tc.from, tc.to)
				}
			})
		})
	}
}

// TestJitter: pauses are distributed over their range and added to Retry-After.
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
	none := RetryConfig{BaseDelay: -time.Second}.withDefaults()
	for n := 1; n <= 70; n++ {
		if d := none.delay(n, 0); d != 0 {
			t.Errorf("pause %d is %v with a negative BaseDelay, want none", n, d)
		}
	}
}

func TestRetryAfterTooLong(t *testing.T) {
	var requests atomic.Int64
	c := newTestClient(t, func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(429)
	})
	for name, call := range map[string]func(context.Context) error{
		"create": operations(c)["create"],
		"lookup": func(ctx context.Context) error { _, err := c.Emails.Get(ctx, "1"); return err },
	} {
		requests.Store(0)
		err := call(t.Context())
		var e *Error
		if !errors.As(err, &e) || e.RetryAfter != time.Hour || !errors.Is(err, ErrRateLimited) || requests.Load() != 1 ||
			!strings.Contains(err.Error(), "retry not before 1h0m0s") {
			t.Errorf("%s: %v after %d requests, want the hour in the error after one", name, err, requests.Load())
		}
	}
}

func TestNoPausePastDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(503, "", "Retry-After", "10"), nil })
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		start := time.Now()
		_, err := c.Templates.Create(ctx, TemplateCreate{Name: "n"})
		var e *Error
		if !errors.As(err, &e) || e.StatusCode != 503 || e.Attempts != 2 || e.RetryAfter != 10*time.Second || time.Since(start) > 10200*time.Millisecond {
			t.Errorf("%v after %v, want the second 503 at once", err, time.Since(start))
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

// TestRetryDiscardsInvalidResponse: no field of an invalid response remains after a successful retry.
func TestRetryDiscardsInvalidResponse(t *testing.T) {
	then := func(first, second string) *Client {
		var asked atomic.Int64
		return newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) == 1 {
				respondWith(http.StatusOK, "application/json", first)(w, r)
				return
			}
			respondWith(http.StatusOK, "application/json", second)(w, r)
		})
	}
	list, err := then(`{"list_id":7,"name":false,"policy_accepted":true}`, `{"list_id":99}`).Lists.Get(t.Context(), 99)
	if err != nil || list != (List{ID: 99}) {
		t.Errorf("got %+v, %v", list, err)
	}
	for _, first := range []string{`{"imported":1,"updated":1.5}`, `{"errors":[{"index":5000}]}`} {
		report, err := then(first, `{"imported":true}`).Contacts.Import(t.Context(), 1, numbered(1, 0), ImportOptions{})
		if err != nil || report.Imported != 0 || report.Accepted != 1 {
			t.Errorf("%s: got %+v, %v", first, report.ImportCounts, err)
		}
	}
}

// closing is the body of a response. It records its use.
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

// TestResponseBodyIsClosed: an open body keeps its connection. The body of a 101 never ends, so it is not read.
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
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: row.status, Proto: "HTTP/1.1", ProtoMajor: 1, ContentLength: -1, Body: body, Request: r}, nil
		})
		c, err := New(Config{
			BaseURL: "https://platform.example", Token: testToken, MaxResponseBytes: 50,
			HTTPClient: &http.Client{Transport: transport}, Retry: RetryConfig{MaxAttempts: 1},
		})
		fatal(t, err)
		_, err = c.Templates.Get(t.Context(), 1)
		if !body.closed || body.read != row.read {
			t.Errorf("%s (%v): closed is %v, want true; read is %v, want %v", name, err, body.closed, body.read, row.read)
		}
	}
}
