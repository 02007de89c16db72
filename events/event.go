package events

import (
	"encoding/json"
	"errors"
	"time"
)

// Name is the name of an event, such as [NameEmailBounced]. The platform may add
// event names.
type Name string

// Event is a webhook event. [Parse] returns an Event. To create an Event in a
// test, see "Encoding" in the package documentation. Concurrent reads of an
// Event are safe.
type Event struct {
	// ID is the id of the event, which is the same in every delivery. A numeric
	// id is stored as its digits. ID is empty in the general envelope.
	ID string

	// Name is the name of the event, such as [NameEmailBounced].
	Name Name

	// Time is the time of the event. In the compliance envelope, the field
	// created_on contains the time in Unix seconds. In the general envelope, the
	// field timestamp contains the time in ISO 8601 format.
	Time time.Time

	// AccountID is the id of the account that owns the event, or 0 in the general
	// envelope.
	AccountID int64

	// User is the user who caused the event. According to the specification, only
	// Email.Rejected, Email.Error and Contact.Removed events contain the user; in other
	// events, the user's fields are null.
	User User

	// IP is an IP address of the platform, or empty in the general envelope.
	IP string

	// Data is the payload of the event. Its Go type depends on the payload type, so use a type
	// switch.
	Data Data

	raw     string // the body that the event was parsed from, or ""
	rawData string // the data in the body
	general bool   // parsed from the general envelope

	mismatched bool // Mismatch returns an error
}

// Raw returns the unchanged body that e was parsed from, including unknown
// fields. It returns nil if e was not parsed.
func (e *Event) Raw() json.RawMessage { return rawMessage(e.raw) }

// RawData returns the raw "data" field of the body that e was parsed from, or nil if
// the body does not have this field. To read a field that this package does not define,
// unmarshal the data into your own struct. Do not embed a type from this package in the
// struct. Otherwise, the struct would use the UnmarshalJSON method of this type, which
// does not read your fields.
func (e *Event) RawData() json.RawMessage { return rawMessage(e.rawData) }

// Mismatch returns nil if all fields had the right type when e was parsed. A mismatch is, for
// example, a tag that is a number instead of a string. If there are mismatches, Mismatch
// returns an [errors.Join] that contains a [*ParseError] for each mismatch, at most ten for
// the envelope and ten for the data.
//
// A field with the wrong type is zero in e, but MarshalJSON writes its original value. You
// can log the errors from Mismatch, because they contain no values. Mismatch is fast if
// all types are right; otherwise it parses the body again.
func (e *Event) Mismatch() error {
	if !e.mismatched {
		return nil
	}
	_, mismatches := parse(e.raw)
	errs := make([]error, len(mismatches))
	for i, mismatch := range mismatches {
		errs[i] = newParseError(mismatch, nil)
	}
	return errors.Join(errs...)
}

func rawMessage(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// Unknown is data that Parse could not decode completely: its event has an unknown name, the
// data does not match any payload type of its event, or an address, an id or a bounce has
// the wrong type. See "Errors" in the package documentation.
type Unknown struct {
	// Raw is the unchanged data, which can be any JSON value, or nil if the
	// event has no data.
	Raw json.RawMessage

	// Err is nil if the name of the event is unknown. This is not an error, because the
	// platform may add event names. If the name is known, Err is a [*ParseError], which
	// describes the invalid or missing data. Your handler should return this error. The
	// platform then retries the delivery, so you have time to change the handler until the
	// retries end (see "Webhook retry schedule" in docs/production.md).
	Err error

	// Partial contains the valid fields if only an address, an id or a bounce is invalid. The
	// invalid fields have their zero values. Methods such as [Event.Bounce] use Partial, but
	// MarshalJSON writes Raw instead. Partial is nil if the payload type is unknown.
	Partial Data
}

// MarshalJSON implements [json.Marshaler] and returns Raw.
func (u Unknown) MarshalJSON() ([]byte, error) { return u.Raw.MarshalJSON() }

// UnmarshalJSON implements [json.Unmarshaler] and sets Raw to a copy of b.
func (u *Unknown) UnmarshalJSON(b []byte) error {
	*u = Unknown{Raw: append(json.RawMessage(nil), b...)}
	return nil
}

// SendingType returns the sending type of the email, or "" if the event does
// not contain it.
func (e *Event) SendingType() SendingType { return sentBy(known(e.Data)) }

// ofCampaign returns the sending type for the id of a campaign, or "" if the
// id is null.
func ofCampaign(id ID) SendingType {
	if id.IsZero() {
		return ""
	}
	return SendingTypeCampaign
}

// Recipient returns the address of the contact. If the event does not contain the
// address, Recipient returns "", and you can look up the email with [Event.EmailID].
// For SuppressedEmail.Added, Recipient returns the new entry in the suppression list,
// which may be a pattern such as *@example.com.
//
// If the payload type is unknown, Recipient and four other methods read these fields of the data:
//
//   - Recipient: contact.email, email, email_address, suppressedEmail.email
//   - EmailID: email.id, transactional_email.id, email_id
//   - ListID: list.id, list_id
//   - ContactID: contact.id, contact_id
//   - CampaignID: campaign.id, campaign_id
func (e *Event) Recipient() string {
	if s := subjectOf(e.Data); s != nil {
		return s.address
	}
	return recipientOf(known(e.Data))
}

func addressOf(c *Contact) string {
	if c == nil {
		return ""
	}
	return c.Email
}

// EmailID returns the id of the email, which POST /v2/emails returns and GET
// /v2/emails/{email_id} accepts. It returns "" if the event contains no id, for example for
// bounces and complaints of campaigns and workflows.
func (e *Event) EmailID() string {
	if s := subjectOf(e.Data); s != nil {
		return s.email
	}
	return emailOf(known(e.Data))
}

// ListID returns the id of the list, or the zero ID if the event contains none.
func (e *Event) ListID() ID {
	if s := subjectOf(e.Data); s != nil {
		return s.list
	}
	return listOf(known(e.Data))
}

// ContactID returns the id of the contact, or the zero ID if the event contains none.
func (e *Event) ContactID() ID {
	if s := subjectOf(e.Data); s != nil {
		return s.contact
	}
	return contactOf(known(e.Data))
}

func contactIDOf(c *Contact) ID {
	if c == nil {
		return ID{}
	}
	return c.ID
}

// CampaignID returns the id of the campaign that the event describes or that sent
// the email. It returns the zero ID if the event contains no campaign id.
func (e *Event) CampaignID() ID {
	if s := subjectOf(e.Data); s != nil {
		return s.campaign
	}
	return campaignOf(known(e.Data))
}

// Bounce returns the bounce, and reports whether the event contains a bounce. Only
// Email.Bounced events contain one, and only if the email was not sent through the Email
// API. For the bounce of an Email API message, look up the email with [Event.EmailID].
func (e *Event) Bounce() (_ BounceDetail, ok bool) {
	b := bounceOf(known(e.Data))
	return b, b != (BounceDetail{})
}

func idOf(l *ListRef) ID {
	if l == nil {
		return ID{}
	}
	return l.ID
}

// known returns d. If d does not match its payload type, known returns the valid fields of d.
func known(d Data) Data {
	if u, _ := d.(*Unknown); u != nil {
		return u.Partial
	}
	return d
}
