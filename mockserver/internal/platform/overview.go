package platform

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/mail"
)

// Contacts contains the number of contacts by status.
type Contacts struct {
	Active       int `json:"active" doc:"contacts that receive messages"`
	Pending      int `json:"pending" doc:"contacts that have not confirmed yet"`
	Unsubscribed int `json:"unsubscribed" doc:"contacts that unsubscribed"`
	Deleted      int `json:"deleted" doc:"deleted contacts"`
	Spam         int `json:"spam" doc:"contacts that reported a message as spam"`
	Bounced      int `json:"bounced" doc:"contacts with a hard bounce"`
}

func (c *Contacts) add(t *contactTable) {
	c.Active += t.count(statusActive)
	c.Pending += t.count(statusPending)
	c.Unsubscribed += t.count(statusUnsubscribed)
	c.Deleted += t.count(statusDeleted)
	c.Spam += t.count(statusSpam)
	c.Bounced += t.count(statusBounced)
}

func (t *contactTable) count(status string) int {
	if s := t.statuses[status]; s != nil {
		return s.byEmail.Len()
	}
	return 0
}

// Overview contains counts of the records in an account.
type Overview struct {
	Messages  Outcome
	Contacts  Contacts
	Resources Resources
	Minutes   map[int64]int64    // number of sent messages by minute
	Waiting   []delivery.Waiting // campaigns that are scheduled for later, and contacts that have not confirmed yet
}

// Resources counts the resources of accounts.
type Resources struct {
	Lists      int `json:"lists" doc:"lists of contacts"`
	Templates  int `json:"templates" doc:"templates for messages"`
	Campaigns  int `json:"campaigns" doc:"campaigns in any state"`
	Workflows  int `json:"workflows" doc:"workflows, active or not"`
	Webhooks   int `json:"webhooks" doc:"webhooks, archived or not"`
	Suppressed int `json:"suppressed" doc:"suppressed addresses and patterns"`
}

// Overview returns the counts for an account, or for all accounts if the id is 0. It
// also counts messages by minute, from the first to the last minute, inclusive. The
// running time depends on the number of lists and campaigns, not on the number of
// messages or contacts.
func (p *Platform) Overview(only, from, until int64) Overview {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := Overview{Minutes: map[int64]int64{}}
	for a := range p.accountsLocked(only) {
		out.add(a)
		a.outcomes.minutes.Each(from, until, func(m, n int64) { out.Minutes[m] += n })
	}
	return out
}

func (o *Overview) add(a *account) {
	o.Messages.add(a.outcomes.all)
	o.Resources.Lists += a.Lists.len()
	o.Resources.Templates += a.Templates.len()
	o.Resources.Campaigns += a.Campaigns.len()
	o.Resources.Workflows += a.Workflows.len()
	o.Resources.Webhooks += a.Webhooks.len()
	o.Resources.Suppressed += a.Suppression.len()
	for c := range a.Campaigns.all() {
		if c.Status == campaignScheduled {
			due := clock.Unix(c.ScheduledFor)
			o.Waiting = append(o.Waiting, delivery.Waiting{Why: "campaign", N: 1, Until: due, CampaignID: c.CampaignID, Name: c.Name})
		}
	}
	for l := range a.Lists.all() {
		o.Contacts.add(l.contacts)
		if n := l.contacts.count(statusPending); n > 0 {
			o.Waiting = append(o.Waiting, delivery.Waiting{Why: "confirmation", N: n, ListID: l.ListID, Name: l.Name})
		}
	}
}

func (o *Outcome) add(other Outcome) {
	o.Sent += other.Sent
	o.Bounced += other.Bounced
	o.Opened += other.Opened
	o.Clicked += other.Clicked
	o.Unsubscribed += other.Unsubscribed
	o.GlobalUnsubscribed += other.GlobalUnsubscribed
	o.ReportedAsSpam += other.ReportedAsSpam
}

// ListSummary is a list with counts of its contacts.
type ListSummary struct {
	ID             int64     `json:"id,string" doc:"the id of the list"`
	AccountID      int64     `json:"account_id" doc:"the account of the list"`
	Name           string    `json:"name" doc:"the name of the list"`
	PolicyAccepted bool      `json:"policy_accepted" doc:"whether the anti-spam policy is accepted"`
	CreatedOn      time.Time `json:"created_on" doc:"the time when the list was created"`
	Contacts       Contacts  `json:"contacts" doc:"the number of contacts in the list, by status"`
}

