package delivery

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/model"
	"example.com/emailplatform/webhook"
)

func parsed(text string, function webhook.HashFunction) webhook.Secret {
	secret, err := webhook.ParseSecret(text, string(function))
	if err != nil {
		panic(err)
	}
	return secret
}

func TestNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dispatcherTo(t, nil)
		start := d.Clock.Now()
		wait, what := d.Next(0)
		assert.Zero(t, wait, "without webhooks")
		assert.Empty(t, what, "without webhooks")
		retrying := func(id int64, after time.Duration) *queue {
			q := newQueue(Webhook{ID: id, AccountID: id % 2, URL: fmt.Sprintf("http://%d.example", id)}, newHistory())
			q.schedule(addDelivery(q, "x"), start.Add(after))
			return q
		}
		limited := retrying(4, time.Hour)
		limited.hook.RateLimit, limited.hook.Period, limited.attemptTimes = 1, "minute", []time.Time{start.Add(-20 * time.Second)}
		limited.append(addDelivery(limited, "y"))
		limited.append(addDelivery(limited, "z"))
		busy := retrying(5, 0)
		busy.delivering = 1
		archived := retrying(6, 0)
		archived.hook.Archived = true
		for _, row := range []struct {
			queues  []*queue
			account int64
			wait    time.Duration
			what    string
		}{
			{[]*queue{busy, archived}, 0, 0, ""},
			{[]*queue{retrying(1, time.Minute), retrying(2, 30*time.Second)}, 0, 30 * time.Second, "1 deliveries to webhook 2 (http://2.example)"},
			{[]*queue{retrying(2, 30*time.Second), retrying(1, time.Minute)}, 0, 30 * time.Second, "1 deliveries to webhook 2 (http://2.example)"},
			{[]*queue{retrying(2, 30*time.Second), retrying(1, time.Minute)}, 1, time.Minute, "1 deliveries to webhook 1 (http://1.example)"},
			{[]*queue{retrying(1, time.Minute), retrying(2, time.Minute)}, 0, time.Minute, "1 deliveries to webhook 1 (http://1.example)"},
			{[]*queue{retrying(1, time.Minute), limited, busy}, 0, 40 * time.Second, "3 deliveries to webhook 4 (http://4.example)"},
		} {
			d.order = row.queues
			wait, what := d.Next(row.account)
			assert.Equal(t, row.wait, wait, "%d queues", len(row.queues))
			assert.Equal(t, row.what, what, "%d queues", len(row.queues))
		}
		d.order = nil
	})
}

// The history contains the latest 10,000 events.
func TestHistoryIsBounded(t *testing.T) {
	h := newHistory()
	for n := range MaxEvents + 2 {
		h.addEvent(&Event{}, nil)
		if want := min(n+1, MaxEvents); len(h.events) != want {
			t.Fatalf("after %d events: %d are kept, want %d", n+1, len(h.events), want)
		}
	}
	first, last := h.events[0].ID, h.events[MaxEvents-1].ID
	assert.Equal(t, "evt-3", first)
	assert.Equal(t, "evt-10002", last)
}

// A redelivery ends the hold of a reordered delivery.
func TestRemoveReordered(t *testing.T) {
	q := newQueue(Webhook{}, newHistory())
	held := addDelivery(q, "held")
	q.push(held, &fault.AppliedRule{FaultRule: model.FaultRule{Fault: model.Fault{Action: model.FaultReorder}}}, start)
	q.remove(addDelivery(q, "other"))
	assert.Equal(t, held.n, q.reordered, "the removal of another delivery removed its mark")
	q.remove(held)
	q.append(held)
	q.push(addDelivery(q, "next"), nil, start)
	assert.Equal(t, "[held next]", fmt.Sprint(taken(q, start)))
	q.push(addDelivery(q, "late"), &fault.AppliedRule{FaultRule: model.FaultRule{Fault: model.Fault{Action: model.FaultReorder}}}, start)
	got := fmt.Sprint(taken(q, start.Add(time.Hour)))
	assert.Equal(t, "[late]", got)
	assert.Zero(t, q.reordered)
}

