package client

import (
	"context"
	"errors"
	"time"
)

// campaignGap is the maximum interval between two requests from Wait.
const campaignGap = 30 * time.Second

// CampaignStatus is the status of a campaign. The platform may add new
// statuses.
type CampaignStatus string

// The known values of [CampaignStatus]. A campaign passes through the known
// statuses in the order of the constants below.
const (
	CampaignStatusIncomplete CampaignStatus = "incomplete"
	CampaignStatusScheduled  CampaignStatus = "scheduled"
	CampaignStatusDelivering CampaignStatus = "delivering"
	CampaignStatusDelivered  CampaignStatus = "delivered"
)

// Campaigns send one message to all active contacts on a list. (Specification:
// Campaigns.)
type Campaigns struct{ x exchange }

// Schedule schedules a campaign for the given time, with a precision of one
// second. If the time is in the past, the platform sends the campaign
// immediately. If the time is zero or not after 1970-01-01 00:00 UTC, the error
// is [ErrValidation]. If the list's policy has not been accepted, the error is
// [ErrPolicyNotAccepted].
func (s *Campaigns) Schedule(ctx context.Context, campaignID int64, at time.Time) (Campaign, error) {
	r := scheduleCampaignRequest(campaignID, campaignSchedule{ScheduledFor: at.Unix()})
	if at.Unix() < 1 && r.err == nil { // 0 would be omitted, which means now
		r.err = errors.New("at must be after 1970-01-01T00:00:00Z")
	}
	return do(ctx, s.x, r, readCampaign)
}

// Send sends a campaign now. If the list's policy has not been accepted, the
// error is [ErrPolicyNotAccepted].
func (s *Campaigns) Send(ctx context.Context, campaignID int64) (Campaign, error) {
	return do(ctx, s.x, scheduleCampaignRequest(campaignID, campaignSchedule{}), readCampaign)
}

// Wait requests a campaign repeatedly until the given function returns true,
// and then returns the campaign. The interval doubles from about 1 s to 30 s.
// Use [Campaign.Settled] to wait for a final status:
//
//	campaign, err := c.Campaigns.Wait(ctx, campaignID, client.Campaign.Settled)
//
// If a request fails, or the context is canceled or expires, Wait returns the
// error and the last result. If the context has no deadline and the campaign is
// never scheduled, Wait does not return.
func (s *Campaigns) Wait(ctx context.Context, campaignID int64, until func(Campaign) bool) (Campaign, error) {
	get := func() (Campaign, error) { return s.Get(ctx, campaignID) }
	return wait(ctx, getCampaignRequest(campaignID), get, until, campaignGap)
}

// Settled reports whether the status is final. An empty status and the statuses
// "incomplete", "scheduled" and "delivering" are not final.
func (c Campaign) Settled() bool {
	switch c.Status {
	case "", CampaignStatusIncomplete, CampaignStatusScheduled, CampaignStatusDelivering:
		return false
	}
	return true
}
