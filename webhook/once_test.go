package webhook

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func handled(t *testing.T, once Once, key string) (ran bool) {
	t.Helper()
	ran, err := once.Do(t.Context(), key, func(context.Context) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return ran
}

func TestMemoryOnceForgetsTheOldest(t *testing.T) {
	m := NewMemoryOnce(MemoryOnceOptions{MaxEntries: 3})
	for _, key := range []string{"a", "b", "c", "a", "d"} { // the second "a" does not make it younger
		handled(t, m, key)
	}
	for _, tt := range []struct {
		key  string
		want bool
	}{{"b", false}, {"c", false}, {"d", false}, {"a", true}, {"b", true}, {"d", false}} {
		if ran := handled(t, m, tt.key); ran != tt.want {
			t.Errorf("%s is handled again: %v, want %v", tt.key, ran, tt.want)
		}
		if len(m.handled) != 3 || len(m.order) != 3 || len(m.running) != 0 {
			t.Errorf("%d handled, %d in order, %d running; want 3, 3, 0", len(m.handled), len(m.order), len(m.running))
		}
	}
}

func TestMemoryOnceForgetsWithAge(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts MemoryOnceOptions
		age  time.Duration
	}{
		{"7 days by default", MemoryOnceOptions{}, 7 * 24 * time.Hour},
		{"an hour", MemoryOnceOptions{MaxAge: time.Hour}, time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := NewMemoryOnce(tt.opts)
				handled(t, m, "a")
				time.Sleep(tt.age - time.Nanosecond)
				if handled(t, m, "a") {
					t.Error("handled again too early")
				}
				time.Sleep(time.Nanosecond)
				if !handled(t, m, "a") {
					t.Error("remembered too long")
				}
			})
		})
	}
}

// An event that takes longer than anything is remembered must still not be
// handled twice at once.
func TestMemoryOnceKeepsWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemoryOnce(MemoryOnceOptions{MaxEntries: 1, MaxAge: time.Second})
		ran, err := m.Do(t.Context(), "slow", func(ctx context.Context) error {
			time.Sleep(time.Minute)
			handled(t, m, "b")
			handled(t, m, "c")
			if ran, err := m.Do(ctx, "slow", nil); ran || err != ErrInFlight {
				t.Errorf("duplicate: %v, %v; want false, ErrInFlight", ran, err)
			}
			return nil
		})
		if !ran || err != nil || handled(t, m, "slow") {
			t.Errorf("slow: %v, %v, or it was handled again", ran, err)
		}
	})
}

func TestMemoryOnceFreesTheKeyOnGoexit(t *testing.T) {
	m, done := NewMemoryOnce(MemoryOnceOptions{}), make(chan struct{})
	go func() {
		defer close(done)
		_, _ = m.Do(t.Context(), "a", func(context.Context) error {
			runtime.Goexit()
			return nil
		})
	}()
	<-done
	if !handled(t, m, "a") {
		t.Error("the key is not free")
	}
}

// The strings of an event are pieces of one copy of its body. The store must
// not keep the whole for the sake of the id.
func TestMemoryOnceDoesNotKeepBodies(t *testing.T) {
	const bodies, size = 64, 1 << 20
	m := NewMemoryOnce(MemoryOnceOptions{})
	for i := range bodies {
		body := fmt.Sprintf("%08d", i) + strings.Repeat("x", size)
		handled(t, m, body[:8])
	}
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	if limit := uint64(bodies * size / 4); stats.HeapAlloc > limit {
		t.Errorf("%d bytes are kept for %d ids, want under %d", stats.HeapAlloc, bodies, limit)
	}
	runtime.KeepAlive(m)
}

func BenchmarkMemoryOnce(b *testing.B) {
	m, ctx := NewMemoryOnce(MemoryOnceOptions{MaxEntries: 100_000}), b.Context()
	succeed := func(context.Context) error { return nil }
	keys := make([]string, 200_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("5c0b1e6e-3f0e-4a52-9d5a-%012d", i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if ran, err := m.Do(ctx, keys[i%len(keys)], succeed); !ran || err != nil {
			b.Fatal(ran, err)
		}
	}
}
