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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lookupServer rejects a lookup that arrives less than a second after an accepted one.
type lookupServer struct {
	latency time.Duration

	mu       sync.Mutex
	accepted time.Time
	lookups  int
	rejected int
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
		s.rejected++
		return respond(429, "", "Retry-After", "1"), nil
	}
	s.accepted = time.Now()
	s.lookups++
	if id == "gone" {
		return respond(404, ""), nil
	}
	return respond(200, `{"id":"`+id+`","status":"delivered"}`), nil
}

// TestLookupInterval: 64 goroutines make 60 lookups in about the minimum time, and the platform rejects none.
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
		if d := time.Since(start); srv.rejected > 0 || srv.lookups != 60 || d > most {
			t.Errorf("%d lookups, %d rejected, in %v; want 60, none, in at most %v", srv.lookups, srv.rejected, d, most)
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
			t.Errorf("%v after %v, want an immediate error", err, time.Since(start))
		}
		if _, err := c.Emails.Get(t.Context(), "c"); err != nil || time.Since(start).Round(time.Microsecond) != lookupGap {
			t.Errorf("%v after %v, want no delay after a failed lookup", err, time.Since(start))
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
		if !errors.Is(err, ErrRateLimited) || requests != maxRejections+1 ||
			time.Since(start) < maxRejections*3*time.Second || time.Since(start) > maxRejections*3200*time.Millisecond {
			t.Errorf("%v after %d requests and %v", err, requests, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err = c.Emails.Get(ctx, "e"); !errors.Is(err, ErrRateLimited) || ctx.Err() != nil {
			t.Errorf("%v, want the rejection before the deadline", err)
		}
		canceled, stop := context.WithCancel(t.Context())
		_, err = c.Emails.Get(WithResponseHook(canceled, func(Response) { stop() }), "e")
		if !errors.Is(err, ErrRateLimited) || !errors.Is(err, context.Canceled) {
			t.Errorf("canceled when the rejection arrived: %v", err)
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

// TestLookupCanceledWhenSlotIsFree: a lookup that is canceled as it gets its slot does not delay the next one.
func TestLookupCanceledWhenSlotIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLookupLimiter()
		release, err := l.Acquire(t.Context(), "k")
		require.NoError(t, err)
		release(0)
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(lookupGap-time.Millisecond, cancel)
		if _, err := l.Acquire(lateContext{ctx}, "k"); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if _, err := l.Acquire(t.Context(), "k"); err != nil || time.Since(start) > lookupGap+50*time.Millisecond {
			t.Errorf("%v, the next lookup started after %v", err, time.Since(start))
		}
	})
}

// TestSharedLookupLimiter: two clients of the same user share the slots of a limiter, but another user does not wait
// for them.
func TestSharedLookupLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, share := &lookupServer{}, NewLookupLimiter()
		client := func(token string) *Client {
			return newBubbleClient(t, srv.RoundTrip, func(cfg *Config) { cfg.LookupLimiter, cfg.Token = share, token })
		}
		start := time.Now()
		for range 3 {
			must(t)(client("a").Emails.Get(t.Context(), "e"))
		}
		if d := time.Since(start).Round(time.Millisecond); srv.rejected != 0 || d != 2*lookupGap {
			t.Errorf("%d lookups rejected, in %v, want none in %v", srv.rejected, d, 2*lookupGap)
		}
		srv.accepted = time.Time{}
		must(t)(client("b").Emails.Get(t.Context(), "e"))
		assert.Equal(t, 2*lookupGap, time.Since(start).Round(time.Millisecond), "the other user waited until")
	})
}

// TestDefaultLookupLimiter: by default, all clients share one limiter, except in a bubble.
func TestDefaultLookupLimiter(t *testing.T) {
	config := func() Config { return Config{BaseURL: "https://example.com", Token: testToken} }
	first, second := config().withDefaults(), config().withDefaults()
	assert.Same(t, first.LookupLimiter, second.LookupLimiter)
	for range 2 { // the second bubble would crash if it used the channels of the first one
		synctest.Test(t, func(t *testing.T) {
			c := newBubbleClient(t, (&lookupServer{}).RoundTrip)
			start := time.Now()
			must(t)(c.Emails.Get(t.Context(), "e"))
			assert.Zero(t, time.Since(start))
		})
	}
}

