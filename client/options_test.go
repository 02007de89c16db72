package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// TestWithHeader: the header is on every request of calls with the context, retries included, over HTTP/1 and HTTP/2.
func TestWithHeader(t *testing.T) {
	for _, version := range []int{1, 2} {
		var got []string
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = append(got, fmt.Sprint(r.ProtoMajor, r.Header["X-Tenant"], r.Header["Trace~parent"], r.Header["Authorization"]))
			if len(got) == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			respondWith(200, "application/json", `{"template_id":1}`)(w, r)
		}))
		srv.EnableHTTP2 = version == 2
		srv.StartTLS()
		defer srv.Close()
		c, err := New(Config{BaseURL: srv.URL, Token: testToken, HTTPClient: srv.Client(), Retry: RetryConfig{BaseDelay: -1}})
		fatal(t, err)
		ctx := WithHeader(t.Context(), "x-tenant", "wrong")
		ctx = WithHeader(ctx, "X-Tenant", "ours and ~theirs")
		both := WithHeader(ctx, "Trace~parent", "00-1")
		for _, ctx := range []context.Context{both, ctx, WithHeader(ctx, "X-TENANT", ""), t.Context()} {
			must(t)(c.Templates.Get(ctx, 1))
		}
		plain := fmt.Sprintf(" [] [] [Bearer %s]", testToken)
		traced := fmt.Sprintf(" [ours and ~theirs] [00-1] [Bearer %s]", testToken)
		want := []string{traced, traced, strings.Replace(traced, "00-1", "", 1), plain, plain}
		for i := range want {
			want[i] = fmt.Sprint(version) + want[i]
		}
		if !slices.Equal(got, want) {
			t.Errorf("HTTP/%d: got %q, want %q", version, got, want)
		}
	}
}

// TestWithHeaderRejectsReserved: reserved and invalid headers are rejected before a request, and the error does not
// contain the value.
func TestWithHeaderRejectsReserved(t *testing.T) {
	requests := 0
	c := newTestClient(t, func(http.ResponseWriter, *http.Request) { requests++ })
	refused := map[string]string{
		"": "x", "X Y": "x", "X:": "x", "X\n": "x", "Ü": "x", "X-Break": "x\r\nY: z", "X-Bell": "\a", "X-Umlaut": "ü", "X-Tab": "a\tb",
		"X-Before": " x", "X-After": "x ", "If-Match": "x", "Content-Md5": "x", "Proxy-Authorization": "x",
		"X-Original-URL": "/templates/2", "X-Rewrite-URL": "/lists", "A-IM": "feed", "Prefer": "return=minimal",
		"x-idempotency-key": "x", "authorization": "Bearer x", "content-length": "7", "TE": "trailers",
		// By name, so that none is forgotten in the list.
		"Idempotency-Key": "x", "User-Agent": "x", "Accept": "x", "Host": "x", "Transfer-Encoding": "x", "Connection": "x", "Expect": "x",
		"Accept-Encoding": "x", "Range": "x", "X-Http-Method-Override": "x", "Upgrade": "x", "Trailer": "x",
	}
	for _, name := range reservedHeaders() {
		if http.CanonicalHeaderKey(name) != name {
			t.Errorf("%s is not in canonical form, and never found", name)
		}
		refused[name] = ""
		refused[strings.ToLower(name)] = "s3cret"
	}
	for name, value := range refused {
		for op, call := range operations(c) {
			err := call(WithHeader(t.Context(), name, value))
			if !errors.Is(err, ErrValidation) || errors.Is(err, ErrOutcomeUnknown) || !strings.Contains(err.Error(), "header ") {
				t.Errorf("%s with %q: %v", op, name, err)
			}
			if len(value) > 1 && strings.Contains(err.Error(), strings.TrimSpace(value)) {
				t.Errorf("%s with %q: the error shows the value: %v", op, name, err)
			}
		}
	}
	if requests != 0 {
		t.Errorf("%d requests were sent", requests)
	}
	ctx := WithHeader(t.Context(), "X-Secret", "s3cret")
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		if shown := fmt.Sprintf(verb, ctx); strings.Contains(shown, "s3cret") {
			t.Errorf("%s of the context shows the value: %s", verb, shown)
		}
	}
}

