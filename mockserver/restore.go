package mockserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Restore replaces the whole state by that of a snapshot. What was to be
// delivered before is forgotten; what the snapshot has left to deliver begins
// to be delivered, and its campaigns go on. Tokens, the fault plan and the log
// of requests stay. A snapshot with a mistake changes nothing, and the error
// says where it is.
func (s *Server) Restore(r io.Reader) error {
	var in snapshot
	decoder := json.NewDecoder(r)
	if err := decoder.Decode(&in); err != nil {
		return fmt.Errorf("mockserver: restore: %w", plainly(err))
	}
	if in.Version != snapshotVersion {
		return fmt.Errorf("mockserver: restore: version: want %d, not %d", snapshotVersion, in.Version)
	}
	restored, err := in.records()
	if err != nil {
		return fmt.Errorf("mockserver: restore: %w", err)
	}
	if err := s.platform.replace(restored, &in); err != nil {
		return fmt.Errorf("mockserver: restore: %w", err)
	}
	return nil
}

// Reset forgets everything: the state, the journals, the log of requests and
// the fault plan. Only tokens and configuration stay, with the limit of lookups
// as it was configured, and the seed of the fault plan. Ids begin anew.
func (s *Server) Reset() {
	s.ClearFaults()
	s.SetLookupLimit(s.cfg.Lookups)
	s.requests.clear()
	// Nothing in an empty state could be wrong; a closed server has none to lose.
	_ = s.platform.replace(newRecords(), &snapshot{})
}

var errClosed = errors.New("the server is closed")

// replace puts records in the place of those that there are.
func (p *platform) replace(with records, from *snapshot) error {
	after, err := func() ([]func(), error) {
		p.whole.Lock()
		defer p.whole.Unlock()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.closed {
			return nil, errClosed
		}
		p.stopCampaignsLocked()
		p.records = with
		p.deliver.replace(with.accounts, from)
		return p.resumeCampaignsLocked(), nil
	}()
	for _, f := range after {
		f()
	}
	p.changes.tell(changeState, nil)
	return err
}

func (p *platform) stopCampaignsLocked() {
	for _, a := range p.accounts {
		for _, c := range a.Campaigns.all {
			c.stop()
		}
	}
}

// resumeCampaignsLocked starts what is scheduled, and what was under way.
func (p *platform) resumeCampaignsLocked() []func() {
	t := &tx{platform: p, now: time.Now()}
	for _, a := range p.accounts {
		t.account = a
		for _, c := range a.Campaigns.all {
			if c.Status == campaignDelivering {
				c.Status = campaignScheduled // and it goes on where it was
			}
			if c.Status == campaignScheduled {
				t.arm(c)
			}
		}
	}
	return t.after
}

// replace gives the deliverer other webhooks and another journal.
func (d *deliverer) replace(accounts map[int64]*account, from *snapshot) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.queues {
		q.forget()
	}
	d.queues, d.order, d.journal, d.byID = map[int64]*queue{}, nil, nil, map[string]*Delivery{}
	d.events, d.lastEvent = from.Events, from.LastEvent
	for _, id := range slices.Sorted(maps.Keys(accounts)) {
		for _, h := range accounts[id].Webhooks.all {
			q := &queue{hook: *h}
			d.queues[h.ID] = q
			d.order = append(d.order, q)
		}
	}
	for _, saved := range from.Deliveries {
		d.restoreLocked(saved)
	}
	slices.SortStableFunc(from.Deliveries, func(a, b deliverySnapshot) int { return cmp.Compare(a.Place, b.Place) })
	for _, saved := range from.Deliveries {
		d.resumeLocked(saved)
	}
	for _, q := range d.order {
		q.restoreLimit(d.journal)
		d.startLocked(q)
	}
}

// restoreLocked puts a delivery into the journal. Nobody knows how an attempt
// ended that was under way, but it was made, and counts.
func (d *deliverer) restoreLocked(saved deliverySnapshot) {
	delivery := saved.Delivery
	delivery.tries, delivery.duplicate, delivery.manual = saved.Tries, saved.Duplicate, saved.Manual
	delivery.webhookID, _ = strconv.ParseInt(delivery.WebhookID, 10, 64) // 0 is that of no webhook
	if len(saved.Bytes) > 0 {
		delivery.Body = saved.Bytes
	}
	if !saved.Started.IsZero() {
		delivery.Attempts = append(delivery.Attempts, Attempt{Time: saved.Started, Error: cutShort, Manual: delivery.manual})
		delivery.manual = false
	}
	d.journal = append(d.journal, delivery)
	d.byID[delivery.ID] = delivery
}

// cutShort is what became of an attempt that was under way.
const cutShort = "the state was saved before there was an answer"

// resumeLocked puts what is still to be delivered into its queue. What went to
// no webhook has none, as snapshots do not hold its secret.
func (d *deliverer) resumeLocked(saved deliverySnapshot) {
	delivery := saved.Delivery
	q := d.queues[delivery.webhookID]
	switch {
	case delivery.State != DeliveryQueued && delivery.State != DeliveryInFlight && delivery.State != DeliveryRetrying:
	case q == nil:
		delivery.State, delivery.NextAttempt = DeliveryFailed, time.Time{}
	case delivery.NextAttempt.IsZero():
		delivery.State = DeliveryQueued
		q.pending = append(q.pending, delivery)
	default:
		q.later(delivery, delivery.NextAttempt)
	}
}

// restoreLimit counts the attempts of the journal against the rate limit.
func (q *queue) restoreLimit(journal []*Delivery) {
	if q.hook.RateLimit == 0 {
		return
	}
	var starts []time.Time
	for _, delivery := range journal {
		for _, a := range delivery.Attempts {
			if delivery.webhookID == q.hook.ID {
				starts = append(starts, a.Time)
			}
		}
	}
	slices.SortFunc(starts, time.Time.Compare)
	for _, start := range starts {
		q.count(start)
	}
}

// forget leaves a queue with nothing to do, for good.
func (q *queue) forget() {
	if q.timer != nil {
		q.timer.Stop()
	}
	q.pending, q.retries, q.held, q.forgotten = nil, nil, nil, true
}
