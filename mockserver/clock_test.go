package mockserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// attempts returns the times of all attempts on the virtual clock, after start.
func (p probe) attempts(start time.Time) (after []time.Duration) {
	for _, d := range p.Deliveries() {
		for _, a := range d.Attempts {
			after = append(after, a.Time.Sub(start).Round(time.Second))
		}
	}
	return after
}

func (p probe) advance(d time.Duration) {
	p.t.Helper()
	must(p.t, p.Advance(p.t.Context(), d))
}

// retrySchedule returns the times of all attempts of a delivery that always fails.
func retrySchedule() []time.Duration {
	at := []time.Duration{0}
	for _, wait := range mockserver.DefaultRetrySchedule() {
		at = append(at, at[len(at)-1]+wait)
	}
	return at
}

// Seven retries take 7 h 12 min 36 s of virtual time.
func TestAdvanceRetries(t *testing.T) {
	h := &hookServer{answer: func(int) int { return http.StatusInternalServerError }}
	p := newProbe(t, mockserver.Config{Targets: h.targets(), FreezeClock: true})
	p.webhook(events.NameSuppressedEmailAdded)
	start := p.Now()
	p.must("POST", "/suppressed-emails", `{"email":"a@example.org"}`)
	p.advance(7*time.Hour + 12*time.Minute)
	if d := p.Deliveries()[0]; d.State != mockserver.DeliveryRetrying || len(d.Attempts) != 7 {
		t.Errorf("after 7 h 12 min: %s, %d attempts, want 7 and one to come", d.State, len(d.Attempts))
	} else if at := retrySchedule(); d.NextAttempt.Sub(start).Round(time.Second) != at[len(at)-1] {
		t.Errorf("the next attempt is at %v, want %v after the event", d.NextAttempt, at[len(at)-1])
	}
	p.advance(time.Minute)
	if got := p.attempts(start); !slices.Equal(got, retrySchedule()) {
		t.Errorf("attempts at %v, want %v", got, retrySchedule())
	}
	if d := p.Deliveries()[0]; d.State != mockserver.DeliveryFailed {
		t.Errorf("the delivery is %s, want failed", d.State)
	}
	if got := p.Now().Sub(start); got < 7*time.Hour+13*time.Minute {
		t.Errorf("only %v have passed", got)
	}
}

// An attempt takes no time on a frozen clock.
func TestFrozenClockStopsDuringAttempts(t *testing.T) {
	slow := func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(2 * time.Millisecond)
		w.WriteHeader(http.StatusInternalServerError)
	}
	p := newProbe(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": http.HandlerFunc(slow)}, FreezeClock: true})
	p.causeDelivery()
	for n, wait := range append([]time.Duration{0}, mockserver.DefaultRetrySchedule()...) {
		p.advance(wait)
		if made := len(p.Deliveries()[0].Attempts); made != n+1 {
			t.Fatalf("%d attempts %v after the one before, want %d", made, wait, n+1)
		}
	}
}

// Advance runs pending work in order, at its time.
func TestAdvanceInOrder(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	var p probe
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprintf("%s %s", r.URL.Path, p.Now().Format("15:04")))
		if r.URL.Path == "/fails" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	p = newProbe(t, mockserver.Config{
		Targets:       map[string]http.Handler{"app.test": h},
		RetrySchedule: []time.Duration{30 * time.Minute, 60 * time.Minute},
		Now:           time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC),
		FreezeClock:   true,
	})
	hook := func(path string, event events.Name, more string) {
		p.must("POST", "/webhooks", fmt.Sprintf(`{"url":"http://app.test/%s","events":[%q]%s}`, path, event, more))
	}
	hook("fails", events.NameSuppressedEmailAdded, "")
	hook("limited", events.NameSuppressedEmailAdded, `,"rate_limit":1,"rate_limit_period":"hour"`)
	hook("sent", events.NameCampaignSent, "")
	list := p.list()
	p.contact(list, "ada@example.org")
	p.must("POST", p.campaign(list, `"subject":"S","text":"T"`)+"/schedule",
		fmt.Sprintf(`{"scheduled_for":%d}`, p.Now().Add(45*time.Minute).Unix()))
	p.must("POST", "/suppressed-emails", `{"email":"a@example.org"}`)
	p.advance(0) // the first attempts
	p.must("POST", "/suppressed-emails", `{"email":"b@example.org"}`)
	p.advance(2 * time.Hour)
	slices.Sort(seen[:2]) // two webhooks at the same time
	slices.Sort(seen[2:4])
	want := []string{
		"/fails 10:00", "/limited 10:00", "/fails 10:00", "/fails 10:30", "/fails 10:30", "/sent 10:45", "/limited 11:00",
		"/fails 11:30", "/fails 11:30",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("seen %q, want %q", seen, want)
	}
}

