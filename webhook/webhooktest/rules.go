package webhooktest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/emailplatform/webhook"
)

var rules = []struct {
	name      string
	check     check
	oneWriter check // instead of check with the option OneWriter; nil if they are equal
}{
	{name: "success is recorded", check: successIsRemembered},
	{name: "failure frees the key", check: failureFreesTheKey},
	{name: "panic frees the key and continues", check: panicFreesTheKey},
	{name: "duplicate in flight is rejected", check: duplicateInFlight},
	{name: "other keys do not wait", check: otherKeysDoNotWait, oneWriter: otherKeysWaitForTheFunction},
	{name: "keys are compared byte for byte", check: distinctKeys(similarKeys)},
	{name: "keys are any bytes", check: distinctKeys(binaryKeys)},
	{name: "keys are of any length", check: distinctKeys(longKeys)},
	{name: "ended context runs nothing", check: doneContextRunsNothing},
	{name: "canceled failure frees the key", check: canceledFailureFreesTheKey},
	{name: "canceled success is kept or undone", check: canceledSuccessIsKeptOrUndone},
	{name: "function gets the context", check: functionGetsTheContext},
	{name: "many at once succeed once", check: manyAtOnceSucceedOnce},
}

var errFn = errors.New("the function fails")

func succeed(context.Context) error { return nil }

func fail(context.Context) error { return errFn }

func newKey() string { return "webhooktest-" + rand.Text() }

// expect calls Do and compares the result with the expected result.
func expect(
	ctx context.Context, once webhook.Once, key string, fn func(context.Context) error, wantRan bool, wantErr error,
) error {
	called := false
	ran, err := once.Do(ctx, key, func(ctx context.Context) error {
		called = true
		return fn(ctx)
	})
	if called != wantRan || ran != wantRan || !errors.Is(err, wantErr) {
		return fmt.Errorf("key %.64q: function called: %v, Do = %v, %v; want %v, %v, %v",
			key, called, ran, err, wantRan, wantRan, wantErr)
	}
	return nil
}

func successIsRemembered(ctx context.Context, once webhook.Once, key string) error {
	return errors.Join(
		expect(ctx, once, key, succeed, true, nil),
		expect(ctx, once, key, succeed, false, nil),
		expect(ctx, once, key, fail, false, nil),
	)
}

func failureFreesTheKey(ctx context.Context, once webhook.Once, key string) error {
	return errors.Join(
		expect(ctx, once, key, fail, true, errFn),
		expect(ctx, once, key, fail, true, errFn),
		expect(ctx, once, key, succeed, true, nil),
		expect(ctx, once, key, succeed, false, nil),
	)
}

func panicFreesTheKey(ctx context.Context, once webhook.Once, key string) error {
	const cause = "the function panics"
	recovered := func() (v any) {
		defer func() { v = recover() }()
		_, err := once.Do(ctx, key, func(context.Context) error { panic(cause) })
		return fmt.Sprintf("none: Do returned %v", err)
	}()
	if recovered != cause {
		return fmt.Errorf("panic seen by the caller: %v; want %v", recovered, cause)
	}
	return expect(ctx, once, key, succeed, true, nil)
}

func duplicateInFlight(ctx context.Context, once webhook.Once, key string) error {
	var duplicate error
	first := expect(ctx, once, key, func(context.Context) error {
		duplicate = expect(ctx, once, key, succeed, false, webhook.ErrInFlight)
		return nil
	}, true, nil)
	return errors.Join(duplicate, first, expect(ctx, once, key, succeed, false, nil))
}

func otherKeysDoNotWait(ctx context.Context, once webhook.Once, key string) error {
	other := newKey()
	var inside error
	first := expect(ctx, once, key, func(context.Context) error {
		inside = expect(ctx, once, other, succeed, true, nil)
		return errFn
	}, true, errFn)
	return errors.Join(inside, first, expect(ctx, once, other, succeed, false, nil))
}

// otherKeysWaitForTheFunction calls Do with another key while the function runs. The
// function does not wait for this call.
func otherKeysWaitForTheFunction(ctx context.Context, once webhook.Once, key string) error {
	other := newKey()
	result := make(chan error, 1)
	first := expect(ctx, once, key, func(context.Context) error {
		go func() { result <- expect(ctx, once, other, succeed, true, nil) }()
		return errFn
	}, true, errFn)
	return errors.Join(first, <-result, expect(ctx, once, other, succeed, false, nil))
}

