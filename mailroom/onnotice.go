package mailroom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// noticeValue is the value of an item of the kind "notice".
type noticeValue struct {
	Notice   Notice `json:"notice"`
	Failures int    `json:"failures,omitempty"` // of OnNotice
}

func (s *storeTx) putNotice(key string, n Notice) {
	s.put(Item{Kind: kindNotice, Key: key, Due: time.Now(), Value: encode(noticeValue{Notice: n})})
}

// notify passes the notice with the key, or any notice if key is "", to OnNotice.
func (r *Room) notify(ctx context.Context, key string) (wait time.Duration, err error) {
	var it Item
	var p noticeValue
	var start time.Time // of the call, if any
	wait, err = withDueItem(ctx, r, kindNotice, key, func(s *storeTx, item Item, v noticeValue) time.Duration {
		if it, p = item, v; s.waitForOutcome(it, p.Notice) {
			return 0
		}
		s.delete(kindNotice, it.Key) // first, because OnNotice can cause the next outcome
		if s.err == nil {
			start = time.Now()
			s.err = r.callOnNotice(s.ctx, p.Notice)
		}
		return 0
	})
	if start.IsZero() {
		return wait, err
	}
	if r.opts.Observe != nil {
		r.opts.Observe(ctx, Observation{p.Notice, time.Since(start), err})
	}
	if err == nil || errors.Is(ctx.Err(), context.Canceled) { // a shutdown does not count as a failure
		return wait, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout) // the time of the call can be over
	defer cancel()
	p.Failures++
	retry := it
	retry.Value, retry.Due = encode(p), time.Now().Add(exponential(2*time.Second, p.Failures, time.Hour))
	r.opts.Logger.ErrorContext(ctx, "mailroom: OnNotice failed", "notice", it.Key, "again", retry.Due, "error", err)
	return 0, r.update(ctx, func(s *storeTx) {
		// Perhaps a later outcome has replaced the notice, or another process has handled or postponed it.
		if current, found := s.get(kindNotice, it.Key); found && bytes.Equal(current.Value, it.Value) {
			s.put(retry)
		}
	})
}

// waitForOutcome postpones a notice until OnNotice has handled the outcome of its key.
func (s *storeTx) waitForOutcome(it Item, n Notice) (waits bool) {
	if n.Key == "" || it.Key == outcomeKey(n.Key) {
		return false
	}
	outcome, waits := s.get(kindNotice, outcomeKey(n.Key))
	if waits {
		if it.Due = time.Now().Add(time.Second); it.Due.Before(outcome.Due) {
			it.Due = outcome.Due.Add(time.Millisecond)
		}
		s.put(it)
	}
	return waits
}

var errExited = errors.New("OnNotice called runtime.Goexit")

// callOnNotice calls OnNotice, and returns a panic or an exit as an error. It calls OnNotice on
// another goroutine, because an exit would end the worker.
func (r *Room) callOnNotice(ctx context.Context, n Notice) error {
	result := make(chan error, 1)
	go func() {
		err := errExited
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			}
			result <- err
		}()
		err = r.opts.OnNotice(ctx, n)
	}()
	return <-result
}
