// Package delivery brings events to webhooks: signed, in order, within rate
// limits, and again until they are accepted or given up.
//
// Each webhook has a queue. A delivery goes through it like this:
//
//	Publish ─► queued ─► delivering ─► delivered
//	   │         ▲ ▲         │
//	   │         │ └─ retrying ◄── not 2xx, and the schedule goes on
//	   │      Redeliver      └───► failed: the schedule is at its end
//	   └─► dropped, by a fault
//
// The engine's mutex guards all queues and the journals. It is taken with the
// platform's held, never the other way round: the engine calls nothing above it.
package delivery

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/feed"
	"example.com/emailplatform/mockserver/internal/record"
	"example.com/emailplatform/mockserver/internal/underway"
	"example.com/emailplatform/webhook"
)

// DefaultRetrySchedule returns the waits between the attempts of a delivery
// that is not answered with 2xx: 1 s, 5 s, 30 s, 2 min, 10 min, 1 h and 6 h.
// After the last one it has failed for good.
func DefaultRetrySchedule() []time.Duration {
	return []time.Duration{
		time.Second, 5 * time.Second, 30 * time.Second,
		2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour,
	}
}

// Engine brings events to webhooks. Each webhook has a queue; while a queue
// has something to do now, and only then, a goroutine works it off, one
// delivery after the other.
type Engine struct {
	schedule []time.Duration
	work     *underway.Count
	target   *target
	ctx      context.Context // of all attempts; canceled by Close
	cancel   context.CancelFunc
	check    func(event string, body []byte)
	faults   *fault.Plan
	changes  *feed.Feed

	mu         sync.Mutex
	queues     map[int64]*queue // by webhook
	order      []*queue
	journal    journal
	working    int   // queues that are worked off
	lastTarget int64 // counts down, away from the ids of webhooks
	closed     bool
}

// Options say how to deliver, and whom to tell.
type Options struct {
	Schedule []time.Duration         // the waits before a delivery is tried again
	Targets  map[string]http.Handler // receivers in process, by host
	Allow    Allowed                 // where else than to loopback deliveries may go

	Check   func(event string, body []byte) // sees what is delivered, if set
	Faults  *fault.Plan
	Changes *feed.Feed
	Work    *underway.Count
}

// New returns an engine that has no webhooks yet.
func New(o Options) *Engine {
	d := &Engine{
		schedule: o.Schedule,
		work:     o.Work,
		target:   newTarget(o.Targets, newGuard(o.Allow)),
		check:    o.Check,
		faults:   o.Faults,
		changes:  o.Changes,
		queues:   map[int64]*queue{},
	}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Open begins to deliver to a webhook.
func (d *Engine) Open(h Webhook) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.addLocked(&queue{hook: h})
}

func (d *Engine) addLocked(q *queue) {
	d.queues[q.hook.ID] = q
	d.order = append(d.order, q)
}

// Archive stops or resumes deliveries to a webhook. What is queued is kept.
func (d *Engine) Archive(id int64, archived bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.queues[id]
	q.hook.Archived = archived
	d.startLocked(q)
}

