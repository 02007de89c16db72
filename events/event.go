package events

import (
	"encoding/json"
	"time"
)

// Name is the name of an event, such as [NameEmailBounced]. The platform may add
// names.
type Name string

// Event is an event that is delivered to a webhook. [Parse] returns an Event. Tests
// of receivers can build one; see "Encoding" in the package documentation.
// Concurrent reads of an Event are safe.
type Event struct {
	// ID identifies the event in every attempt to deliver it. If the platform
	// writes a number, ID contains its digits. The general envelope has no id; ID
	// is then empty.
	ID string

	// Name is the name of the event, such as [NameEmailBounced].
	Name Name

	// Time is the time of the event: the field created_on, in seconds, or the
	// field timestamp of the general envelope.
	Time time.Time

	// AccountID is the account that owns the event, or 0 in the general envelope.
	AccountID int64

	// User is the user who caused the event. The specification sets its fields
	// only for Email.Rejected, Email.Error and Contact.Removed; otherwise they are
	// null.
	User User

	// IP is an address of the platform, or empty in the general envelope.
	IP string

	// Data contains the data of the event. Its type is the payload type.
	Data Data

	raw     string // what the event was parsed from, or ""
	rawData string // the data in it
	general bool   // parsed from the general envelope
}

// Raw returns the unchanged body that e was parsed from, including unknown
// fields. It returns nil if e was not parsed.
func (e *Event) Raw() json.RawMessage { return rawMessage(e.raw) }

// RawData returns the unchanged field data of the body that e was parsed from, or
// nil if there is none. To read a field that this package does not know, unmarshal
// the data into a struct that has the field. Do not embed a type of this package in
// the struct, because its UnmarshalJSON method would read none of your fields.
func (e *Event) RawData() json.RawMessage { return rawMessage(e.rawData) }

// Mismatch returns a [*ParseError] for the first envelope field that had the wrong
// type when e was parsed, such as an ip that is not a string. It returns nil if
// there is none. Such a field is zero in e, and MarshalJSON keeps its original
// value. Mismatch parses the body again. It does not check the data; see [Unknown].
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

// Unknown is the data of an event with an unknown name, or data that does not match
// any payload type of its event.
type Unknown struct {
	// Raw is the unchanged data: any JSON value, or nil if there was none.
	Raw json.RawMessage

	// Err is nil if the name of the event is unknown. Otherwise it is a
	// [*ParseError] for the first part that does not match.
	Err error

	// Partial contains the valid fields of data that does not match its payload
	// type, or nil if the type is unknown. Its invalid fields are zero. Methods
	// such as [Event.Recipient] use it. MarshalJSON ignores it and writes Raw.
	Partial Data
}

// MarshalJSON implements [json.Marshaler]: it returns Raw.
func (u Unknown) MarshalJSON() ([]byte, error) { return u.Raw.MarshalJSON() }

// UnmarshalJSON implements [json.Unmarshaler]: it sets Raw to a copy of b.
func (u *Unknown) UnmarshalJSON(b []byte) error {
	*u = Unknown{Raw: append(json.RawMessage(nil), b...)}
	return nil
}
