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

// partitions is the store of docs/production.md.
type partitions []webhook.Once

func (p partitions) Do(ctx context.Context, key string, fn func(context.Context) error) (bool, error) {
	var hash uint32
	for _, b := range []byte(key) {
		hash = hash*31 + uint32(b)
	}
	return p[hash%uint32(len(p))].Do(ctx, key, fn)
}

func TestPartitions(t *testing.T) {
	TestOnce(t, func(*testing.T) webhook.Once {
		var p partitions
		for range 3 {
			p = append(p, webhook.NewMemoryOnce(webhook.MemoryOnceOptions{}))
		}
		return p
	})
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
		fault: "remembers nothing",
		do:    remembersNothing,
		reported: []string{
			"success is recorded", "duplicate in flight is refused", "ended context runs nothing",
			"many at once succeed once",
		},
	},
	{
		fault: "remembers too early",
		do:    remembersTooEarly,
		reported: []string{
			"failure frees the key", "panic frees the key and continues", "duplicate in flight is refused",
			"canceled failure frees the key",
		},
	},
	{fault: "takes a duplicate in flight for handled", do: duplicateIsSuccess, reported: []string{"duplicate in flight is refused"}},
	{fault: "waits for the one in flight", do: waits, reported: []string{"duplicate in flight is refused"}},
	{fault: "keeps the key of a panic", do: keepsKeyOfPanic, reported: []string{"panic frees the key and continues"}},
	{fault: "swallows a panic", do: swallowsPanic, reported: []string{"panic frees the key and continues"}},
	{fault: "keeps the key of a canceled failure", do: keepsKeyOfCancelled, reported: []string{"canceled failure frees the key"}},
	{
		fault: "forgets a canceled success in silence",
		do:    forgetsCancelledSuccess, reported: []string{"canceled success is kept or undone"},
	},
	{fault: "swallows an error", do: swallowsError, reported: []string{"failure frees the key"}},
	{
		fault:    "takes all keys for one",
		do:       withKey(func(string) string { return "key" }),
		reported: []string{"other keys do not wait", "keys are compared byte for byte"},
	},
	{fault: "ignores case", do: withKey(strings.ToLower), reported: []string{"keys are compared byte for byte"}},
	{fault: "trims spaces", do: withKey(strings.TrimSpace), reported: []string{"keys are compared byte for byte"}},
	{
		fault:    "cuts long keys",
		do:       withKey(func(key string) string { return key[:min(len(key), 64)] }),
		reported: []string{"keys are compared byte for byte"},
	},
	{
		fault:    "ends keys at a NUL",
		do:       withKey(func(key string) string { key, _, _ = strings.Cut(key, "\x00"); return key }),
		reported: []string{"keys are any bytes"},
	},
	{
		fault:    "makes keys valid UTF-8",
		do:       withKey(func(key string) string { return strings.ToValidUTF8(key, "\ufffd") }),
		reported: []string{"keys are any bytes"},
	},
	{
		fault:    "refuses what is not UTF-8",
		do:       refuses(func(key string) bool { return !utf8.ValidString(key) }),
		reported: []string{"keys are any bytes"},
	},
	{
		fault:    "refuses long keys",
		do:       refuses(func(key string) bool { return len(key) > 2704 }),
		reported: []string{"keys are of any length"},
	},
	{
		fault:    "cuts keys at 8,000 bytes",
		do:       withKey(func(key string) string { return key[:min(len(key), 8000)] }),
		reported: []string{"keys are of any length"},
	},
	{fault: "gives the function a new context", do: newContext, reported: []string{"function gets the context"}},
	{fault: "shields the function from cancellation", do: shields, reported: []string{"function gets the context"}},
	{fault: "does not look at the context", do: ignoresContext, reported: []string{"ended context runs nothing"}},
}

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

func refuses(bad func(string) bool) storeFunc {
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
