package platform

import (
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/record"
)

// The prefixes of links in messages. A link is a prefix and the id of the
// message.
const (
	LinkPrefix            = "/_mail/"
	LinkConfirm           = "confirm"
	LinkUnsubscribe       = "unsubscribe"
	LinkGlobalUnsubscribe = "global-unsubscribe"
	LinkHeader            = "list-unsubscribe" // of the header field of that name
)

// link returns a link of a message on the platform with a base URL.
func (m *message) link(base, does string) string { return base + LinkPrefix + m.ID + "/" + does }

// confirms reports whether this is the confirmation email of a double opt-in.
func (m *message) confirms() bool { return m.SentBy == events.SendingTypeWorkflow && m.WorkflowID == 0 }

// leavesList reports whether the message has a list to unsubscribe from.
func (m *message) leavesList() bool {
	return m.ContactID != 0 && m.SentBy != events.SendingTypeTransactional && !m.confirms()
}

// The merge tags of links.
const (
	tagConfirm           = "confirm_url"
	tagUnsubscribe       = "unsubscribe_url"
	tagGlobalUnsubscribe = "global_unsubscribe_url"
)

// merged returns the values of merge tags in the message. A tag of a link that
// is not an attribute becomes a link to the platform with a base URL.
func (m *message) merged(base string) func(name string) string {
	return func(name string) string {
		if v, ok := m.attribute(name); ok {
			return v
		}
		switch {
		case name == tagConfirm && m.confirms():
			return m.link(base, LinkConfirm)
		case name == tagUnsubscribe && m.leavesList():
			return m.link(base, LinkUnsubscribe)
		case name == tagGlobalUnsubscribe && !m.confirms():
			return m.link(base, LinkGlobalUnsubscribe)
		}
		return ""
	}
}

// unsubscribeHeaders returns the header fields for one-click unsubscribe (RFC
// 8058).
func (m *message) unsubscribeHeaders(base string) []record.Header {
	if !m.leavesList() {
		return nil
	}
	return []record.Header{
		{Name: "List-Unsubscribe", Value: "<" + m.link(base, LinkHeader) + ">"},
		{Name: "List-Unsubscribe-Post", Value: "List-Unsubscribe=One-Click"},
	}
}
