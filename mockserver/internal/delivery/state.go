package delivery

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"example.com/emailplatform/mockserver/model"
)

// State contains the deliveries and events of a dispatcher.
type State struct {
	Deliveries []Saved             `json:"deliveries" doc:"the deliveries, oldest first"`
	Events     []*model.FiredEvent `json:"events" doc:"the events, oldest first"`
	LastEvent  int                 `json:"last_event" doc:"the number of the latest event"`
}

// Saved is a delivery with its progress.
type Saved struct {
	model.Delivery
	progress
	Attempts []AttemptJSON `json:"attempts"`             // with their durations
	Bytes    []byte        `json:"body_base64,omitzero"` // the body, if it is not valid UTF-8
}

// Snapshot is the state of a dispatcher at a point in time, without its webhooks.
// It is immutable.
type Snapshot struct {
	Events    []*model.FiredEvent // the latest events
	LastEvent int

	deliveries []*delivery
}

// Snapshot returns the current state.
func (d *Dispatcher) Snapshot() Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.history
	return Snapshot{slices.Clone(h.events), h.lastEvent, h.deliveries.Snapshot()}
}

// Deliveries iterates over the deliveries in order of creation.
func (s *Snapshot) Deliveries() iter.Seq[Saved] {
	return func(yield func(Saved) bool) {
		for _, dlv := range s.deliveries {
			out := Saved{Delivery: dlv.Delivery, progress: dlv.progress, Attempts: attemptsToJSON(dlv.Attempts)}
			if !utf8.Valid(dlv.Body) {
				out.Bytes = dlv.Body
			}
			if !yield(out) {
				return
			}
		}
	}
}

// Check validates a state. The webhooks of its deliveries must be among the given
// webhooks.
func (s State) Check(hooks []Webhook) error {
	owners := map[string]int64{}
	for _, h := range hooks {
		owners[h.Name()] = h.AccountID
	}
	for i, d := range s.Deliveries {
		owner, known := owners[d.WebhookID]
		problem := ""
		switch {
		case d.ID != ID(i+1):
			problem = "id must be " + ID(i+1)
		case d.WebhookID != "" && !known:
			problem = fmt.Sprintf("webhook_id %s does not exist", d.WebhookID)
		case d.WebhookID != "" && d.AccountID != owner:
			problem = fmt.Sprintf("account_id must be %d, the account of the webhook, got %d", owner, d.AccountID)
		case d.Tries < 0 || d.Tries > len(d.Attempts):
			problem = fmt.Sprintf("tries must be 0 to %d, the number of attempts, got %d", len(d.Attempts), d.Tries)
		case !d.Deleted && !slices.Contains(States(), d.State):
			problem = fmt.Sprintf("state %q does not exist", d.State)
		case !d.dated():
			problem = badTime
		}
		if problem != "" {
			return fmt.Errorf("deliveries[%d]: %s", i, problem)
		}
	}
	for i, e := range s.Events {
		switch {
		case e == nil:
			return errors.New("events must be objects")
		case !dated(e.Time):
			return fmt.Errorf("events[%d]: %s", i, badTime)
		}
	}
	return nil
}

const badTime = "the year of each time in UTC must be between 0 and 9999"

// dated reports whether all times of a delivery are valid.
func (s Saved) dated() bool {
	return dated(s.CreatedAt) && dated(s.NextAttempt) && dated(s.Started) &&
		!slices.ContainsFunc(s.Attempts, func(a AttemptJSON) bool { return !dated(a.Time) })
}

// dated reports whether JSON can contain a time in UTC. Otherwise, no snapshot could be written.
func dated(t time.Time) bool { return t.UTC().Year() >= 0 && t.UTC().Year() <= 9999 }

// States returns the states that a delivery can have.
func States() []model.DeliveryState {
	return append(unfinished(), model.DeliveryDelivered, model.DeliveryFailed, model.DeliveryDropped)
}

func unfinished() []model.DeliveryState {
	return []model.DeliveryState{model.DeliveryQueued, model.DeliveryDelivering, model.DeliveryRetrying}
}

// DropPending removes all pending deliveries. It does not stop attempts in progress.
func (d *Dispatcher) DropPending() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.queues {
		q.close()
	}
}

