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

// Queue describes the items of a queue whose time has come.
type Queue struct {
	Name   string    // "send", "lookup", "notice", or "unknown" for unknown outcomes
	Length int       // at most 100 if Name is "unknown"
	Oldest time.Time // when the time of the oldest item came; zero if Length is 0
}

// Queues returns the state of all queues, for metrics. Processes with the same store
// have the same queues. The queue "unknown" contains the emails that [Room.Unknown]
// returns. Its field Oldest contains the time of the earliest request for one of these
// emails.
func (r *Room) Queues(ctx context.Context) (queues []Queue, err error) {
	err = r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		for _, kind := range []string{kindSend, kindLookup, kindNotice} {
			n, oldest, err := tx.CountDue(ctx, kind, time.Now())
			if err != nil {
				return err
			}
			queues = append(queues, Queue{kind, n, oldest})
		}
		list, err := r.Unknown(ctx)
		unknown := Queue{Name: "unknown", Length: len(list)}
		for _, u := range list {
			if unknown.Oldest.IsZero() || u.Sent.Before(unknown.Oldest) {
				unknown.Oldest = u.Sent
			}
		}
		queues = append(queues, unknown)
		return err
	})
	return queues, err
}
