package delivery

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/model"
)

// walked computes the statistics from all deliveries and events.
func walked(d *Dispatcher, account int64) Stats {
	out := Stats{States: map[model.DeliveryState]int{}, Minutes: map[int64]*activity.Minute{}}
	for _, dlv := range d.Deliveries() {
		if dlv.AccountID != account && dlv.AccountID != 0 {
			continue
		}
		out.States[dlv.State]++
		for _, a := range dlv.Attempts {
			out.Attempts++
			out.Minute(activity.MinuteOf(a.Time)).Attempts++
			if a.Status != http.StatusNoContent {
				out.Failed++
				out.Minute(activity.MinuteOf(a.Time)).Failed++
			}
		}
	}
	for _, fired := range d.Events(func(f *model.FiredEvent) bool { return f.AccountID == account }) {
		out.Events++
		out.Minute(activity.MinuteOf(fired.Time)).Events++
	}
	return out
}

// sameAsWalked compares the counters with the records.
func sameAsWalked(t *testing.T, when string, d *Dispatcher) {
	t.Helper()
	now := activity.MinuteOf(d.Clock.Now())
	for _, account := range []int64{1, 2} {
		got, want := d.Stats(account, now-activity.MaxMinutes+1, now), walked(d, account)
		maps.DeleteFunc(got.States, func(_ model.DeliveryState, n int) bool { return n == 0 })
		assert.Equal(t, want.States, got.States, "%s, account %d", when, account)
		assert.Equal(t, want.Attempts, got.Attempts, "%s, account %d", when, account)
		assert.Equal(t, want.Failed, got.Failed, "%s, account %d", when, account)
		assert.Equal(t, want.Events, got.Events, "%s, account %d", when, account)
		if !maps.EqualFunc(got.Minutes, want.Minutes, func(a, b *activity.Minute) bool { return *a == *b }) {
			t.Errorf("%s, account %d: the minutes differ from the records", when, account)
		}
	}
}

// The counters of deliveries, attempts and events match the records, including after a restore and a reset.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status := http.StatusNoContent
		d := dispatcherTo(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		other := Webhook{ID: 8, AccountID: 2, URL: hook.URL, Events: []string{"a"}, Secret: "s", Hash: hook.Hash}
		limited := Webhook{ID: 9, AccountID: 1, URL: hook.URL, Events: []string{"b"}, Secret: "s", Hash: hook.Hash, RateLimit: 1, Period: "hour"}
		included := hook
		included.Events = []string{"a"}
		for _, h := range []Webhook{included, other, limited} {
			d.Open(h)
		}
		fire := func(account int64, name string) {
			d.Publish([]Event{{AccountID: account, Name: events.Name(name), Payload: events.Event{Time: d.Clock.Now()}}})
			synctest.Wait()
		}
		sameAsWalked(t, "nothing", d)
		for range 3 {
			fire(1, "a")
			fire(2, "a")
			fire(1, "b")
			time.Sleep(70 * time.Second)
		}
		sameAsWalked(t, "delivered", d)

		status = http.StatusInternalServerError
		fire(1, "a")
		fire(2, "a")
		for _, f := range []model.Fault{
			{Event: "*", Action: model.FaultDrop, Nth: 1},
			{Event: "*", Action: model.FaultDelay, Delay: time.Hour, Nth: 2},
		} {
			if _, err := d.Faults.Add([]model.Fault{f}); err != nil {
				t.Fatal(err)
			}
		}
		fire(1, "a")
		fire(1, "a")
		fire(1, "a")
		d.Archive(8, true)
		if _, err := d.Send("8", []byte("{}")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		sameAsWalked(t, "with errors and faults", d)
		waits(t, d, 1, "retry 2 for 1s, delay 1 for 1h0m0s, rate_limit 2 for 56m30s")
		waits(t, d, 2, "archived 2")

		time.Sleep(2 * time.Second)
		synctest.Wait()
		sameAsWalked(t, "failed", d)
		require.NoError(t, d.Redeliver(ID(1)))
		synctest.Wait()
		sameAsWalked(t, "redelivered", d)

		if _, err := d.Faults.Add([]model.Fault{{Event: "*", Action: model.FaultDelay, Delay: time.Hour}}); err != nil {
			t.Fatal(err)
		}
		for account := range int64(3) {
			d.SendTo(account, hook.URL, parsed("s", hook.Hash), []byte(`{"event":"own"}`)) // a snapshot does not contain its secret
		}
		sameAsWalked(t, "to a URL", d)
		before := read(t, d)
		d.Replace([]Webhook{included, other, limited}, before)
		synctest.Wait()
		sameAsWalked(t, "restored", d)
		d.ReplaceAccount(1, nil)
		sameAsWalked(t, "reset", d)
		got := d.Stats(1, 0, 0)
		assert.Zero(t, got.Events)
		assert.Zero(t, got.Attempts)
		assert.Empty(t, got.Waiting)
	})
}

// waits compares the pending deliveries of an account and their reasons with want.
func waits(t *testing.T, d *Dispatcher, account int64, want string) {
	t.Helper()
	var got []string
	for _, w := range d.Stats(account, 0, 0).Waiting {
		text := fmt.Sprintf("%s %d", w.Why, w.N)
		if !w.Until.IsZero() {
			text += fmt.Sprintf(" for %v", w.Until.Sub(d.Clock.Now()))
		}
		got = append(got, text)
		assert.Equal(t, hook.URL, w.URL, "%+v", w)
		assert.NotEmpty(t, w.WebhookID, "%+v", w)
	}
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("pending in account %d: %s; want %s", account, text, want)
	}
}

// Deliveries wait while the maximum number of attempts is in progress. A reordered delivery waits for the delivery
// that must precede it.
func TestWaitingForConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		statuses := make(chan int)
		d := dispatcherTo(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(<-statuses) })
		d.Open(hook)
		if _, err := d.Faults.Add([]model.Fault{{Action: model.FaultReorder, Nth: 2}}); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			send(t, d, "{}")
		}
		synctest.Wait()
		waits(t, d, 1, "turn 3")
		for range 4 {
			statuses <- http.StatusNoContent
		}
		synctest.Wait()
		waits(t, d, 1, "")
	})
}

// Old attempts of a later delivery do not remove recent minutes of earlier deliveries.
func TestMinutesAfterRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dispatcherTo(t, func(http.ResponseWriter, *http.Request) {})
		const many = 3 * activity.MaxMinutes / 2
		var before State
		start := d.Clock.Now().Add(-100 * time.Hour)
		for i := range many {
			first := start.Add(time.Duration(i) * time.Minute)
			before.Deliveries = append(before.Deliveries, Saved{
				Delivery: model.Delivery{ID: ID(i + 1), AccountID: 1, State: model.DeliveryDelivered},
				Attempts: attemptsToJSON([]model.Attempt{{Time: first}, {Time: first.Add(50 * time.Hour), Status: http.StatusNoContent}}),
			})
		}
		d.Replace([]Webhook{hook}, before)
		last := activity.MinuteOf(start.Add(50*time.Hour)) + many - 1
		if got := len(d.Stats(1, last-activity.MaxMinutes+1, last).Minutes); got != activity.MaxMinutes {
			t.Errorf("got %d minutes of the last day, want %d", got, activity.MaxMinutes)
		}
	})
}