// When the clock is set back, rate-limited deliveries are attempted immediately.
func TestClockSetBackDuringRateLimit(t *testing.T) {
	h := &hookServer{}
	p := newProbe(t, mockserver.Config{Targets: h.targets()})
	p.must("POST", "/webhooks", `{"url":"http://app.test/","events":["SuppressedEmail.Added"],"rate_limit":1,"rate_limit_period":"hour"}`)
	p.must("POST", "/suppressed-emails", `{"email":"a@example.org"}`)
	p.must("POST", "/suppressed-emails", `{"email":"b@example.org"}`)
	must(t, p.Wait(t.Context()))
	must(t, p.SetNow(p.Now().AddDate(-1, 0, 0)))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := p.Drain(ctx); err != nil {
		t.Error(err)
	}
	if n := len(h.bodies); n != 2 {
		t.Errorf("%d deliveries, want 2", n)
	}
}

func TestAdvanceToNext(t *testing.T) {
	h := &hookServer{answer: func(int) int { return 500 }}
	p := newProbe(t, mockserver.Config{Targets: h.targets(), FreezeClock: true})
	hook := strings.TrimPrefix(p.webhook(events.NameSuppressedEmailAdded), "/webhooks/")
	start := p.Now()
	p.must("POST", "/suppressed-emails", `{"email":"a@example.org"}`)
	must(t, p.Wait(t.Context()))
	for range mockserver.DefaultRetrySchedule() {
		if what, want := p.Clock().What, "delivery to webhook "+hook+" (http://app.test/hook)"; what != want {
			t.Errorf("next is %q, want %q", what, want)
		}
		must(t, p.AdvanceToNext(t.Context()))
	}
	if got := p.attempts(start); !slices.Equal(got, retrySchedule()) {
		t.Errorf("attempts at %v, want %v", got, retrySchedule())
	}
	if err := p.AdvanceToNext(t.Context()); err == nil || !strings.Contains(err.Error(), "no work is scheduled") {
		t.Errorf("without anything to come: %v", err)
	}
	if clock := p.Clock(); !clock.Next.IsZero() || clock.What != "" {
		t.Errorf("without anything to come, next is %q at %v", clock.What, clock.Next)
	}
}

func TestAdvanceInvalid(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	for name, err := range map[string]error{
		"the time must not be in the past": p.Advance(t.Context(), -1),
		"1970 to 2199":                     p.Advance(t.Context(), 250*365*24*time.Hour),
		"must not be in the past":          p.AdvanceTo(t.Context(), p.Now().Add(-time.Hour)),
		"years 1970 to 2199":               p.SetNow(time.Unix(-1, 0)),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "mockserver: ") || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want an error that says %q", err, name)
		}
	}
	if got := p.Clock().Ahead; got != 0 {
		t.Errorf("what failed moved the clock by %v", got)
	}
}

