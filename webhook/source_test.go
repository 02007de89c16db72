package webhook

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// store provides a function for NewVerifierFunc. After a call that timed out, the function may still run. Therefore
// a test calls synctest.Wait before it uses the store again.
type store struct {
	secrets  []Secret
	err      error
	during   func(context.Context) // runs during each call
	calls    int
	failures []error // the reported errors
}

func (s *store) get(ctx context.Context) ([]Secret, error) {
	s.calls++
	secrets, err := s.secrets, s.err
	if s.during != nil {
		s.during(ctx)
	}
	return secrets, errors.Join(err, ctx.Err())
}

var (
	oldSecret = secretOf("whsec_old_0123456789", SHA256)
	newSecret = secretOf("whsec_new_0123456789", SHA512)
)

// withStore calls test on virtual time, with a store that contains the old secret, and with its Verifier.
func withStore(t *testing.T, test func(t *testing.T, s *store, v *Verifier)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &store{secrets: []Secret{oldSecret}}
		v, err := NewVerifierFunc(t.Context(), s.get, SourceOptions{OnError: func(err error) { s.failures = append(s.failures, err) }})
		require.NoError(t, err)
		test(t, s, v)
	})
}

func verifies(t *testing.T, v *Verifier, secret Secret, want error) {
	t.Helper()
	assert.ErrorIs(t, v.Verify([]byte("body"), mustSign(secret, []byte("body"))), want)
}

// TestSecretsChange checks when a new secret becomes valid and an old one invalid.
func TestSecretsChange(t *testing.T) {
	withStore(t, func(t *testing.T, s *store, v *Verifier) {
		time.Sleep(5 * time.Second)
		s.secrets = []Secret{oldSecret, newSecret}
		verifies(t, v, newSecret, nil) // immediately, because no secret matches
		verifies(t, v, oldSecret, nil)
		s.secrets = []Secret{newSecret}
		time.Sleep(time.Minute - time.Nanosecond)
		verifies(t, v, oldSecret, nil) // until MaxAge has passed
		assert.Equal(t, 2, s.calls, "calls")
		time.Sleep(time.Nanosecond)
		verifies(t, v, oldSecret, ErrInvalidSignature)
		verifies(t, v, newSecret, nil)
		assert.Equal(t, 3, s.calls, "calls")
	})
}

// TestInvalidSignaturesLimitCalls checks that invalid signatures cause one call in
// each MinInterval, and that missing signatures cause no call.
func TestInvalidSignaturesLimitCalls(t *testing.T) {
	withStore(t, func(t *testing.T, s *store, v *Verifier) {
		for range 1000 {
			verifies(t, v, newSecret, ErrInvalidSignature)
			assert.ErrorIs(t, v.Verify([]byte("body"), ""), ErrMissingSignature)
			time.Sleep(10 * time.Millisecond)
		}
		assert.Equal(t, 2, s.calls, "calls in 10 s: one at the start and one after 5 s")
	})
}

// TestSecretsFail checks that the last valid secrets remain after a failure, and
// that each failure is reported.
func TestSecretsFail(t *testing.T) {
	withStore(t, func(t *testing.T, s *store, v *Verifier) {
		down := errors.New("database is down")
		for i, broken := range []store{
			{secrets: s.secrets, err: down},
			{},
			{secrets: []Secret{newSecret, {}}},
			{secrets: s.secrets, during: func(ctx context.Context) { <-ctx.Done() }}, // ends with the timeout
			{secrets: s.secrets, during: func(context.Context) { panic(down) }},
			{secrets: s.secrets, during: func(context.Context) { runtime.Goexit() }},
		} {
			s.secrets, s.err, s.during = broken.secrets, broken.err, broken.during
			time.Sleep(time.Minute)
			verifies(t, v, oldSecret, nil)
			synctest.Wait()
			assert.Len(t, s.failures, i+1, "reports after failure %d", i)
		}
		panicked, _ := errors.AsType[*PanicError](s.failures[4])
		if !errors.Is(s.failures[0], down) || !errors.Is(s.failures[3], context.DeadlineExceeded) || panicked == nil || panicked.Value != down {
			t.Errorf("reported %v", s.failures)
		}
		s.secrets, s.during = []Secret{newSecret}, nil
		time.Sleep(5 * time.Second)
		verifies(t, v, newSecret, nil) // not earlier than MinInterval
	})
}

// TestSecretsConcurrent: if several deliveries need a new secret, they share one
// call. Other deliveries do not wait for this call.
func TestSecretsConcurrent(t *testing.T) {
	withStore(t, func(t *testing.T, s *store, v *Verifier) {
		time.Sleep(10 * time.Second)
		s.secrets = []Secret{oldSecret, newSecret}
		s.during = func(context.Context) { time.Sleep(2 * time.Second) }
		start := time.Now()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				verifies(t, v, newSecret, nil)
				if d := time.Since(start); d != 2*time.Second {
					t.Errorf("a new secret took %v, want 2s", d)
				}
			})
		}
		synctest.Wait()
		verifies(t, v, oldSecret, nil)
		if d := time.Since(start); d != 0 {
			t.Errorf("a cached secret took %v, want no time", d)
		}
		wg.Wait()
		assert.Equal(t, 2, s.calls)
		assert.Empty(t, s.failures)
	})
}