func TestWithHeaderByObserver(t *testing.T) {
	got := ""
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Traceparent")
		respondWith(200, "application/json", `{"template_id":1}`)(w, r)
	}, func(cfg *Config) {
		cfg.Observe = func(ctx context.Context, call Call) (context.Context, Observer) {
			return WithHeader(ctx, "Traceparent", call.Op), Observer{}
		}
	})
	if _, err := c.Templates.Get(t.Context(), 1); err != nil || got != "getTemplate" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestTokenSourceGetsNoCallOptions(t *testing.T) {
	c := newTestClient(t, respondWith(200, "application/json", `{"template_id":1}`), func(cfg *Config) {
		cfg.Token = ""
		cfg.TokenSource = func(ctx context.Context) (Token, error) {
			if o := optionsOf(ctx); o.header != nil || o.maxAttempts != 0 {
				t.Errorf("the source got %+v", o)
			}
			return Token{Value: testToken}, nil
		}
	})
	if _, err := c.Templates.Get(WithMaxAttempts(WithHeader(t.Context(), "X-Tenant", "7"), 7), 1); err != nil {
		t.Error(err)
	}
}

// TestWithMaxAttempts: the limit applies to each operation. A create whose outcome is unknown is sent once.
func TestWithMaxAttempts(t *testing.T) {
	for _, status := range []int{429, 503, 0} { // 0: the response is lost
		requests := 0
		c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			if status == 0 {
				hijack(t, w, "HTTP/1.1 200 OK\r\nContent-Le")
				return
			}
			respondWith(status, "application/json", "{}")(w, r)
		})
		for n, want := range map[int]int{-1: 1, 0: 3, 1: 1, 2: 2, 7: 7} {
			for op, call := range operations(c) {
				want := want
				if op == "create" && status != 429 {
					want = 1
				}
				requests = 0
				err := call(WithMaxAttempts(t.Context(), n))
				var e *Error
				if !errors.As(err, &e) || e.Attempts != want || requests != want {
					t.Errorf("%s, status %d, at most %d: %d requests, %v; want %d", op, status, n, requests, err, want)
				}
				if unknown := status != 429 && op != "read"; errors.Is(err, ErrOutcomeUnknown) != unknown {
					t.Errorf("%s, status %d, at most %d: %v, want the outcome to be unknown: %v", op, status, n, err, unknown)
				}
			}
		}
	}
}

func TestWithMaxAttemptsAfter401(t *testing.T) {
	requests, given := 0, 0
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests == 1 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		respondWith(200, "application/json", `{"template_id":1}`)(w, r)
	}, func(cfg *Config) {
		cfg.Token = ""
		cfg.TokenSource = func(context.Context) (Token, error) {
			given++
			return Token{Value: fmt.Sprint(testToken, given)}, nil
		}
	})
	if _, err := c.Templates.Get(WithMaxAttempts(t.Context(), 1), 1); err != nil || requests != 2 {
		t.Errorf("%d requests, %v", requests, err)
	}
}

func TestWithMaxAttemptsOfLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		c, err := New(Config{
			BaseURL: "https://api.example.com", Token: testToken,
			HTTPClient: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				if requests++; requests < 5 {
					return respond(429, `{}`), nil
				}
				return respond(200, `{"id": "1"}`), nil
			})},
		})
		fatal(t, err)
		if _, err := c.Emails.Get(WithMaxAttempts(t.Context(), 1), "1"); !errors.Is(err, ErrRateLimited) || requests != 1 {
			t.Errorf("%d requests, %v", requests, err)
		}
		if _, err := c.Emails.Get(WithMaxAttempts(t.Context(), 2), "1"); err != nil || requests != 5 {
			t.Errorf("%d requests, want 5 because rejections do not count, %v", requests, err)
		}
	})
}