// A canceled Advance leaves the clock where it is, and running.
func TestAdvanceCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		p := newProbe(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": hang}})
		p.causeDelivery()
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second) // two attempts take 20 s
		defer cancel()
		err := p.Advance(ctx, time.Hour)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "the clock shows 2000-01-01T00:00:01Z") {
			t.Errorf("got %v", err)
		}
		before := p.Now()
		time.Sleep(time.Second)
		if got := p.Now().Sub(before); got != time.Second {
			t.Errorf("afterwards a second takes %v", got)
		}
	})
}

// Drain continues when another goroutine advances the clock, and fails when the clock is frozen.
func TestDrainWithFrozenClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hookServer{answer: func(int) int { return 500 }}
		p := newProbe(t, mockserver.Config{Targets: h.targets()})
		p.causeDelivery()
		start := time.Now()
		drained := make(chan error)
		go func() { drained <- p.Drain(t.Context()) }()
		synctest.Wait()
		p.advance(8 * time.Hour)
		if err := <-drained; err != nil || time.Since(start) != 0 {
			t.Errorf("drained after %v: %v", time.Since(start), err)
		}
		p.must("POST", "/suppressed-emails", `{"email":"b@example.org"}`)
		p.FreezeClock()
		if err := p.Drain(t.Context()); err == nil || !strings.Contains(err.Error(), "the clock is frozen") {
			t.Errorf("a clock that stands: %v", err)
		}
		if a := p.do("POST", "/_mock/wait", `{"drain":true}`); a.status != 409 || !strings.Contains(a.text, "the clock is frozen") {
			t.Errorf("a clock that stands, over HTTP: %d %s, want 409", a.status, a.text)
		}
		p.ResumeClock()
		if err := p.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A reset restores the configured time, or the time of the baseline.
func TestResetClock(t *testing.T) {
	day := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tt := range map[string]struct {
		cfg    mockserver.Config
		passed time.Duration // since the baseline was set
	}{
		"zero":   {passed: time.Hour},
		"set":    {cfg: mockserver.Config{Now: day}},
		"frozen": {cfg: mockserver.Config{Now: day, FreezeClock: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProbe(t, tt.cfg)
				before := p.Clock()
				for _, reset := range []func(){p.Reset, func() { p.must("DELETE", "/_mock/state", nil) }} {
					p.advance(200 * time.Hour)
					p.FreezeClock()
					if reset(); p.Clock() != before {
						t.Errorf("after a reset: %+v, want %+v", p.Clock(), before)
					}
				}
				time.Sleep(time.Minute)
				baseline := p.Now()
				must(t, p.SetBaseline())
				time.Sleep(time.Hour)
				p.advance(200 * time.Hour)
				p.Reset()
				if got := p.Now().Sub(baseline); got != tt.passed {
					t.Errorf("after a reset the clock shows %v after the baseline, want %v", got, tt.passed)
				}
			})
		})
	}
}

// A snapshot contains the clock. After a restore, pending work is as far away as before.
func TestSnapshotClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hookServer{answer: func(int) int { return 500 }}
		p := newProbe(t, mockserver.Config{Targets: h.targets()})
		p.causeDelivery()
		p.advance(time.Hour)
		before, running := p.Clock(), snapshotOf(t, p.Server)
		p.FreezeClock()
		frozen := snapshotOf(t, p.Server)
		made := len(h.times)
		p.Reset()
		for name, state := range map[string]string{"running": running, "frozen": frozen} {
			must(t, p.Restore(strings.NewReader(state)))
			want := before
			want.Frozen = name == "frozen"
			if got := p.Clock(); got != want {
				t.Errorf("%s: after a restore %+v, want %+v", name, got, want)
			}
		}
		must(t, p.Wait(t.Context()))
		if len(h.times) != made {
			t.Errorf("a restore made %d attempts before their time", len(h.times)-made)
		}
		bad := strings.Replace(frozen, `"frozen_at": "2000`, `"frozen_at": "2700`, 1)
		if err := p.Restore(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "clock: must be a time") {
			t.Errorf("a clock beyond its years: %v", err)
		}
	})
}

