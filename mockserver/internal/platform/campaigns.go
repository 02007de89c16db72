package platform

import (
	"cmp"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// maxUnix is the last second of the year 9999, because years in events have four
// digits.
const maxUnix = 253402300799

func (t *tx) campaign(id int64) (*campaign, error) {
	return t.account.Campaigns.find(id, "campaign", "path", "campaign_id")
}

// createCampaign implements POST /campaigns.
func (t *tx) createCampaign(r api.CreateCampaignRequestObject) (api.CreateCampaignResponseObject, error) {
	if r.Body.ListID != 0 {
		if _, err := t.listNamed(r.Body.ListID); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(checkSender(r.Body.Sender, false), t.checkContent(r.Body.Content, false)); err != nil {
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
	return api.CreateCampaign201JSONResponse(c.wire()), nil
}

// listCampaigns implements GET /campaigns.
func (t *tx) listCampaigns(r api.ListCampaignsRequestObject) (api.ListCampaignsResponseObject, error) {
	data, pagination, err := pageOf(t.account.Campaigns.len(), t.account.Campaigns.from, r.Params.Page, r.Params.PerPage, r.Params.WithCount, (*campaign).wire)
	return api.ListCampaigns200JSONResponse{Data: data, Pagination: pagination}, err
}

// getCampaign implements GET /campaigns/{campaign_id}.
func (t *tx) getCampaign(r api.GetCampaignRequestObject) (api.GetCampaignResponseObject, error) {
	c, err := t.campaign(r.CampaignID)
	if err != nil {
		return nil, err
	}
	return api.GetCampaign200JSONResponse(c.wire()), nil
}

// updateCampaign implements PATCH /campaigns/{campaign_id}.
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
		if _, err := t.complete(&updated); err != nil {
			return nil, err
		}
	}
	updated.UpdatedOn = t.unix()
	*c = updated
	return api.UpdateCampaign200JSONResponse(c.wire()), nil
}

// changeCampaign applies an update to a campaign. The caller passes a copy, so an
// invalid update does not change the campaign.
func (t *tx) changeCampaign(c *campaign, in api.CampaignUpdate) error {
	set(&c.Name, in.Name)
	if in.ListID != nil {
		if _, err := t.listNamed(*in.ListID); err != nil {
			return err
		}
		if c.ListID != *in.ListID {
			c.ListID, c.Next = *in.ListID, 0
		}
	}
	if in.Sender != nil {
		if err := checkSender(*in.Sender, true); err != nil {
			return err
		}
		c.Sender = *in.Sender
	}
	if in.Content != nil {
		return t.changeContent(&c.Content, *in.Content)
	}
	return nil
}

// scheduleCampaign implements POST /campaigns/{campaign_id}/schedule.
func (t *tx) scheduleCampaign(r api.ScheduleCampaignRequestObject) (api.ScheduleCampaignResponseObject, error) {
	c, err := t.campaign(r.CampaignID)
	if err != nil {
		return nil, err
	}
	if c.Status != campaignIncomplete {
		return nil, c.invalidState("is " + c.Status)
	}
	l, err := t.complete(c)
	if err != nil {
		return nil, err
	}
	at := t.unix()
	if r.Body != nil {
		at = max(at, r.Body.ScheduledFor)
	}
	if at > maxUnix {
		return nil, problem.Invalid("too far in the future", "body", "scheduled_for")
	}
	c.Status, c.ScheduledFor = campaignScheduled, at
	t.campaignScheduled(c, l)
	t.arm(c)
	return api.ScheduleCampaign200JSONResponse(c.wire()), nil
}

// complete returns the campaign's list, or an error if the campaign cannot be sent
// yet.
func (t *tx) complete(c *campaign) (*list, error) {
	l := t.account.Lists.get(c.ListID)
	switch {
	case l == nil:
		return nil, c.invalidState("has no list")
	case c.Sender.Email == "":
		return nil, c.invalidState("has no sender")
	case c.Content.Subject == "":
		return nil, c.invalidState("has no subject")
	case !hasParts(t.sendable(c.Content)):
		return nil, c.invalidState("has no HTML and no text")
	}
	return l, l.mayBeSentTo("path", "campaign_id")
}

// DeleteCampaign deletes a draft campaign in any account. The API has no
// operation that deletes a campaign.
func (p *Platform) DeleteCampaign(id int64) error {
	p.mu.Lock()
	owner := int64(0)
	for _, a := range p.accounts {
		if a.Campaigns.get(id) != nil {
			owner = a.ID
		}
	}
	p.mu.Unlock()
	if owner == 0 {
		return problem.NotFound("campaign", id, "path", "id")
	}
	return p.transact(owner, nil, func(t *tx) error {
		c, err := t.account.Campaigns.find(id, "campaign", "path", "id")
		if err != nil {
			return err
		}
		if c.Status != campaignIncomplete {
			return c.invalidState("is " + c.Status)
		}
		t.account.Campaigns.remove(id)
		return nil
	})
}
