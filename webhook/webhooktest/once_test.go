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
			reported := failures(t, tt.do)
			for _, name := range tt.reported {
				if !slices.Contains(reported, name) {
					t.Errorf("%q does not report it; these do: %q", name, reported)
				}
			}
		})
	}
}

// failures returns the names of the rules that the store breaks, on virtual time.
func failures(t *testing.T, do storeFunc) (names []string) {
	for _, r := range rules {
		synctest.Test(t, func(t *testing.T) {
			broken := brokenStore{webhook.NewMemoryOnce(webhook.MemoryOnceOptions{}), do}
			if err := r.run(t.Context(), broken); err != nil {
				names = append(names, r.name)
			}
			time.Sleep(10 * patience) // until what hangs has ended
		})
	}
	return names
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
		"remembers nothing", remembersNothing,
		[]string{"success is recorded", "duplicate in flight is rejected", "ended context runs nothing", "many at once succeed once"},
	},
	{
		"remembers too early", remembersTooEarly,
		[]string{
			"failure frees the key", "panic frees the key and continues", "duplicate in flight is rejected",
			"canceled failure frees the key",
		},
	},
	{"treats a duplicate in flight as handled", duplicateIsSuccess, []string{"duplicate in flight is rejected"}},
	{"waits for the delivery in flight", waits, []string{"duplicate in flight is rejected"}},
	{"keeps the key of a panic", keepsKeyOfPanic, []string{"panic frees the key and continues"}},
	{"swallows a panic", swallowsPanic, []string{"panic frees the key and continues"}},
	{"keeps the key of a canceled failure", keepsKeyOfCancelled, []string{"canceled failure frees the key"}},
	{"does not record a canceled success and reports no error", forgetsCancelledSuccess, []string{"canceled success is kept or undone"}},
	{"swallows an error", swallowsError, []string{"failure frees the key"}},
	{"treats all keys as one", withKey(oneKey), []string{"other keys do not wait", "keys are compared byte for byte"}},
	{"ignores case", withKey(strings.ToLower), []string{"keys are compared byte for byte"}},
	{"trims spaces", withKey(strings.TrimSpace), []string{"keys are compared byte for byte"}},
	{"truncates keys to 64 bytes", withKey(truncated(64)), []string{"keys are compared byte for byte"}},
	{"truncates keys at a NUL", withKey(beforeNUL), []string{"keys are any bytes"}},
	{"makes keys valid UTF-8", withKey(replaceInvalid), []string{"keys are any bytes"}},
	{"rejects keys that are not UTF-8", rejects(isInvalid), []string{"keys are any bytes"}},
	{"rejects long keys", rejects(isLong), []string{"keys are of any length"}},
	{"truncates keys to 8,000 bytes", withKey(truncated(8000)), []string{"keys are of any length"}},
	{"gives the function a new context", newContext, []string{"function gets the context"}},
	{"shields the function from cancellation", shields, []string{"function gets the context"}},
	{"does not look at the context", ignoresContext, []string{"ended context runs nothing"}},
}

func oneKey(string) string { return "key" }

func truncated(length int) func(string) string {
	return func(key string) string { return key[:min(len(key), length)] }
}

func beforeNUL(key string) string {
	key, _, _ = strings.Cut(key, "\x00")
	return key
}

func replaceInvalid(key string) string { return strings.ToValidUTF8(key, "\ufffd") }

func isInvalid(key string) bool { return !utf8.ValidString(key) }

func isLong(key string) bool { return len(key) > 2704 }

func remembersNothing(ctx context.Context, _ webhook.Once, _ string, fn function) (bool, error) {
	return true, fn(ctx)
}

func remembersTooEarly(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
	if ran, err := m.Do(ctx, key, succeed); !ran {
		return false, err
	}
	return true, fn(ctx)
}

func duplicateIsSuccess(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
	ran, err := m.Do(ctx, key, fn)
	if errors.Is(err, webhook.ErrInFlight) {
		err = nil
	}
	return ran, err
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

func keepsKeyOfCancelled(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
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

func forgetsCancelledSuccess(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
	succeeded := false
	ran, err := m.Do(ctx, key, func(ctx context.Context) error {
		if err := fn(ctx); err != nil {
			return err
		}
		succeeded = true
		return ctx.Err()
	})
	if succeeded {
		err = nil
	}
	return ran, err
}

func swallowsError(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
	ran, err := m.Do(ctx, key, fn)
	if ran {
		err = nil
	}
	return ran, err
}

func withKey(change func(string) string) storeFunc {
	return func(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
		return m.Do(ctx, change(key), fn)
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

func newContext(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
	return m.Do(ctx, key, func(context.Context) error { return fn(context.Background()) })
}

func shields(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
	return m.Do(ctx, key, func(ctx context.Context) error { return fn(context.WithoutCancel(ctx)) })
}

func ignoresContext(ctx context.Context, m webhook.Once, key string, fn function) (bool, error) {
	return m.Do(context.WithoutCancel(ctx), key, fn)
}
