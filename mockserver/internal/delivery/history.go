package delivery

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/table"
	"example.com/emailplatform/mockserver/model"
)

// MaxEvents is the maximum number of events in the history. Older events are
// deleted.
const MaxEvents = 10_000

// delivery is the delivery of an event to a webhook. To change a delivery, get it from
// edit.
type delivery struct {
	model.Delivery
	progress

	n         int // number in the history, from 1
	webhookID int64
}

// progress is the state of a pending delivery. Snapshots contain all fields.
type progress struct {
	Tries         int       `json:"tries"`                   // attempts since the delivery was created or last redelivered
	Duplicate     bool      `json:"duplicate,omitzero"`      // repeat the delivery after it succeeds
	Manual        bool      `json:"manual,omitzero"`         // a redelivery requested the next attempt
	Started       time.Time `json:"started,omitzero"`        // start of the attempt in progress
	QueuePosition int       `json:"queue_position,omitzero"` // position in the webhook's queue; the lowest is next
	Reordered     bool      `json:"reordered,omitzero"`      // the next delivery to the webhook must precede it
	Deleted       bool      `json:"deleted,omitzero"`        // deleted with the account; only the id remains
}

type history struct {
	deliveries     table.Table[delivery] // in order of creation
	deleted        int                   // number of deleted deliveries
	events         []*model.FiredEvent   // oldest first; they are immutable
	lastEvent      int
	deliveryCounts map[countsKey]*counts
	eventCounts    map[int64]*activity.PerMinute // event counts by account
}

func newHistory() *history {
	return &history{deliveryCounts: map[countsKey]*counts{}, eventCounts: map[int64]*activity.PerMinute{}}
}

const idPrefix = "dlv-"

// ID returns the id of the delivery with the given number. Numbers start at 1.
func ID(n int) string { return idPrefix + strconv.Itoa(n) }

// add assigns the next id to a delivery.
func (h *history) add(dlv *delivery) {
	h.deliveries.Add(dlv)
	dlv.n = h.deliveries.Len()
	dlv.ID = ID(dlv.n)
	if dlv.Deleted {
		h.deleted++
		return
	}
	h.countsOf(dlv).states[dlv.State]++
}

func (h *history) at(n int) *delivery { return h.deliveries.At(n - 1) }

// edit returns the delivery with the given number. The caller may change it while
// holding the dispatcher's mutex.
func (h *history) edit(n int) *delivery {
	return h.deliveries.Edit(n - 1)
}

func (h *history) find(id string) *delivery {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, idPrefix))
	if n < 1 || n > h.deliveries.Len() {
		return nil
	}
	if dlv := h.at(n); dlv.ID == id && !dlv.Deleted {
		return dlv
	}
	return nil
}

func (h *history) setState(dlv *delivery, state model.DeliveryState) {
	c := h.countsOf(dlv)
	c.states[dlv.State]--
	c.states[state]++
	dlv.State = state
}

