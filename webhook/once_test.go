package webhook

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func handled(t *testing.T, once Once, key string) (ran bool) {
	t.Helper()
	ran, err := once.Do(t.Context(), key, func(context.Context) error { return nil })
	require.NoError(t, err)
	return ran
}

func TestMemoryOnceMaxEntries(t *testing.T) {
	m := NewMemoryOnce(MemoryOnceOptions{MaxEntries: 3})
	for _, key := range []string{"a", "b", "c", "a", "d"} { // the second "a" does not make it younger
		handled(t, m, key)
	}
	for _, tt := range []struct {
		key  string
		want bool
	}{{"b", false}, {"c", false}, {"d", false}, {"a", true}, {"b", true}, {"d", false}} {
		assert.Equal(t, tt.want, handled(t, m, tt.key), tt.key)
		require.Len(t, m.handled, 3)
		require.Len(t, m.order, 3)
		assert.Empty(t, m.running)
	}
}

func TestMemoryOnceMaxAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for age, opts := range map[time.Duration]MemoryOnceOptions{7 * 24 * time.Hour: {}, time.Hour: {MaxAge: time.Hour}} {
			m := NewMemoryOnce(opts)
			handled(t, m, "a")
			time.Sleep(age - time.Nanosecond)
			if handled(t, m, "a") {
				t.Errorf("maximum age %v: handled again too early", age)
			}
			time.Sleep(time.Nanosecond)
			if !handled(t, m, "a") {
				t.Errorf("maximum age %v: the key was kept too long", age)
			}
		}
	})
}

// TestMemoryOnceInFlight: an event in flight is not handled concurrently, even if it takes longer than MaxAge.
func TestMemoryOnceInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemoryOnce(MemoryOnceOptions{MaxEntries: 1, MaxAge: time.Second})
		ran, err := m.Do(t.Context(), "slow", func(ctx context.Context) error {
			time.Sleep(time.Minute)
			handled(t, m, "b")
			handled(t, m, "c")
			ran, err := m.Do(ctx, "slow", nil)
			assert.False(t, ran, "duplicate")
			assert.Equal(t, ErrInFlight, err, "duplicate")
			return nil
		})
		require.True(t, ran, "slow handler")
		require.NoError(t, err, "slow handler")
		assert.False(t, handled(t, m, "slow"), "slow handler")
	})
}

func TestMemoryOnceGoexit(t *testing.T) {
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

// TestMemoryOnceCopiesKeys: the strings of an event share the memory of its body, so a key that is not copied would keep
// the body in memory.
func TestMemoryOnceCopiesKeys(t *testing.T) {
	m, key := NewMemoryOnce(MemoryOnceOptions{}), "a"
	handled(t, m, key)
	for stored := range m.handled {
		if unsafe.StringData(stored) == unsafe.StringData(key) || unsafe.StringData(m.order[0].key) == unsafe.StringData(key) {
			t.Error("the store shares the memory of the key")
		}
	}
}
