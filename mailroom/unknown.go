package mailroom

import (
	"context"
	"time"
)

// Unresolved is an email whose outcome is unknown.
type Unresolved struct {
	Key    string
	To     string
	Sent   time.Time // when the request began
	Detail string    // the error
}

// Each email whose outcome is unknown has a timer with the Ref unknownRef. The value of the timer is the
// Unresolved that the method Unknown returns, so Unknown does not lock the email itself.
const unknownRef = "unknown"

// Unknown returns up to 100 emails whose outcome is unknown. Many of them are resolved by an
// event, for example when the recipient opens the email. For the others, an operator must
// call [Room.Resolve].
func (r *Room) Unknown(ctx context.Context) (list []Unresolved, err error) {
	err = r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		items, err := tx.ByRef(ctx, kindTimer, unknownRef)
		if err != nil {
			return err
		}
		for _, it := range items {
			u, err := decode[Unresolved](it)
			if err != nil {
				return err
			}
			list = append(list, u)
		}
		return nil
	})
	return list, err
}

// Resolve records the decision of an operator about an email whose outcome is unknown. If
// wasSent is true, the outcome becomes [Sent]. Otherwise, the Room sends the email again. If
// the outcome of the key is not unknown, Resolve changes nothing, and found is false.
func (r *Room) Resolve(ctx context.Context, key string, wasSent bool) (found bool, err error) {
	err = r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		it, _, err := tx.Get(ctx, kindSend, key)
		if err != nil {
			return err
		}
		m, err := decode[mail](it)
		if err != nil || m.State != Unknown {
			return err
		}
		found = true
		if wasSent {
			m.State, m.Detail = Sent, "resolved by an operator"
			return r.settle(ctx, tx, key, m)
		}
		if err := tx.Delete(ctx, kindTimer, key); err != nil {
			return err
		}
		m.State, m.Attempt, m.Detail, m.First = queued, "", "", time.Time{}
		r.store.AfterCommit(ctx, r.sends.wake)
		return putMail(ctx, tx, key, "", time.Now(), m)
	})
	return found, err
}
