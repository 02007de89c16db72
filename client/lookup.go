package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"net/http"
	"time"
)

// opLookup is the operation that the platform limits to one a second.
const opLookup = "getEmail"

// maxRefusals is how often one lookup that came too early is tried again.
const maxRefusals = 60

// Get looks a submitted email up. The platform allows one lookup a second for
// each user and account: Get waits for its turn, first come first served, and
// waits out a refusal that comes nevertheless, at most 60 times. A context that
// ends before the turn comes ends the wait. Who is next in line and has a deadline
// that is too early fails at once.
// (Specification: Transactional email, Limits.)
func (s *Emails) Get(ctx context.Context, emailID string) (Email, error) {
	return do(ctx, s.x, getEmailRequest(emailID), readEmail)
}

// GetAll looks emails up one after the other, and yields them in the order of
// ids. An id whose lookup fails is yielded as an Email that holds the id and what
// could be read, most often nothing, with the error; the iteration goes on unless the context has ended.
// Nothing is sent before the first iteration.
func (s *Emails) GetAll(ctx context.Context, ids iter.Seq[string]) iter.Seq2[Email, error] {
	return func(yield func(Email, error) bool) {
		for id := range ids {
			email, err := s.Get(ctx, id)
			if err != nil {
				email.ID = id // the rest is what could be read, most often nothing
			}
			if !yield(email, err) || ctx.Err() != nil {
				return
			}
		}
	}
}

// Wait looks an email up again and again, at most once a second, until until
// reports true, and returns what it then is. [Email.Settled] is a good until:
//
//	email, err := c.Emails.Wait(ctx, id, client.Email.Settled)
//
// If a lookup fails or the context ends, Wait returns the error together with
// the email as it was last seen.
func (s *Emails) Wait(ctx context.Context, emailID string, until func(Email) bool) (Email, error) {
	var last Email
	for {
		email, err := s.Get(ctx, emailID)
		if err != nil {
			return last, err
		}
		if until(email) {
			return email, nil
		}
		last = email
		if err := pause(ctx, lookupGap); err != nil {
			r := getEmailRequest(emailID)
			return last, &Error{Op: r.op, Method: r.method, Path: r.path, cause: fmt.Errorf("waiting to look again: %w", err)}
		}
	}
}

// Settled reports whether the platform is done with the email: its status is
// known and no longer queued.
func (e Email) Settled() bool { return e.Status != "" && e.Status != EmailQueued }

// lookups is the layer that has lookups wait for their turn, and tries those
// again that were refused nevertheless: other processes may use the same token.
type lookups struct {
	limiter LookupLimiter
	tokens  *tokens
	scope   string // the platform and the account
	retry   RetryConfig
}

func (l lookups) spaced(next exchange) exchange {
	return func(ctx context.Context, c *call) error {
		if c.op != opLookup {
			return next(ctx, c)
		}
		if _, err := l.tokens.get(ctx, ""); err != nil {
			return err
		}
		release, err := l.limiter.Acquire(ctx, l.key())
		if err != nil {
			return fmt.Errorf("waiting for the turn to look up: %w", err)
		}
		var atLeast time.Duration
		defer func() { release(atLeast) }()
		for n := 0; ; n++ {
			err := next(ctx, c)
			e, ok := ownError(err)
			atLeast = 0
			if !ok || e.StatusCode != http.StatusTooManyRequests {
				return err
			}
			e.final = true // what there is to wait is waited here
			atLeast = min(max(e.RetryAfter, lookupGap), max(l.retry.MaxRetryAfter, lookupGap))
			if l.retry.MaxAttempts == 1 || n == maxRefusals || endsWithin(ctx, atLeast) {
				return e
			}
			if err := pause(ctx, atLeast); err != nil {
				e.join(err)
				return e
			}
		}
	}
}

// key names the user and account to the limiter without showing a token. It is
// made of the first one: a token that was refreshed is still the same user's.
func (l lookups) key() string {
	sum := sha256.Sum256([]byte(l.scope + "\x00" + *l.tokens.first.Load()))
	return hex.EncodeToString(sum[:])
}
