// Package delivery delivers events to webhooks. Its dispatcher signs each body, obeys
// rate limits, and retries each delivery until it succeeds or fails permanently.
//
// Each webhook has a queue. A delivery passes through these values of
// model.DeliveryState:
//
//	Publish ─► queued ─► delivering ─► delivered
//	   │         ▲ ▲         │
//	   │         │ └─ retrying ◄── not 2xx, and retries remain
//	   │      Redeliver      └───► failed: no retries remain
//	   └─► dropped, by a fault
//
// The dispatcher's mutex guards all queues and the history. Callers may acquire it
// while they hold the platform's mutex, but not in the opposite order, which can
// deadlock.
package delivery

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/work"
	"example.com/emailplatform/mockserver/model"
	"example.com/emailplatform/webhook"
)

// DefaultRetrySchedule returns the delays before the retries of a delivery. If the
// last retry fails, the delivery has failed permanently.
func DefaultRetrySchedule() []time.Duration {
	return []time.Duration{
		time.Second, 5 * time.Second, 30 * time.Second,
		2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour,
	}
}

// DefaultConcurrency is the maximum number of concurrent attempts per webhook.
const DefaultConcurrency = 4

// Dispatcher delivers events to webhooks. Each webhook has its own queue, so webhooks
// do not delay each other, and each attempt in progress has a goroutine.
type Dispatcher struct {
	Options

	client *webhookClient
	ctx    context.Context // context of all attempts; canceled by Close
	cancel context.CancelFunc

	mu           sync.Mutex
	queues       map[int64]*queue // by webhook
	order        []*queue
	subscribers  map[subscription][]*queue // including archived webhooks
	history      *history
	delivering   int   // number of deliveries in this state in all queues
	lastURLQueue int64 // negative, so it differs from the ids of webhooks
	closed       bool
}

// subscription identifies the webhooks of an account that are subscribed to an event.
type subscription struct {
	account int64
	event   events.Name
}

// Options configures a dispatcher and its callbacks.
type Options struct {
	Schedule    []time.Duration         // the delays before retries
	Concurrency int                     // maximum number of concurrent attempts per webhook; DefaultConcurrency unless positive
	Timeout     time.Duration           // maximum duration of an attempt; DefaultTimeout unless positive
	Targets     map[string]http.Handler // receivers in this process, by host
	Allow       Allowed                 // allowed targets in addition to loopback addresses

	Check   func(event events.Name, body []byte) // called for each event, if set
	Faults  *fault.Plan
	Changes *changes.Feed
	Clock   *clock.Clock
	Work    *work.Pending
}

// New returns a dispatcher without webhooks.
func New(o Options) *Dispatcher {
	if o.Concurrency < 1 {
		o.Concurrency = DefaultConcurrency
	}
	d := &Dispatcher{
		Options:     o,
		client:      newWebhookClient(o, &targetGuard{Allowed: o.Allow}),
		queues:      map[int64]*queue{},
		subscribers: map[subscription][]*queue{},
		history:     newHistory(),
	}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Open adds a webhook.
func (d *Dispatcher) Open(h Webhook) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.addLocked(newQueue(h, d.history))
}

func (d *Dispatcher) addLocked(q *queue) {
	d.queues[q.hook.ID] = q
	d.order = append(d.order, q)
	for _, event := range slices.Compact(slices.Sorted(slices.Values(q.hook.Events))) {
		s := subscription{q.hook.AccountID, events.Name(event)}
		d.subscribers[s] = append(d.subscribers[s], q)
	}
}

// HasSubscriber reports whether a webhook in the account is subscribed to an event.
func (d *Dispatcher) HasSubscriber(account int64, event events.Name) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.subscribers[subscription{account, event}], func(q *queue) bool { return !q.hook.Archived })
}

// Archive pauses deliveries to a webhook, or resumes them if archived is false. Queued
// deliveries are kept.
func (d *Dispatcher) Archive(id int64, archived bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.queues[id]
	q.hook.Archived = archived
	d.startLocked(q)
}

// Event is an event to deliver to the webhooks of an account.
type Event struct {
	AccountID int64
	MessageID string // id of the message that the event refers to
	Recipient string // recipient of that message
	Subject   string // subject of that message
	Name      events.Name
	ID        string // empty in the general envelope
	Payload   events.Event
	Body      []byte // set by Publish, or the body that a test provides
}

func eventFromBody(account int64, body []byte) *Event {
	var name struct {
		ID    string      `json:"id"`
		Event events.Name `json:"event"`
	}
	_ = json.Unmarshal(body, &name) // the body may be invalid
	out := &Event{AccountID: account, Name: name.Event, ID: name.ID, Body: slices.Clone(body)}
	if event, err := events.Parse(body); err == nil {
		out.Recipient = event.Recipient()
	}
	return out
}

