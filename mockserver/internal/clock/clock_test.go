package clock

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/internal/work"
)

func newClock(o Options) *Clock {
	o.Changes, o.Work = &changes.Feed{}, &work.Pending{}
	return New(o)
}

// alarmRecorder records which alarms ran, and when.
type alarmRecorder struct {
	mu    sync.Mutex
	names []string
	at    []time.Time
}

func (r *alarmRecorder) alarm(c *Clock, at time.Time, what string) *Alarm {
	return c.At(at, what, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.names, r.at = append(r.names, what), append(r.at, c.Now())
	})
}

func (r *alarmRecorder) want(t *testing.T, names ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	assert.Equal(t, names, r.names, "alarms that ran")
}

func TestAlarms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, r := newClock(Options{}), &alarmRecorder{}
		start := time.Now()
		r.alarm(c, start.Add(2*time.Hour), "second")
		r.alarm(c, start.Add(time.Hour), "first")
		r.alarm(c, start.Add(-time.Hour), "late")
		r.alarm(c, start.Add(90*time.Minute), "stopped").Stop()
		synctest.Wait()
		r.want(t, "late")
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		r.want(t, "late", "first", "second")
		if got := r.at[1].Sub(start); got != time.Hour {
			t.Errorf("the first alarm ran after %v, want 1 h", got)
		}
		if next := c.View().Next; next != nil {
			t.Errorf("an alarm is still pending: %v", next)
		}
	})
}

// While a clock is frozen, no alarm runs, except those that become due by Set.
func TestFrozen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		day := time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)
		c, r := newClock(Options{Start: day, Frozen: true}), &alarmRecorder{}
		r.alarm(c, day.Add(time.Minute), "a minute")
		r.alarm(c, day.Add(time.Hour), "an hour")
		time.Sleep(24 * time.Hour)
		c.RingDue()
		synctest.Wait()
		r.want(t)
		if got := c.Now(); !got.Equal(day) {
			t.Errorf("a frozen clock shows %v, want %v", got, day)
		}
		require.NoError(t, c.Set(day.Add(30*time.Minute)))
		synctest.Wait()
		r.want(t, "a minute")
		c.Freeze(false)
		time.Sleep(29 * time.Minute)
		synctest.Wait()
		r.want(t, "a minute")
		time.Sleep(time.Minute)
		synctest.Wait()
		r.want(t, "a minute", "an hour")
	})
}

// A due alarm counts as work immediately, so no waiter misses it.
func TestDueAlarmIsWork(t *testing.T) {
	c := newClock(Options{Frozen: true})
	blocked := make(chan struct{})
	c.At(c.Now().Add(time.Hour), "x", func() { <-blocked })
	require.NoError(t, c.Set(c.Now().Add(time.Hour)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if busy, _ := c.options.Work.Wait(ctx, 0); !busy {
		t.Error("a due alarm does not count as work")
	}
	close(blocked)
	c.options.Work.Finish()
}

func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, r := newClock(Options{}), &alarmRecorder{}
		start := c.Now()
		r.alarm(c, start.Add(time.Hour), "an hour")
		h, err := c.Hold(t.Context())
		require.NoError(t, err)
		time.Sleep(2 * time.Hour) // the clock does not run during a hold
		synctest.Wait()
		r.want(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Hold(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("the second Hold returned %v, want that it waits", err)
		}
		require.NoError(t, h.To(start.Add(time.Hour)))
		require.NoError(t, h.To(start))
		synctest.Wait()
		r.want(t, "an hour")
		h.Release()
		if got := c.Now().Sub(start); got != time.Hour {
			t.Errorf("after Release, the clock shows %v after the start, want 1 h", got)
		}
		time.Sleep(time.Minute)
		if got := c.Now().Sub(start); got != time.Hour+time.Minute {
			t.Errorf("a minute after Release, the clock shows %v after the start", got)
		}
	})
}

// Set, Reset and Restore end a hold.
func TestHoldEnds(t *testing.T) {
	for what, set := range map[string]func(*Clock){
		"set":      func(c *Clock) { _ = c.Set(c.Now()) },
		"reset":    func(c *Clock) { c.Restore(nil) },
		"restored": func(c *Clock) { c.Restore(&State{}) },
	} {
		c := newClock(Options{})
		h, err := c.Hold(t.Context())
		require.NoError(t, err)
		set(c)
		assert.ErrorIs(t, h.To(c.Now().Add(time.Hour)), errSet, what)
		h.Release()
		if again, err := c.Hold(t.Context()); err != nil || again.To(c.Now()) != nil {
			t.Errorf("%s: Hold fails afterwards: %v", what, err)
		}
	}
}

func TestYears(t *testing.T) {
	c := newClock(Options{})
	for _, to := range []time.Time{{}, time.Unix(-1, 0), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if err := c.Set(to); !errors.Is(err, ErrTime) || !strings.Contains(err.Error(), "1970 and 2199") {
			t.Errorf("set to %v: %v, want ErrTime", to, err)
		}
	}
	for year, good := range map[int]bool{1: false, 1969: false, 1970: true, 2209: true, 2210: false} { // a clock can run past 2199
		at := time.Date(year, 12, 31, 23, 59, 59, 0, time.UTC)
		if err := (State{FrozenAt: at}).Check(); (err == nil) != good || err != nil && !errors.Is(err, ErrTime) {
			t.Errorf("restored at %v: %v", at, err)
		}
	}
	assert.ErrorIs(t, (State{Ahead: Milliseconds(200 * 365 * 24 * time.Hour)}).Check(), ErrTime, "200 years ahead")
	for start, shows := range map[int]int{1: 1970, 9999: 2199, 2024: 2024} {
		assert.Equal(t, shows, newClock(Options{Start: time.Date(start, 6, 1, 0, 0, 0, 0, time.UTC)}).Now().UTC().Year(), "a clock that starts in %d", start)
	}
}

func TestFreezePublishesChange(t *testing.T) {
	c := newClock(Options{})
	moved := c.Moved()
	from, _ := c.options.Changes.Subscribe()
	c.Freeze(true)
	select {
	case <-moved:
	default:
		t.Error("freezing the clock is not reported as a change")
	}
	if line := string(<-from); !strings.Contains(line, `"kind":"clock"`) || !strings.Contains(line, `"frozen":true`) {
		t.Errorf("published %s", line)
	}
}

// The monotonic clock stops while the machine sleeps, so times must not contain its reading.
func TestNowHasNoMonotonicReading(t *testing.T) {
	c := newClock(Options{})
	assert.NotContains(t, c.Now().String(), "m=", "Now returned")
}

func TestMilliseconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                       "0",
		1:                       "0.000001",
		1500 * time.Microsecond: "1.5",
		time.Hour:               "3600000",
		-time.Second:            "-1000",
		123456789012345:         "123456789.012345",
	} {
		got, err := json.Marshal(Milliseconds(d))
		if err != nil || string(got) != want {
			t.Errorf("%v is %s, %v; want %s", d, got, err, want)
		}
		var back Milliseconds
		if err := json.Unmarshal(got, &back); err != nil || time.Duration(back) != d {
			t.Errorf("%s is %v, %v; want %v", got, time.Duration(back), err, d)
		}
	}
	for _, bad := range []string{`"1s"`, `{}`, `1e300`, `null`, `true`} {
		assert.Error(t, json.Unmarshal([]byte(bad), new(Milliseconds)), "%s was accepted", bad)
	}
}
