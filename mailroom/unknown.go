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

const unknownRef = "unknown" // the Ref of all items of the kind "unknown"

// Unknown returns up to 100 emails whose outcome is unknown. Many of them are resolved by an
// event, for example when the recipient opens the email. For the others, an operator must
// call [Room.Resolve].
func (r *Room) Unknown(ctx context.Context) (list []Unresolved, err error) {
	err = r.update(ctx, func(s *storeTx) {
		for _, it := range s.byRef(kindUnknown, unknownRef) {
			list = append(list, valueOf[Unresolved](s, it))
		}
	})
	return list, err
}

// Resolve records the decision of an operator about an email whose outcome is unknown. If
// wasSent is true, the outcome becomes [Sent]. Otherwise, the Room sends the email again. If
// the outcome of the key is not unknown, Resolve changes nothing, and found is false.
func (r *Room) Resolve(ctx context.Context, key string, wasSent bool) (found bool, err error) {
	err = r.update(ctx, func(s *storeTx) {
		it, _ := s.get(kindMail, key)
		m := valueOf[mailValue](s, it)
		switch found = m.State == Unknown; {
		case found && wasSent:
			m.State, m.Detail = Sent, "resolved by an operator"
			s.recordOutcome(key, m)
		case found:
			s.requeue(key, time.Now(), "", mailValue{Submission: m.Submission})
		}
	})
	return found, err
}
