package client

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"
)

// campaignGap is the maximum interval between two requests from Wait.
const campaignGap = 30 * time.Second

const maxUnix = 253_402_300_799 // the Unix time of the end of the year 9999

// CampaignStatus is the status of a campaign. The platform may add new
// statuses.
type CampaignStatus string

// The known values of [CampaignStatus]. A campaign passes through these statuses in this order.
const (
	CampaignStatusIncomplete CampaignStatus = "incomplete"
	CampaignStatusScheduled  CampaignStatus = "scheduled"
	CampaignStatusDelivering CampaignStatus = "delivering"
	CampaignStatusDelivered  CampaignStatus = "delivered"
)

// Campaigns send one message to all active contacts on a list. (Specification:
// Campaigns.)
type Campaigns struct{ handler handler }

// Schedule schedules a campaign for the given time, with a precision of one second. If
// the time is in the past, the platform sends the campaign immediately. If the time is
// before 1970-01-01 00:00:01 UTC or after the year 9999, the error is [ErrValidation].
// If the list's policy has not been accepted, the error is [ErrPolicyNotAccepted].
//
// The platform must confirm the time (see "Confirmed writes" in the package
// documentation), because a platform that ignores the time sends the campaign
// immediately.
func (s *Campaigns) Schedule(ctx context.Context, campaignID int64, at time.Time) (Campaign, error) {
	r := scheduleCampaignRequest(campaignID, campaignSchedule{ScheduledFor: at.Unix()})
	if (at.Unix() < 1 || at.Unix() > maxUnix) && r.err == nil { // 0 would be omitted, which means now
		r.err = errors.New("at must be after 1970-01-01T00:00:00Z and before the year 10000")
	}
	wanted := time.Unix(at.Unix(), 0)
	return s.schedule(ctx, campaignID, r, "the time "+wanted.UTC().Format(time.RFC3339), func(c Campaign) bool {
		now := time.Now()
		if !wanted.After(now) || c.ScheduledFor.Equal(wanted) {
			return true
		}
		if now = now.Add(time.Minute); c.UpdatedOn.After(now) {
			now = c.UpdatedOn
		}
		return c.ScheduledFor.After(wanted) && !c.ScheduledFor.After(now) // the platform's clock is ahead
	})
}

// Send sends a campaign now. If the list's policy has not been accepted, the
// error is [ErrPolicyNotAccepted]. If the campaign was already scheduled or sent,
// the error is [ErrConflict].
func (s *Campaigns) Send(ctx context.Context, campaignID int64) (Campaign, error) {
	r := scheduleCampaignRequest(campaignID, campaignSchedule{})
	return s.schedule(ctx, campaignID, r, "", func(Campaign) bool { return true })
}

func (s *Campaigns) schedule(
	ctx context.Context, campaignID int64, r request, what string, shown func(Campaign) bool,
) (Campaign, error) {
	campaign, err := callJSON(ctx, s.handler, r, readCampaign)
	if err != nil {
		return campaign, err
	}
	what = cmp.Or(what, "that the campaign is scheduled")
	return confirmed(r, campaign, what, func() (Campaign, error) { return s.Get(ctx, campaignID) }, func(c Campaign) bool {
		return c.Status != "" && c.Status != CampaignStatusIncomplete && shown(c)
	})
}

// Wait requests a campaign repeatedly until the given function returns true,
// and then returns the campaign. The interval doubles from about 1 s to 30 s.
// Use [Campaign.Settled] to wait for a final status:
//
//	campaign, err := c.Campaigns.Wait(ctx, campaignID, client.Campaign.Settled)
//
// If a request fails, or the context is canceled or expires, Wait returns the error and
// the last result. Without a deadline in the context, Wait waits forever for a campaign
// that is never scheduled.
func (s *Campaigns) Wait(ctx context.Context, campaignID int64, until func(Campaign) bool) (Campaign, error) {
	get := func() (Campaign, error) { return s.Get(ctx, campaignID) }
	return pollUntil(ctx, getCampaignRequest(campaignID), get, until, campaignGap)
}

// Settled reports whether the status is final. An empty status and the statuses
// "incomplete", "scheduled" and "delivering" are not final.
func (c Campaign) Settled() bool {
	switch CampaignStatus(strings.ToLower(string(c.Status))) {
	case "", CampaignStatusIncomplete, CampaignStatusScheduled, CampaignStatusDelivering:
		return false
	}
	return true
}