// Replace removes all pending deliveries, and then replaces the webhooks and the
// history.
func (d *Dispatcher) Replace(hooks []Webhook, from State) {
	d.DropPending()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.order = nil
	clear(d.queues)
	clear(d.subscribers)
	d.history = newHistory()
	d.history.lastEvent = from.LastEvent
	for _, h := range hooks {
		d.addLocked(newQueue(h, d.history))
	}
	for _, e := range from.Events {
		e.Time = e.Time.UTC()
		d.history.events = append(d.history.events, e)
		d.history.countEvent(e)
	}
	var waiting []*delivery
	for _, saved := range from.Deliveries {
		dlv := saved.delivery()
		d.history.add(dlv)
		if slices.Contains(unfinished(), dlv.State) && !dlv.Deleted {
			waiting = append(waiting, dlv)
		}
	}
	d.countAttemptsLocked()
	slices.SortStableFunc(waiting, func(a, b *delivery) int { return cmp.Compare(a.QueuePosition, b.QueuePosition) })
	for _, dlv := range waiting {
		d.resumeLocked(dlv)
	}
	for _, q := range d.order {
		d.startLocked(q)
	}
}

// countAttemptsLocked counts the restored attempts by minute, oldest first, so
// the counts cover the same minutes as before the snapshot.
func (d *Dispatcher) countAttemptsLocked() {
	type attempt struct {
		of   *delivery
		made model.Attempt
	}
	var all []attempt
	for dlv := range d.history.deliveries.All() {
		for _, a := range dlv.Attempts {
			all = append(all, attempt{dlv, a})
		}
	}
	slices.SortFunc(all, func(a, b attempt) int { return a.made.Time.Compare(b.made.Time) })
	for _, a := range all {
		d.history.countsOf(a.of).attempted(a.made)
		if q := d.queues[a.of.webhookID]; q != nil {
			q.countAttempt(a.made.Time)
		}
	}
}

// If an attempt was in progress, delivery records its result as unknown.
func (s Saved) delivery() *delivery {
	if s.Deleted {
		return &delivery{progress: progress{Deleted: true}}
	}
	out := &delivery{Delivery: s.Delivery, progress: s.progress}
	out.CreatedAt, out.NextAttempt = out.CreatedAt.UTC(), out.NextAttempt.UTC() // a file can contain any time zone
	out.Attempts = attemptsFromJSON(s.Attempts)
	out.webhookID, _ = strconv.ParseInt(out.WebhookID, 10, 64) // no webhook has the id 0
	if len(s.Bytes) > 0 {
		out.Body = s.Bytes
	}
	if !s.Started.IsZero() {
		out.Attempts = append(out.Attempts, model.Attempt{Time: s.Started, Error: interrupted, Manual: out.Manual})
		out.Manual, out.Started = false, time.Time{}
	}
	for i, a := range out.Attempts {
		out.Attempts[i].Time = a.Time.UTC()
	}
	return out
}

// interrupted is the error for an attempt that was in progress when the state was
// saved.
const interrupted = "the state was saved before there was a response"

// resumeLocked adds a pending delivery to its queue. A delivery to a URL without a
// webhook fails instead, because snapshots do not contain the secret of such a URL.
func (d *Dispatcher) resumeLocked(dlv *delivery) {
	q := d.queues[dlv.webhookID]
	switch {
	case q == nil:
		d.history.setState(dlv, model.DeliveryFailed)
		dlv.NextAttempt, dlv.Reordered = time.Time{}, false
	case dlv.NextAttempt.IsZero():
		d.history.setState(dlv, model.DeliveryQueued)
		q.ready = append(q.ready, dlv.n)
	default:
		q.schedule(dlv, dlv.NextAttempt)
		if dlv.Reordered {
			q.reordered = dlv.n
		}
	}
	if q != nil {
		q.lastPosition = max(q.lastPosition, dlv.QueuePosition)
	}
}

// ReplaceAccount replaces the webhooks of an account and removes its deliveries
// and events. Other accounts do not change.
func (d *Dispatcher) ReplaceAccount(account int64, hooks []Webhook) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.order = slices.DeleteFunc(slices.Clone(d.order), func(q *queue) bool {
		deleted := q.hook.AccountID == account
		if deleted {
			q.close()
			delete(d.queues, q.hook.ID)
		}
		return deleted
	})
	maps.DeleteFunc(d.subscribers, func(s subscription, _ []*queue) bool { return s.account == account })
	d.history.deleteAccount(account)
	for _, h := range hooks {
		d.addLocked(newQueue(h, d.history))
	}
}
