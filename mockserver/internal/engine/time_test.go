package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
)

func TestMain(m *testing.M) { probe.Main(m) }

// Advance runs pending work in order, each item at its scheduled time.
func TestAdvanceInOrder(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	var p probe.Probe
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprintf("%s %s", r.URL.Path, p.Now().Format("15:04")))
		if r.URL.Path == "/fails" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	p = probe.New(t, mockserver.Config{
		Targets:       map[string]http.Handler{"app.test": h},
		RetrySchedule: []time.Duration{30 * time.Minute, 60 * time.Minute},
		Now:           time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC),
		FreezeClock:   true,
	})
	hook := func(path string, event events.Name, more string) {
		p.Post("/webhooks", fmt.Sprintf(`{"url":"http://app.test/%s","events":[%q]%s}`, path, event, more)).OK()
	}
	hook("fails", events.NameSuppressedEmailAdded, "")
	hook("limited", events.NameSuppressedEmailAdded, `,"rate_limit":1,"rate_limit_period":"hour"`)
	hook("sent", events.NameCampaignSent, "")
	list := p.List()
	p.Contact(list, "ada@example.org")
	p.Post(p.Campaign(list, `"subject":"S","text":"T"`)+"/schedule",
		fmt.Sprintf(`{"scheduled_for":%d}`, p.Now().Add(45*time.Minute).Unix())).OK()
	p.Post("/suppressed-emails", `{"email":"a@example.org"}`).OK()
	p.MustAdvance(0) // the first attempts
	p.Post("/suppressed-emails", `{"email":"b@example.org"}`).OK()
	p.MustAdvance(2 * time.Hour)
	slices.Sort(seen[:2]) // two webhooks deliver at the same time, in any order
	slices.Sort(seen[2:4])
	want := []string{
		"/fails 10:00", "/limited 10:00", "/fails 10:00", "/fails 10:30", "/fails 10:30", "/sent 10:45", "/limited 11:00",
		"/fails 11:30", "/fails 11:30",
	}
	assert.Equal(t, want, seen, "seen")
}

func TestAdvanceToNext(t *testing.T) {
	h := &probe.Receiver{Status: func(int) int { return 500 }}
	p := probe.New(t, mockserver.Config{Targets: h.Targets(), FreezeClock: true})
	p.CauseDelivery()
	require.NoError(t, p.Wait(t.Context()))
	for i, wait := range mockserver.DefaultRetrySchedule() {
		clock := p.Clock()
		assert.Regexp(t, `\(http://app.test/hook\)$`, clock.What)
		assert.Equal(t, wait, clock.Next.Sub(p.Now()).Round(time.Second))
		if require.NoError(t, p.AdvanceToNext(t.Context())); len(h.Times) != i+2 {
			t.Errorf("%d attempts, want %d", len(h.Times), i+2)
		}
	}
	assert.ErrorContains(t, p.AdvanceToNext(t.Context()), "no scheduled work")
	assert.Zero(t, p.Clock().Next)
	assert.Empty(t, p.Clock().What)
}

// After a canceled Advance, the clock continues from the time that Advance has reached.
func TestAdvanceCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		p := probe.New(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": hang}})
		p.CauseDelivery()
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second) // two attempts take 20 s
		defer cancel()
		err := p.Advance(ctx, time.Hour)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "the clock shows 2000-01-01T00:00:01Z")
		before := p.Now()
		time.Sleep(time.Second)
		assert.Equal(t, time.Second, p.Now().Sub(before), "after the cancellation, a second")
	})
}

