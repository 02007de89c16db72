package delivery

import (
	"maps"
	"slices"

	"example.com/emailplatform/mockserver/record"
)

// ReplaceAccount gives an account other webhooks, and forgets its deliveries and
// events. Those of other accounts, their ids and what is under way for them stay as
// they are.
func (d *Engine) ReplaceAccount(account int64, hooks []Webhook) {
	d.mu.Lock()
	defer d.mu.Unlock()
	of := func(q *queue) bool { return q.hook.AccountID == account && !q.once }
	left := d.changing.Left() // an attempt under way still changes its delivery
	for _, q := range d.order {
		if of(q) {
			q.forget()
			d.audience.leave(q)
			q.changing = left
		}
	}
	d.order = slices.DeleteFunc(slices.Clone(d.order), of)
	maps.DeleteFunc(d.queues, func(_ int64, q *queue) bool { return of(q) })
	d.acts++
	d.journal.forget(account)
	for _, h := range hooks {
		d.addLocked(&queue{hook: h})
	}
}

// forget forgets what happened in an account. A delivery leaves its place, which is
// its id.
func (j *journal) forget(account int64) {
	j.deliveries = slices.Clone(j.deliveries)
	for i, x := range j.deliveries {
		if x.AccountID == account {
			delete(j.byID, x.ID)
			j.deliveries[i] = &delivery{Delivery: record.Delivery{ID: x.ID}, progress: progress{Forgotten: true}}
		}
	}
	maps.DeleteFunc(j.tallies, func(_ int64, t *tally) bool { return t.account == account })
	delete(j.fires, account)
	j.events = slices.DeleteFunc(slices.Clone(j.events), func(e *record.FiredEvent) bool { return e.AccountID == account })
}
