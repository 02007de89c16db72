package platform

import (
	"slices"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/mail"
	"example.com/emailplatform/mockserver/internal/problem"
)

// The statuses of messages; the answer to a submission says queued for what is
// delivered a moment later.
const (
	messageQueued    = "queued"
	messageDelivered = "delivered"
	messageBounced   = "bounced"
	messageRejected  = "rejected"
	messageError     = "error"
)

// content is what a message says: a template, or inline parts. Beside the id of
// a template, the parts are what it said when it was last looked at, which
// counts once it is deleted.
type content struct {
	Subject    string `json:"subject,omitzero"`
	TemplateID int64  `json:"template_id,omitzero"`
	HTML       string `json:"html,omitzero"`
	Text       string `json:"text,omitzero"`
}

func (c content) wire() api.MessageContent {
	if c.TemplateID != 0 {
		return api.MessageContent{Subject: c.Subject, TemplateID: c.TemplateID}
	}
	return api.MessageContent{Subject: c.Subject, HTML: c.HTML, Text: c.Text}
}

// contentOf checks and takes the content of a request.
func (t *tx) contentOf(in api.MessageContent) (content, error) {
	c := content{Subject: in.Subject, TemplateID: in.TemplateID, HTML: in.HTML, Text: in.Text}
	if c.TemplateID == 0 {
		return c, nil
	}
	if c.HTML != "" || c.Text != "" {
		return c, problem.Invalid("either a template or inline parts", "body", "content", "template_id")
	}
	_, err := t.account.Templates.find(c.TemplateID, "template", "body", "content", "template_id")
	return c, err
}

// sendable returns the content with the parts of its template.
func (t *tx) sendable(c content) content {
	if tpl := t.account.Templates.byID[c.TemplateID]; tpl != nil {
		c.HTML, c.Text = tpl.HTML, tpl.Text
	}
	return c
}

func (c content) empty() bool { return c.HTML == "" && c.Text == "" }

// message is an email. It keeps what it was made of and is rendered when
// somebody looks: a campaign to a million contacts shares one content.
type message struct {
	ID         string             `json:"id"`
	AccountID  int64              `json:"account_id"`
	SentBy     events.SendingType `json:"sent_by"`
	From       sender             `json:"from"`
	To         string             `json:"to"`
	Content    content            `json:"content"`
	Headers    []attribute        `json:"headers,omitzero"`
	Attributes []attribute        `json:"attributes,omitzero"` // of the contact, when it was sent
	Values     map[string]string  `json:"values,omitzero"`     // of the request
	Type       string             `json:"type,omitzero"`       // marketing or transactional
	ListID     int64              `json:"list_id,omitzero"`
	ContactID  int64              `json:"contact_id,omitzero"`
	CampaignID int64              `json:"campaign_id,omitzero"`
	WorkflowID int64              `json:"workflow_id,omitzero"` // 0 for a confirmation email

	Status      string  `json:"status"`
	SubmittedOn int64   `json:"submitted_on"`
	DeliveredOn int64   `json:"delivered_on,omitzero"`
	Reason      string  `json:"reason,omitzero"` // why it was refused
	Error       string  `json:"error,omitzero"`
	Bounce      *bounce `json:"bounce,omitzero"`
	Opens       int64   `json:"opens,omitzero"`
	Clicks      int64   `json:"clicks,omitzero"`

	Unsubscribed       bool `json:"unsubscribed,omitzero"`
	GlobalUnsubscribed bool `json:"global_unsubscribed,omitzero"`
	ReportedAsSpam     bool `json:"reported_as_spam,omitzero"`
}

type bounce struct {
	Category   events.BounceCategory `json:"category"`
	Diagnostic string                `json:"diagnostic"`
	OccurredOn int64                 `json:"occurred_on"`
}

// send puts a message on its way; here it arrives at once.
func (t *tx) send(m *message) {
	m.Status, m.DeliveredOn = messageDelivered, t.unix()
	t.record(m)
	t.outbox = append(t.outbox, m)
	t.simulate(m)
}

// record keeps a message so that it can be looked up.
func (t *tx) record(m *message) {
	m.AccountID = t.account.ID
	t.messages[m.ID] = m
	if t.changes.Heard() {
		t.changed = append(t.changed, m)
	}
}

// to addresses the message to a contact.
func (m *message) to(l *list, c *contact) {
	m.To, m.ListID, m.ContactID, m.Attributes = c.Email, l.ID, c.ID, c.Attributes
}

// contactOf returns the list contact that a message went to, or nil.
func (t *tx) contactOf(m *message) (*list, *contact) {
	l := t.account.Lists.byID[m.ListID]
	if l == nil {
		return nil, nil
	}
	return l, l.contacts.find(m.ContactID)
}

// value is what a merge tag of the message stands for: the request's values
// win over the contact's.
func (m *message) value(name string) string {
	if v, ok := m.Values[name]; ok {
		return v
	}
	i := slices.IndexFunc(m.Attributes, func(a attribute) bool { return a.Name == name })
	if i < 0 {
		return ""
	}
	return m.Attributes[i].Value
}

func (m *message) subject() string { return mail.MergeText(m.Content.Subject, m.value) }