func (h *history) addEvent(e *Event, deliveries []string) *model.FiredEvent {
	h.lastEvent++
	out := &model.FiredEvent{
		ID:         fmt.Sprintf("evt-%d", h.lastEvent),
		Time:       e.Payload.Time,
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

// deleteAccount deletes the events and deliveries of an account. It replaces each
// deleted delivery with a placeholder, because delivery ids contain positions in the
// history.
func (h *history) deleteAccount(account int64) {
	for i := range h.deliveries.Len() {
		dlv := h.deliveries.At(i)
		if dlv.AccountID != account || dlv.Deleted {
			continue
		}
		delete(h.deliveryCounts, dlv.countsKey())
		h.deleted++
		h.deliveries.Set(i, &delivery{Delivery: model.Delivery{ID: dlv.ID}, progress: progress{Deleted: true}, n: dlv.n})
	}
	delete(h.eventCounts, account)
	h.events = slices.DeleteFunc(slices.Clone(h.events), func(e *model.FiredEvent) bool { return e.AccountID == account })
}

// Events calls wanted for each logged event and returns copies of the events that
// wanted accepts, oldest first. The dispatcher is not locked during these calls.
func (d *Dispatcher) Events(wanted func(*model.FiredEvent) bool) []model.FiredEvent {
	out := []model.FiredEvent{}
	for _, e := range slices.Backward(d.NewestEvents()) {
		if wanted(e) {
			copied := *e
			copied.Body, copied.Deliveries = slices.Clone(e.Body), append([]string{}, e.Deliveries...)
			out = append(out, copied)
		}
	}
	return out
}

// NewestEvents returns the logged events, newest first. Logged events are
// immutable.
func (d *Dispatcher) NewestEvents() []*model.FiredEvent {
	d.mu.Lock()
	defer d.mu.Unlock()
	newest := slices.Clone(d.history.events)
	slices.Reverse(newest)
	return newest
}

// snapshotDeliveries returns the table of deliveries, including deleted deliveries, and the
// number of deliveries that remain.
func (d *Dispatcher) snapshotDeliveries() (deliveries []*delivery, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.history.deliveries.Snapshot(), d.history.deliveries.Len() - d.history.deleted
}

// Deliveries returns all deliveries in order of creation.
func (d *Dispatcher) Deliveries() []model.Delivery {
	all, n := d.snapshotDeliveries()
	out := make([]model.Delivery, 0, n)
	for _, dlv := range all {
		if !dlv.Deleted {
			copied := dlv.Delivery
			copied.Body, copied.Attempts = slices.Clone(dlv.Body), append([]model.Attempt{}, dlv.Attempts...)
			out = append(out, copied)
		}
	}
	return out
}

// Stored is a delivery in the history.
type Stored struct {
	*delivery

	dispatcher *Dispatcher
}

// NewestDeliveries returns the number of deliveries, and an iterator over the
// deliveries, newest first.
func (d *Dispatcher) NewestDeliveries() (int, iter.Seq[Stored]) {
	all, n := d.snapshotDeliveries()
	return n, func(yield func(Stored) bool) {
		for _, dlv := range slices.Backward(all) {
			if !dlv.Deleted && !yield(Stored{dlv, d}) {
				return
			}
		}
	}
}

// Summary returns the delivery without its body.
func (dlv Stored) Summary() Summary {
	d := dlv.dispatcher
	d.mu.Lock()
	defer d.mu.Unlock()
	return summaryOf(dlv.delivery, d.queues[dlv.webhookID], d.Clock.Now())
}

// Details returns all details of the delivery with the given id, or nil if there is
// none.
func (d *Dispatcher) Details(id string) *Details {
	d.mu.Lock()
	defer d.mu.Unlock()
	dlv := d.history.find(id)
	if dlv == nil {
		return nil
	}
	q := d.queues[dlv.webhookID]
	out := &Details{Summary: summaryOf(dlv, q, d.Clock.Now()), Body: dlv.Body, MaxAttempts: d.maxAttempts(dlv, q)}
	if q != nil {
		out.Secret, out.HashFunction = q.hook.Secret, string(q.hook.Hash)
	}
	return out
}

// maxAttempts returns the maximum number of attempts for a delivery. A redelivery restarts the retry schedule
// but not the count of attempts. Therefore the maximum is the number of attempts before the last redelivery
// plus the attempts of one schedule.
func (d *Dispatcher) maxAttempts(dlv *delivery, q *queue) int {
	done := len(dlv.Attempts)
	most := done - dlv.Tries + 1
	if q == nil || !q.withoutWebhook {
		most += len(d.Schedule)
	}
	return max(most, done) // a duplicate adds one attempt
}

// EventSummary is an event without its body.
type EventSummary struct {
	model.FiredEvent
	Body *struct{} `json:"body,omitempty"` // hides FiredEvent.Body
}

// Summary is a delivery without its body.
type Summary struct {
	model.Delivery
	Body     *struct{}           `json:"body,omitempty"` // hides Delivery.Body
	Attempts []AttemptJSON       `json:"attempts" doc:"the attempts, oldest first"`
	Waiting  activity.WaitReason `json:"waiting,omitzero" doc:"the reason why the delivery is waiting"`
	Until    time.Time           `json:"waiting_until,omitzero" doc:"when the wait ends, if known"`
}

// Details is a delivery with all details.
type Details struct {
	Summary
	Body         model.Text `json:"body" doc:"the body, which is the same in each attempt"`
	Secret       string     `json:"secret,omitzero" doc:"the secret of the webhook"`
	HashFunction string     `json:"hash_function,omitzero" doc:"the hash function of the webhook"`
	MaxAttempts  int        `json:"max_attempts" doc:"the maximum number of attempts"`
}

// AttemptJSON is the JSON form of an attempt, with its duration in
// milliseconds.
type AttemptJSON struct {
	model.Attempt
	DurationMS clock.Milliseconds `json:"duration_ms" doc:"the duration of the attempt"`
}

// attemptsToJSON converts attempts to their JSON form. The returned slice is never nil.
func attemptsToJSON(attempts []model.Attempt) []AttemptJSON {
	out := make([]AttemptJSON, len(attempts))
	for i, a := range attempts {
		out[i] = AttemptJSON{a, clock.Milliseconds(a.Duration)}
	}
	return out
}

func attemptsFromJSON(attempts []AttemptJSON) []model.Attempt {
	out := make([]model.Attempt, len(attempts))
	for i, a := range attempts {
		out[i] = a.Attempt
		out[i].Duration = time.Duration(a.DurationMS)
	}
	return out
}

// summaryOf describes the current state of a delivery. The queue may be nil.
func summaryOf(dlv *delivery, q *queue, now time.Time) Summary {
	out := Summary{Delivery: dlv.Delivery, Attempts: attemptsToJSON(dlv.Attempts)}
	if q == nil || dlv.State != model.DeliveryQueued && dlv.State != model.DeliveryRetrying {
		return out
	}
	wait, _ := q.untilDue(now)
	switch {
	case q.hook.Archived:
		out.Waiting = activity.WaitArchived
	case dlv.State == model.DeliveryRetrying:
		out.Waiting, out.Until = activity.WaitRetry, dlv.NextAttempt
	case !dlv.NextAttempt.IsZero():
		out.Waiting, out.Until = activity.WaitDelay, dlv.NextAttempt
	case wait > 0:
		out.Waiting, out.Until = activity.WaitRateLimit, now.Add(wait)
	}
	return out
}