// Publish makes a delivery of each event for each webhook that subscribed to it.
func (d *Engine) Publish(fired []Event) {
	if len(fired) == 0 {
		return
	}
	for i := range fired {
		fired[i].encode()
		if d.check != nil {
			d.check(fired[i].Name, fired[i].Body)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range fired {
		ids := []string{}
		for _, q := range d.order {
			h := &q.hook
			if h.AccountID == fired[i].AccountID && !h.Archived && slices.Contains(h.Events, fired[i].Name) {
				ids = append(ids, d.pushLocked(q, &fired[i]).ID)
			}
		}
		noted := d.journal.fired(&fired[i], ids)
		d.changes.Tell(feed.Event, func() any { return EventSummary{FiredEvent: *noted} })
	}
}

// pushLocked makes a delivery of an event.
func (d *Engine) pushLocked(q *queue, e *Event) *delivery {
	out := &delivery{webhookID: q.hook.ID, Delivery: record.Delivery{
		EventID:   e.ID,
		Event:     e.Name,
		AccountID: e.AccountID,
		URL:       q.hook.URL,
		Body:      e.Body,
		Signature: webhook.Sign(webhook.Secret{Key: q.hook.Secret, Hash: q.hook.Hash}, e.Body),
		State:     record.DeliveryQueued,
		CreatedAt: time.Now(),
	}}
	if !q.once {
		out.WebhookID = q.hook.Name()
	}
	d.journal.add(out)
	q.push(out, d.faults.Delivery(out.Event, out.WebhookID))
	d.startLocked(q)
	d.tellLocked(out)
	return out
}

func (d *Engine) tellLocked(x *delivery) {
	d.changes.Tell(feed.Delivery, func() any { return summaryOf(x, d.queues[x.webhookID]) })
}

// startLocked sees to it that the queue is worked off, now or when something
// in it becomes due.
func (d *Engine) startLocked(q *queue) {
	if q.working || d.closed {
		return
	}
	if q.timer != nil {
		q.timer.Stop()
		q.timer = nil
	}
	switch wait, ok := q.wait(time.Now()); {
	case !ok:
	case wait > 0:
		q.timer = time.AfterFunc(wait, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.startLocked(q)
		})
	default:
		q.working = true
		d.working++
		d.work.Start()
		go d.run(q)
	}
}

// run works a queue off until it has nothing to do now.
func (d *Engine) run(q *queue) {
	defer d.work.Done()
	d.mu.Lock()
	defer d.mu.Unlock()
	for !d.closed {
		now := time.Now()
		next := q.take(now)
		if next == nil {
			break
		}
		next.State, next.NextAttempt, next.Started = record.DeliveryInFlight, time.Time{}, now
		attempt := record.Attempt{Time: now, Manual: next.Manual}
		d.tellLocked(next)
		d.mu.Unlock()
		d.attempt(next, &attempt)
		d.mu.Lock()
		d.settleLocked(q, next, attempt)
		d.tellLocked(next)
	}
	q.working = false
	if d.working--; d.working == 0 {
		d.target.idle()
	}
	d.startLocked(q)
}

// attempt makes one x. Of the delivery it reads what is constant.
func (d *Engine) attempt(x *delivery, a *record.Attempt) {
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", "emailplatform-webhooks/1.0")
	header.Set(webhook.DefaultSignatureHeader, x.Signature)
	a.Status, a.Response, a.Error = d.target.post(d.ctx, x.URL, header, x.Body)
	a.Duration = time.Since(a.Time)
}

// settleLocked notes how an attempt went and what comes next.
func (d *Engine) settleLocked(q *queue, x *delivery, a record.Attempt) {
	x.Attempts = append(x.Attempts, a)
	x.Manual, x.Started = false, time.Time{}
	x.Tries++
	switch {
	case a.Status >= 200 && a.Status <= 299:
		x.State = record.DeliveryDelivered
		if x.Duplicate {
			x.Duplicate, x.State = false, record.DeliveryQueued
			q.pending = slices.Insert(q.pending, 0, x)
		}
	case q.once || x.Tries > len(d.schedule):
		x.State = record.DeliveryFailed
	default:
		x.State = record.DeliveryRetrying
		q.later(x, a.Time.Add(a.Duration).Add(d.schedule[x.Tries-1]))
	}
}

// Redeliver puts a delivery at the end of its queue again, whatever became of
// it; if it fails, its retries begin anew.
func (d *Engine) Redeliver(id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.journal.byID[id]
	if x == nil {
		return fmt.Errorf("mockserver: no delivery %q", id)
	}
	q := d.queues[x.webhookID]
	if q == nil {
		return fmt.Errorf("mockserver: delivery %s: its target and secret are not known any more", id)
	}
	if x.State == record.DeliveryInFlight {
		return fmt.Errorf("mockserver: delivery %s is being attempted", id)
	}
	q.remove(x)
	x.State = record.DeliveryQueued
	x.Manual, x.Tries = true, 0
	q.pending = append(q.pending, x)
	d.startLocked(q)
	d.tellLocked(x)
	return nil
}

// StartDue starts the queues that are due and whose timer may not have fired yet.
func (d *Engine) StartDue() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.order {
		d.startLocked(q)
	}
}

// Next returns when the earliest delivery that waits is due, and which it is.
func (d *Engine) Next(now time.Time) (wait time.Duration, what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.order {
		w, ok := q.wait(now)
		if ok && !q.working && (what == "" || w < wait) {
			wait = w
			what = fmt.Sprintf("%d deliveries to webhook %d (%s)", len(q.pending)+len(q.retries), q.hook.ID, q.hook.URL)
		}
	}
	return wait, what
}

// SetTarget gives a host a receiver in process, or with nil takes it away.
func (d *Engine) SetTarget(host string, handler http.Handler) { d.target.set(host, handler) }

// Close cancels what is in flight, stops what would come, and waits for both.
func (d *Engine) Close() {
	d.mu.Lock()
	d.closed = true
	for _, q := range d.order {
		if q.timer != nil {
			q.timer.Stop()
		}
	}
	d.mu.Unlock()
	d.cancel()
	d.work.Finish()
	d.target.idle()
}

// Done is closed when the engine is.
func (d *Engine) Done() <-chan struct{} { return d.ctx.Done() }
