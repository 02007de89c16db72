package platform

import (
	"cmp"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/clock"
)

// ListSummary is a list with counts of its contacts.
type ListSummary struct {
	ID             int64         `json:"id,string" doc:"the id of the list"`
	AccountID      int64         `json:"account_id" doc:"the account of the list"`
	Name           string        `json:"name" doc:"the name of the list"`
	PolicyAccepted bool          `json:"policy_accepted" doc:"whether the anti-spam policy is accepted"`
	CreatedOn      time.Time     `json:"created_on" doc:"the time when the list was created"`
	Contacts       ContactCounts `json:"contacts" doc:"the number of contacts in the list, by status"`
}

// Lists returns the lists of all accounts, newest first.
func (p *Platform) Lists() []ListSummary {
	return ofAll(p, func(a *account) *collection[int64, list] { return &a.Lists }, func(a *account, l *list) ListSummary {
		out := ListSummary{l.ListID, a.ID, l.Name, l.PolicyAccepted, clock.Unix(l.CreatedOn), ContactCounts{}}
		out.Contacts.add(l.contacts)
		return out
	}, func(l ListSummary) int64 { return l.ID })
}

// Sending describes a campaign or a workflow, and the results of its messages.
type Sending struct {
	ID           int64         `json:"id,string" doc:"the id of the campaign or workflow"`
	AccountID    int64         `json:"account_id" doc:"the account of the campaign or workflow"`
	Name         string        `json:"name" doc:"the name of the campaign or workflow"`
	ListID       int64         `json:"list_id,omitzero" doc:"the id of the list that contains the recipients"`
	ListName     string        `json:"list_name,omitzero" doc:"the name of the list"`
	FromEmail    string        `json:"from_email,omitzero" doc:"the sender's address"`
	Subject      string        `json:"subject,omitzero" doc:"the subject, with merge tags"`
	TemplateID   int64         `json:"template_id,omitzero" doc:"the id of the template"`
	Status       string        `json:"status" doc:"the status of the campaign or workflow"`
	CreatedOn    time.Time     `json:"created_on" doc:"the time when the campaign or workflow was created"`
	ScheduledFor time.Time     `json:"scheduled_for,omitzero" doc:"the scheduled time of a campaign"`
	Counts       MessageCounts `json:"outcome" doc:"the number of messages with each result"`
}

// Campaigns returns the campaigns of all accounts, newest first.
func (p *Platform) Campaigns() []Sending {
	return ofAll(p, func(a *account) *collection[int64, campaign] { return &a.Campaigns }, func(a *account, c *campaign) Sending {
		out := a.sending(c.CampaignID, c.Name, c.ListID, c.Sender, c.Content)
		out.Status, out.CreatedOn = c.Status, clock.Unix(c.CreatedOn)
		if c.ScheduledFor != 0 {
			out.ScheduledFor = clock.Unix(c.ScheduledFor)
		}
		return out
	}, func(s Sending) int64 { return s.ID })
}

// Workflows returns the workflows of all accounts, newest first.
func (p *Platform) Workflows() []Sending {
	return ofAll(p, func(a *account) *collection[int64, api.Workflow] { return &a.Workflows }, func(a *account, w *api.Workflow) Sending {
		out := a.sending(w.WorkflowID, w.Name, w.ListID, w.Sender, w.Content)
		out.Status, out.CreatedOn = w.Status, clock.Unix(w.CreatedOn)
		return out
	}, func(s Sending) int64 { return s.ID })
}

func (a *account) sending(id int64, name string, listID int64, from api.Sender, c api.MessageContent) Sending {
	out := Sending{
		ID:         id,
		AccountID:  a.ID,
		Name:       name,
		ListID:     listID,
		FromEmail:  from.Email,
		Subject:    c.Subject,
		TemplateID: c.TemplateID,
		Counts:     a.counts.countsOf(id),
	}
	if l := a.Lists.get(listID); l != nil {
		out.ListName = l.Name
	}
	return out
}

// ofAll returns views of resources from all accounts, newest first.
func ofAll[T, V any](
	p *Platform, of func(*account) *collection[int64, T], view func(*account, *T) V, id func(V) int64,
) []V {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []V{}
	for a := range p.accountsLocked(0) {
		for resource := range of(a).all() {
			out = append(out, view(a, resource))
		}
	}
	slices.SortFunc(out, func(x, y V) int { return cmp.Compare(id(y), id(x)) })
	return out
}