// Drain continues when another goroutine advances the clock, and fails when the clock is frozen.
func TestDrainWithFrozenClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &probe.Receiver{Status: func(int) int { return 500 }}
		p := probe.New(t, mockserver.Config{Targets: h.Targets()})
		p.CauseDelivery()
		start := time.Now()
		drained := make(chan error)
		go func() { drained <- p.Drain(t.Context()) }()
		synctest.Wait()
		p.MustAdvance(8 * time.Hour)
		assert.NoError(t, <-drained)
		assert.Zero(t, time.Since(start))
		p.Post("/suppressed-emails", `{"email":"b@example.org"}`).OK()
		p.FreezeClock()
		assert.ErrorContains(t, p.Drain(t.Context()), "the clock is frozen")
		p.Post("/_mock/wait", `{"drain":true}`).Has(409, "the clock is frozen")
		p.ResumeClock()
		assert.NoError(t, p.Drain(t.Context()))
	})
}

// A reset restores the configured time, or the time of the baseline.
func TestResetClock(t *testing.T) {
	day := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, cfg := range []mockserver.Config{{}, {Now: day}, {Now: day, FreezeClock: true}} {
		synctest.Test(t, func(t *testing.T) {
			p := probe.New(t, cfg)
			before := p.Clock()
			for _, reset := range []func(){p.Reset, func() { p.Delete("/_mock/state").OK() }} {
				p.MustAdvance(200 * time.Hour)
				p.FreezeClock()
				if reset(); p.Clock() != before {
					t.Errorf("%+v: after a reset: %+v, want %+v", cfg, p.Clock(), before)
				}
			}
			require.NoError(t, p.SetBaseline())
			baseline, passed := p.Now(), time.Hour
			if !cfg.Now.IsZero() {
				passed = 0
			}
			time.Sleep(time.Hour)
			p.MustAdvance(200 * time.Hour)
			p.Reset()
			if got := p.Now().Sub(baseline); got != passed {
				t.Errorf("%+v: after a reset the clock shows %v after the baseline, want %v", cfg, got, passed)
			}
		})
	}
}

// A snapshot contains the clock, so pending work has the same remaining time after a restore.
func TestSnapshotClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &probe.Receiver{Status: func(int) int { return 500 }}
		p := probe.New(t, mockserver.Config{Targets: h.Targets()})
		p.CauseDelivery()
		p.MustAdvance(time.Hour)
		before, running := p.Clock(), p.State()
		p.FreezeClock()
		frozen := p.State()
		made := len(h.Times)
		p.Reset()
		for name, state := range map[string]string{"running": running, "frozen": frozen} {
			require.NoError(t, p.Restore(strings.NewReader(state)))
			want := before
			want.Frozen = name == "frozen"
			if got := p.Clock(); got != want {
				t.Errorf("%s: after a restore %+v, want %+v", name, got, want)
			}
		}
		require.NoError(t, p.Wait(t.Context()))
		assert.Len(t, h.Times, made, "a restore made attempts before their time")
		bad := strings.Replace(frozen, `"frozen_at": "2000`, `"frozen_at": "2700`, 1)
		assert.ErrorContains(t, p.Restore(strings.NewReader(bad)), "clock: year must be")
	})
}

// A restore cancels the pending work of the replaced state.
func TestRestoreCancelsPendingWork(t *testing.T) {
	h := &probe.Receiver{Status: func(int) int { return 500 }}
	p := probe.New(t, mockserver.Config{Targets: h.Targets(), FreezeClock: true})
	p.MustAdvance(8 * time.Hour)
	later := p.State()
	p.Reset()
	p.CauseDelivery()
	p.MustAdvance(0)
	require.NoError(t, p.Restore(strings.NewReader(later)))
	p.MustAdvance(24 * time.Hour)
	assert.Len(t, h.Times, 1, "attempts before the restore")
}