// A delivery to a URL is attempted once and signed with its own secret, even if a webhook has the same URL.
func TestSendTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var signatures []string
		d := dispatcherTo(t, func(w http.ResponseWriter, r *http.Request) {
			signatures = append(signatures, r.URL.Path+" "+r.Header.Get(webhook.DefaultSignatureHeader))
			w.WriteHeader(http.StatusInternalServerError)
		})
		first := hook
		first.ID, first.Archived = 1, true
		d.Open(first)
		body := []byte(`{"event":"own"}`)
		var ids, want []string
		for _, to := range []struct {
			url    string
			secret webhook.Secret
		}{
			{hook.URL, parsed(hook.Secret, hook.Hash)},
			{hook.URL, parsed("other", webhook.SHA256)},
			{hook.URL, parsed("other", webhook.SHA512)},
			{hook.URL + "path", parsed("other", webhook.SHA512)},
			{hook.URL + "path", parsed("other", webhook.SHA512)},
		} {
			ids = append(ids, d.SendTo(0, to.url, to.secret, body))
			signature, err := webhook.Sign(to.secret, body)
			require.NoError(t, err)
			want = append(want, to.url[len("http://receiver.example"):]+" "+signature)
			synctest.Wait()
		}
		time.Sleep(time.Minute) // longer than the schedule
		assert.Equal(t, fmt.Sprint(want), fmt.Sprint(signatures), "attempts")
		for _, id := range ids {
			r := d.Details(id)
			assert.Equal(t, model.DeliveryFailed, r.State, id)
			require.Len(t, r.Attempts, 1, id)
			assert.Equal(t, 1, r.MaxAttempts, id)
			assert.Empty(t, r.WebhookID, id)
		}
		assert.Len(t, d.order, 5, "a queue for the webhook and for each target")
		for id, exists := range map[string]bool{"1": true, "-1": false, "0": false, "8": false, "x": false, "": false} {
			if got, err := d.Send(id, body); (err == nil) != exists {
				t.Errorf("Send to webhook %q is %s, %v; want that the webhook exists: %v", id, got, err, exists)
			}
		}
	})
}

// The user and the password in a URL are sent as basic authentication, and errors do not contain the password.
func TestPasswordInURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent string
		d := dispatcherTo(t, func(w http.ResponseWriter, r *http.Request) {
			user, password, _ := r.BasicAuth()
			sent = user + " " + password
			w.WriteHeader(http.StatusInternalServerError)
		})
		private := hook
		private.URL = "http://user:word@receiver.example/"
		d.Open(private)
		_, err := d.Send(private.Name(), []byte("{}"))
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, "user word", sent)
		_, what := d.Next(0)
		for _, text := range []string{what, d.Clock.View().Next.What} {
			assert.Contains(t, text, "(http://user:xxxxx@receiver.example/)")
		}
	})
}

// A delivery without a queue still has a record.
func TestRecordWithoutQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		respond := make(chan bool)
		d := dispatcherTo(t, func(http.ResponseWriter, *http.Request) { <-respond })
		d.Open(hook)
		id := d.SendTo(0, hook.URL, parsed("s", ""), []byte("own"))
		queued := d.SendTo(0, hook.URL, parsed("s", ""), []byte("own"))
		synctest.Wait()
		state := read(t, d)
		other := dispatcherTo(t, func(http.ResponseWriter, *http.Request) { t.Error("a delivery without a secret was attempted") })
		other.Replace(nil, state)
		r := other.Details(id)
		assert.Equal(t, model.DeliveryFailed, r.State)
		assert.Empty(t, r.Secret)
		require.Len(t, r.Attempts, 1)
		assert.Equal(t, "the state was saved before there was a response", r.Attempts[0].Error)
		if r := other.Details(queued); r.State != model.DeliveryFailed || len(r.Attempts) != 0 {
			t.Errorf("got %+v, want a failed delivery without attempts", r)
		}
		assert.Error(t, other.Redeliver(id), "Redeliver accepts a delivery without a secret")
		close(respond)
	})
}