// Publish creates a delivery of each event for each subscribed webhook.
func (d *Dispatcher) Publish(fired []Event) {
	if len(fired) == 0 {
		return
	}
	for i := range fired {
		e := &fired[i]
		body, err := json.Marshal(e.Payload)
		if err != nil { // encoding an event never fails
			panic("mockserver: event " + string(e.Name) + ": " + err.Error())
		}
		e.Body = body
		if d.Check != nil {
			d.Check(e.Name, e.Body)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	byID := func(a, b *queue) int { return cmp.Compare(a.hook.ID, b.hook.ID) }
	for i := range fired {
		e, ids := &fired[i], []string{}
		for _, q := range slices.SortedFunc(slices.Values(d.subscribers[subscription{e.AccountID, e.Name}]), byID) {
			if !q.hook.Archived {
				ids = append(ids, d.pushLocked(q, e))
			}
		}
		fired := d.history.addEvent(e, ids)
		d.Changes.PublishNew(changes.Event, func() any { return EventSummary{FiredEvent: *fired} })
	}
}

func (d *Dispatcher) pushLocked(q *queue, e *Event) string {
	secret, _ := webhook.ParseSecret(q.hook.Secret, string(q.hook.Hash)) // the secret has been validated
	signature, _ := webhook.Sign(secret, e.Body)
	dlv := &delivery{webhookID: q.hook.ID, Delivery: model.Delivery{
		EventID:   e.ID,
		Event:     e.Name,
		MessageID: e.MessageID,
		Recipient: e.Recipient,
		Subject:   e.Subject,
		AccountID: e.AccountID,
		URL:       q.hook.URL,
		Body:      e.Body,
		Signature: signature,
		State:     model.DeliveryQueued,
		CreatedAt: d.Clock.Now(),
	}}
	if !q.withoutWebhook {
		dlv.WebhookID = q.hook.Name()
	}
	d.history.add(dlv)
	q.push(dlv, d.Faults.MatchDelivery(dlv.AccountID, dlv.Event, dlv.WebhookID), dlv.CreatedAt)
	d.Changes.PublishNew(changes.Delivery, d.summary(dlv))
	d.startLocked(q)
	return dlv.ID
}

// Send queues a delivery of the given body to a webhook, and returns the id of the
// delivery. It returns an error if the webhook does not exist.
func (d *Dispatcher) Send(webhookID string, body []byte) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, _ := strconv.ParseInt(webhookID, 10, 64) // no webhook has the id 0
	q := d.queues[id]
	if q == nil || q.withoutWebhook {
		return "", fmt.Errorf("webhook %q does not exist", webhookID)
	}
	return d.pushLocked(q, eventFromBody(q.hook.AccountID, body)), nil
}

// SendTo makes one attempt to deliver a body to a URL that has no webhook. Account 0
// means that the delivery belongs to no account.
func (d *Dispatcher) SendTo(account int64, url string, secret webhook.Secret, body []byte) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pushLocked(d.urlQueueLocked(account, url, secret), eventFromBody(account, body))
}

// urlQueueLocked returns the queue for a URL without a webhook. The id of the queue is
// negative, because positive ids belong to webhooks.
func (d *Dispatcher) urlQueueLocked(account int64, to string, secret webhook.Secret) *queue {
	for _, q := range d.queues {
		if q.withoutWebhook && q.hook.AccountID == account && q.hook.URL == to && q.hook.Secret == secret.Reveal() && q.hook.Hash == secret.HashFunction() {
			return q
		}
	}
	d.lastURLQueue--
	q := newQueue(Webhook{ID: d.lastURLQueue, AccountID: account, URL: to, Secret: secret.Reveal(), Hash: secret.HashFunction()}, d.history)
	q.withoutWebhook = true
	d.addLocked(q)
	return q
}

func (d *Dispatcher) publishLocked(dlv *delivery) {
	d.Changes.Publish(changes.Delivery, d.summary(dlv))
}

func (d *Dispatcher) summary(dlv *delivery) func() any {
	return func() any { return summaryOf(dlv, d.queues[dlv.webhookID], d.Clock.Now()) }
}

// startLocked starts the due attempts, and sets the alarm for the next attempt.
func (d *Dispatcher) startLocked(q *queue) {
	q.alarm.Stop()
	for !d.closed && q.delivering < d.Concurrency {
		now := d.Clock.Now()
		at, ok := q.due(now)
		if !ok {
			return
		}
		if at.After(now) {
			q.alarm = d.Clock.At(at, fmt.Sprintf("delivery to webhook %d (%s)", q.hook.ID, q.hook.redactedURL()), func() {
				d.mu.Lock()
				defer d.mu.Unlock()
				d.startLocked(q)
			})
			return
		}
		next := q.popDue(now)
		d.history.setState(next, model.DeliveryDelivering)
		next.NextAttempt, next.Started = time.Time{}, now
		rule := d.Faults.MatchAttempt(next.AccountID, next.Event, next.WebhookID)
		if rule != nil {
			next.Fault = rule.ID
		}
		d.publishLocked(next)
		q.delivering++
		d.delivering++
		d.Work.Start(q.hook.AccountID)
		go d.run(q, next, model.Attempt{Time: now, Manual: next.Manual}, rule)
	}
}

