package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// SourceOptions configures [NewVerifierFunc]. The zero value is a good default.
type SourceOptions struct {
	// MaxAge is the maximum age of the loaded secrets. When it is exceeded, the next
	// verification reloads the secrets. A removed secret therefore stays valid until the next
	// successful reload. If MaxAge is less than MinInterval, MinInterval applies instead. 0
	// or a negative value means 1 minute.
	MaxAge time.Duration

	// MinInterval is the minimum time between two calls to the function that returns the
	// secrets. If a signature matches no secret, the Verifier reloads the secrets, so a new
	// secret is accepted after at most MinInterval. This has a cost: requests with invalid
	// signatures can cause one reload per MinInterval. 0 or a negative value means 5 seconds.
	MinInterval time.Duration

	// Timeout limits each call to the function, even if the function ignores its
	// context. 0 or a negative value means 3 seconds.
	Timeout time.Duration

	// Lazy defers the first call to the function until the first verification, so a
	// receiver can start while the platform is down. Until a call has succeeded,
	// Verify returns [ErrNoSecrets], and the handler responds with 503, so the platform
	// retries.
	Lazy bool

	// OnError, if not nil, is called after each failed call to the function. It is not called if
	// the first call in NewVerifierFunc fails, because NewVerifierFunc returns this error
	// itself. After a panic, the error is a *PanicError. OnError must be safe for concurrent
	// use. By default, failures are logged with slog.Default at warn level.
	OnError func(error)
}

func (o SourceOptions) withDefaults() SourceOptions {
	o.MaxAge = cmp.Or(max(o.MaxAge, 0), time.Minute)
	o.MinInterval = cmp.Or(max(o.MinInterval, 0), 5*time.Second)
	o.Timeout = cmp.Or(max(o.Timeout, 0), 3*time.Second)
	if o.OnError == nil {
		o.OnError = func(err error) { slog.Warn("webhook: secrets not refreshed", "error", err) }
	}
	return o
}

// NewVerifierFunc returns a Verifier that calls a function (the parameter secrets) to get its
// secrets, so a secret rotation needs no restart. NewVerifierFunc returns an error if the
// function is nil. Unless [SourceOptions].Lazy is set, NewVerifierFunc calls the function
// immediately, and returns an error if this call fails. Later, [Verifier.Verify] calls the
// function if the last secrets are older than [SourceOptions].MaxAge, or if none of them
// matches a signature.
//
// Each call to the function runs on its own goroutine, with a context that expires after
// [SourceOptions].Timeout. During a call, Verify uses the secrets of the last successful
// call. If none of them matches the signature, Verify waits up to Timeout for the new
// secrets. A call fails if the function returns an error, panics, exceeds Timeout, or returns
// no secret or an invalid secret. The Verifier then calls [SourceOptions].OnError and keeps
// the last valid secrets.
//
// If a call exceeds Timeout, the Verifier ignores its result, and may call the function again
// while the first call still runs. While ten calls have not returned, the Verifier does not
// call the function, but reports an error to OnError.
func NewVerifierFunc(
	ctx context.Context, secrets func(context.Context) ([]Secret, error), opts SourceOptions,
) (*Verifier, error) {
	if secrets == nil {
		return nil, errors.New("webhook: the function secrets must not be nil")
	}
	s := &source{secrets: secrets, SourceOptions: opts.withDefaults()}
	if s.Lazy {
		return &Verifier{source: s}, nil
	}
	keys, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	s.keys, s.tried = keys, time.Now()
	return &Verifier{source: s}, nil
}

// source caches the keys of a Verifier whose secrets can change.
type source struct {
	SourceOptions
	secrets func(context.Context) ([]Secret, error)
	running atomic.Int32 // number of calls that have not returned

	mu    sync.Mutex
	keys  []*key
	tried time.Time     // start of the last call
	busy  chan struct{} // closed at the end of the call in progress; nil if there is none
}

// current returns the keys for a verification. If these keys are too old, current replaces
// them first. It returns nil if no call has succeeded.
func (s *source) current() []*key {
	s.mu.Lock()
	defer s.mu.Unlock()
	age := time.Since(s.tried)
	switch {
	case s.busy == nil && age >= s.MinInterval && (s.keys == nil || age >= s.MaxAge):
		s.refresh()
	case s.busy != nil && s.keys == nil:
		s.wait(s.busy)
	}
	return s.keys
}

// newer returns keys that are newer than the tried keys, or nil if there are none. If
// necessary, newer first waits for the source's call in progress. If the source is not
// running and MinInterval has passed, newer calls the source.
func (s *source) newer(tried []*key) []*key {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !same(s.keys, tried):
	case s.busy != nil:
		s.wait(s.busy)
	case time.Since(s.tried) >= s.MinInterval:
		s.refresh()
	}
	if same(s.keys, tried) {
		return nil
	}
	return s.keys
}

// same reports whether a and b are the result of the same call.
func same(a, b []*key) bool { return &a[0] == &b[0] }

// wait waits for the call in progress. It releases s.mu during the wait.
func (s *source) wait(busy chan struct{}) {
	s.mu.Unlock()
	defer s.mu.Lock()
	<-busy // closed after at most Timeout
}

// refresh calls the function and keeps the result. While it calls functions of the
// application, it releases s.mu.
func (s *source) refresh() {
	busy := make(chan struct{})
	s.tried, s.busy = time.Now(), busy
	s.mu.Unlock()
	defer s.mu.Lock()
	keys, err := s.load(context.Background())
	s.mu.Lock()
	if s.busy = nil; err == nil {
		s.keys = keys
	}
	s.mu.Unlock()
	close(busy)
	if err != nil {
		s.OnError(err)
	}
}

// maxRunning is the maximum number of calls to the function that have not returned. Without
// this limit, calls to a function that hangs would exhaust the memory.
const maxRunning = 10

var (
	errHanging = fmt.Errorf("webhook: secrets: the last %d calls have not returned", maxRunning)
	errExited  = errors.New("webhook: secrets: the function called runtime.Goexit")
)

// load calls the function, and stops waiting for it after Timeout.
func (s *source) load(ctx context.Context) ([]*key, error) {
	if s.running.Add(1) > maxRunning {
		s.running.Add(-1)
		return nil, errHanging
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	var keys []*key
	result := make(chan error, 1)
	go func() {
		err := errExited
		defer func() {
			if v := recover(); v != nil {
				err = &PanicError{v, debug.Stack()}
			}
			s.running.Add(-1)
			result <- err
		}()
		var secrets []Secret
		if secrets, err = s.secrets(ctx); err != nil {
			err = fmt.Errorf("webhook: secrets: %w", err)
			return
		}
		keys, err = newKeys(secrets)
	}()
	select {
	case err := <-result:
		return keys, err
	case <-ctx.Done():
		return nil, fmt.Errorf("webhook: secrets: %w", ctx.Err())
	}
}

func newKeys(secrets []Secret) (keys []*key, err error) {
	if len(secrets) == 0 {
		return nil, errors.New("webhook: at least one secret is required")
	}
	for i, s := range secrets {
		k, err := newKey(s)
		if err != nil {
			return nil, fmt.Errorf("webhook: secret %d: %w", i+1, err)
		}
		keys = append(keys, k)
	}
	return keys, nil
}
