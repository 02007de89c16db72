package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
)

// TokenSource returns an access token. It is asked before the first request,
// with that request's context, and again when the platform answered 401. In
// between the client keeps the token. It is never asked twice at a time; those
// who wait for a token share what it returned.
type TokenSource func(ctx context.Context) (string, error)

// tokens keeps the access token of a client.
type tokens struct {
	source  TokenSource
	current atomic.Pointer[string]
	first   atomic.Pointer[string] // the first that there was; it stands for the user
	turn    chan struct{}          // holds one value while nobody asks the source
}

func newTokens(fixed string, source TokenSource) *tokens {
	t := &tokens{source: source, turn: make(chan struct{}, 1)}
	t.turn <- struct{}{}
	if source == nil {
		t.source = func(context.Context) (string, error) { return fixed, nil }
	}
	return t
}

// get returns a token other than rejected if there is one.
func (t *tokens) get(ctx context.Context, rejected string) (string, error) {
	if token := t.load(); token != rejected {
		return token, nil
	}
	select {
	case <-t.turn:
		defer func() { t.turn <- struct{}{} }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if token := t.load(); token != rejected { // another call has asked meanwhile
		return token, nil
	}
	token, err := t.source(ctx)
	if err != nil {
		return "", fmt.Errorf("token source: %w", err)
	}
	if err := checkToken(token); err != nil {
		return "", fmt.Errorf("token source: %w", err)
	}
	t.first.CompareAndSwap(nil, &token)
	t.current.Store(&token)
	return token, nil
}

func (t *tokens) load() string {
	if p := t.current.Load(); p != nil {
		return *p
	}
	return ""
}

// checkToken refuses what cannot stand in an Authorization header. It does not
// say what it saw.
func checkToken(token string) error {
	if token == "" {
		return errors.New("the access token is empty")
	}
	for i := range len(token) {
		if token[i] <= ' ' || token[i] > '~' {
			return fmt.Errorf("byte %d of the access token is not a visible ASCII character", i)
		}
	}
	return nil
}

// authorized gives each request a token. After a 401 the source is asked once
// more; a 401 does nothing, so the request can be sent again whatever it is.
func (t *tokens) authorized(next exchange) exchange {
	return func(ctx context.Context, c *call) error {
		token, err := t.get(ctx, "")
		if err != nil {
			return err
		}
		c.token = token
		err = next(ctx, c)
		e, ok := ownError(err)
		if !ok || e.StatusCode != http.StatusUnauthorized {
			return err
		}
		if token, err = t.get(ctx, c.token); err != nil {
			return e.joined(redactError(err, c.token))
		}
		if token == c.token {
			return e
		}
		c.token = token
		c.retries(ctx, e, 0)
		return next(ctx, c)
	}
}
