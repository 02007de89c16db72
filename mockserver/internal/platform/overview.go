package platform

import (
	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/clock"
)

// Overview contains counts of the records in an account.
type Overview struct {
	Messages  MessageCounts
	Contacts  ContactCounts
	Resources Resources
	Minutes   map[int64]int64    // number of sent messages by minute
	Waiting   []activity.Waiting // campaigns that are scheduled for later, and contacts that have not confirmed yet
}

// Resources contains the number of resources by type.
type Resources struct {
	Lists      int `json:"lists" doc:"lists of contacts"`
	Templates  int `json:"templates" doc:"templates for messages"`
	Campaigns  int `json:"campaigns" doc:"campaigns in any state"`
	Workflows  int `json:"workflows" doc:"workflows, active or not"`
	Webhooks   int `json:"webhooks" doc:"webhooks, archived or not"`
	Suppressed int `json:"suppressed" doc:"suppressed addresses and patterns"`
}

// Overview counts the resources and messages of one account, or of all accounts if account is 0. It
// also counts the messages in each minute between from and until, inclusive. The parameters from
// and until are minutes since the Unix epoch. The running time depends on the number of lists and
// campaigns, not on the number of messages or contacts.
func (p *Platform) Overview(account, from, until int64) Overview {
	out := Overview{Contacts: ContactCounts{}, Minutes: map[int64]int64{}}
	p.mu.Lock()
	defer p.mu.Unlock()
	for a := range p.accountsLocked(account) {
		out.addLocked(a)
		a.counts.minutes.Each(from, until, func(m, n int64) { out.Minutes[m] += n })
		for c := range a.Campaigns.all() {
			if c.Status == campaignScheduled {
				due := clock.Unix(c.ScheduledFor)
				out.Waiting = append(out.Waiting, activity.Waiting{Why: activity.WaitCampaign, N: 1, Until: due, CampaignID: c.CampaignID, Name: c.Name})
			}
		}
		for l := range a.Lists.all() {
			out.Contacts.add(l.contacts)
			if n := l.contacts.counts[statusPending]; n > 0 {
				out.Waiting = append(out.Waiting, activity.Waiting{Why: activity.WaitConfirmation, N: n, ListID: l.ListID, Name: l.Name})
			}
		}
	}
	return out
}

func (o *Overview) addLocked(a *account) {
	o.Messages.add(a.counts.all)
	o.Resources.Lists += a.Lists.len()
	o.Resources.Templates += a.Templates.len()
	o.Resources.Campaigns += a.Campaigns.len()
	o.Resources.Workflows += a.Workflows.len()
	o.Resources.Webhooks += a.Webhooks.len()
	o.Resources.Suppressed += a.Suppression.len()
}

func (c *MessageCounts) add(other MessageCounts) {
	c.Sent += other.Sent
	c.Bounced += other.Bounced
	c.Opened += other.Opened
	c.Clicked += other.Clicked
	c.Unsubscribed += other.Unsubscribed
	c.GlobalUnsubscribed += other.GlobalUnsubscribed
	c.ReportedAsSpam += other.ReportedAsSpam
}
