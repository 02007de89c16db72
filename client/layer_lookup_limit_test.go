package client

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
)

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
		d := time.Since(start)
		assert.Zero(t, srv.rejected)
		assert.Equal(t, 60, srv.lookups)
		assert.LessOrEqual(t, d, most)
	})
}

func TestLookupDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &lookupServer{}
		c := newBubbleClient(t, srv.RoundTrip)
		check.Need(c.Emails.Get(t.Context(), "a"))(t)
		ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := c.Emails.Get(ctx, "b")
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, time.Since(start))
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
		assert.ErrorIs(t, err, ErrRateLimited)
		assert.Equal(t, maxRejections+1, requests)
		assert.GreaterOrEqual(t, time.Since(start), maxRejections*3*time.Second)
		assert.LessOrEqual(t, time.Since(start), maxRejections*3200*time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err = c.Emails.Get(ctx, "e")
		assert.ErrorIs(t, err, ErrRateLimited)
		assert.NoError(t, ctx.Err())
		canceled, stop := context.WithCancel(t.Context())
		_, err = c.Emails.Get(WithResponseHook(canceled, func(Response) { stop() }), "e")
		assert.ErrorIs(t, err, ErrRateLimited, "canceled when the rejection arrived")
		assert.ErrorIs(t, err, context.Canceled, "canceled when the rejection arrived")
	})
}

// TestLookupPauses: after a 429 with Retry-After, the same lookup is repeated after this delay and a random time.
// After a 429 without Retry-After, it is repeated after the lookup interval instead of the usual delay. If a long
// Retry-After delays one lookup, other lookups do not wait for it. After other errors, a lookup is not repeated.
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
			check.Need(c.Emails.Get(t.Context(), "e"))(t)
		}
		_, err := c.Emails.Get(t.Context(), "e")
		require.ErrorIs(t, err, ErrNotFound, "after a 404")
		require.Len(t, at, 5, "after a 404")
		for i, want := range []time.Duration{lookupGap, lookupGap, 30 * time.Second, lookupGap} {
			got := at[i+1].Sub(at[i]).Round(time.Millisecond)
			if i == 2 && want <= got && got <= want+5*time.Second {
				continue
			}
			assert.Equal(t, want, got, "pause %d", i+1)
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
			check.Need(c.Emails.Get(t.Context(), "e"))(t)
		}
		for i := range at[1:] {
			if gap := at[i+1].Sub(at[i]); gap.Round(time.Millisecond) != lookupGap {
				t.Errorf("lookup %d came %v after the previous lookup", i+1, gap)
			}
		}
	})
}