// distinctKeys returns a check that the store treats each variant of a key as a separate key.
func distinctKeys(variants func(key string) []string) check {
	return func(ctx context.Context, once webhook.Once, key string) error {
		var errs []error
		for _, k := range variants(key) {
			errs = append(errs, expect(ctx, once, k, succeed, true, nil), expect(ctx, once, k, succeed, false, nil))
		}
		return errors.Join(errs...)
	}
}

// similarKeys returns texts that some databases treat as equal. They differ
// only in letter case, spaces, wildcards or length.
func similarKeys(key string) []string {
	long := key + strings.Repeat("x", 200)
	return []string{key, strings.ToLower(key), key + " ", " " + key, key + "%", key + "_", key + "é", key + "e\u0301", long, long + "y"}
}

// binaryKeys returns keys with NUL and invalid UTF-8, which databases do not accept as text.
// If a store replaces these bytes, two different keys become equal.
func binaryKeys(key string) []string {
	return []string{
		key, key + "\x00", key + "\x00a", key + "\xff", key + "\xfe", key + "\ufffd", key + "\xed\xa0\x80", key + "\r\n",
	}
}

// longKeys returns keys of 10 kB that differ only in their last byte. They do not fit into a
// page of a database index, not even compressed.
func longKeys(key string) []string {
	for len(key) < 10_000 {
		key += rand.Text()
	}
	return []string{key + "a", key + "b"}
}

func doneContextRunsNothing(ctx context.Context, once webhook.Once, key string) error {
	done, cancel := context.WithCancel(ctx)
	cancel()
	return errors.Join(
		expect(done, once, key, succeed, false, context.Canceled),
		expect(ctx, once, key, succeed, true, nil),
	)
}

// canceledFailureFreesTheKey tests that the store releases a key even if the
// context is canceled.
func canceledFailureFreesTheKey(ctx context.Context, once webhook.Once, key string) error {
	canceled, cancel := context.WithCancel(ctx)
	defer cancel()
	return errors.Join(
		expect(canceled, once, key, func(context.Context) error {
			cancel()
			return canceled.Err()
		}, true, context.Canceled),
		expect(ctx, once, key, succeed, true, nil),
	)
}

// canceledSuccessIsKeptOrUndone: if ctx is canceled while fn succeeds, Do must return true.
// Afterwards, the key may be recorded or free, because the database may have rolled back
// the transaction.
func canceledSuccessIsKeptOrUndone(ctx context.Context, once webhook.Once, key string) error {
	canceled, cancel := context.WithCancel(ctx)
	defer cancel()
	ran, err := once.Do(canceled, key, func(context.Context) error {
		cancel()
		return nil
	})
	if !ran {
		return fmt.Errorf("Do = %v, %v; want true, because the function was called", ran, err)
	}
	return expect(ctx, once, key, succeed, err != nil, nil)
}

func functionGetsTheContext(ctx context.Context, once webhook.Once, key string) error {
	type contextKey struct{}
	parent, cancel := context.WithCancel(context.WithValue(ctx, contextKey{}, "value"))
	defer cancel()
	return expect(parent, once, key, func(got context.Context) error {
		if got.Value(contextKey{}) != "value" {
			return errors.New("the function's context lacks values from the caller's context")
		}
		cancel()
		select {
		case <-got.Done():
			return got.Err()
		case <-ctx.Done():
			return errors.New("the function's context is not canceled with the caller's context")
		}
	}, true, context.Canceled)
}

// manyAtOnceSucceedOnce makes the first calls fail, so several callers get the
// key one after the other.
func manyAtOnceSucceedOnce(ctx context.Context, once webhook.Once, key string) error {
	const callers, failures = 16, 5
	var inside, overlaps, calls, successes atomic.Int32
	fn := func(context.Context) error {
		if inside.Add(1) > 1 {
			overlaps.Add(1)
		}
		defer inside.Add(-1)
		time.Sleep(time.Millisecond) // give the other callers time to call Do
		if calls.Add(1) <= failures {
			return errFn
		}
		successes.Add(1)
		return nil
	}
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() { errs[i] = untilHandled(ctx, once, key, fn) })
	}
	wg.Wait()
	if overlaps.Load() > 0 || successes.Load() != 1 {
		errs = append(errs, fmt.Errorf("got %d successes and %d overlapping calls; want 1 and 0",
			successes.Load(), overlaps.Load()))
	}
	return errors.Join(errs...)
}

// untilHandled simulates the platform, which repeats a delivery until the
// event is handled.
func untilHandled(ctx context.Context, once webhook.Once, key string, fn func(context.Context) error) error {
	for ctx.Err() == nil {
		_, err := once.Do(ctx, key, fn)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, errFn) && !errors.Is(err, webhook.ErrInFlight):
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return ctx.Err()
}
