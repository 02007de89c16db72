package webhooktest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"example.com/emailplatform/webhook"
)

func TestMemoryOnce(t *testing.T) {
	TestOnce(t, func(*testing.T) webhook.Once { return webhook.NewMemoryOnce(webhook.MemoryOnceOptions{}) })
}

// TestSuiteCatches: the named rules report each broken store.
func TestSuiteCatches(t *testing.T) {
	for _, tt := range brokenStores {
		t.Run(tt.fault, func(t *testing.T) {
			var reported []string
			for _, r := range rules {
				synctest.Test(t, func(t *testing.T) {
					broken := brokenStore{webhook.NewMemoryOnce(webhook.MemoryOnceOptions{}), tt.do}
					if err := r.check.run(t.Context(), broken); err != nil {
						reported = append(reported, r.name)
					}
					time.Sleep(10 * timeLimit) // until what hangs has ended
				})
			}
			for _, name := range tt.reported {
				if !slices.Contains(reported, name) {
					t.Errorf("%q does not report it; these do: %q", name, reported)
				}
			}
		})
	}
}

type (
	function  = func(context.Context) error
	storeFunc = func(ctx context.Context, m webhook.Once, key string, fn function) (bool, error)
)

// brokenStore adds a fault to a correct store.
type brokenStore struct {
	store webhook.Once
	do    storeFunc
}

func (b brokenStore) Do(ctx context.Context, key string, fn func(context.Context) error) (bool, error) {
	return b.do(ctx, b.store, key, fn)
}

var brokenStores = []struct {
	fault    string
	do       storeFunc
	reported []string
}{
	{
		"records nothing",
		func(ctx context.Context, _ webhook.Once, _ string, fn function) (bool, error) { return true, fn(ctx) },
		[]string{"success is recorded", "duplicate in flight is rejected", "ended context runs nothing", "many at once succeed once"},
	},
	{
		"records too early", recordsTooEarly,
		[]string{
			"failure frees the key", "panic frees the key and continues", "duplicate in flight is rejected",
			"canceled failure frees the key",
		},
	},
	{"treats a duplicate in flight as handled", hidesError(false), []string{"duplicate in flight is rejected"}},
	{"waits for the delivery in flight", waits, []string{"duplicate in flight is rejected"}},
	{"keeps the key of a panic", keepsKeyOfPanic, []string{"panic frees the key and continues"}},
	{"swallows a panic", swallowsPanic, []string{"panic frees the key and continues"}},
	{"keeps the key of a canceled failure", keepsKeyOfCanceled, []string{"canceled failure frees the key"}},
	{"does not record a canceled success, reports no error", forgetsCanceledSuccess, []string{"canceled success is kept or undone"}},
	{"swallows an error", hidesError(true), []string{"failure frees the key"}},
	{"treats all keys as one", withKey(func(string) string { return "key" }), []string{"other keys do not wait", byteForByte}},
	{"ignores case", withKey(strings.ToLower), []string{byteForByte}},
	{"trims spaces", withKey(strings.TrimSpace), []string{byteForByte}},
	{"truncates keys to 64 bytes", withKey(truncated(64)), []string{byteForByte}},
	{"truncates keys at a NUL", withKey(beforeNUL), []string{anyBytes}},
	{"makes keys valid UTF-8", withKey(func(key string) string { return strings.ToValidUTF8(key, "\ufffd") }), []string{anyBytes}},
	{"rejects keys that are not UTF-8", rejects(func(key string) bool { return !utf8.ValidString(key) }), []string{anyBytes}},
	{"rejects long keys", rejects(func(key string) bool { return len(key) > 2704 }), []string{anyLength}},
	{"truncates keys to 8,000 bytes", withKey(truncated(8000)), []string{anyLength}},
	{"gives the function a new context", withContext(newContext), []string{getsContext}},
	{"shields the function from cancellation", withContext(context.WithoutCancel), []string{getsContext}},
	{"does not look at the context", ignoresContext, []string{"ended context runs nothing"}},
}

const (
	byteForByte = "keys are compared byte for byte"
	anyBytes    = "keys are any bytes"
	anyLength   = "keys are of any length"
	getsContext = "function gets the context"
)

func truncated(length int) func(string) string {
	return func(key string) string { return key[:min(len(key), length)] }
}

func beforeNUL(key string) string {
	key, _, _ = strings.Cut(key, "\x00")
	return key
}

func withKey(change func(string) string) storeFunc {
	return func(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
		return m.Do(ctx, change(key), fn)
	}
}

func newContext(context.Context) context.Context { return context.Background() }

func withContext(change func(context.Context) context.Context) storeFunc {
	return func(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
		return m.Do(ctx, key, func(ctx context.Context) error { return fn(change(ctx)) })
	}
}

// hidesError returns a storeFunc that returns nil instead of the error if the first result of Do equals ran.
func hidesError(ran bool) storeFunc {
	return func(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
		got, err := m.Do(ctx, key, fn)
		if got == ran {
			err = nil
		}
		return got, err
	}
}

func rejects(bad func(string) bool) storeFunc {
	return func(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
		if bad(key) {
			return false, errors.New("the key is not allowed")
		}
		return m.Do(ctx, key, fn)
	}
}

func recordsTooEarly(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
	if ran, err := m.Do(ctx, key, succeed); !ran {
		return false, err
	}
	return true, fn(ctx)
}

func waits(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
	for range 100 {
		ran, err := m.Do(ctx, key, fn)
		if !errors.Is(err, webhook.ErrInFlight) {
			return ran, err
		}
		time.Sleep(time.Second)
	}
	return false, errors.New("waited in vain")
}

func keepsKeyOfPanic(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
	var panicked any
	ran, err := m.Do(ctx, key, func(ctx context.Context) error {
		defer func() { panicked = recover() }()
		return fn(ctx)
	})
	if panicked != nil {
		panic(panicked)
	}
	return ran, err
}

func swallowsPanic(ctx context.Context, m webhook.Once, key string, fn function) (ran bool, err error) {
	defer func() { _ = recover() }()
	return m.Do(ctx, key, fn)
}

func keepsKeyOfCanceled(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
	var failed error
	ran, err := m.Do(ctx, key, func(ctx context.Context) error {
		failed = fn(ctx)
		if ctx.Err() == nil {
			return failed
		}
		return nil
	})
	return ran, errors.Join(err, failed)
}

func forgetsCanceledSuccess(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
	var failed error
	ran, err := m.Do(ctx, key, func(ctx context.Context) error {
		failed = fn(ctx)
		return errors.Join(failed, ctx.Err())
	})
	if ran {
		err = failed
	}
	return ran, err
}

func ignoresContext(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
	return m.Do(context.WithoutCancel(ctx), key, fn)
}
