package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/json/jsonscan"
	"example.com/emailplatform/internal/json/jsonwrite"
)

// readAttributes reads an array of attributes, or an object, as in the requests that send email, because some
// platforms return one.
func readAttributes(c *jsonscan.Cursor, read func(*jsonscan.Cursor) CustomAttribute) []CustomAttribute {
	return jsonscan.Named(c, read, func(name, value string) CustomAttribute { return CustomAttribute{Name: name, Value: value} })
}

// readAnyID reads an id that may be encoded as a string or a number. The number 42.0 is
// the id "42".
func readAnyID(c *jsonscan.Cursor) string {
	if b := c.Peek(); b != '-' && (b < '0' || b > '9') {
		return c.String()
	}
	ahead := *c
	text := strings.Clone(c.Number())
	if ahead.Tolerant = false; strings.ContainsAny(text, ".eE") {
		if n, ok := ahead.NullInt(); ok {
			return strconv.FormatInt(n, 10)
		}
	}
	return text
}

func readTime(c *jsonscan.Cursor) time.Time { return c.Time().UTC() }

// readItems reads an array. Null is an empty array, and any other value is an error.
func readItems[T any](c *jsonscan.Cursor, read func(*jsonscan.Cursor) T) []T {
	switch {
	case c.Peek() == '[':
		return jsonscan.Slice(c, read)
	case c.Null():
		return []T{}
	}
	c.Reject("an array")
	return nil
}

// readEnum reads a value such as a status. A known value can be in another letter case.
func readEnum[T ~string](c *jsonscan.Cursor) T {
	s := c.String()
	if jsonscan.HasUpper(s) { // known values are in lower case
		return known[T](s)
	}
	return T(s)
}

func readEventName(c *jsonscan.Cursor) events.Name { return known[events.Name](c.String()) }

// known returns the value of type T that differs from s only in letter case, or s.
func known[T ~string](s string) T {
	for _, value := range knownValues() {
		if v, ok := value.(T); ok && strings.EqualFold(string(v), s) {
			return v
		}
	}
	return T(s)
}

func knownValues() []any {
	return []any{
		EmailStatusQueued, EmailStatusDelivered, EmailStatusBounced, EmailStatusRejected, EmailStatusError,
		EmailTypeMarketing, EmailTypeTransactional,
		CampaignStatusIncomplete, CampaignStatusScheduled, CampaignStatusDelivering, CampaignStatusDelivered,
		WebhookStatusActive, WebhookStatusArchived,
		WorkflowStatusActive, WorkflowStatusInactive,
		WorkflowTriggerSubscribed,
		RateLimitPeriodDay, RateLimitPeriodHour, RateLimitPeriodMinute, RateLimitPeriodSecond,
		events.ContactStatusActive, events.ContactStatusBounced, events.ContactStatusDeleted,
		events.ContactStatusPending, events.ContactStatusSpam, events.ContactStatusSuppressed,
		events.ContactStatusUnsubscribed,
		events.RejectReasonBounced, events.RejectReasonDeleted, events.RejectReasonPending, events.RejectReasonSpam,
		events.RejectReasonSuppressed, events.RejectReasonUnsubscribed,
		events.BounceTypeNone, events.BounceTypeHard, events.BounceTypeSoft,
		events.BounceCategoryAddressChange, events.BounceCategoryAutoReply, events.BounceCategoryBlocked,
		events.BounceCategoryChallengeResponse, events.BounceCategoryDNSFailure, events.BounceCategoryHard,
		events.BounceCategoryMailboxFull, events.BounceCategorySoft, events.BounceCategoryTransient,
		events.NameContactAdded, events.NameContactUnsubscribed, events.NameEmailOpened, events.NameEmailClicked,
		events.NameEmailBounced, events.NameCampaignSent, events.NameCampaignScheduled,
		events.NameEmailReportedAsSpam, events.NameEmailUnsubscribed, events.NameEmailGlobalUnsubscribed,
		events.NameEmailRejected, events.NameEmailError, events.NameContactRemoved, events.NameSuppressedEmailAdded,
	}
}

// Attributes are the custom attributes of a contact or an email.
type Attributes []CustomAttribute

// Get returns the value of the attribute with the given name, or "" if there
// is none.
func (a Attributes) Get(name string) string {
	for _, attribute := range a {
		if attribute.Name == name {
			return attribute.Value
		}
	}
	return ""
}

// writeAttributes writes an object. A duplicate name is an error.
func writeAttributes(w *jsonwrite.Writer, attributes Attributes) {
	w.Open('{')
	for i, a := range attributes {
		w.Key(a.Name)
		if slices.ContainsFunc(attributes[:i], func(other CustomAttribute) bool { return other.Name == a.Name }) {
			w.Fail("is a duplicate")
		}
		w.String(a.Value)
	}
	w.Close('}')
}

// Nullable is a field of a partial update. The field can be omitted, set to null or
// set to a value. The zero Nullable is omitted.
type Nullable[T any] struct {
	value T
	state nullableState
}

type nullableState uint8

const (
	omitted nullableState = iota
	null
	given
)

// Value returns a Nullable with the value v.
func Value[T any](v T) Nullable[T] { return Nullable[T]{value: v, state: given} }

// Null returns a Nullable that is null, so the update removes the old value.
func Null[T any]() Nullable[T] { return Nullable[T]{state: null} }

// IsZero reports whether n is omitted.
func (n Nullable[T]) IsZero() bool { return n.state == omitted }

// Get returns the value, and reports whether n contains a value.
func (n Nullable[T]) Get() (T, bool) { return n.value, n.state == given }

// MarshalJSON implements [json.Marshaler]. It returns an error if n is omitted, because no JSON value means
// this. Encoders skip an omitted Nullable if its field has the omitzero option.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	switch n.state {
	case given:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false) // the calling encoder decides whether to escape HTML
		err := enc.Encode(n.value)
		return bytes.TrimSpace(b.Bytes()), err
	case null:
		return []byte("null"), nil
	default:
		return nil, errors.New("the Nullable must contain a value or null")
	}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Nullable[T]) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Null[T]()
		return nil
	}
	n.state = given
	return json.Unmarshal(b, &n.value)
}

func writeNullable(w *jsonwrite.Writer, n Nullable[string]) {
	switch n.state {
	case given:
		w.String(n.value)
	case null:
		w.Null()
	default:
		w.Missing()
	}
}
