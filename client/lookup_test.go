package client

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// lookupServer rejects a lookup that arrives less than a second after an accepted one.
type lookupServer struct {
	latency time.Duration
	status  func(lookup int) EmailStatus // of the email; nil is delivered

	mu       sync.Mutex
	accepted time.Time
	lookups  int
	refused  int
	order    []string
}

func (s *lookupServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	time.Sleep(s.latency / 2)
	defer time.Sleep(s.latency / 2)
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.URL.Path[len("/v2/emails/"):]
	if now := time.Now(); now.Sub(s.accepted) < time.Second {
		s.refused++
		return respond(429, "", "Retry-After", "1"), nil
	}
	s.accepted = time.Now()
	s.lookups++
	s.order = append(s.order, id)
	status := EmailStatusDelivered
	if s.status != nil {
		status = s.status(s.lookups)
	}
	if id == "gone" {
		return respond(404, ""), nil
	}
	return respond(200, `{"id":"`+id+`","status":"`+string(status)+`"}`), nil
}

// TestLookupInterval: 64 goroutines make 60 lookups in the shortest possible time.
func TestLookupInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &lookupServer{latency: 30 * time.Millisecond}
		c := newBubbleClient(t, srv.RoundTrip)
		var wg sync.WaitGroup
		var next atomic.Int64
		start := time.Now()
		for range 64 {
			wg.Go(func() {
				for next.Add(1) <= 60 {
					if _, err := c.Emails.Get(t.Context(), "e"); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		most := 59 * (time.Second + srv.latency) * 101 / 100
		if d := time.Since(start); srv.refused > 0 || srv.lookups != 60 || d > most {
			t.Errorf("%d lookups, %d refused, in %v; want 60, none, in at most %v", srv.lookups, srv.refused, d, most)
		}
	})
}

func TestLookupOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &lookupServer{}
		c := newBubbleClient(t, srv.RoundTrip)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
			wg.Go(func() {
				lookup := t.Context()
				if id == "b" || id == "c" || id == "e" {
					lookup = ctx // these give up
				}
				start := time.Now()
				if _, err := c.Emails.Get(lookup, id); lookup == ctx {
					if !errors.Is(err, context.Canceled) || errors.Is(err, ErrOutcomeUnknown) || time.Since(start) != 500*time.Millisecond {
						t.Errorf("%s left the queue after %v: %v", id, time.Since(start), err)
					}
				} else if err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		start := time.Now()
		time.AfterFunc(500*time.Millisecond, cancel)
		wg.Wait()
		if !slices.Equal(srv.order, []string{"a", "d", "f"}) || srv.refused != 0 || time.Since(start) > 2*lookupGap {
			t.Errorf("order %v in %v; those that gave up must cost nothing", srv.order, time.Since(start))
		}
	})
}

func TestLookupDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &lookupServer{}
		c := newBubbleClient(t, srv.RoundTrip)
		must(t)(c.Emails.Get(t.Context(), "a"))
		ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
		defer cancel()
		start := time.Now()
		if _, err := c.Emails.Get(ctx, "b"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 0 {
			t.Errorf("%v after %v, want to fail at once", err, time.Since(start))
		}
		if _, err := c.Emails.Get(t.Context(), "c"); err != nil || time.Since(start).Round(time.Microsecond) != lookupGap {
			t.Errorf("%v after %v: the one before must cost nothing", err, time.Since(start))
		}
	})
}

// TestLookupRejectedDespiteLimiter: other processes use the same limit.
func TestLookupRejectedDespiteLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &lookupServer{}
		clients := []*Client{newBubbleClient(t, srv.RoundTrip), newBubbleClient(t, srv.RoundTrip), newBubbleClient(t, srv.RoundTrip)}
		var wg sync.WaitGroup
		for i, c := range clients {
			wg.Go(func() {
				for range 10 {
					if _, err := c.Emails.Get(t.Context(), "e"); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Duration(i) * 300 * time.Millisecond)
				}
			})
		}
		wg.Wait()
		if srv.lookups != 30 || srv.refused == 0 {
			t.Errorf("%d lookups, %d refused; want all of 30 in spite of some", srv.lookups, srv.refused)
		}
	})
}

func TestLookupRejectionLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			requests++
			return respond(429, "", "Retry-After", "3"), nil
		})
		start := time.Now()
		_, err := c.Emails.Get(t.Context(), "e")
		if !errors.Is(err, ErrRateLimited) || requests != maxRefusals+1 ||
			time.Since(start) < maxRefusals*3*time.Second || time.Since(start) > maxRefusals*3200*time.Millisecond {
			t.Errorf("%v after %d requests and %v", err, requests, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err = c.Emails.Get(ctx, "e"); !errors.Is(err, ErrRateLimited) || ctx.Err() != nil {
			t.Errorf("%v, want the rejection before the deadline", err)
		}
	})
}

// TestLookupRejectedAfterCancellation: the error contains the rejection and the cause of the cancellation.
func TestLookupRejectedAfterCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(429, "", "Retry-After", "1"), nil })
		why := errors.New("the caller's reason")
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err := c.Emails.Get(WithResponseHook(ctx, func(Response) { cancel(why) }), "e")
		for _, want := range []error{ErrRateLimited, context.Canceled, why} {
			if !errors.Is(err, want) {
				t.Errorf("%v, want an error that is %v as well", err, want)
			}
		}
	})
}

// lateContext reports its end late, as on a busy machine.
type lateContext struct{ context.Context }

func (c lateContext) Err() error {
	err := c.Context.Err()
	if err != nil {
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// TestLookupCanceledAtItsTurn: a lookup that is canceled as it gets its slot does not delay the next one.
func TestLookupCanceledAtItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLookupLimiter()
		release, err := l.Acquire(t.Context(), "k")
		fatal(t, err)
		release(0)
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(lookupGap-time.Millisecond, cancel)
		if _, err := l.Acquire(lateContext{ctx}, "k"); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if _, err := l.Acquire(t.Context(), "k"); err != nil || time.Since(start) > lookupGap+50*time.Millisecond {
			t.Errorf("%v, the next turn came after %v", err, time.Since(start))
		}
	})
}

func TestSharedLookupLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &lookupServer{}
		limiter := NewLookupLimiter()
		share := func(cfg *Config) { cfg.LookupLimiter = limiter }
		a, b := newBubbleClient(t, srv.RoundTrip, share), newBubbleClient(t, srv.RoundTrip, share)
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { _, _ = a.Emails.Get(t.Context(), "e") })
			wg.Go(func() { _, _ = b.Emails.Get(t.Context(), "e") })
		}
		wg.Wait()
		if srv.refused != 0 {
			t.Errorf("%d refused of two clients with one limiter", srv.refused)
		}
		other := &lookupServer{}
		c := newBubbleClient(t, other.RoundTrip, share, func(cfg *Config) { cfg.Token = "other" })
		start := time.Now()
		if _, err := c.Emails.Get(t.Context(), "e"); err != nil || time.Since(start) != 0 {
			t.Errorf("another user waited %v (%v)", time.Since(start), err)
		}
	})
}

func TestLimiterRemovesUnusedKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLookupLimiter().(*processLimiter)
		for _, key := range []string{"a", "b", "c", "d"} {
			release, err := l.Acquire(t.Context(), key)
			fatal(t, err)
			release(0)
			time.Sleep(10 * time.Second)
		}
		if len(l.turns) != 1 {
			t.Errorf("%d keys are kept, want the last", len(l.turns))
		}
	})
}

// TestLimiterKeepsUsedKeys: a key is kept while its slot is held and until its interval is over.
func TestLimiterKeepsUsedKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLookupLimiter()
		acquire := func(key string) func(time.Duration) {
			release, err := l.Acquire(t.Context(), key)
			fatal(t, err)
			return release
		}
		first := acquire("a")
		time.Sleep(time.Minute)
		acquire("b")(0)
		began := time.Now()
		go func() {
			time.Sleep(5 * time.Second)
			first(0)
		}()
		acquire("a")(3 * time.Second)
		if waited := time.Since(began); waited < 5*time.Second {
			t.Errorf("the turn was taken %v after it was had, want when it is given back", waited)
		}
		time.Sleep(100 * time.Millisecond)
		began = time.Now()
		acquire("b")(0)
		acquire("a")(0)
		if waited := time.Since(began); waited < 2900*time.Millisecond {
			t.Errorf("waited %v, want the gap that was asked for", waited)
		}
	})
}