// A reset ends an Advance in progress.
func TestResetEndsAdvance(t *testing.T) {
	reached, goOn := make(chan struct{}), make(chan struct{})
	h := &probe.Receiver{Status: func(n int) int {
		if n == 2 {
			close(reached)
			<-goOn
		}
		return 500
	}}
	p := probe.New(t, mockserver.Config{Targets: h.Targets()})
	p.CauseDelivery()
	ended := make(chan error)
	go func() { ended <- p.Advance(t.Context(), 8*time.Hour) }()
	select {
	case <-reached:
	case err := <-ended:
		t.Fatalf("Advance returned before the third attempt: %v", err)
	}
	p.Reset()
	close(goOn)
	assert.ErrorContains(t, <-ended, "another call has set the clock")
	assert.Zero(t, p.Clock().Ahead)
	assert.False(t, p.Clock().Frozen)
}

// Requests are logged with their virtual time and their real duration.
func TestRequestTimesAreVirtual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := probe.New(t, mockserver.Config{FreezeClock: true})
		p.MustAdvance(365 * 24 * time.Hour)
		const delay = 20 * time.Millisecond
		p.MustInject(mockserver.Fault{Action: mockserver.FaultDelay, Delay: delay})
		p.Get("/lists").OK()
		r := p.Requests()[0]
		assert.Equal(t, p.Now(), r.Time)
		assert.Equal(t, delay, r.Duration)
	})
}

// Each mode of the limit uses the virtual clock. So if the clock is set back, the next lookup is allowed
// immediately.
func TestLookupLimit(t *testing.T) {
	for limit, lookups := range map[mockserver.LookupLimit]string{ // pauses before lookups, with their statuses
		mockserver.LookupMinInterval: "0s 200, 0s 429, 999ms 429, 1ms 200, 1500ms 200, 500ms 429",
		mockserver.LookupTokenBucket: "0s 200, 0s 200, 0s 429, 500ms 429, 500ms 200, 1h 200, 0s 200, 0s 429",
		mockserver.LookupUnlimited:   "0s 200, 0s 200, 0s 200, 1h 200",
		mockserver.LookupFixedWindow: "900ms 200, 100ms 200, 900ms 429, 100ms 200",
	} {
		p := probe.New(t, mockserver.Config{LookupLimit: limit, FreezeClock: true, Now: time.Unix(1_700_000_000, 0)})
		path := "/v2/emails/" + p.Email("ada@example.org")
		for lookup := range strings.SplitSeq(lookups, ", ") {
			pause, status, _ := strings.Cut(lookup, " ")
			d, err := time.ParseDuration(pause)
			require.NoError(t, err)
			p.MustAdvance(d)
			response := p.Get(path)
			assert.Equal(t, status, fmt.Sprint(response.Status), "%s %s", limit, lookup)
			if response.Status == http.StatusTooManyRequests {
				assert.Equal(t, "1", response.Header.Get("Retry-After"), "%s %s", limit, lookup)
			}
		}
		require.NoError(t, p.SetNow(p.Now().AddDate(-1, 0, 0)))
		if got := p.Get(path).Status; got != http.StatusOK {
			t.Errorf("%s: a year earlier: %d, want 200", limit, got)
		}
	}
}

// If the clock is set back, rate-limited deliveries are attempted immediately.
func TestClockSetBackDuringRateLimit(t *testing.T) {
	h := &probe.Receiver{}
	p := probe.New(t, mockserver.Config{Targets: h.Targets()})
	p.Post("/webhooks", `{"url":"http://app.test/","events":["SuppressedEmail.Added"],"rate_limit":1,"rate_limit_period":"hour"}`).OK()
	p.Post("/suppressed-emails", `{"email":"a@example.org"}`).OK()
	p.Post("/suppressed-emails", `{"email":"b@example.org"}`).OK()
	require.NoError(t, p.Wait(t.Context()))
	require.NoError(t, p.SetNow(p.Now().AddDate(-1, 0, 0)))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	assert.NoError(t, p.Drain(ctx))
	assert.Len(t, h.Bodies, 2, "deliveries")
}

// timestamp matches a snapshot field that contains a time in UTC.
var timestamp = regexp.MustCompile(`(": ")(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"`)

