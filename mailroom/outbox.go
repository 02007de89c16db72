package mailroom

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"example.com/emailplatform/client"
)

// keyState is the state of a key in the outbox.
type keyState string

// Each outcome is also the Reason of a notice.
const (
	stateQueued   keyState = "queued"  // the email is in an item of the kind "send"
	stateSending  keyState = "sending" // a worker has sent the request, or is about to send it
	stateSent     keyState = keyState(Sent)
	stateRejected keyState = keyState(Rejected)
	stateFailed   keyState = keyState(Failed)
	stateUnknown  keyState = keyState(Unknown)
)

// mailValue is the value of an item of the kind "mail" or "send".
type mailValue struct {
	State        keyState                `json:"state"`
	Submission   *client.EmailSubmission `json:"submission,omitempty"`   // until the outcome is known
	Attempt      string                  `json:"attempt,omitempty"`      // identifies the request
	Started      time.Time               `json:"started,omitzero"`       // start of the request
	FirstStarted time.Time               `json:"first_started,omitzero"` // start of the first request
	Postponed    int                     `json:"postponed,omitempty"`    // how often the email was postponed
	EmailID      string                  `json:"email_id,omitempty"`
	Detail       string                  `json:"detail,omitempty"`
}

const maxUnix = 253_402_300_799 // the Unix time of the end of the year 9999

// Enqueue adds an email to the outbox. If ctx carries a transaction of the store, the
// email is sent only if the transaction is committed. All text of the email must be UTF-8.
//
// The key identifies the email, for example "order-17". It must be 1 to 250 bytes of UTF-8
// without NUL. If the key is already in the outbox, Enqueue does nothing, even if the email
// differs. However, if the outcome of the key is [Rejected] or [Failed], Enqueue adds the email
// again.
//
// Make the key a part of the subject, because the Room may need it to resolve an unknown
// outcome. If the outcome is unknown, the Room usually has not received the email's id. When an
// event contains an id that the Room does not know, the Room looks up the email. It then
// compares the address and the subject with the stored emails. Without the key in the subject,
// the Room could not distinguish several emails to one address.
func (r *Room) Enqueue(ctx context.Context, key string, email client.EmailSubmission) error {
	return r.EnqueueAt(ctx, time.Now(), key, email)
}

// EnqueueAt is like [Room.Enqueue], but the Room sends the email at the given time. A time
// in the past, such as the zero time, means immediately. A time after the year 9999 is an
// error.
func (r *Room) EnqueueAt(ctx context.Context, at time.Time, key string, email client.EmailSubmission) error {
	if key == "" || storable(key) != key {
		return fmt.Errorf("mailroom: key must be 1 to %d bytes of UTF-8 without NUL, got %.300q", maxKeyBytes, key)
	}
	if !utf8.ValidString(fmt.Sprint(email)) { // package encoding/json would replace its bytes
		return fmt.Errorf("mailroom: all text of the email with the key %q must be UTF-8", key)
	}
	if at.Unix() > maxUnix {
		return fmt.Errorf("mailroom: the time of the email with the key %q must be before the year 10000", key)
	}
	if at.Unix() < 0 { // an item with the zero time has no time, and earlier times overflow
		at = time.Now()
	}
	return r.update(ctx, func(s *storeTx) {
		it, inserted := s.getOrInsert(Item{Kind: kindMail, Key: key, Value: encode(mailValue{State: stateQueued})})
		old := valueOf[mailValue](s, it)
		if inserted {
			s.putSend(key, at, mailValue{Submission: &email})
		} else if old.State == stateRejected || old.State == stateFailed {
			s.requeue(key, at, old.EmailID, mailValue{Submission: &email})
		}
	})
}

// requeue puts an email into the outbox again after its request failed. The failed request may
// have created a record of the email on the platform, with the status "error". The caller
// passes the id of this record in the parameter replaced, which is "" if there is no record.
// requeue stores this id, so a late event about the record is ignored and does not count as
// the outcome of the new request.
func (s *storeTx) requeue(key string, at time.Time, replaced string, m mailValue) {
	if replaced != "" {
		s.put(Item{Kind: kindEvent, Key: replacedKey(replaced), Due: time.Now().Add(eventRetention)})
	}
	s.delete(kindUnknown, key)
	s.putMail(key, time.Time{}, mailValue{State: stateQueued})
	s.putSend(key, at, m)
}

// putMail stores the item of the kind "mail", which is the state of the email with this key.
// The Room finds the item by its Ref, which depends on the state. A queued email has no Ref.
// While an email is being sent, or if its outcome is unknown, its Ref identifies the
// recipient's address. When the Room has received the id of the email, the Ref identifies this
// id.
func (s *storeTx) putMail(key string, due time.Time, m mailValue) {
	it := Item{Kind: kindMail, Key: key, Due: due, Value: encode(m)}
	if m.Submission != nil {
		it.Ref = refOfAddress(m.Submission.To)
	} else if m.EmailID != "" {
		it.Ref = refOfEmail(m.EmailID)
	}
	s.put(it)
}

func (s *storeTx) putSend(key string, at time.Time, m mailValue) {
	s.put(Item{Kind: kindSend, Key: key, Due: at, Value: encode(m)})
}
