package platform

import (
	"fmt"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/problem"
)

type template struct {
	ID        int64  `json:"id"`
	Name      string `json:"name"`
	HTML      string `json:"html,omitzero"`
	Text      string `json:"text,omitzero"`
	CreatedOn int64  `json:"created_on"`
	UpdatedOn int64  `json:"updated_on"`
	place     int64  // grows with each template: a fixed id need not
}

func (t *template) wire() api.Template {
	return api.Template{
		TemplateID: t.ID,
		Name:       t.Name,
		Content:    api.TemplateContent{HTML: t.HTML, Text: t.Text},
		CreatedOn:  t.CreatedOn,
		UpdatedOn:  t.UpdatedOn,
	}
}

type list struct {
	ID             int64  `json:"id"`
	Name           string `json:"name"`
	PolicyAccepted bool   `json:"policy_accepted,omitzero"`
	CreatedOn      int64  `json:"created_on"`
	contacts       *contactTable
}

func (l *list) wire() api.List {
	return api.List{ListID: l.ID, Name: l.Name, PolicyAccepted: l.PolicyAccepted, CreatedOn: l.CreatedOn}
}

// mayBeSentTo refuses to send to a list whose anti-spam policy is not accepted
// (specification, "States and transitions", "Errors").
func (l *list) mayBeSentTo(loc ...any) error {
	if l.PolicyAccepted {
		return nil
	}
	return problem.Conflict("policy_not_accepted", fmt.Sprintf("the anti-spam policy of list %d is not accepted", l.ID), loc...)
}

// The statuses of campaigns, in the order that they pass through.
const (
	campaignIncomplete = "incomplete"
	campaignScheduled  = "scheduled"
	campaignDelivering = "delivering"
	campaignDelivered  = "delivered"
)

type campaign struct {
	ID           int64   `json:"id"`
	Name         string  `json:"name"`
	ListID       int64   `json:"list_id,omitzero"`
	From         sender  `json:"from,omitzero"`
	Content      content `json:"content,omitzero"`
	Status       string  `json:"status"`
	ScheduledFor int64   `json:"scheduled_for,omitzero"`
	Next         int     `json:"next,omitzero"` // while it is delivering: the slot of the contact to go on with
	CreatedOn    int64   `json:"created_on"`
	UpdatedOn    int64   `json:"updated_on"`
	alarm        *clock.Alarm
}

func (c *campaign) wire() api.Campaign {
	return api.Campaign{
		CampaignID:   c.ID,
		Name:         c.Name,
		ListID:       c.ListID,
		Sender:       c.From.wire(),
		Content:      c.Content.wire(),
		Status:       c.Status,
		ScheduledFor: c.ScheduledFor,
		CreatedOn:    c.CreatedOn,
		UpdatedOn:    c.UpdatedOn,
	}
}

func (c *campaign) invalidState(msg string) error {
	return problem.Conflict("invalid_state", fmt.Sprintf("campaign %d %s", c.ID, msg), "path", "campaign_id")
}

const workflowInactive = "inactive"

type workflow struct {
	ID        int64   `json:"id"`
	Name      string  `json:"name"`
	ListID    int64   `json:"list_id"`
	Trigger   string  `json:"trigger"`
	From      sender  `json:"from"`
	Content   content `json:"content"`
	Active    bool    `json:"active,omitzero"`
	CreatedOn int64   `json:"created_on"`
}

func (w *workflow) wire() api.Workflow {
	status := workflowInactive
	if w.Active {
		status = statusActive
	}
	return api.Workflow{
		WorkflowID: w.ID,
		Name:       w.Name,
		ListID:     w.ListID,
		Trigger:    w.Trigger,
		Sender:     w.From.wire(),
		Content:    w.Content.wire(),
		Status:     status,
		CreatedOn:  w.CreatedOn,
	}
}

const (
	hookActive   = "active"
	hookArchived = "archived"
)

// hook is a webhook as its account has it.
type hook struct{ delivery.Webhook }

func (h *hook) status() string {
	if h.Archived {
		return hookArchived
	}
	return hookActive
}

// wire shows the webhook with its secret; its hash function is shown on
// retrieval alone.
func (h *hook) wire() api.Webhook {
	return api.Webhook{
		WebhookID:       h.Name(),
		URL:             h.URL,
		Events:          h.Events,
		RateLimit:       h.RateLimit,
		RateLimitPeriod: h.Period,
		Status:          h.status(),
		Secret:          h.Secret,
	}
}

func (h *hook) summary() api.WebhookSummary {
	return api.WebhookSummary{
		WebhookID:       h.Name(),
		URL:             h.URL,
		Events:          h.Events,
		RateLimit:       h.RateLimit,
		RateLimitPeriod: h.Period,
		Status:          h.status(),
	}
}

type suppressed struct {
	Email     string `json:"email"`
	CreatedOn int64  `json:"created_on"`
	place     int64  // grows with each entry
}

func (s *suppressed) wire() api.SuppressedEmail {
	return api.SuppressedEmail{Email: s.Email, CreatedOn: s.CreatedOn}
}