// Lists returns the lists of all accounts, the latest first.
func (p *Platform) Lists() []ListSummary {
	return ofAll(p, func(a *account) iter.Seq[*list] { return a.Lists.all() }, func(a *account, l *list) ListSummary {
		out := ListSummary{l.ListID, a.ID, l.Name, l.PolicyAccepted, clock.Unix(l.CreatedOn), Contacts{}}
		out.Contacts.add(l.contacts)
		return out
	}, func(l ListSummary) int64 { return l.ID })
}

// Sending describes a campaign or a workflow, and the results of its messages.
type Sending struct {
	ID           int64     `json:"id,string" doc:"the id of the campaign or workflow"`
	AccountID    int64     `json:"account_id" doc:"the account of the campaign or workflow"`
	Name         string    `json:"name" doc:"the name of the campaign or workflow"`
	ListID       int64     `json:"list_id,omitzero" doc:"the id of the list that contains the recipients"`
	ListName     string    `json:"list_name,omitzero" doc:"the name of the list"`
	FromEmail    string    `json:"from_email,omitzero" doc:"the sender's address"`
	Subject      string    `json:"subject,omitzero" doc:"the subject, with merge tags"`
	TemplateID   int64     `json:"template_id,omitzero" doc:"the id of the template"`
	Status       string    `json:"status" doc:"the status of the campaign or workflow"`
	CreatedOn    time.Time `json:"created_on" doc:"the time when the campaign or workflow was created"`
	ScheduledFor time.Time `json:"scheduled_for,omitzero" doc:"the scheduled time of a campaign"`
	Outcome      Outcome   `json:"outcome" doc:"the number of messages with each result"`
}

// Campaigns returns the campaigns of all accounts, the latest first.
func (p *Platform) Campaigns() []Sending {
	return ofAll(p, func(a *account) iter.Seq[*campaign] { return a.Campaigns.all() }, func(a *account, c *campaign) Sending {
		out := a.sending(c.CampaignID, c.Name, c.ListID, c.Sender, c.Content)
		out.Status, out.CreatedOn = c.Status, clock.Unix(c.CreatedOn)
		if c.ScheduledFor != 0 {
			out.ScheduledFor = clock.Unix(c.ScheduledFor)
		}
		return out
	}, func(s Sending) int64 { return s.ID })
}

// Workflows returns the workflows of all accounts, the latest first.
func (p *Platform) Workflows() []Sending {
	return ofAll(p, func(a *account) iter.Seq[*api.Workflow] { return a.Workflows.all() }, func(a *account, w *api.Workflow) Sending {
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
		Outcome:    a.outcomes.by(id),
	}
	if l := a.Lists.get(listID); l != nil {
		out.ListName = l.Name
	}
	return out
}

// FilledTemplate returns the parts of a template in any account, rendered with the
// given attributes. If ok is false, the template does not exist.
func (p *Platform) FilledTemplate(id int64, attributes map[string]string) (html, text string, ok bool) {
	return p.filled(attributes, func(a *account) *api.MessageContent {
		if found := a.Templates.get(id); found != nil {
			return &api.MessageContent{HTML: found.Content.HTML, Text: found.Content.Text}
		}
		return nil
	})
}

// FilledCampaign is like FilledTemplate, but renders the parts of a campaign.
func (p *Platform) FilledCampaign(id int64, attributes map[string]string) (html, text string, ok bool) {
	return p.filled(attributes, func(a *account) *api.MessageContent {
		if found := a.Campaigns.get(id); found != nil {
			return new((&tx{account: a}).sendable(found.Content))
		}
		return nil
	})
}

// filled searches all accounts for a template or a campaign, and renders its content.
func (p *Platform) filled(attributes map[string]string, of func(*account) *api.MessageContent) (html, text string, ok bool) {
	value := func(name string) string { return attributes[name] }
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.accounts {
		if c := of(a); c != nil {
			return mail.MergeHTML(c.HTML, value), mail.MergeText(c.Text, value), true
		}
	}
	return "", "", false
}

// ofAll returns views of resources from all accounts, the latest first.
func ofAll[T, V any](p *Platform, of func(*account) iter.Seq[*T], view func(*account, *T) V, id func(V) int64) []V {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []V{}
	for a := range p.accountsLocked(0) {
		for item := range of(a) {
			out = append(out, view(a, item))
		}
	}
	slices.SortFunc(out, func(x, y V) int { return cmp.Compare(id(y), id(x)) })
	return out
}
