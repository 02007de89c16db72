package platform

import (
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/mail"
	"example.com/emailplatform/mockserver/model"
)

// rendered returns the message with its merge tags replaced. Links in the message begin
// with the platform's base URL.
func (m *message) rendered(base string) model.Message {
	out, value := m.withoutContent(), m.mergeTagLookup(base)
	out.HTML, out.Text = mail.MergeHTML(m.Content.HTML, value), mail.MergeText(m.Content.Text, value)
	out.Headers = m.headers(out, base)
	return out
}

// withoutContent returns the message without its parts and headers.
func (m *message) withoutContent() model.Message {
	out := model.Message{
		ID:                 m.ID,
		SentBy:             m.SentBy,
		AccountID:          m.AccountID,
		Time:               clock.Unix(m.SubmittedOn),
		FromName:           m.From.Name,
		FromEmail:          m.From.Email,
		To:                 m.To,
		Subject:            m.subject(),
		Type:               m.Type,
		TemplateID:         m.Content.TemplateID,
		ListID:             m.ListID,
		ContactID:          m.ContactID,
		CampaignID:         m.CampaignID,
		WorkflowID:         m.WorkflowID,
		Confirmation:       m.confirms(),
		Status:             m.Status,
		Opens:              m.Opens,
		Clicks:             m.Clicks,
		Unsubscribed:       m.Unsubscribed,
		GlobalUnsubscribed: m.GlobalUnsubscribed,
		ReportedAsSpam:     m.ReportedAsSpam,
		Confirmed:          m.Confirmed,
	}
	if m.Bounce != nil {
		out.BounceCategory = m.Bounce.Category
	}
	return out
}

// Header fields from the API request come last.
func (m *message) headers(out model.Message, base string) []model.Header {
	from := out.FromEmail
	if out.FromName != "" {
		name := strings.ReplaceAll(strings.ReplaceAll(out.FromName, `\`, `\\`), `"`, `\"`) // %q would escape more characters
		from = `"` + name + `" <` + out.FromEmail + `>`
	}
	headers := []model.Header{
		{Name: "Date", Value: out.Time.Format(time.RFC1123Z)},
		{Name: "From", Value: from},
		{Name: "To", Value: out.To},
		{Name: "Subject", Value: out.Subject},
		{Name: "Message-ID", Value: "<" + m.ID + "@platform.example>"},
	}
	if m.leavesList() { // one-click unsubscribe (RFC 8058)
		headers = append(headers, model.Header{Name: "List-Unsubscribe", Value: "<" + m.link(base, LinkHeader) + ">"},
			model.Header{Name: "List-Unsubscribe-Post", Value: "List-Unsubscribe=One-Click"})
	}
	for _, h := range m.Headers {
		headers = append(headers, model.Header(h))
	}
	return headers
}

// MessageSummary is a message with a snippet instead of its parts and headers.
type MessageSummary struct {
	model.Message
	Snippet string    `json:"snippet,omitzero" doc:"the beginning of the text part or the visible HTML, in one line of up to 140 characters"`
	HTML    *struct{} `json:"html,omitempty"`    // hides Message.HTML
	Text    *struct{} `json:"text,omitempty"`    // hides Message.Text
	Headers *struct{} `json:"headers,omitempty"` // hides Message.Headers
}

func (m *message) summary() MessageSummary {
	return MessageSummary{Message: m.withoutContent(), Snippet: mail.Snippet(m.Content.Text, m.Content.HTML, m.value)}
}

// A link in a message consists of LinkPrefix, the id of the message, a slash
// and one of the other constants.
const (
	LinkPrefix            = "/_mail/"
	LinkConfirm           = "confirm"
	LinkUnsubscribe       = "unsubscribe"
	LinkGlobalUnsubscribe = "global-unsubscribe"
	LinkHeader            = "list-unsubscribe" // in the header field List-Unsubscribe
)

func (m *message) link(base, does string) string { return base + LinkPrefix + m.ID + "/" + does }

// confirms reports whether m is the confirmation email of a double opt-in.
func (m *message) confirms() bool { return m.SentBy == events.SendingTypeWorkflow && m.WorkflowID == 0 }

// leavesList reports whether the recipient can unsubscribe from a list.
func (m *message) leavesList() bool {
	return m.ContactID != 0 && m.SentBy != events.SendingTypeTransactional && !m.confirms()
}

// The merge tags for links.
const (
	tagConfirm           = "confirm_url"
	tagUnsubscribe       = "unsubscribe_url"
	tagGlobalUnsubscribe = "global_unsubscribe_url"
)

// mergeTagLookup returns a function that looks up merge tags, including the tags for links. If
// an attribute has the name of a link tag, the attribute is used.
func (m *message) mergeTagLookup(base string) func(name string) string {
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

// tagNames returns the names of the merge tags that have a value in the message.
func (m *message) tagNames() []string {
	names := slices.Collect(maps.Keys(m.Values))
	for _, a := range m.Attributes {
		names = append(names, a.Name)
	}
	for _, link := range []string{tagConfirm, tagUnsubscribe, tagGlobalUnsubscribe} {
		if m.mergeTagLookup("/")(link) != "" {
			names = append(names, link)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
