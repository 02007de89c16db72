package delivery

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAudience compares whom an event goes to with a search through all webhooks,
// over webhooks that are archived and come back.
func TestAudience(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	events := []string{"Email.Opened", "Email.Clicked", "Email.Bounced"}
	e := &Engine{queues: map[int64]*queue{}, audience: audience{}, closed: true} // which starts no queue
	for id := range int64(200) {
		h := Webhook{ID: id, AccountID: id % 2, Archived: random.IntN(4) == 0}
		for range random.IntN(5) { // one may be named twice
			h.Events = append(h.Events, events[random.IntN(len(events))])
		}
		e.Open(h)
		e.Archive(random.Int64N(id+1), random.IntN(2) == 0)
		for _, event := range events {
			var want []int64
			for _, q := range e.order {
				if q.hook.AccountID == id%2 && !q.hook.Archived && slices.Contains(q.hook.Events, event) {
					want = append(want, q.hook.ID)
				}
			}
			var got []int64
			for _, q := range e.audience[topic{id % 2, event}] {
				got = append(got, q.hook.ID)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s of account %d goes to %v, want %v", event, id%2, got, want)
			}
		}
	}
}