// A pending delivery has a reason, unless it waits for an attempt in progress.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		respond := make(chan int)
		d := dispatcherTo(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(<-respond) })
		limited := hook
		limited.RateLimit, limited.Period = 2, "minute"
		d.Open(limited)
		var ids []string
		for range 3 {
			id, err := d.Send("7", []byte("own"))
			require.NoError(t, err)
			ids = append(ids, id)
		}
		synctest.Wait()
		began := time.Now()
		check := func(when string, want ...activity.WaitReason) {
			t.Helper()
			for i, id := range ids {
				if got := d.Details(id); got.Waiting != want[i] || (got.Waiting != "") == got.Until.IsZero() {
					t.Errorf("%s: delivery %d waits for %q until %v, want %q", when, i, got.Waiting, got.Until, want[i])
				}
			}
		}
		check("the first is in progress", "", "", "")
		places := read(t, d).Deliveries
		assert.Equal(t, 1, places[0].QueuePosition)
		assert.Equal(t, 2, places[1].QueuePosition)
		assert.Equal(t, 3, places[2].QueuePosition)
		respond <- http.StatusOK
		respond <- http.StatusBadGateway
		synctest.Wait()
		check("both have been attempted", "", activity.WaitRetry, activity.WaitRateLimit)
		if got := d.Details(ids[2]).Until; !got.Equal(began.Add(time.Minute)) {
			t.Errorf("until %v, want a minute after the first", got)
		}
		if _, err := d.Faults.Add([]model.Fault{{Action: model.FaultDelay, WebhookID: "7", Delay: time.Hour}}); err != nil {
			t.Fatal(err)
		}
		delayed, _ := d.Send("7", []byte("own"))
		got := d.Details(delayed)
		assert.Equal(t, activity.WaitDelay, got.Waiting)
		assert.True(t, got.Until.Equal(time.Now().Add(time.Hour)))
		d.Archive(7, true)
		assert.Equal(t, activity.WaitArchived, d.Details(ids[2]).Waiting, "a delivery to an archived webhook waits for")
	})
}

func TestCheckState(t *testing.T) {
	d := func(id, hook string) Saved {
		account := map[string]int64{"7": 1}[hook]
		return Saved{Delivery: model.Delivery{ID: id, WebhookID: hook, AccountID: account, State: model.DeliveryQueued}}
	}
	change := func(how func(*Saved)) State {
		changed := d("dlv-1", "7")
		how(&changed)
		return State{Deliveries: []Saved{changed}}
	}
	early := time.Date(0, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600)) // in UTC, the year is -1
	for want, state := range map[string]State{
		"":                                {Deliveries: []Saved{d("dlv-1", "7"), d("dlv-2", "")}},
		"deliveries[0]: id must be dlv-1": {Deliveries: []Saved{{}}},
		"deliveries[1]: id must be dlv-2": {Deliveries: []Saved{d("dlv-1", "7"), d("dlv-3", "7")}},
		"deliveries[0]: tries must be 0 to 0, the number of attempts, got -1":    change(func(s *Saved) { s.Tries = -1 }),
		"deliveries[0]: tries must be 0 to 0, the number of attempts, got 1":     change(func(s *Saved) { s.Tries = 1 }),
		`deliveries[0]: state "lost" does not exist`:                             change(func(s *Saved) { s.State = "lost" }),
		"deliveries[0]: webhook_id 8 does not exist":                             {Deliveries: []Saved{d("dlv-1", "8")}},
		"deliveries[0]: account_id must be 1, the account of the webhook, got 2": change(func(s *Saved) { s.AccountID = 2 }),
		"deliveries[0]: " + badTime:                                              change(func(s *Saved) { s.NextAttempt = early }),
		"events must be objects":                                                 {Events: []*model.FiredEvent{nil}},
		"events[0]: " + badTime:                                                  {Events: []*model.FiredEvent{{Time: early}}},
	} {
		got := ""
		if err := state.Check([]Webhook{hook}); err != nil {
			got = err.Error()
		}
		assert.Equal(t, want, got)
	}
}

