package delivery

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/record"
)

// TestSubscribers compares the subscribers of events with a search through all webhooks.
func TestSubscribers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"Email.Opened", "Email.Clicked", "Email.Bounced"}
	e := newEngine(t)
	e.closed = true // and starts no queue
	for id := range int64(200) {
		h := Webhook{ID: id, AccountID: id % 2, Archived: random.IntN(4) == 0}
		for range random.IntN(5) { // one may be named twice
			h.Events = append(h.Events, names[random.IntN(len(names))])
		}
		switch {
		case id == 100:
			e.Replace([]Webhook{h}, State{})
		case id%40 == 39:
			e.ReplaceAccount(h.AccountID, []Webhook{h})
		default:
			e.Open(h)
		}
		some := e.order[random.IntN(len(e.order))].hook.ID
		e.Archive(some, random.IntN(2) == 0)
		for _, event := range names {
			checkSubscribers(t, e, topic{id % 2, events.Name(event)})
			checkSubscribers(t, e, topic{1 - id%2, events.Name(event)})
		}
	}
}

func checkSubscribers(t *testing.T, e *Engine, about topic) {
	t.Helper()
	var want []int64
	for _, q := range e.order {
		if q.hook.AccountID == about.accountID && !q.hook.Archived && slices.Contains(q.hook.Events, string(about.event)) {
			want = append(want, q.hook.ID)
		}
	}
	var got []int64
	for _, q := range e.subscribers[about] {
		got = append(got, q.hook.ID)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%s of account %d goes to %v, want %v", about.event, about.accountID, got, want)
	}
}

func TestViewsOmitDeletedDeliveries(t *testing.T) {
	e := newEngine(t)
	for i := range 3000 {
		e.history.add(&delivery{Delivery: record.Delivery{AccountID: int64(i % 2), State: record.DeliveryFailed}})
	}
	e.ReplaceAccount(1, nil)
	n, newest := e.NewestDeliveries()
	seen := 0
	for x := range newest {
		if seen++; x.AccountID != 0 {
			t.Fatalf("%s of account %d is listed", x.ID, x.AccountID)
		}
	}
	if all := len(e.Deliveries()); n != 1500 || seen != n || all != n {
		t.Errorf("%d deliveries are told of, %d listed, %d copied; want %d", n, seen, all, 1500)
	}
}

// TestEventsConcurrent: no event is visited while the lock is held, and events that are
// added during a visit are not visited.
func TestEventsConcurrent(t *testing.T) {
	e := newEngine(t)
	for range 3 {
		e.history.addEvent(&Event{}, nil)
	}
	var visited []string
	e.Events(func(x *record.FiredEvent) bool {
		if visited = append(visited, x.ID); !e.mu.TryLock() {
			t.Fatalf("the lock is held at %s", x.ID)
		}
		e.history.addEvent(&Event{}, nil)
		e.mu.Unlock()
		return true
	})
	if want := []string{"evt-1", "evt-2", "evt-3"}; !slices.Equal(visited, want) {
		t.Errorf("visited %v, want %v", visited, want)
	}
}
