package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxTokenMargin is the maximum time between the replacement of a token and its expiry.
const maxTokenMargin = time.Minute

// Token is an access token. A printed, logged or encoded Token does not contain
// its value, unless the Token is in an unexported field (see "Authentication"
// in the package documentation).
type Token struct {
	Value string `json:"-"` // follows "Bearer " in the Authorization header

	// Expiry is the time at which the platform stops accepting the token. The
	// zero Time means that the expiry is unknown, so the client uses the token
	// until the platform responds with 401.
	Expiry time.Time
}

// Format implements [fmt.Formatter]. Package fmt does not call Format for the verb %p, which prints the token's value.
func (t Token) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, t.String()) }

// String returns the expiry.
func (t Token) String() string {
	if t.Expiry.IsZero() {
		return "client.Token{}"
	}
	return "client.Token{Expiry: " + t.Expiry.Format(time.RFC3339) + "}"
}

// MarshalText implements [encoding.TextMarshaler] with the text of String.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalBinary implements [encoding.BinaryMarshaler] with the text of String.
func (t Token) MarshalBinary() ([]byte, error) { return []byte(t.String()), nil }

// LogValue implements [slog.LogValuer].
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// tokenExpiry contains the time at which the client requests a new token and the time at
// which the token expires. The zero value means that the token does not expire.
type tokenExpiry struct{ refreshAt, expiresAt time.Time }

func newTokenExpiry(now, expiry time.Time) tokenExpiry {
	if expiry.IsZero() {
		return tokenExpiry{}
	}
	return tokenExpiry{refreshAt: expiry.Add(-min(expiry.Sub(now)/10, maxTokenMargin)), expiresAt: expiry}
}

func (e tokenExpiry) stale(now time.Time) bool {
	return !e.expiresAt.IsZero() && (!now.Before(e.refreshAt) || e.expired(now))
}

func (e tokenExpiry) expired(now time.Time) bool {
	return !e.expiresAt.IsZero() && !now.Before(e.expiresAt)
}

func (e tokenExpiry) extended(now time.Time) tokenExpiry {
	if !e.expiresAt.IsZero() {
		e.refreshAt = now.Add(max(e.expiresAt.Sub(now)/2, time.Second))
	}
	return e
}

// A TokenSource is a function that returns a new access token, for example:
//
//	cfg.TokenSource = func(ctx context.Context) (client.Token, error) {
//		t, err := credentials.Token(ctx) // a *clientcredentials.Config of golang.org/x/oauth2
//		if err != nil {
//			return client.Token{}, err
//		}
//		return client.Token{Value: t.AccessToken, Expiry: t.Expiry}, nil
//	}
//
// The client calls the source before the first request, and caches the token. It calls
// the source again when a tenth of the token's lifetime remains, or one minute before the
// expiry, whichever is later. It also calls the source after a 401 response, because a
// platform can revoke a token early. Therefore the source must fetch a new token in each
// call, and must not cache tokens itself.
//
// If the source returns a token that has already expired, the calls that waited for this
// token use it nevertheless, because the local clock may be wrong. The next call requests
// a new token.
//
// While the current token is valid, calls use it and do not wait for its replacement. If
// the source fails in this time, the client calls the source again after half of the
// token's remaining lifetime, but not earlier than after one second. If the source still
// fails after the token has expired, calls return the error from the source.
//
// Calls that wait for a token share the result: the token, the error or the panic. If the
// source panics while no call waits, the next call panics with the same value.
//
// Several calls of the client can wait for one call of the source, which runs on its own
// goroutine. Its context contains the values of the context of one of these calls. The
// client cancels it after [Config.Timeout], or when all calls that waited have ended.
//
// A source might not stop when its context ends. Therefore, if the source is still
// running one second after Timeout has expired, the methods that wait for the token
// return an error, and the client ignores the source's result. The next method that needs
// a token then calls the source again, so calls to the source can be concurrent. The
// client starts no more calls while ten calls have not returned.
//
// The source must use a separate client, not the client that calls it. Otherwise, if no
// token is valid, the source's request would wait for the token that the source must
// return. If the source passes its context to this request, the client detects the error,
// and the request fails immediately.
type TokenSource func(ctx context.Context) (Token, error)

// cachedToken is the result of the last call to the source.
type cachedToken struct {
	token  string
	expiry tokenExpiry
	err    error // reason why the previous token is still in use
}

// sourceKey marks the context that the client passes to a source.
type sourceKey struct{ tokens *tokens }

// sourceGrace is the time that a source has to return after its context has expired.
// maxSourceCalls limits the number of calls to the source that have not returned.
const (
	sourceGrace    = time.Second
	maxSourceCalls = 10
)

var errSourceHangs = errors.New("token source: it does not return, although its context has expired")

var errOwnSource = errors.New("the token source must not call its own client; use another client")

type tokens struct {
	source  TokenSource   // nil for a fixed token
	timeout time.Duration // maximum duration of a call to the source, if positive
	current atomic.Pointer[cachedToken]
	first   atomic.Pointer[string] // the first token, which identifies the user

	mu       sync.Mutex
	inFlight *sourceCall  // nil unless the client waits for the source
	running  int          // number of calls to the source that have not returned
	exit     callbackExit // panic of the source, if no caller waited for it
}