func (d *Dispatcher) run(q *queue, dlv *delivery, a model.Attempt, rule *fault.AppliedRule) {
	defer d.Work.Done(q.hook.AccountID)
	d.attempt(dlv, &a, rule)
	d.mu.Lock()
	defer d.mu.Unlock()
	q.delivering--
	d.delivering--
	if !q.closed { // after a close, another delivery may have the number
		d.settleLocked(q, d.history.edit(dlv.n), a)
	}
	if d.delivering == 0 {
		d.client.network.CloseIdleConnections()
	}
}

// attempt makes one attempt. If a fault rule applies to the attempt, attempt injects the
// fault. It does not hold the lock, so it reads only constant fields of the delivery.
func (d *Dispatcher) attempt(dlv *delivery, a *model.Attempt, rule *fault.AppliedRule) {
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", "emailplatform-webhooks/1.0")
	header.Set(webhook.DefaultSignatureHeader, dlv.Signature)
	start := time.Now() // the duration is real time, not virtual time
	post := func() (int, string, string) { return d.client.post(d.ctx, dlv.URL, header, dlv.Body) }
	if rule != nil {
		ctx, cancel := rule.Until(d.ctx)
		defer cancel()
		a.Status, a.Response, a.Error = d.client.postWithFault(ctx, rule.Fault, post)
	} else {
		a.Status, a.Response, a.Error = post()
	}
	a.Duration = time.Since(start)
}

// settleLocked records the result of an attempt, and queues a retry or a
// duplicate.
func (d *Dispatcher) settleLocked(q *queue, dlv *delivery, a model.Attempt) {
	dlv.Attempts = append(dlv.Attempts, a)
	d.history.countsOf(dlv).attempted(a)
	dlv.Manual, dlv.Started = false, time.Time{}
	dlv.Tries++
	q.attempted(dlv)
	switch {
	case accepted(a) && dlv.Duplicate:
		dlv.Duplicate = false
		d.history.setState(dlv, model.DeliveryQueued)
		q.ready = slices.Insert(q.ready, 0, dlv.n)
	case accepted(a):
		d.history.setState(dlv, model.DeliveryDelivered)
	case q.withoutWebhook || dlv.Tries > len(d.Schedule):
		d.history.setState(dlv, model.DeliveryFailed)
	default:
		d.history.setState(dlv, model.DeliveryRetrying)
		q.schedule(dlv, d.Clock.Now().Add(d.Schedule[dlv.Tries-1]))
	}
	d.publishLocked(dlv)
	d.startLocked(q)
}

// accepted reports whether the attempt received a 2xx response before the timeout.
func accepted(a model.Attempt) bool { return a.Error == "" && a.Status/100 == 2 }

// Redeliver appends a delivery to its queue again, and restarts its retry schedule. It
// returns an error while an attempt is in progress.
func (d *Dispatcher) Redeliver(id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dlv := d.history.find(id)
	if dlv == nil {
		return fmt.Errorf("delivery %q does not exist", id)
	}
	q := d.queues[dlv.webhookID]
	if q == nil {
		return fmt.Errorf("delivery %s: the target and the secret are unknown", id)
	}
	if dlv.State == model.DeliveryDelivering {
		return fmt.Errorf("delivery %s: an attempt is in progress", id)
	}
	dlv = d.history.edit(dlv.n)
	q.remove(dlv)
	d.history.setState(dlv, model.DeliveryQueued)
	dlv.Manual, dlv.Tries = true, 0
	q.append(dlv)
	d.publishLocked(dlv)
	d.startLocked(q)
	return nil
}

// Next returns the time until the earliest pending delivery of an account is due, and a
// description of its queue. Account 0 means all accounts.
func (d *Dispatcher) Next(account int64) (wait time.Duration, what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.Clock.Now()
	for _, q := range d.order {
		w, ok := q.untilDue(now)
		if ok && (account == 0 || q.hook.AccountID == account) && q.delivering == 0 && (what == "" || w < wait) {
			wait = w
			what = fmt.Sprintf("%d deliveries to webhook %d (%s)", len(q.ready)+len(q.scheduled), q.hook.ID, q.hook.redactedURL())
		}
	}
	return wait, what
}

// ClockSet starts the due attempts and resets the alarms after the clock was set.
// Otherwise, if the clock was set back, deliveries that wait for a rate limit would
// start too late.
func (d *Dispatcher) ClockSet() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.order {
		d.startLocked(q)
	}
}

// SetTarget sets the in-process receiver for a host. A nil handler removes the
// current receiver.
func (d *Dispatcher) SetTarget(host string, handler http.Handler) { d.client.setHandler(host, handler) }

// Close cancels the attempts in flight and waits for them. Afterwards, there are no
// further attempts.
func (d *Dispatcher) Close() {
	d.mu.Lock()
	d.closed = true
	for _, q := range d.order {
		q.alarm.Stop()
	}
	d.mu.Unlock()
	d.cancel()
	d.Work.Finish()
	d.client.network.CloseIdleConnections()
}

// Done returns a channel that is closed when the dispatcher is closed.
func (d *Dispatcher) Done() <-chan struct{} { return d.ctx.Done() }
