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

// count adds a message to the counts if by is 1, and subtracts it if by is -1.
func (o *MessageCounts) count(m *message, by int64) {
	o.Sent += by
	for _, c := range []struct {
		is bool
		n  *int64
	}{
		{m.Status == messageBounced, &o.Bounced},
		{m.Opens > 0, &o.Opened},
		{m.Clicks > 0, &o.Clicked},
		{m.Unsubscribed, &o.Unsubscribed},
		{m.GlobalUnsubscribed, &o.GlobalUnsubscribed},
		{m.ReportedAsSpam, &o.ReportedAsSpam},
	} {
		if c.is {
			*c.n += by
		}
	}
}

// Each change to a message updates the outcomes of its account, so no scan is
// necessary.
type outcomes struct {
	all      MessageCounts
	byOrigin map[int64]*MessageCounts // results by campaign or workflow
	minutes  activity.PerMinute       // number of sent messages by minute
}

func newOutcomes() outcomes { return outcomes{byOrigin: map[int64]*MessageCounts{}} }

func (o *outcomes) addMessage(m *message) {
	o.count(m, 1)
	o.minutes.Add(clock.Unix(m.SubmittedOn))
}

// count ignores messages that are not in the outbox.
func (o *outcomes) count(m *message, by int64) {
	if !m.inOutbox() {
		return
	}
	o.all.count(m, by)
	origin := m.CampaignID + m.WorkflowID // at most one of them is set
	if origin == 0 {
		return
	}
	if o.byOrigin[origin] == nil {
		o.byOrigin[origin] = &MessageCounts{}
	}
	o.byOrigin[origin].count(m, by)
}

// ofOrigin returns the results of the messages from a campaign or a workflow.
func (o *outcomes) ofOrigin(origin int64) MessageCounts {
	return *cmp.Or(o.byOrigin[origin], &MessageCounts{})
}
