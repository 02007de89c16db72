package platform

import (
	"fmt"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/clock"
)

// maxUnix is the last second of the year 9999, because years in events have four
// digits.
const maxUnix = 253402300799

func (t *tx) campaign(id int64) (*campaign, error) {
	return t.account.Campaigns.find(id, "campaign", "path", "campaign_id")
}

func (t *tx) createCampaign(r api.CreateCampaignRequestObject) (api.CreateCampaignResponseObject, error) {
	err := apierror.Join(t.checkList(r.Body.ListID), checkSender(r.Body.Sender, false), t.checkContent(r.Body.Content, false))
	if err != nil {
		return nil, err
	}
	c := &campaign{Campaign: api.Campaign{
		CampaignID: t.newID(),
		Name:       r.Body.Name,
		ListID:     r.Body.ListID,
		Sender:     r.Body.Sender,
		Content:    r.Body.Content,
		Status:     campaignIncomplete,
		CreatedOn:  t.unix(),
		UpdatedOn:  t.unix(),
	}}
	t.account.Campaigns.add(c.CampaignID, c)
	return api.CreateCampaign201JSONResponse(c.toAPI()), nil
}

func (t *tx) listCampaigns(r api.ListCampaignsRequestObject) (api.ListCampaignsResponseObject, error) {
	data, pagination, err := pageOf(t.account.Campaigns.inOrder, r.Params.Page, r.Params.PerPage, r.Params.WithCount, (*campaign).toAPI)
	return api.ListCampaigns200JSONResponse{Data: data, Pagination: pagination}, err
}

func (t *tx) getCampaign(r api.GetCampaignRequestObject) (api.GetCampaignResponseObject, error) {
	c, err := t.campaign(r.CampaignID)
	if err != nil {
		return nil, err
	}
	return api.GetCampaign200JSONResponse(c.toAPI()), nil
}

func (t *tx) updateCampaign(r api.UpdateCampaignRequestObject) (api.UpdateCampaignResponseObject, error) {
	c, err := t.campaign(r.CampaignID)
	if err != nil {
		return nil, err
	}
	if c.Status != campaignIncomplete && c.Status != campaignScheduled {
		return nil, c.invalidState("is " + c.Status)
	}
	updated := *c
	if err := t.changeCampaign(&updated, *r.Body); err != nil {
		return nil, err
	}
	if updated.Status == campaignScheduled {
		if _, err := t.checkReady(&updated); err != nil {
			return nil, err
		}
	}
	updated.UpdatedOn = t.unix()
	t.account.Campaigns.set(c.CampaignID, &updated)
	return api.UpdateCampaign200JSONResponse(updated.toAPI()), nil
}

// The caller passes a copy, so an invalid update does not change the campaign.
func (t *tx) changeCampaign(c *campaign, in api.CampaignUpdate) error {
	var list, sender, content error
	set(&c.Name, in.Name)
	if in.ListID != nil {
		_, list = t.listInBody(*in.ListID)
		if c.ListID != *in.ListID {
			c.ListID, c.Next = *in.ListID, 0
		}
	}
	if in.Sender != nil {
		sender = checkSender(*in.Sender, true)
		c.Sender = *in.Sender
	}
	if in.Content != nil {
		content = t.changeContent(&c.Content, *in.Content)
	}
	return apierror.Join(list, sender, content)
}

func (t *tx) scheduleCampaign(r api.ScheduleCampaignRequestObject) (api.ScheduleCampaignResponseObject, error) {
	c, err := t.campaign(r.CampaignID)
	if err != nil {
		return nil, err
	}
	if c.Status != campaignIncomplete {
		return nil, c.invalidState("is " + c.Status)
	}
	l, err := t.checkReady(c)
	if err != nil {
		return nil, err
	}
	at := t.unix()
	if r.Body != nil {
		at = max(at, r.Body.ScheduledFor)
	}
	if at > maxUnix {
		return nil, apierror.Invalid("too far in the future", "body", "scheduled_for")
	}
	c = t.account.Campaigns.edit(c.CampaignID)
	c.Status, c.ScheduledFor = campaignScheduled, at
	t.campaignScheduled(c, l)
	t.scheduleStart(c)
	return api.ScheduleCampaign200JSONResponse(c.toAPI()), nil
}

