package delivery

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/table"
	"example.com/emailplatform/mockserver/record"
)

// MaxEvents is the maximum number of events in the history. Older events are
// deleted.
const MaxEvents = 10_000

// delivery is the delivery of an event to a webhook. Change a delivery only if
// edit() has returned it.
type delivery struct {
	record.Delivery
	progress

	n         int // number in the history, from 1
	webhookID int64
}

// progress is the state of a pending delivery. Snapshots contain all fields.
type progress struct {
	Tries     int       `json:"tries"`              // attempts since the delivery was created or last redelivered
	Duplicate bool      `json:"duplicate,omitzero"` // repeat the delivery after it succeeds
	Manual    bool      `json:"manual,omitzero"`    // a redelivery requested the next attempt
	Started   time.Time `json:"started,omitzero"`   // start of the attempt in progress
	Place     int       `json:"place,omitzero"`     // position in the webhook's queue; the lowest is next
	Held      bool      `json:"held,omitzero"`      // the next delivery to the webhook must precede it
	Forgotten bool      `json:"forgotten,omitzero"` // deleted with the account; only the id remains
}

// history contains all deliveries, the latest events, and their counts.
type history struct {
	deliveries table.Table[delivery] // in order of creation
	forgotten  int                   // number of deleted deliveries
	events     []*record.FiredEvent  // oldest first; they are immutable
	lastEvent  int
	webhooks   map[int64]*counts    // counts of the deliveries, by webhook
	fired      map[int64]*PerMinute // counts of the events, by account
	version    uint64               // increases with every change
}

func newHistory() *history {
	return &history{webhooks: map[int64]*counts{}, fired: map[int64]*PerMinute{}}
}

const idPrefix = "dlv-"

// ID returns the id of the delivery with the given number. Numbers start at 1.
func ID(n int) string { return idPrefix + strconv.Itoa(n) }

// add adds a delivery with the next id.
func (h *history) add(x *delivery) {
	h.version++
	h.deliveries.Add(x)
	x.n = h.deliveries.Len()
	x.ID = ID(x.n)
	if x.Forgotten {
		h.forgotten++
		return
	}
	h.of(x).states[x.State]++
}

func (h *history) at(n int) *delivery { return h.deliveries.At(n - 1) }

// edit returns the delivery with the given number. The caller may change the
// delivery while holding the engine's mutex.
func (h *history) edit(n int) *delivery {
	h.version++
	return h.deliveries.Edit(n - 1)
}

// find returns the delivery with the given id, or nil if there is none.
func (h *history) find(id string) *delivery {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, idPrefix))
	if n < 1 || n > h.deliveries.Len() {
		return nil
	}
	if x := h.at(n); x.ID == id && !x.Forgotten {
		return x
	}
	return nil
}

func (h *history) setState(x *delivery, state record.DeliveryState) {
	c := h.of(x)
	c.states[x.State]--
	c.states[state]++
	x.State = state
}

// addEvent adds an event with the ids of its deliveries.
func (h *history) addEvent(e *Event, deliveries []string) *record.FiredEvent {
	h.version++
	h.lastEvent++
	out := &record.FiredEvent{
		ID:         fmt.Sprintf("evt-%d", h.lastEvent),
		Time:       e.What.Time,
		Event:      e.Name,
		EventID:    e.ID,
		AccountID:  e.AccountID,
		MessageID:  e.MessageID,
		Recipient:  e.Recipient,
		Subject:    e.Subject,
		Body:       e.Body,
		Deliveries: deliveries,
	}
	h.countEvent(out)
	h.events = append(h.events, out)
	if len(h.events) > MaxEvents {
		h.events[0] = nil
		h.events = h.events[1:]
	}
	return out
}

// forget deletes the events and deliveries of an account. A placeholder replaces each
// deleted delivery, because delivery ids contain positions in the history.
func (h *history) forget(account int64) {
	h.version++
	for i := range h.deliveries.Len() {
		x := h.deliveries.At(i)
		if x.AccountID != account || x.Forgotten {
			continue
		}
		delete(h.webhooks, x.webhookID)
		h.forgotten++
		h.deliveries.Set(i, &delivery{Delivery: record.Delivery{ID: x.ID}, progress: progress{Forgotten: true}, n: x.n})
	}
	delete(h.fired, account)
	h.events = slices.DeleteFunc(slices.Clone(h.events), func(e *record.FiredEvent) bool { return e.AccountID == account })
}
