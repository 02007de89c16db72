package delivery

import (
	"cmp"
	"slices"
)

// audience are the queues of the webhooks that hear an event, in the order of their
// ids. It holds every queue that has been added and is not archived, by each of
// its webhook's events.
type audience map[topic][]*queue

type topic struct {
	accountID int64
	event     string
}

// join adds a queue.
func (a audience) join(q *queue) {
	for _, event := range q.hook.Events {
		t := topic{q.hook.AccountID, event}
		if i, found := slices.BinarySearchFunc(a[t], q, byWebhook); !found {
			a[t] = slices.Insert(a[t], i, q)
		}
	}
}

// leave takes a queue out.
func (a audience) leave(q *queue) {
	for _, event := range q.hook.Events {
		t := topic{q.hook.AccountID, event}
		if i, found := slices.BinarySearchFunc(a[t], q, byWebhook); found {
			a[t] = slices.Delete(a[t], i, i+1)
		}
	}
}

func byWebhook(a, b *queue) int { return cmp.Compare(a.hook.ID, b.hook.ID) }