// waiting returns a server with its clock set to a local time. A retry and a scheduled campaign are pending.
func waiting(t *testing.T) probe.Probe {
	t.Helper()
	fails := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	p := populated(t, mockserver.Config{
		Targets: map[string]http.Handler{"app.test": new(probe.Receiver).Targets()["app.test"], "fails.test": fails},
	})
	p.FreezeClock()
	require.NoError(t, p.SetNow(time.Date(2026, 3, 4, 10, 0, 0, 0, time.Local)))
	p.Post("/webhooks", map[string]any{"url": "http://fails.test/", "events": []events.Name{events.NameSuppressedEmailAdded}}).OK()
	p.Post("/suppressed-emails", `{"email":"a@example.org"}`).OK()
	list := p.List()
	p.Post(p.Campaign(list, `"subject":"S","text":"T"`)+"/schedule",
		map[string]any{"scheduled_for": p.Now().Add(7 * time.Second).Unix()}).OK()
	require.NoError(t, p.Wait(t.Context()))
	return p
}

// wantUTC fails the test if a record of the server has a local time.
func wantUTC(p probe.Probe, when string) {
	p.Helper()
	for name, records := range map[string]any{
		"Now": p.Now(), "Clock": p.Clock(), "Requests": p.Requests(), "Outbox": p.Outbox(), "Deliveries": p.Deliveries(), "Events": p.Events(),
	} {
		text := fmt.Sprintf("%+v", records)
		assert.NotContains(p, text, " local", "%s: %s contains a local time", when, name)
		assert.Contains(p, text, " UTC", "%s: %s contains no time", when, name)
	}
	if text := probe.LocalTime(p.State()); text != "" {
		p.Errorf("%s: the snapshot contains …%s, want UTC", when, text)
	}
}

// All times of the mock server are in UTC, even if a caller or a snapshot contains times in another zone.
func TestTimesAreUTC(t *testing.T) {
	p := waiting(t)
	wantUTC(p, "waiting")
	for what := ""; !strings.HasPrefix(what, "campaign"); {
		what = p.Clock().What
		require.NoError(t, p.AdvanceToNext(t.Context()))
		wantUTC(p, what)
	}
	require.NoError(t, p.AdvanceTo(t.Context(), p.Now().Local().Add(time.Hour)))
	wantUTC(p, "an hour later")
	q := probe.New(t, mockserver.Config{})
	require.NoError(t, q.Restore(strings.NewReader(timestamp.ReplaceAllStringFunc(p.State(), func(field string) string {
		parts := timestamp.FindStringSubmatch(field)
		at, err := time.Parse(time.RFC3339Nano, parts[2])
		require.NoError(t, err)
		return parts[1] + at.Local().Format(time.RFC3339Nano) + `"`
	}))))
	_ = q.Get("/lists") // a request to log
	wantUTC(q, "restored from times with offsets")
	for _, start := range []time.Time{time.Date(1900, 1, 1, 0, 0, 0, 0, time.Local), time.Date(2026, 3, 4, 0, 0, 0, 0, time.Local)} {
		srv := mockserver.New(mockserver.Config{Now: start, FreezeClock: true})
		if now := srv.Now(); now.Location() != time.UTC {
			t.Errorf("Config.Now %s: the clock shows %s, want UTC", start, now)
		}
		srv.Close()
	}
}

func TestClockRange(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	for want, err := range map[string]error{
		"time must not be in the past": p.Advance(t.Context(), -1),
		"must not be in the past":      p.AdvanceTo(t.Context(), p.Now().Add(-time.Hour)),
		"1970 and 2199":                p.Advance(t.Context(), 250*365*24*time.Hour),
		"between 1970 and 2199":        p.SetNow(time.Unix(-1, 0)),
	} {
		assert.Regexp(t, "^mockserver: .*"+want, err)
	}
	if ahead := p.Clock().Ahead; ahead != 0 {
		t.Errorf("the failed calls moved the clock by %v", ahead)
	}
}
