package mailroom

import (
	"context"
	"time"
)

// Observation describes a call to OnNotice; see [Options].Observe. Err and Notice can
// contain the address of a recipient.
type Observation struct {
	Notice   Notice
	Duration time.Duration // of the call and the end of its transaction
	Err      error         // nil if the transaction was committed; otherwise OnNotice is called again
}

// Queue describes the state of a queue. Only the items whose time has come count.
type Queue struct {
	Name   string // "send", "lookup", "notice", or "unknown" for unknown outcomes
	Length int
	Oldest time.Time // when the time of the oldest item came, or its request began if its outcome is unknown; zero if Length is 0
}

// Queues returns the state of all queues, for metrics. Processes with the same store
// have the same queues.
func (r *Room) Queues(ctx context.Context) (queues []Queue, err error) {
	err = r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		for _, kind := range append(workKinds(), kindUnknown) {
			n, oldest, err := tx.CountDue(ctx, kind, time.Now())
			if err != nil {
				return err
			}
			queues = append(queues, Queue{kind, n, oldest})
		}
		return nil
	})
	return queues, err
}