// A restore cancels the pending work of the replaced state.
func TestRestoreCancelsPendingWork(t *testing.T) {
	h := &hookServer{answer: func(int) int { return 500 }}
	p := newProbe(t, mockserver.Config{Targets: h.targets(), FreezeClock: true})
	p.advance(8 * time.Hour)
	later := snapshotOf(t, p.Server)
	p.Reset()
	p.causeDelivery()
	p.advance(0)
	must(t, p.Restore(strings.NewReader(later)))
	p.advance(24 * time.Hour)
	if len(h.times) != 1 {
		t.Errorf("%d attempts, want the one before the restore", len(h.times))
	}
}

// A reset ends an Advance in progress.
func TestResetEndsAdvance(t *testing.T) {
	reached, goOn := make(chan struct{}), make(chan struct{})
	h := &hookServer{answer: func(n int) int {
		if n == 2 {
			close(reached)
			<-goOn
		}
		return 500
	}}
	p := newProbe(t, mockserver.Config{Targets: h.targets()})
	p.causeDelivery()
	ended := make(chan error)
	go func() { ended <- p.Advance(t.Context(), 8*time.Hour) }()
	select {
	case <-reached:
	case err := <-ended:
		t.Fatalf("Advance returned before the third attempt: %v", err)
	}
	p.Reset()
	close(goOn)
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "another call has set the clock") {
		t.Errorf("got %v", err)
	}
	if got := p.Clock(); got.Ahead != 0 || got.Frozen {
		t.Errorf("after the reset: %+v", got)
	}
}

// Requests are logged with their virtual time and their real duration.
func TestRequestTimesAreVirtual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, mockserver.Config{FreezeClock: true})
		p.advance(365 * 24 * time.Hour)
		const delay = 20 * time.Millisecond
		p.inject(mockserver.Fault{Action: mockserver.FaultDelay, Delay: delay})
		p.must("GET", "/lists", nil)
		r := p.Requests()[0]
		if !r.Time.Equal(p.Now()) || r.Duration != delay {
			t.Errorf("a request at %v took %v, want %v at %v", r.Time, r.Duration, delay, p.Now())
		}
	})
}

func TestClockRoutes(t *testing.T) {
	p := newProbe(t, mockserver.Config{Targets: receiver(), Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), FreezeClock: true})
	list := p.list()
	p.must("POST", p.campaign(list, `"subject":"S","text":"T"`)+"/schedule", `{"scheduled_for":1767409445}`) // the next day
	const noon = `"now":"2026-01-02T12:00:00Z"`
	for _, step := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "", "", 200, `"now":"2026-01-02T03:04:05Z"`},
		{"GET", "", "", 200, `"frozen":true,"next":{"at":"2026-01-03T03:04:05Z","what":"campaign 2"}`},
		{"POST", "/advance", `{"duration_ms":1000}`, 200, `"now":"2026-01-02T03:04:06Z"`},
		{"POST", "/advance", `{"to":"2026-01-02T13:00:00+01:00"}`, 200, noon},
		{"POST", "/advance", `{"to":"2026-01-02T11:00:00Z"}`, 422, `the time must not be in the past","type":"value_error"`},
		{"POST", "/advance", `{"duration_ms":-1}`, 422, `"loc":["body","duration_ms"]`},
		{"POST", "/advance", `{"duration_ms":6307200000000}`, 422, `1970 to 2199`},
		{"POST", "/advance", `{"duration_ms":99999999999999999}`, 422, `"loc":["body","duration_ms"]`},
		{"POST", "/advance", `{"to":"noon"}`, 422, `"loc":["body","to"]`},
		{"POST", "/advance", `{"to":"2500-01-01T00:00:00Z"}`, 422, `1970 to 2199`},
		{"POST", "/advance", `{"to":"next","duration_ms":1}`, 422, `must contain either duration_ms or to`},
		{"POST", "/advance", ``, 422, `must contain either duration_ms or to`},
		{"POST", "/advance", `{"by":1}`, 422, `"by"`},
		{"PUT", "", `{}`, 422, `must contain now or frozen`},
		{"PUT", "", `{"now":"1900-01-01T00:00:00Z","frozen":false}`, 422, `"loc":["body","now"]`},
		{"PUT", "", `{"now":"yesterday"}`, 422, `"now"`},
		{"GET", "", "", 200, noon}, // what failed changed nothing
		{"GET", "", "", 200, `"frozen":true`},
		{"POST", "/advance", `{"to":"next"}`, 200, `"now":"2026-01-03T03:04:05Z"`},
		{"GET", "", "", 200, `"next":null`},
		{"POST", "/advance", `{"to":"next"}`, 409, `no work is scheduled`},
		{"PUT", "", `{"now":"2024-02-29T00:00:00Z"}`, 200, `"now":"2024-02-29T00:00:00Z"`},
		{"PUT", "", `{"frozen":false}`, 200, `"frozen":false`},
		{"PUT", "", `{"frozen":true,"now":"2024-02-29T00:00:00Z"}`, 200, `"now":"2024-02-29T00:00:00Z"`},
		{"DELETE", "", "", 405, ""},
	} {
		got := p.do(step.method, "/_mock/clock"+step.path, step.body)
		if got.status != step.status || !strings.Contains(got.text, step.want) {
			t.Errorf("%s %s %s: %d %s, want %d and %s", step.method, step.path, step.body, got.status, got.text, step.status, step.want)
		}
	}
}

