package events

import (
	"encoding/json"
	"time"
)

// Name is the name of an event, such as [NameEmailBounced]. The set is open.
type Name string

// Event is one event, as it is delivered to a webhook. It comes from [Parse], or
// is filled in to build a delivery: see "Building events" in the documentation of
// the package. Reading an Event from several goroutines is safe.
type Event struct {
	// ID is unique to the event, and the same in every attempt to deliver it. If
	// the platform writes it as a number, ID is the number's digits.
	// It is empty in the general envelope, which has none.
	ID string

	// Name says what happened, such as [NameEmailBounced].
	Name Name

	// Time is when it happened: created_on, to the second, or the timestamp of
	// the general envelope.
	Time time.Time

	// AccountID is the owning account; 0 in the general envelope.
	AccountID int64

	// User is who acted. All is null unless the specification says of the event
	// that a user is set: Email.Rejected, Email.Error, Contact.Removed.
	User User

	// IP is an address of the platform; empty in the general envelope.
	IP string

	// Data is what the specification says of this event, in the type of its shape.
	Data Data

	raw     string // what the event was parsed from, or ""
	rawData string // the data in it
	general bool   // parsed from the general envelope
}

// Raw returns the body that e was parsed from, as it came, or nil if it was
// built. Members that this package does not know are there.
func (e *Event) Raw() json.RawMessage { return rawMessage(e.raw) }

// RawData returns the data member of the body that e was parsed from, as it
// came, or nil if there is none. To read a field that this package does not know,
// unmarshal it into a struct that has the field. Do not embed a type of this package
// in the struct, because its UnmarshalJSON method would read none of your fields.
func (e *Event) RawData() json.RawMessage { return rawMessage(e.rawData) }

// Mismatch returns a [*ParseError] for the first envelope field of the wrong
// type in the body that e was parsed from, such as an ip that is not a string,
// or nil. Such a field is zero in e, and MarshalJSON keeps its original value.
// Mismatch parses the body again. It does not check the data; see [Unknown].
func (e *Event) Mismatch() error {
	if e.raw == "" {
		return nil
	}
	if _, mistake := parse(e.raw); mistake != nil {
		return newParseError(mistake, nil)
	}
	return nil
}

func rawMessage(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// Unknown is the data of an event that this package does not know, or data that
// has none of the shapes of its event.
type Unknown struct {
	// Raw is the data as it came: any JSON value, or nil if there was none.
	Raw json.RawMessage

	// Err is nil if the name of the event is not known. Otherwise it is a
	// [*ParseError] that says what does not fit.
	Err error

	// Partial contains the valid fields of data that does not match its payload
	// type, or nil if the type is unknown. The fields that Err is about are
	// zero in it. Methods such as [Event.Recipient] use it. It is for reading:
	// MarshalJSON writes Raw.
	Partial Data
}

// MarshalJSON implements [json.Marshaler]: it returns Raw.
func (u Unknown) MarshalJSON() ([]byte, error) { return u.Raw.MarshalJSON() }

// UnmarshalJSON implements [json.Unmarshaler]: it sets Raw to a copy of b.
func (u *Unknown) UnmarshalJSON(b []byte) error {
	*u = Unknown{Raw: append(json.RawMessage(nil), b...)}
	return nil
}
