package client

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
)

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
			check.Need(client("a").Emails.Get(t.Context(), "e"))(t)
		}
		d := time.Since(start).Round(time.Millisecond)
		assert.Zero(t, srv.rejected)
		assert.Equal(t, 2*lookupGap, d)
		srv.accepted = time.Time{}
		check.Need(client("b").Emails.Get(t.Context(), "e"))(t)
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
			check.Need(c.Emails.Get(t.Context(), "e"))(t)
			assert.Zero(t, time.Since(start))
		})
	}
}

// TestLimiterKeys: the limiter keeps a key while its slot is held and during the interval after the release. Then
// it removes the key.
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