// TestLimiterKeys: the limiter keeps a key while its slot is held and until the interval after it is over, and then
// removes the key.
func TestLimiterKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLookupLimiter().(*processLimiter)
		acquire := func(key string) func(time.Duration) {
			release, err := l.Acquire(t.Context(), key)
			require.NoError(t, err)
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
			t.Errorf("the next lookup started after %v, want that it starts when the slot is released", waited)
		}
		time.Sleep(100 * time.Millisecond)
		began = time.Now()
		acquire("b")(0)
		acquire("a")(0)
		if waited := time.Since(began); waited < 2900*time.Millisecond {
			t.Errorf("waited %v, want the interval that was passed to release", waited)
		}
		time.Sleep(10 * time.Second)
		if acquire("c")(0); len(l.slots) != 1 {
			t.Errorf("%d keys are kept, want only the last key", len(l.slots))
		}
	})
}

// TestLookupPauses: after a 429 with Retry-After, the retry of a lookup waits for this delay and a random time.
// After a 429 without Retry-After, it waits for the lookup interval instead of the usual delay. A long Retry-After
// does not delay the next lookup. After other errors, the lookup is not retried.
func TestLookupPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		next := inOrder(
			respond(429, ""), respond(200, `{"id":"e"}`), respond(429, "", "Retry-After", "30"), respond(200, `{"id":"e"}`), respond(404, ""),
		)
		c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			at = append(at, time.Now())
			return next(r)
		}, func(cfg *Config) { cfg.Retry.BaseDelay = 5 * time.Second })
		for range 2 {
			must(t)(c.Emails.Get(t.Context(), "e"))
		}
		if _, err := c.Emails.Get(t.Context(), "e"); !errors.Is(err, ErrNotFound) || len(at) != 5 {
			t.Fatalf("after a 404: %v; %d requests, want 5", err, len(at))
		}
		for i, want := range []time.Duration{lookupGap, lookupGap, 30 * time.Second, lookupGap} {
			got := at[i+1].Sub(at[i]).Round(time.Millisecond)
			if i == 2 && want <= got && got <= want+5*time.Second {
				continue
			}
			assert.Equal(t, want, got, "pause %d", i+1)
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
		assert.Equal(t, []string{"a", "!gone", "b", "!"}, got)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for _, err := range c.Emails.GetAll(ctx, slices.Values([]string{"a", "b", "c", "d"})) {
			assert.NoError(t, err)
			if n++; n == 2 {
				cancel()
			}
		}
		assert.Equal(t, 2, n, "the context ends the loop")
	})
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		email := func(status EmailStatus) *http.Response {
			return respond(200, `{"id":"e","status":"`+string(status)+`"}`)
		}
		c := newBubbleClient(t, inOrder(email("queued"), email("queued"), email("bounced"), email("delivered"), email("delivered")))
		start := time.Now()
		got, err := c.Emails.Wait(t.Context(), "e", Email.Settled)
		if err != nil || got.Status != EmailStatusBounced || time.Since(start).Round(time.Millisecond) != 2*lookupGap {
			t.Errorf("%+v, %v after %v", got, err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second+500*time.Millisecond)
		defer cancel()
		got, err = c.Emails.Wait(ctx, "e", func(Email) bool { return false })
		if !errors.Is(err, context.DeadlineExceeded) || got.Status != EmailStatusDelivered {
			t.Errorf("%+v, %v; want the last result", got, err)
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
		}, withSource(func(context.Context) (Token, error) {
			return Token{Value: "token-" + strconv.FormatInt(tokens.Add(1), 10)}, nil
		}))
		for range 4 {
			must(t)(c.Emails.Get(t.Context(), "e"))
		}
		for i := range at[1:] {
			if gap := at[i+1].Sub(at[i]); gap.Round(time.Millisecond) != lookupGap {
				t.Errorf("lookup %d came %v after the previous lookup", i+1, gap)
			}
		}
	})
}
