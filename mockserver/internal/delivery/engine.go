// Package delivery brings events to webhooks: signed, in order, within rate limits, and again
// until they are accepted or given up.
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
	ctx      context.Context // of all attempts; canceled by close
	cancel   context.CancelFunc
	check    func(event string, body []byte)
	faults   *fault.Plan
	changes  *feed.Feed

	mu      sync.Mutex
	queues  map[int64]*queue // by webhook
	order   []*queue
	journal []*delivery // all deliveries, in the order they were fired
	byID    map[string]*delivery
	events  []*record.FiredEvent // the latest ones, the oldest first
	working int

	lastEvent  int
	lastTarget int64 // counts down, away from the ids of webhooks
	closed     bool
}

// delivery is one event on its way to one webhook.
type delivery struct {
	record.Delivery

	webhookID int64
	duplicate bool      // deliver it once more
	tries     int       // since the delivery was made or asked for again
	manual    bool      // the next attempt was asked for
	started   time.Time // the attempt under way, if one is
}

// queue holds what is to be delivered to one webhook.
type queue struct {
	hook     Webhook
	pending  []*delivery // to be attempted now, in order
	retries  []*delivery // to be attempted at their NextAttempt, the earliest first
	starts   []time.Time // of the attempts within the last rate limit period
	inFlight *delivery
	held     *delivery // among retries: to be overtaken by the next one
	working  bool      // a goroutine works it off
	timer    *time.Timer

	once      bool // no webhook's: each delivery is attempted once
	forgotten bool // nothing more happens to it
}

// Options say how to deliver.
type Options struct {
	Schedule    []time.Duration // the waits before a delivery is tried again
	Targets     map[string]http.Handler
	AllowPublic bool
	// Check, if set, holds what is delivered against the contract.
	Check   func(event string, body []byte)
	Faults  *fault.Plan
	Changes *feed.Feed
	Work    *underway.Count
}

// New returns an engine that has no webhooks yet.
func New(o Options) *Engine {
	d := &Engine{
		schedule: o.Schedule,
		work:     o.Work,
		target:   newTarget(o.Targets, o.AllowPublic),
		check:    o.Check,
		faults:   o.Faults,
		changes:  o.Changes,
		queues:   map[int64]*queue{},
		byID:     map[string]*delivery{},
	}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Open begins to deliver to a webhook.
func (d *Engine) Open(h Webhook) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := &queue{hook: h}
	d.queues[h.ID] = q
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
		d.journalLocked(&fired[i], ids)
	}
}

func (d *Engine) pushLocked(q *queue, e *Event) *delivery {
	out := &delivery{webhookID: q.hook.ID, Delivery: record.Delivery{
		ID:        ID(len(d.journal)),
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
	d.journal = append(d.journal, out)
	d.byID[out.ID] = out
	d.queueLocked(q, out)
	d.startLocked(q)
	d.tellLocked(out)
	return out
}

func (d *Engine) tellLocked(x *delivery) {
	d.changes.Tell(feed.Delivery, func() any { return d.glanceLocked(x) })
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

// wait returns how long the queue has nothing to do; not ok means: for good,
// unless something is added.
func (q *queue) wait(now time.Time) (wait time.Duration, ok bool) {
	if q.forgotten || q.hook.Archived || len(q.pending)+len(q.retries) == 0 {
		return 0, false
	}
	if len(q.pending) == 0 {
		wait = q.retries[0].NextAttempt.Sub(now)
	}
	if limit := q.hook.RateLimit; limit > 0 && int64(len(q.starts)) >= limit {
		free := q.starts[int64(len(q.starts))-limit].Add(q.hook.period())
		wait = max(wait, free.Sub(now))
	}
	return max(0, wait), true
}

// take removes the next delivery from the queue, or returns nil if there is
// nothing to do now. A retry that is due comes before what is new.
func (q *queue) take(now time.Time) *delivery {
	if wait, ok := q.wait(now); !ok || wait > 0 {
		return nil
	}
	from := &q.pending
	if len(q.retries) > 0 && !q.retries[0].NextAttempt.After(now) {
		from = &q.retries
	}
	next := (*from)[0]
	(*from)[0] = nil
	*from = (*from)[1:]
	if q.held == next {
		q.held = nil // nothing overtakes it any more
	}
	q.count(now)
	return next
}

// count counts an attempt against the rate limit. What is kept are as many as
// the limit looks back at, which may be more than an int can hold.
func (q *queue) count(start time.Time) {
	if q.hook.RateLimit > 0 {
		q.starts = append(q.starts, start)
		q.starts = q.starts[max(0, int64(len(q.starts))-q.hook.RateLimit):]
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
		next.State, next.NextAttempt, next.started, q.inFlight = record.DeliveryInFlight, time.Time{}, now, next
		attempt := record.Attempt{Time: now, Manual: next.manual}
		d.tellLocked(next)
		d.mu.Unlock()
		d.attempt(next, &attempt)
		d.mu.Lock()
		q.inFlight = nil
		d.settleLocked(q, next, attempt)
		d.tellLocked(next)
	}
	q.working = false
	if d.working--; d.working == 0 {
		d.target.idle()
	}
	d.startLocked(q)
}

// attempt makes one delivery. Of the delivery it reads what is constant.
func (d *Engine) attempt(delivery *delivery, a *record.Attempt) {
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", "emailplatform-webhooks/1.0")
	header.Set(webhook.DefaultSignatureHeader, delivery.Signature)
	a.Status, a.Response, a.Error = d.target.post(d.ctx, delivery.URL, header, delivery.Body)
	a.Duration = time.Since(a.Time)
}

// settleLocked notes how an attempt went and what comes next.
func (d *Engine) settleLocked(q *queue, delivery *delivery, a record.Attempt) {
	delivery.Attempts = append(delivery.Attempts, a)
	delivery.manual, delivery.started = false, time.Time{}
	delivery.tries++
	switch {
	case a.Status >= 200 && a.Status <= 299:
		delivery.State = record.DeliveryDelivered
		if delivery.duplicate {
			delivery.duplicate, delivery.State = false, record.DeliveryQueued
			q.pending = slices.Insert(q.pending, 0, delivery)
		}
	case q.once || delivery.tries > len(d.schedule):
		delivery.State = record.DeliveryFailed
	default:
		delivery.State = record.DeliveryRetrying
		q.later(delivery, a.Time.Add(a.Duration).Add(d.schedule[delivery.tries-1]))
	}
}

// Redeliver puts a delivery at the end of its queue again, whatever became of
// it; if it fails, its retries begin anew.
func (d *Engine) Redeliver(id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delivery := d.byID[id]
	if delivery == nil {
		return fmt.Errorf("mockserver: no delivery %q", id)
	}
	q := d.queues[delivery.webhookID]
	if q == nil {
		return fmt.Errorf("mockserver: delivery %s: its target and secret are not known any more", id)
	}
	if delivery.State == record.DeliveryInFlight {
		return fmt.Errorf("mockserver: delivery %s is being attempted", id)
	}
	q.remove(delivery)
	delivery.State = record.DeliveryQueued
	delivery.manual, delivery.tries = true, 0
	q.pending = append(q.pending, delivery)
	d.startLocked(q)
	d.tellLocked(delivery)
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

// Close cancels what is in flight and stops what would come.
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
