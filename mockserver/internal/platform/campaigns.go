package platform

import (
	"context"
	"fmt"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/random"
)

// The statuses of campaigns, in the order that they pass through.
const (
	campaignIncomplete = "incomplete"
	campaignScheduled  = "scheduled"
	campaignDelivering = "delivering"
	campaignDelivered  = "delivered"
)

// maxUnix is the last second of the year 9999, after which ISO 8601 has no
// words for the events.
const maxUnix = 253402300799

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
	timer        *time.Timer
}

func (c *campaign) stop() {
	if c.timer != nil {
		c.timer.Stop()
	}
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

func (t *tx) campaign(id int64) (*campaign, error) {
	return t.account.Campaigns.find(id, "campaign", "path", "campaign_id")
}

// CreateCampaign implements POST /campaigns.
func (p *Platform) CreateCampaign(ctx context.Context, r api.CreateCampaignRequestObject) (api.CreateCampaignResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.CreateCampaignResponseObject, error) {
		if err := requireName(r.Body.Name); err != nil {
			return nil, err
		}
		if r.Body.ListID != 0 {
			if _, err := t.listNamed(r.Body.ListID); err != nil {
				return nil, err
			}
		}
		from, err := senderOf(r.Body.Sender, false)
		if err != nil {
			return nil, err
		}
		parts, err := t.contentOf(r.Body.Content)
		if err != nil {
			return nil, err
		}
		c := &campaign{
			ID:        t.nextID(),
			Name:      r.Body.Name,
			ListID:    r.Body.ListID,
			From:      from,
			Content:   parts,
			Status:    campaignIncomplete,
			CreatedOn: t.unix(),
			UpdatedOn: t.unix(),
		}
		t.account.Campaigns.add(c.ID, c)
		return api.CreateCampaign201JSONResponse(c.wire()), nil
	})
}

// ListCampaigns implements GET /campaigns.
func (p *Platform) ListCampaigns(ctx context.Context, r api.ListCampaignsRequestObject) (api.ListCampaignsResponseObject, error) {
	page, err := paging(r.Params.Page, r.Params.PerPage, r.Params.WithCount)
	if err != nil {
		return nil, err
	}
	return do(ctx, p, func(t *tx) (api.ListCampaignsResponseObject, error) {
		data, pagination := pageOf(page, t.account.Campaigns.all, (*campaign).wire)
		return api.ListCampaigns200JSONResponse{Data: data, Pagination: pagination}, nil
	})
}

// GetCampaign implements GET /campaigns/{campaign_id}.
func (p *Platform) GetCampaign(ctx context.Context, r api.GetCampaignRequestObject) (api.GetCampaignResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.GetCampaignResponseObject, error) {
		c, err := t.campaign(r.CampaignID)
		if err != nil {
			return nil, err
		}
		return api.GetCampaign200JSONResponse(c.wire()), nil
	})
}

// UpdateCampaign implements PATCH /campaigns/{campaign_id}.
func (p *Platform) UpdateCampaign(ctx context.Context, r api.UpdateCampaignRequestObject) (api.UpdateCampaignResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.UpdateCampaignResponseObject, error) {
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
	})
}

// changeCampaign applies an update to c, which is a copy: a mistake anywhere
// leaves the campaign as it was.
func (t *tx) changeCampaign(c *campaign, in api.CampaignUpdate) (err error) {
	if in.Name != nil {
		if err := requireName(*in.Name); err != nil {
			return err
		}
		c.Name = *in.Name
	}
	if in.ListID != nil {
		if _, err := t.listNamed(*in.ListID); err != nil {
			return err
		}
		c.ListID = *in.ListID
	}
	if in.Sender != nil {
		if c.From, err = senderOf(*in.Sender, true); err != nil {
			return err
		}
	}
	if in.Content != nil {
		c.Content, err = t.changeContent(c.Content, *in.Content)
	}
	return err
}

// changeContent applies a partial update. A template takes the place of inline
// parts, and the other way round.
func (t *tx) changeContent(c content, in api.MessageContentUpdate) (content, error) {
	inline := in.HTML != nil || in.Text.Set
	if in.TemplateID != nil && inline {
		return c, problem.Invalid("either a template or inline parts", "body", "content", "template_id")
	}
	if in.Subject != nil {
		c.Subject = *in.Subject
	}
	if in.TemplateID != nil {
		_, err := t.account.Templates.find(*in.TemplateID, "template", "body", "content", "template_id")
		return content{Subject: c.Subject, TemplateID: *in.TemplateID}, err
	}
	if inline && c.TemplateID != 0 {
		c = content{Subject: c.Subject}
	}
	if in.HTML != nil {
		c.HTML = *in.HTML
	}
	if in.Text.Set {
		c.Text = in.Text.Value
	}
	return c, nil
}