// sourceCall is a call to the token source that all waiting callers share.
type sourceCall struct {
	cancel     context.CancelFunc
	waiting    int           // number of waiting callers
	background bool          // whether the call continues without callers, because the token expires soon
	abandoned  bool          // whether the call was canceled because all callers left
	done       chan struct{} // closed when the other fields are set
	result     cachedToken
	exit       callbackExit
}

func newTokens(fixed string, source TokenSource, timeout time.Duration) *tokens {
	t := &tokens{source: source, timeout: timeout}
	if source == nil {
		t.setCurrent(&cachedToken{token: fixed})
	}
	return t
}

func (t *tokens) setCurrent(cached *cachedToken) {
	t.first.CompareAndSwap(nil, &cached.token)
	t.current.Store(cached)
}

// get returns a token, and calls the source if necessary. If the platform has rejected a token,
// the caller passes this token in the parameter rejected. If the source has returned a newer
// result in the meantime, get returns this result, even if it contains the same token.
// Otherwise, get calls the source. Without a source, get always returns the fixed token of the
// configuration.
func (t *tokens) get(ctx context.Context, rejected *cachedToken) (*cachedToken, error) {
	for {
		cached := t.current.Load()
		if t.source == nil || rejected == nil && cached != nil && !cached.expiry.stale(time.Now()) {
			return cached, nil
		}
		if rejected != nil && cached != rejected {
			return cached, cached.err
		}
		valid := rejected == nil && cached != nil && !cached.expiry.expired(time.Now())
		if !valid && ctx.Value(sourceKey{t}) != nil {
			return nil, errOwnSource
		}
		sc := t.join(ctx, cached, valid)
		if sc == nil {
			continue // another call requested a token in the meantime
		}
		if valid {
			return cached, nil
		}
		select {
		case <-sc.done:
		case <-ctx.Done():
			t.leave(sc)
			return nil, ctx.Err()
		}
		sc.exit.raise()
		if sc.result.err == nil || !sc.abandoned { // otherwise the call may have failed because all callers had left
			return &sc.result, sc.result.err
		}
	}
}

// join returns the call to the source that is in progress. If there is none, join starts a
// call and returns it. The parameter background is true if the caller does not wait for the
// result. If the given token is no longer current, join returns nil.
func (t *tokens) join(ctx context.Context, cached *cachedToken, background bool) *sourceCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current.Load() != cached {
		return nil
	}
	if t.inFlight == nil {
		c := t.exit
		t.exit = callbackExit{}
		c.raise()
		if t.running == maxSourceCalls {
			return hangingCall()
		}
		t.inFlight = t.start(withoutOptions(context.WithoutCancel(ctx)))
	}
	if background {
		t.inFlight.background = true
	} else {
		t.inFlight.waiting++
	}
	return t.inFlight
}

// hangingCall returns a call that has failed.
func hangingCall() *sourceCall {
	sc := &sourceCall{done: make(chan struct{}), result: cachedToken{err: errSourceHangs}}
	close(sc.done)
	return sc
}

// start calls the source, and stops waiting for it after the timeout.
func (t *tokens) start(ctx context.Context) *sourceCall {
	ctx, cancel := timeoutContext(ctx, t.timeout)
	sc := &sourceCall{cancel: cancel, done: make(chan struct{})}
	stop := func() bool { return true }
	if t.timeout > 0 {
		hung := func() { t.finish(sc, cachedToken{err: errSourceHangs}, callbackExit{}) }
		stop = time.AfterFunc(t.timeout+sourceGrace, hung).Stop
	}
	var result cachedToken
	t.running++
	go runCallback(func() { result = t.fetch(ctx) }, func(c callbackExit) {
		stop()
		t.finish(sc, result, c)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.running--
	})
	return sc
}

func (t *tokens) fetch(ctx context.Context) cachedToken {
	token, err := t.source(context.WithValue(ctx, sourceKey{t}, true))
	if err == nil {
		err = checkToken(token.Value)
	}
	if err != nil {
		return cachedToken{err: fmt.Errorf("token source: %w", err)}
	}
	return cachedToken{token: token.Value, expiry: newTokenExpiry(time.Now(), token.Expiry)}
}

// finish records the result of a call to the source, unless the client has stopped
// waiting for it. If the source failed, the previous token stays in use.
func (t *tokens) finish(sc *sourceCall, result cachedToken, c callbackExit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !c.none() && (sc.waiting == 0 || t.inFlight != sc) {
		t.exit = c
	}
	if t.inFlight != sc {
		return
	}
	defer close(sc.done)
	sc.cancel()
	sc.result, sc.exit = result, c
	t.inFlight = nil
	before := t.current.Load()
	switch {
	case sc.result.token != "":
		t.setCurrent(&sc.result)
	case before != nil && sc.result.err != nil && !sc.abandoned:
		t.setCurrent(&cachedToken{token: before.token, expiry: before.expiry.extended(time.Now()), err: sc.result.err})
	}
}

func (t *tokens) leave(sc *sourceCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if sc.waiting--; sc.waiting == 0 && !sc.background {
		sc.abandoned = true
		sc.cancel()
	}
}

// checkToken returns an error if a token is not valid in an Authorization
// header. The error does not contain the token.
func checkToken(token string) error {
	if token == "" {
		return errors.New("access token must not be empty")
	}
	if i := strings.IndexFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }); i >= 0 {
		return fmt.Errorf("byte %d of the access token is not a visible ASCII character", i)
	}
	return nil
}