// TestSecretsHang checks that a call that ignores its context delays deliveries for at most the timeout, is reported,
// and does not end the rotation.
func TestSecretsHang(t *testing.T) {
	withStore(t, func(t *testing.T, s *store, v *Verifier) {
		end := make(chan struct{})
		defer close(end)
		s.during = func(context.Context) { <-end }
		time.Sleep(time.Minute)
		start := time.Now()
		for range 2 { // the first delivery starts the call, and the second one waits for it
			go func() {
				verifies(t, v, oldSecret, nil)
				verifies(t, v, newSecret, ErrInvalidSignature)
			}()
			synctest.Wait()
		}
		verifies(t, v, newSecret, ErrInvalidSignature)
		assert.Equal(t, 3*time.Second, time.Since(start))
		synctest.Wait()
		require.Len(t, s.failures, 1)
		require.ErrorIs(t, s.failures[0], context.DeadlineExceeded)
		s.secrets, s.during = []Secret{newSecret}, nil
		time.Sleep(2 * time.Second) // MinInterval after the start of the call
		verifies(t, v, newSecret, nil)
		assert.Equal(t, 3, s.calls, "calls")
	})
}

// TestSecretsHangForever checks that at most ten calls hang, that each skipped call is reported, and that the Verifier
// calls the function again after one of them has returned.
func TestSecretsHangForever(t *testing.T) {
	withStore(t, func(t *testing.T, s *store, v *Verifier) {
		end := make(chan struct{})
		s.during = func(context.Context) { <-end }
		for range 50 {
			time.Sleep(time.Minute)
			verifies(t, v, oldSecret, nil)
			synctest.Wait()
		}
		assert.Equal(t, 1+10, s.calls, "calls")
		assert.Len(t, s.failures, 50)
		require.ErrorContains(t, s.failures[49], "the last 10 calls have not returned")
		close(end)
		synctest.Wait()
		s.secrets, s.during = []Secret{newSecret}, nil
		time.Sleep(time.Minute)
		verifies(t, v, newSecret, nil)
	})
}

// TestVerifierFuncHangs: the first call cannot block the start of a program.
func TestVerifierFuncHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, s := time.Now(), &store{during: func(context.Context) { time.Sleep(time.Hour) }}
		_, err := NewVerifierFunc(t.Context(), s.get, SourceOptions{Timeout: 2 * time.Second})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 2*time.Second, time.Since(start))
		time.Sleep(time.Hour)
	})
}

// TestOnErrorHangs: OnError delays only the delivery that caused the failed call.
func TestOnErrorHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{secrets: []Secret{oldSecret}}
		v, err := NewVerifierFunc(t.Context(), s.get, SourceOptions{OnError: func(error) { time.Sleep(time.Hour) }})
		require.NoError(t, err)
		time.Sleep(time.Minute)
		s.err = errors.New("down")
		go func() { _ = v.Verify(nil, "x") }()
		synctest.Wait()
		s.err, s.secrets = nil, []Secret{newSecret}
		time.Sleep(5 * time.Second)
		start := time.Now()
		verifies(t, v, newSecret, nil)
		assert.Zero(t, time.Since(start))
		time.Sleep(time.Hour)
	})
}

// TestVerifierFuncFails: NewVerifierFunc returns an error if the first call fails or returns no valid secret.
func TestVerifierFuncFails(t *testing.T) {
	for _, s := range []*store{{err: errors.New("down")}, {}, {secrets: []Secret{{}}}} {
		if v, err := NewVerifierFunc(t.Context(), s.get, SourceOptions{}); err == nil {
			t.Errorf("got %v, want an error", v)
		}
	}
	_, err := NewVerifierFunc(t.Context(), nil, SourceOptions{Lazy: true})
	require.ErrorContains(t, err, "must not be nil")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &store{secrets: []Secret{oldSecret}}
	if _, err := NewVerifierFunc(ctx, s.get, SourceOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the error of the context", err)
	}
}

// TestLazyVerifier: a handler starts without secrets, and works as soon as the function succeeds.
func TestLazyVerifier(t *testing.T) {
	for name, failure := range map[string]error{"an error": errFunction, "no secret": nil} {
		synctest.Test(t, func(t *testing.T) {
			calls, down := 0, true
			v, err := NewVerifierFunc(t.Context(), func(context.Context) ([]Secret, error) {
				calls++
				if down {
					return nil, failure
				}
				return []Secret{testSecret}, nil
			}, SourceOptions{Lazy: true, OnError: func(error) {}})
			require.NoError(t, err)
			assert.Zero(t, calls, "before the first verification")
			var o Outcome
			h := NewHandler(v, succeed, Options{Logger: slog.New(slog.DiscardHandler), Observe: func(_ context.Context, got Outcome) { o = got }})
			deliver := func(want, wantCalls int) {
				w := serve(h, newRequest(t, eventBody))
				assert.Equal(t, want, w.Code, name)
				assert.Equal(t, want == 503, w.Header().Get("Retry-After") == "1", name)
				assert.Equal(t, want == 503, errors.Is(o.Err, ErrNoSecrets), name)
				assert.Equal(t, wantCalls, calls, name)
			}
			deliver(503, 1)
			down = false
			deliver(503, 1) // before MinInterval
			time.Sleep(5 * time.Second)
			deliver(204, 2)
			down = true
			time.Sleep(time.Minute)
			deliver(204, 3) // keeps the last valid secrets
		})
	}
}