// checkReady returns the campaign's list, or an error if the campaign cannot be sent
// yet.
func (t *tx) checkReady(c *campaign) (*list, error) {
	l := t.account.Lists.get(c.ListID)
	switch {
	case l == nil:
		return nil, c.invalidState("has no list")
	case c.Sender.Email == "":
		return nil, c.invalidState("has no sender")
	case c.Content.Subject == "":
		return nil, c.invalidState("has no subject")
	case !hasParts(t.withTemplateParts(c.Content)):
		return nil, c.invalidState("has no HTML and no text")
	}
	return l, l.mayBeSentTo("path", "campaign_id")
}

// DeleteCampaign deletes a draft campaign in any account, for the control routes. The
// API has no such operation.
func (p *Platform) DeleteCampaign(id int64) error {
	return p.transactAndRevise(nil, func(*tx) error {
		for _, a := range p.accounts {
			switch c := a.Campaigns.get(id); {
			case c == nil:
			case c.Status != campaignIncomplete:
				return c.invalidState("is " + c.Status)
			default:
				a.Campaigns.remove(id)
				return nil
			}
		}
		return apierror.NotFound("campaign", id, "path", "id")
	})
}

// scheduleStart sets the alarm that starts a scheduled campaign, unless the platform is
// closed. The caller must be allowed to change the campaign.
func (t *tx) scheduleStart(c *campaign) {
	if t.p.closed {
		return
	}
	c.start = &campaignStart{}
	work, account, run := t.p.Work, t.account.ID, t.p.campaignRun(t.account.ID, c)
	begin := func() {
		work.Start(account)
		go func() {
			defer work.Done(account)
			run()
		}()
	}
	if at := clock.Unix(c.ScheduledFor); at.After(t.now) {
		c.start.alarm = t.p.Clock.At(at, fmt.Sprintf("campaign %d", c.CampaignID), begin)
		return
	}
	work.Start(account) // until begin runs
	t.after = append(t.after, func() {
		defer work.Done(account)
		begin()
	})
}

const (
	// campaignBatch is the maximum number of contacts that are processed in one
	// transaction.
	campaignBatch = 1000
	// campaignPause is the real-time pause before each batch. During the pause,
	// other requests can run, and tests can observe the status "delivering".
	campaignPause = time.Millisecond
)

// campaignRun returns a function that sends a campaign. If calls of the function
// overlap, only one of them sends emails. If a restore replaces the campaign during a
// call, the call ends, even if the new campaign has the same id.
func (p *Platform) campaignRun(accountID int64, scheduled *campaign) func() {
	id, start := scheduled.CampaignID, scheduled.start
	return func() {
		parts, begun := api.MessageContent{}, false
		for {
			more := false
			_ = p.transactAndRevise(nil, func(t *tx) error {
				t.account = p.accountLocked(accountID)
				c := t.account.Campaigns.get(id)
				switch {
				case p.closed || c == nil || c.start != start:
				case begun:
					more = t.sendBatch(t.account.Campaigns.edit(id), parts)
				case c.Status == campaignScheduled:
					t.account.Campaigns.edit(id).Status = campaignDelivering
					parts, begun, more = t.withTemplateParts(c.Content), true, true
				}
				return nil
			})
			if !more {
				return
			}
			time.Sleep(campaignPause)
		}
	}
}

// sendBatch sends a campaign to one batch of contacts, and reports whether a batch
// remains. It changes the campaign.
func (t *tx) sendBatch(c *campaign, parts api.MessageContent) (more bool) {
	l := t.account.Lists.get(c.ListID)
	n := l.contacts.all.Len()
	to := min(c.Next+campaignBatch, n)
	for i := c.Next; i < to; i++ {
		member := l.contacts.all.At(i)
		if member.Status != statusActive || t.account.Suppression.matches(member.Email) {
			continue
		}
		m := t.newMessage(events.SendingTypeCampaign, c.Sender, parts)
		m.CampaignID = c.CampaignID
		m.setRecipient(member.Email, l, member)
		t.deliver(m)
	}
	if to < n {
		c.Next = to
		return true
	}
	c.Status, c.Next = campaignDelivered, 0
	t.campaignSent(c, l)
	return false
}

func (t *tx) resumeCampaigns(a *account) {
	t.account = a
	for c := range a.Campaigns.all() {
		if c.Status == campaignDelivering || c.Status == campaignScheduled {
			c = a.Campaigns.edit(c.CampaignID)
			c.Status = campaignScheduled // campaignRun sends only scheduled campaigns
			t.scheduleStart(c)
		}
	}
}