// Each mode of the limit uses the virtual clock. A clock that is set back allows a lookup immediately.
func TestLookupLimit(t *testing.T) {
	const ms = time.Millisecond
	for _, row := range []struct {
		limit mockserver.LookupLimit
		gaps  []time.Duration
		want  []int
	}{
		{mockserver.LookupMinInterval, []time.Duration{0, 0, 999 * ms, ms, 1500 * ms, 500 * ms}, []int{200, 429, 429, 200, 200, 429}},
		{
			mockserver.LookupTokenBucket,
			[]time.Duration{0, 0, 0, 500 * ms, 500 * ms, time.Hour, 0, 0},
			[]int{200, 200, 429, 429, 200, 200, 200, 429},
		},
		{mockserver.LookupFixedWindow, []time.Duration{900 * ms, 100 * ms, 900 * ms, 100 * ms}, []int{200, 200, 429, 200}},
	} {
		t.Run(fmt.Sprint(row.limit), func(t *testing.T) {
			p := newProbe(t, mockserver.Config{Lookups: row.limit, FreezeClock: true, Now: time.Unix(1_700_000_000, 0)})
			path := "/v2/emails/" + p.email("ada@example.org")
			for i, gap := range row.gaps {
				p.advance(gap)
				a := p.do("GET", path, nil)
				if a.status != row.want[i] || a.status == 429 && a.header.Get("Retry-After") != "1" {
					t.Errorf("lookup %d: %d, Retry-After %q; want %d", i, a.status, a.header.Get("Retry-After"), row.want[i])
				}
			}
			must(t, p.SetNow(p.Now().AddDate(-1, 0, 0)))
			if got := p.do("GET", path, nil).status; got != http.StatusOK {
				t.Errorf("a year earlier: %d, want 200", got)
			}
		})
	}
}

// Lookups by the console are not limited and do not count for the application's limit.
func TestConsoleHasNoLookupLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, mockserver.Config{})
		path := "/v2/emails/" + p.email("a@example.org")
		for range 2 {
			if a := p.do("GET", "/_mock/accounts/1/api"+path, nil); a.status != 200 {
				t.Errorf("by the console: %d %s, want 200", a.status, a.text)
			}
		}
		for i, want := range []int{200, 429} {
			if a := p.do("GET", path, nil); a.status != want {
				t.Errorf("lookup %d by the application: %d %s, want %d", i+1, a.status, a.text, want)
			}
		}
	})
}