// ScheduleCampaign implements POST /campaigns/{campaign_id}/schedule.
func (p *Platform) ScheduleCampaign(ctx context.Context, r api.ScheduleCampaignRequestObject) (api.ScheduleCampaignResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.ScheduleCampaignResponseObject, error) {
		c, err := t.campaign(r.CampaignID)
		if err != nil {
			return nil, err
		}
		l, err := t.readyToSend(c)
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
	})
}

// readyToSend returns the list that a campaign goes to, or what keeps it from
// being scheduled.
func (t *tx) readyToSend(c *campaign) (*list, error) {
	if c.Status != campaignIncomplete {
		return nil, c.invalidState("is " + c.Status)
	}
	return t.complete(c)
}

// complete returns the list that a campaign goes to, or what the campaign lacks.
func (t *tx) complete(c *campaign) (*list, error) {
	l := t.account.Lists.byID[c.ListID]
	switch {
	case l == nil:
		return nil, c.invalidState("has no list")
	case c.From.Email == "":
		return nil, c.invalidState("has no sender")
	case c.Content.Subject == "":
		return nil, c.invalidState("has no subject")
	case t.sendable(c.Content).empty():
		return nil, c.invalidState("has no HTML and no text")
	}
	return l, l.mayBeSentTo("path", "campaign_id")
}

func (c *campaign) invalidState(msg string) error {
	return problem.Conflict("invalid_state", fmt.Sprintf("campaign %d %s", c.ID, msg), "path", "campaign_id")
}

// arm makes a scheduled campaign start when its time comes.
func (t *tx) arm(c *campaign) {
	run := t.campaignRun(t.account.ID, c)
	if wait := time.Unix(c.ScheduledFor, 0).Sub(t.now); wait > 0 {
		c.timer = time.AfterFunc(wait, run)
		return
	}
	t.work.Start()
	t.after = append(t.after, func() {
		go func() {
			defer t.work.Done()
			run()
		}()
	})
}

const (
	// campaignBatch is how many contacts a campaign is sent to at a time.
	campaignBatch = 1000
	// campaignPause is before each batch: others get their turn, and whoever
	// asks in time sees the campaign delivering.
	campaignPause = time.Millisecond
)

// campaignRun returns what sends a campaign to the end. Of several calls, one does.
// It ends when other records take the place of the campaign's, also if they have
// a campaign of the same id.
func (p *Platform) campaignRun(accountID int64, c *campaign) func() {
	return func() {
		p.work.Start()
		defer p.work.Done()
		parts, from := content{}, -1
		for {
			next, _ := transact(p, accountID, nil, func(t *tx) (int, error) {
				if t.closed || t.account.Campaigns.byID[c.ID] != c {
					return -1, nil
				}
				if from < 0 {
					if c.Status != campaignScheduled {
						return -1, nil
					}
					c.Status = campaignDelivering
					parts = t.sendable(c.Content)
					return c.Next, nil
				}
				return t.sendBatch(c, parts, from), nil
			})
			if next < 0 {
				return
			}
			from = next
			time.Sleep(campaignPause)
		}
	}
}

// sendBatch sends a campaign to contacts from a slot on and returns the slot to
// go on with, or -1 at the end.
func (t *tx) sendBatch(c *campaign, parts content, from int) int {
	l := t.account.Lists.byID[c.ListID]
	to := min(from+campaignBatch, len(l.contacts.all))
	for _, member := range l.contacts.all[from:to] {
		if member.Status != statusActive || t.account.Suppression.matches(member.Email) {
			continue
		}
		m := &message{ID: random.UUID(), SentBy: events.SendingTypeCampaign, From: c.From, Content: parts, CampaignID: c.ID, SubmittedOn: t.unix()}
		m.to(l, member)
		t.send(m)
	}
	if to < len(l.contacts.all) {
		c.Next = to
		return to
	}
	c.Status, c.Next = campaignDelivered, 0
	t.campaignSent(c, l)
	return -1
}

// StartDue starts what is due and whose timer may not have fired yet.
func (p *Platform) StartDue() {
	p.mu.Lock()
	var due []func()
	now := time.Now()
	for _, a := range p.accounts {
		for _, c := range a.Campaigns.all {
			if c.Status == campaignScheduled && !time.Unix(c.ScheduledFor, 0).After(now) {
				due = append(due, p.campaignRun(a.ID, c))
			}
		}
	}
	p.mu.Unlock()
	for _, run := range due {
		run()
	}
}
