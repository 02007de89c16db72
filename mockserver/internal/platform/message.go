package platform

import (
	"slices"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/mail"
)

// The statuses of messages. The response to a submission contains "queued" even if the
// message has already been delivered.
const (
	messageQueued    = "queued"
	messageDelivered = "delivered"
	messageBounced   = "bounced"
	messageRejected  = "rejected"
	messageError     = "error"
)

// contentForAPI returns the content for API responses, with either a template id or inline
// parts. Stored content can have both if it belongs to a message, or if its template
// was deleted.
func contentForAPI(c api.MessageContent) api.MessageContent {
	if c.TemplateID != 0 {
		c.HTML, c.Text = "", ""
	}
	return c
}

func hasParts(c api.MessageContent) bool { return c.HTML != "" || c.Text != "" }

// message is an email. It is rendered only when it is read, so all messages of a
// campaign can share one copy of the content.
type message struct {
	ID         string                `json:"id"`
	AccountID  int64                 `json:"account_id"`
	SentBy     events.SendingType    `json:"sent_by"`
	From       api.Sender            `json:"from"`
	To         string                `json:"to"`
	Content    api.MessageContent    `json:"content"`
	Headers    []api.CustomAttribute `json:"headers,omitzero"`
	Attributes []api.CustomAttribute `json:"attributes,omitzero"` // attributes of the contact when the message was sent
	Values     map[string]string     `json:"values,omitzero"`     // attributes in the request
	Type       string                `json:"type,omitzero"`       // marketing or transactional
	ListID     int64                 `json:"list_id,omitzero"`
	ContactID  int64                 `json:"contact_id,omitzero"`
	CampaignID int64                 `json:"campaign_id,omitzero"`
	WorkflowID int64                 `json:"workflow_id,omitzero"` // 0 for a confirmation email

	Status      string  `json:"status"`
	SubmittedOn int64   `json:"submitted_on"`
	DeliveredOn int64   `json:"delivered_on,omitzero"`
	Reason      string  `json:"reason,omitzero"` // reason of a rejection
	Error       string  `json:"error,omitzero"`
	Bounce      *bounce `json:"bounce,omitzero"`
	Opens       int64   `json:"opens,omitzero"`
	Clicks      int64   `json:"clicks,omitzero"`

	Unsubscribed       bool `json:"unsubscribed,omitzero"`
	GlobalUnsubscribed bool `json:"global_unsubscribed,omitzero"`
	ReportedAsSpam     bool `json:"reported_as_spam,omitzero"`
	Confirmed          bool `json:"confirmed,omitzero"`

	Deleted bool `json:"deleted,omitzero"` // from the outbox
}

type bounce struct {
	Category   events.BounceCategory `json:"category"`
	Diagnostic string                `json:"diagnostic"`
	OccurredOn int64                 `json:"occurred_on"`
}

// bounceType returns "hard" or "soft" for lookups and contacts.
func bounceType(c events.BounceCategory) string {
	if c.Hard() {
		return "hard"
	}
	return "soft"
}

// setRecipient sets the recipient of the message, with the letter case of the given address.
func (m *message) setRecipient(to string, l *list, c *contact) {
	m.To, m.ListID, m.ContactID, m.Attributes = to, l.ListID, c.ID, c.CustomAttributes
}

// inOutbox reports whether a message is in the outbox.
func (m *message) inOutbox() bool {
	return m.Status != messageRejected && m.Status != messageError && !m.Deleted
}

// OutboxStatuses returns the statuses of messages in the outbox.
func OutboxStatuses() []string { return []string{messageDelivered, messageBounced} }

func (m *message) value(name string) string {
	v, _ := m.attribute(name)
	return v
}

// Attributes in the request override the contact's attributes.
func (m *message) attribute(name string) (string, bool) {
	if v, ok := m.Values[name]; ok {
		return v, true
	}
	i := slices.IndexFunc(m.Attributes, func(a api.CustomAttribute) bool { return a.Name == name })
	if i < 0 {
		return "", false
	}
	return m.Attributes[i].Value, true
}

func (m *message) subject() string { return mail.MergeText(m.Content.Subject, m.value) }

func (m *message) toAPI() api.Email {
	out := api.Email{
		ID:                 m.ID,
		Email:              m.To,
		Status:             m.Status,
		Type:               m.Type,
		Sender:             m.From,
		Subject:            m.subject(),
		TemplateID:         m.Content.TemplateID,
		ListID:             m.ListID,
		ContactID:          m.ContactID,
		SubmittedOn:        m.SubmittedOn,
		DeliveredOn:        m.DeliveredOn,
		Opens:              m.Opens,
		Clicks:             m.Clicks,
		Unsubscribed:       m.Unsubscribed,
		GlobalUnsubscribed: m.GlobalUnsubscribed,
		ReportedAsSpam:     m.ReportedAsSpam,
		Reason:             m.Reason,
		Error:              m.Error,
	}
	if b := m.Bounce; b != nil {
		out.Bounce = api.EmailBounce{
			Type:       bounceType(b.Category),
			Category:   string(b.Category),
			DsnMessage: b.Diagnostic,
			OccurredOn: b.OccurredOn,
		}
	}
	return out
}
