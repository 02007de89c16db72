package platform

import (
	"cmp"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/clock"
)

// MessageCounts counts messages and their results.
type MessageCounts struct {
	Sent               int64 `json:"sent" doc:"sent messages"`
	Bounced            int64 `json:"bounced" doc:"bounced messages"`
	Opened             int64 `json:"opened" doc:"messages that were opened at least once"`
	Clicked            int64 `json:"clicked" doc:"messages with at least one click on a link"`
	Unsubscribed       int64 `json:"unsubscribed" doc:"messages whose recipients unsubscribed from the list"`
	GlobalUnsubscribed int64 `json:"global_unsubscribed" doc:"messages whose recipients unsubscribed from all email"`
	ReportedAsSpam     int64 `json:"reported_as_spam" doc:"messages that were reported as spam"`
}

// count adds a message to the counts if the argument by is 1. If the argument is -1, count
// subtracts the message.
func (c *MessageCounts) count(m *message, by int64) {
	c.Sent += by
	for _, row := range []struct {
		is bool
		n  *int64
	}{
		{m.Status == messageBounced, &c.Bounced},
		{m.Opens > 0, &c.Opened},
		{m.Clicks > 0, &c.Clicked},
		{m.Unsubscribed, &c.Unsubscribed},
		{m.GlobalUnsubscribed, &c.GlobalUnsubscribed},
		{m.ReportedAsSpam, &c.ReportedAsSpam},
	} {
		if row.is {
			*row.n += by
		}
	}
}

// accountCounts counts the messages of an account. Each change to a message updates the
// counts, so no scan is necessary.
type accountCounts struct {
	all      MessageCounts
	byOrigin map[int64]*MessageCounts // results by campaign or workflow
	minutes  activity.PerMinute       // number of sent messages by minute
}

func newAccountCounts() accountCounts { return accountCounts{byOrigin: map[int64]*MessageCounts{}} }

func (c *accountCounts) addMessage(m *message) {
	c.count(m, 1)
	c.minutes.Add(clock.Unix(m.SubmittedOn))
}

// count ignores messages that are not in the outbox.
func (c *accountCounts) count(m *message, by int64) {
	if !m.inOutbox() {
		return
	}
	c.all.count(m, by)
	origin := m.CampaignID + m.WorkflowID // at most one of them is set
	if origin == 0 {
		return
	}
	if c.byOrigin[origin] == nil {
		c.byOrigin[origin] = &MessageCounts{}
	}
	c.byOrigin[origin].count(m, by)
}

// countsOf returns the results of the messages from a campaign or a workflow.
func (c *accountCounts) countsOf(origin int64) MessageCounts {
	return *cmp.Or(c.byOrigin[origin], &MessageCounts{})
}
