package delivery

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/cut"
	"example.com/emailplatform/mockserver/record"
)

// State is all that an engine remembers, but for its webhooks; or what of it has
// changed.
type State struct {
	Deliveries []Saved              `json:"deliveries"`
	Events     []*record.FiredEvent `json:"events"`
	LastEvent  int                  `json:"last_event"`
}

// Saved is a delivery with what there is left to do for it.
type Saved struct {
	*record.Delivery
	progress
	Attempts []AttemptWire `json:"attempts"`             // the same with their durations
	Bytes    []byte        `json:"body_base64,omitzero"` // the body, if it is no text
	Place    int           `json:"place,omitzero"`       // in the webhook's queue, from 1
	Held     bool          `json:"held,omitzero"`        // to be overtaken by the webhook's next one
}

// Add puts what has changed since over a state.
func (s *State) Add(changed State) error {
	for i, d := range changed.Deliveries {
		n := 0
		if d.Delivery != nil {
			n, _ = strconv.Atoi(strings.TrimPrefix(d.ID, idPrefix))
		}
		switch {
		case n >= 1 && n <= len(s.Deliveries):
			s.Deliveries[n-1] = d
		case n == len(s.Deliveries)+1:
			s.Deliveries = append(s.Deliveries, d)
		default:
			return fmt.Errorf("deliveries[%d]: id: want one of those before, or the next", i)
		}
	}
	s.Events = append(s.Events, changed.Events...)
	s.Events = s.Events[max(0, len(s.Events)-MaxEvents):]
	s.LastEvent = changed.LastEvent
	return nil
}

// Check returns the first mistake in a state of webhooks that have these names.
func (s State) Check(hooks map[string]bool) error {
	for i, d := range s.Deliveries {
		switch {
		case d.Delivery == nil || d.ID != ID(i):
			return fmt.Errorf("deliveries[%d]: id: want %s", i, ID(i))
		case d.WebhookID != "" && !hooks[d.WebhookID]:
			return fmt.Errorf("deliveries[%d]: webhook_id: there is none such", i)
		case d.Tries < 0:
			return fmt.Errorf("deliveries[%d]: tries: want 0 or more", i)
		case !d.Forgotten && !known(d.State):
			return fmt.Errorf("deliveries[%d]: state: %q is none", i, d.State)
		}
	}
	if slices.Contains(s.Events, nil) {
		return errors.New("events: want objects")
	}
	return nil
}

func known(s record.DeliveryState) bool {
	switch s {
	case record.DeliveryQueued, record.DeliveryInFlight, record.DeliveryRetrying,
		record.DeliveryDelivered, record.DeliveryFailed, record.DeliveryDropped:
		return true
	}
	return false
}

// Forget forgets what is to be delivered, for good. What is being attempted ends
// by itself.
func (d *Engine) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.queues {
		q.forget()
	}
}

// Replace gives the engine other webhooks and other journals. What was to be
// delivered before is forgotten.
func (d *Engine) Replace(hooks []Webhook, from State) {
	d.Forget()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queues, d.order, d.audience = map[int64]*queue{}, nil, audience{}
	d.changing = &cut.Source[delivery]{}
	d.acts++
	for _, h := range hooks {
		d.addLocked(&queue{hook: h})
	}
	for _, e := range from.Events {
		e.Time = e.Time.UTC()
	}
	d.journal = newJournal(from.Events, from.LastEvent)
	for _, saved := range from.Deliveries {
		d.journal.add(saved.delivery())
	}
	d.journal.countAttempts()
	slices.SortStableFunc(from.Deliveries, func(a, b Saved) int { return cmp.Compare(a.Place, b.Place) })
	for _, saved := range from.Deliveries {
		if saved.Forgotten {
			continue
		}
		d.resumeLocked(d.journal.byID[saved.ID], saved.Held)
	}
	for _, q := range d.order {
		q.restoreLimit(d.journal.deliveries)
		d.startLocked(q)
	}
}

// delivery is what was saved. Nobody knows how an attempt ended that was under
// way, but it was made, and counts.
func (s Saved) delivery() *delivery {
	out := &delivery{Delivery: *s.Delivery, progress: s.progress}
	out.CreatedAt, out.NextAttempt = out.CreatedAt.UTC(), out.NextAttempt.UTC() // a file may contain any zone
	out.Attempts = fromWire(s.Attempts)
	out.webhookID, _ = strconv.ParseInt(out.WebhookID, 10, 64) // 0 is that of no webhook
	if len(s.Bytes) > 0 {
		out.Body = s.Bytes
	}
	if !s.Started.IsZero() {
		out.Attempts = append(out.Attempts, record.Attempt{Time: s.Started, Error: cutShort, Manual: out.Manual})
		out.Manual, out.Started = false, time.Time{}
	}
	for i, a := range out.Attempts {
		out.Attempts[i].Time = a.Time.UTC()
	}
	return out
}

// cutShort is what became of an attempt that was under way.
const cutShort = "the state was saved before there was an answer"

// resumeLocked puts what is still to be delivered into its queue. What went to
// no webhook has none, as snapshots do not hold its secret.
func (d *Engine) resumeLocked(x *delivery, held bool) {
	q := d.queues[x.webhookID]
	switch {
	case x.State != record.DeliveryQueued && x.State != record.DeliveryInFlight && x.State != record.DeliveryRetrying:
	case q == nil:
		x.become(record.DeliveryFailed)
		x.NextAttempt = time.Time{}
	case x.NextAttempt.IsZero():
		x.become(record.DeliveryQueued)
		q.pending = append(q.pending, x)
	default:
		q.later(x, x.NextAttempt)
		if held {
			q.held = x
		}
	}
}
