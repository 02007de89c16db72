package clienttest

import (
	"context"
	"flag"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/client"
)

var realTime = flag.Bool("real", false, "run the tests that wait for seconds")

// inRealTime skips a test that waits for seconds, unless it is asked for:
// TestSuiteCatches holds a sound limiter against the same rules in no time.
func inRealTime(t *testing.T) {
	t.Helper()
	if !*realTime {
		t.Skip("takes six seconds: run with -real, as the gate does")
	}
}

func TestProcessLimiter(t *testing.T) {
	inRealTime(t)
	t.Parallel()
	TestLookupLimiter(t, func(*testing.T) client.LookupLimiter { return client.NewLookupLimiter() })
}

// TestShared gives every process the same limiter, as if they shared one.
func TestShared(t *testing.T) {
	inRealTime(t)
	t.Parallel()
	shared := client.NewLookupLimiter()
	TestSharedLookupLimiter(t, func(*testing.T) client.LookupLimiter { return shared })
}

// limiterFunc is a limiter made of a sound one.
type limiterFunc func(ctx context.Context, sound client.LookupLimiter, key string) (func(time.Duration), error)

type broken struct {
	sound   client.LookupLimiter
	acquire limiterFunc
}

func (b broken) Acquire(ctx context.Context, key string) (func(time.Duration), error) {
	return b.acquire(ctx, b.sound, key)
}

var brokenLimiters = []struct {
	fault    string
	acquire  limiterFunc
	reported []string
}{
	{"is sound", sound, nil},
	{"is sound, and another", (&queues{gap: gap}).acquire, nil},
	{"never waits", neverWaits, []string{"turns are a second apart", "nobody has a turn beside another", "a turn lasts as long as it takes"}},
	{"counts from the turn's begin", fromBegin(), []string{"a turn lasts as long as it takes", "nobody has a turn beside another"}},
	{"does not hear what release asks for", ignoresDelay, []string{"release asks for longer"}},
	{"is a little early", (&queues{gap: gap - 10*time.Millisecond}).acquire, []string{"turns are a second apart"}},
	{"asks for twice the time", slow, []string{"turns are a second apart"}},
	{"serves the last first", (&queues{gap: gap, lastFirst: true}).acquire, []string{"first come, first served"}},
	{"does not look at the context", ignoresContext, []string{"context that ends in the queue ends the wait", "done context gets no turn"}},
	{"has an error of its own", ownError, []string{"context that ends in the queue ends the wait", "done context gets no turn"}},
	{"gives turns to those who left", keepsCanceled, []string{"those who give up cost nothing"}},
	{"ends the turn with its context", tiedToContext, []string{"context that ends in the turn ends nothing"}},
	{"takes all keys for one", oneKey, []string{"other keys do not wait"}},
	{"looks at the context late", checksContextLate, []string{"context that ends in the queue ends the wait"}},
	{"hangs", hangs, []string{"first turn comes at once"}},
}

// TestSuiteCatches proves the suite: the named rules must be among those that
// report a broken limiter, and none may report a sound one.
func TestSuiteCatches(t *testing.T) {
	for _, tt := range brokenLimiters {
		t.Run(tt.fault, func(t *testing.T) {
			reported := failures(t, tt.acquire)
			for _, name := range tt.reported {
				if !slices.Contains(reported, name) {
					t.Errorf("%q does not report it; these do: %q", name, reported)
				}
			}
			if tt.reported == nil && reported != nil {
				t.Errorf("reported by %q", reported)
			}
		})
	}
}

// failures returns the names of the rules that the limiter breaks, in no time.
func failures(t *testing.T, acquire limiterFunc) (names []string) {
	for _, r := range rules {
		synctest.Test(t, func(t *testing.T) {
			if err := r.run(t.Context(), broken{client.NewLookupLimiter(), acquire}); err != nil {
				names = append(names, r.name)
			}
			time.Sleep(10 * patience) // until what hangs has ended
		})
	}
	return names
}
