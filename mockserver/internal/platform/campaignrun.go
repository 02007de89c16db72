package platform

import (
	"fmt"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/clock"
)

// arm sets the alarm that starts a scheduled campaign, unless the platform is
// closed.
func (t *tx) arm(c *campaign) {
	if t.p.closed {
		return
	}
	work, account, run := t.p.Work, t.account.ID, t.p.campaignRun(t.account.ID, c)
	begin := func() {
		work.Start(account)
		go func() {
			defer work.Done(account)
			run()
		}()
	}
	if at := clock.Unix(c.ScheduledFor); at.After(t.now) {
		c.alarm = t.p.Clock.At(at, dueCampaign(c.CampaignID), begin)
		return
	}
	work.Start(account) // until begin runs
	t.after = append(t.after, func() {
		defer work.Done(account)
		begin()
	})
}

// dueCampaign describes the campaign that an alarm starts.
type dueCampaign int64

func (id dueCampaign) String() string { return fmt.Sprintf("campaign %d", int64(id)) }

const (
	// campaignBatch is the maximum number of contacts that are processed in one
	// transaction.
	campaignBatch = 1000
	// campaignPause is the real-time pause before each batch. During the pause,
	// other requests can run, and tests can observe the status delivering.
	campaignPause = time.Millisecond
)

// campaignRun returns a function that sends a campaign. If several runs of the same
// campaign overlap, only one run sends it. A run ends when a restore replaces the
// campaign, even if the new campaign has the same id.
func (p *Platform) campaignRun(accountID int64, c *campaign) func() {
	return func() {
		parts, from := api.MessageContent{}, -1
		for {
			next := -1
			_ = p.transact(accountID, nil, func(t *tx) error {
				switch {
				case t.p.closed || t.account.Campaigns.get(c.CampaignID) != c:
				case from >= 0:
					next = t.sendBatch(c, parts, from)
				case c.Status == campaignScheduled:
					c.Status = campaignDelivering
					parts, next = t.sendable(c.Content), c.Next
				}
				return nil
			})
			if next < 0 {
				return
			}
			from = next
			time.Sleep(campaignPause)
		}
	}
}

// sendBatch sends a campaign to one batch of contacts. It returns the index of the
// contact where the next batch starts, or -1 after the last batch.
func (t *tx) sendBatch(c *campaign, parts api.MessageContent, from int) int {
	l := t.account.Lists.get(c.ListID)
	n := l.contacts.all.Len()
	to := min(from+campaignBatch, n)
	for i := range to - from {
		member := l.contacts.all.At(from + i)
		if member.Status != statusActive || t.account.Suppression.matches(member.Email) {
			continue
		}
		m := &message{
			ID: UUID(), SentBy: events.SendingTypeCampaign, From: c.Sender, Content: parts,
			CampaignID: c.CampaignID, SubmittedOn: t.unix(),
		}
		m.address(member.Email, l, member)
		t.send(m)
	}
	if to < n {
		c.Next = to
		return to
	}
	c.Status, c.Next = campaignDelivered, 0
	t.campaignSent(c, l)
	return -1
}

// resume continues the scheduled and delivering campaigns of an account.
func (t *tx) resume(a *account) {
	t.account = a
	for c := range a.Campaigns.all() {
		if c.Status == campaignDelivering {
			c.Status = campaignScheduled // campaignRun sends only scheduled campaigns
		}
		if c.Status == campaignScheduled {
			t.arm(c)
		}
	}
}