// TestLookupRetryDelay: after a 429 without Retry-After, a lookup waits for the lookup interval, not for the retry
// delay. Other errors are not retried.
func TestLookupRetryDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for status, want := range map[int]int{429: 2, 404: 1, 403: 1} {
			requests := 0
			c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
				if requests++; requests == 1 {
					return respond(status, `{}`), nil
				}
				return respond(200, `{"email_id":"e","status":"sent"}`), nil
			}, func(cfg *Config) { cfg.Retry.BaseDelay, cfg.Retry.MaxDelay = time.Hour, time.Hour })
			began := time.Now()
			_, err := c.Emails.Get(t.Context(), "e")
			if took := time.Since(began); requests != want || took > 2*time.Second || (err == nil) != (status == 429) {
				t.Errorf("status %d: %v after %d requests and %v, want %d requests", status, err, requests, took, want)
			}
		}
	})
}

func TestGetAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &lookupServer{}
		c := newBubbleClient(t, srv.RoundTrip)
		for email, err := range c.Emails.GetAll(t.Context(), slices.Values([]string{"a", "b"})) {
			if err != nil || email.ID != "a" {
				t.Error(email, err)
			}
			break
		}
		var got []string
		for email, err := range c.Emails.GetAll(t.Context(), slices.Values([]string{"a", "gone", "b", ""})) {
			if err != nil {
				got = append(got, "!"+email.ID)
				continue
			}
			got = append(got, email.ID)
		}
		if !slices.Equal(got, []string{"a", "!gone", "b", "!"}) {
			t.Errorf("got %v", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for _, err := range c.Emails.GetAll(ctx, slices.Values([]string{"a", "b", "c", "d"})) {
			if err != nil {
				t.Error(err)
			}
			if n++; n == 2 {
				cancel()
			}
		}
		if n != 2 {
			t.Errorf("%d iterations, want the context to end them", n)
		}
	})
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &lookupServer{status: func(n int) EmailStatus {
			if n < 4 {
				return EmailStatusQueued
			}
			return EmailStatusBounced
		}}
		c := newBubbleClient(t, srv.RoundTrip)
		start := time.Now()
		email, err := c.Emails.Wait(t.Context(), "e", Email.Settled)
		if err != nil || email.Status != EmailStatusBounced || srv.lookups != 4 || srv.refused != 0 || time.Since(start).Round(time.Microsecond) != 3*lookupGap {
			t.Errorf("%+v, %v after %d lookups and %v", email, err, srv.lookups, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		email, err = c.Emails.Wait(ctx, "e", func(Email) bool { return false })
		if !errors.Is(err, context.DeadlineExceeded) || email.Status != EmailStatusBounced {
			t.Errorf("%+v, %v; want what was seen last", email, err)
		}
		closing := errors.New("the shop closes")
		why, end := context.WithCancelCause(t.Context())
		time.AfterFunc(lookupGap/2, func() { end(closing) })
		if _, err := c.Emails.Wait(why, "e", func(Email) bool { return false }); !errors.Is(err, context.Canceled) || !errors.Is(err, closing) {
			t.Errorf("%v is not %v for %v", err, context.Canceled, closing)
		}
	})
}

// TestLookupAfterRetryAfter: a long Retry-After does not delay the lookup after the next one.
func TestLookupAfterRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			if at = append(at, time.Now()); len(at) == 1 {
				return respond(429, "", "Retry-After", "30"), nil
			}
			return respond(200, `{"id":"e"}`), nil
		})
		for range 2 {
			must(t)(c.Emails.Get(t.Context(), "e"))
		}
		if len(at) != 3 || at[1].Sub(at[0]).Truncate(200*time.Millisecond) != 30*time.Second || at[2].Sub(at[1]).Round(time.Millisecond) != lookupGap {
			t.Errorf("requests at %v; want pauses of 30 s and %v", at, lookupGap)
		}
	})
}

func TestLookupIntervalWithNewTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tokens atomic.Int64
		var at []time.Time
		used := ""
		c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			if used == r.Header.Get("Authorization") {
				return respond(401, ""), nil
			}
			used = r.Header.Get("Authorization")
			at = append(at, time.Now())
			return respond(200, `{"id":"e"}`), nil
		}, func(cfg *Config) {
			cfg.Token = ""
			cfg.TokenSource = func(context.Context) (Token, error) {
				return Token{Value: "token-" + strconv.FormatInt(tokens.Add(1), 10)}, nil
			}
		})
		for range 4 {
			must(t)(c.Emails.Get(t.Context(), "e"))
		}
		for i := range at[1:] {
			if gap := at[i+1].Sub(at[i]); gap.Round(time.Millisecond) != lookupGap {
				t.Errorf("lookup %d came %v after the one before", i+1, gap)
			}
		}
	})
}