// Connections are reused while a queue is processed, and closed afterwards. On a busy machine, net/http may not reuse
// each connection, because it waits at most 50 ms for the goroutine that wrote the request.
func TestIdleConnectionsAreClosed(t *testing.T) {
	const deliveries = 20
	opened, closed, received := make(chan struct{}, deliveries), make(chan struct{}, deliveries), make(chan struct{}, deliveries)
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { received <- struct{}{} }))
	receiver.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			opened <- struct{}{}
		case http.StateClosed:
			closed <- struct{}{}
		}
	}
	receiver.Start()
	defer receiver.Close()
	d := dispatcherTo(t, nil)
	own := hook
	own.URL, own.Archived = receiver.URL, true
	d.Open(own)
	for range deliveries {
		send(t, d, "own")
	}
	d.Archive(7, false)
	for range deliveries {
		<-received
	}
	assert.LessOrEqual(t, len(opened), deliveries/2, "connections for sequential deliveries")
	for range len(opened) {
		select {
		case <-closed:
		case <-time.After(time.Minute):
			t.Fatal("a connection is still open")
		}
	}
}

func TestRetriesFollowTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var attempts []time.Duration
		d := dispatcherTo(t, func(w http.ResponseWriter, _ *http.Request) {
			attempts = append(attempts, time.Since(start))
			w.WriteHeader(http.StatusInternalServerError)
		})
		d.Schedule = DefaultRetrySchedule()
		d.Open(hook)
		id, err := d.Send(hook.Name(), []byte("{}"))
		require.NoError(t, err)
		assert.Equal(t, 8, d.Details(id).MaxAttempts, "MaxAttempts")
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		assert.Equal(t, "[0s 1s 6s 36s 2m36s 12m36s 1h12m36s 7h12m36s]", fmt.Sprint(attempts), "attempts after")
		assert.Equal(t, model.DeliveryFailed, d.Details(id).State, "the delivery")
		require.NoError(t, d.Redeliver(id))
		assert.Equal(t, 16, d.Details(id).MaxAttempts, "after a redelivery, MaxAttempts")
	})
}

func TestViewsOmitDeletedDeliveries(t *testing.T) {
	d := dispatcherTo(t, nil)
	for i := range 3000 {
		d.history.add(&delivery{Delivery: model.Delivery{AccountID: int64(i % 2), State: model.DeliveryFailed}})
	}
	d.ReplaceAccount(1, nil)
	n, newest := d.NewestDeliveries()
	seen := 0
	for dlv := range newest {
		if seen++; dlv.AccountID != 0 {
			t.Fatalf("%s of account %d is listed", dlv.ID, dlv.AccountID)
		}
	}
	all := len(d.Deliveries())
	assert.Equal(t, 1500, n)
	assert.Equal(t, n, seen)
	assert.Equal(t, n, all)
}

// TestEventsConcurrent: the lock is not held while events are visited, so events can be added. They are not
// visited.
func TestEventsConcurrent(t *testing.T) {
	d := dispatcherTo(t, nil)
	for range 3 {
		d.history.addEvent(&Event{}, nil)
	}
	var visited []string
	d.Events(func(e *model.FiredEvent) bool {
		if visited = append(visited, e.ID); !d.mu.TryLock() {
			t.Fatalf("the lock is held at %s", e.ID)
		}
		d.history.addEvent(&Event{}, nil)
		d.mu.Unlock()
		return true
	})
	assert.Equal(t, []string{"evt-1", "evt-2", "evt-3"}, visited, "visited")
}
