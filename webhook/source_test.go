package webhook

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// store is a set of secrets, with a function for NewVerifierFunc.
type store struct {
	mu      sync.Mutex
	secrets []Secret
	err     error
	delay   time.Duration
	calls   int
	running int
}

func (s *store) set(err error, secrets ...Secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets, s.err = secrets, err
}

func (s *store) called() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *store) get(ctx context.Context) ([]Secret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls++; s.running > 0 {
		return nil, errors.New("concurrent calls")
	}
	s.running++
	delay := s.delay
	s.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(delay):
	}
	s.mu.Lock()
	s.running--
	return s.secrets, errors.Join(s.err, ctx.Err())
}

var (
	oldSecret = secretOf("whsec_old_0123456789", SHA256)
	newSecret = secretOf("whsec_new_0123456789", SHA512)
)

// sourced returns a store with the old secret, its Verifier, and the reported errors.
func sourced(t *testing.T) (s *store, v *Verifier, failures *[]error) {
	t.Helper()
	s, failures = &store{secrets: []Secret{oldSecret}}, new([]error)
	v, err := NewVerifierFunc(t.Context(), s.get, SourceOptions{OnError: func(err error) { *failures = append(*failures, err) }})
	fatal(t, err)
	return s, v, failures
}

func verifies(t *testing.T, v *Verifier, secret Secret, want error) {
	t.Helper()
	if err := v.Verify([]byte("body"), mustSign(secret, []byte("body"))); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// TestSecretsChange checks when a new secret becomes valid and an old one invalid.
func TestSecretsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, v, _ := sourced(t)
		verifies(t, v, oldSecret, nil)
		time.Sleep(5 * time.Second)
		s.set(nil, oldSecret, newSecret)
		verifies(t, v, newSecret, nil) // immediately, because no secret matches
		verifies(t, v, oldSecret, nil)
		s.set(nil, newSecret)
		if n := s.called(); n != 2 {
			t.Errorf("%d calls, want 2", n)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		verifies(t, v, oldSecret, nil) // until MaxAge has passed
		time.Sleep(time.Nanosecond)
		verifies(t, v, oldSecret, ErrInvalidSignature)
		verifies(t, v, newSecret, nil)
		if n := s.called(); n != 3 {
			t.Errorf("%d calls, want 3", n)
		}
	})
}

// TestInvalidSignaturesLimitCalls checks that invalid signatures cause one call in
// each MinInterval, and that a missing one causes none.
func TestInvalidSignaturesLimitCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, v, _ := sourced(t)
		for range 1000 {
			verifies(t, v, newSecret, ErrInvalidSignature)
			if err := v.Verify([]byte("body"), ""); !errors.Is(err, ErrMissingSignature) {
				t.Errorf("got %v", err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n := s.called(); n != 2 {
			t.Errorf("%d calls in 10 s, want 1 at the start and 1 after 5 s", n)
		}
	})
}

// TestSecretsFail checks that the last valid secrets remain after a failure, and
// that each failure is reported.
func TestSecretsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, v, failures := sourced(t)
		down := errors.New("database is down")
		for i, broken := range []func(){
			func() { s.set(down) },
			func() { s.set(nil) },
			func() { s.set(nil, newSecret, Secret{}) },
			func() { s.delay = time.Hour }, // ends with the timeout
		} {
			broken()
			time.Sleep(time.Minute)
			verifies(t, v, oldSecret, nil)
			if len(*failures) != i+1 {
				t.Errorf("failure %d: reported %v", i, *failures)
			}
		}
		if got := *failures; !errors.Is(got[0], down) || !errors.Is(got[3], context.DeadlineExceeded) {
			t.Errorf("reported %v", got)
		}
		s.delay = 0
		s.set(nil, newSecret)
		time.Sleep(5 * time.Second)
		verifies(t, v, newSecret, nil) // not earlier than MinInterval
	})
}

// TestSecretsConcurrent checks that deliveries that need a new secret share one
// call, and that others do not wait for it.
func TestSecretsConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, v, failures := sourced(t)
		time.Sleep(10 * time.Second)
		s.set(nil, oldSecret, newSecret)
		s.delay = 2 * time.Second
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
			t.Errorf("a known secret took %v", d)
		}
		wg.Wait()
		if n := s.called(); n != 2 || len(*failures) != 0 {
			t.Errorf("%d calls, want 2; failures %v", n, *failures)
		}
	})
}

// TestSecretsHang checks that a function that ignores its context delays other
// deliveries for at most the timeout.
func TestSecretsHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		v, err := NewVerifierFunc(t.Context(), func(context.Context) ([]Secret, error) {
			if calls++; calls > 1 {
				time.Sleep(time.Hour)
			}
			return []Secret{oldSecret}, nil
		}, SourceOptions{})
		fatal(t, err)
		time.Sleep(time.Minute)
		go verifies(t, v, oldSecret, nil) // waits for an hour
		synctest.Wait()
		start := time.Now()
		verifies(t, v, oldSecret, nil)
		verifies(t, v, newSecret, ErrInvalidSignature)
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("waited for %v, want 3s", d)
		}
		time.Sleep(time.Minute)
		verifies(t, v, oldSecret, nil)
		if calls != 2 {
			t.Errorf("%d calls, want 2: calls are never concurrent", calls)
		}
		time.Sleep(2 * time.Hour)
	})
}

// TestSecretsPanic checks that a panic of the function reaches the caller and does
// not block other deliveries.
func TestSecretsPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		v, err := NewVerifierFunc(t.Context(), func(context.Context) ([]Secret, error) {
			if calls++; calls == 2 {
				panic("no secrets")
			}
			return []Secret{oldSecret}, nil
		}, SourceOptions{})
		fatal(t, err)
		time.Sleep(time.Minute)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			verifies(t, v, oldSecret, nil)
		}()
		verifies(t, v, oldSecret, nil)
		time.Sleep(time.Minute)
		verifies(t, v, newSecret, ErrInvalidSignature)
		if calls != 3 {
			t.Errorf("%d calls, want 3", calls)
		}
	})
}

// TestVerifierFuncFails: NewVerifierFunc returns an error if the first call fails or returns no valid secret.
func TestVerifierFuncFails(t *testing.T) {
	for _, s := range []*store{{err: errors.New("down")}, {}, {secrets: []Secret{{}}}} {
		if v, err := NewVerifierFunc(t.Context(), s.get, SourceOptions{}); err == nil {
			t.Errorf("got %v, want an error", v)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &store{secrets: []Secret{oldSecret}, delay: time.Hour}
	if _, err := NewVerifierFunc(ctx, s.get, SourceOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the error of the context", err)
	}
}
