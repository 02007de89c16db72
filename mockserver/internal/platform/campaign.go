package platform

import (
	"fmt"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/clock"
)

// If you add a status, add it to CampaignStatuses.
const (
	campaignIncomplete = "incomplete"
	campaignScheduled  = "scheduled"
	campaignDelivering = "delivering"
	campaignDelivered  = "delivered"
)

// CampaignStatuses returns the statuses of a campaign, in chronological order.
func CampaignStatuses() []string {
	return []string{campaignIncomplete, campaignScheduled, campaignDelivering, campaignDelivered}
}

type campaign struct {
	api.Campaign
	Next int `json:"next,omitzero"` // slot of the next contact while the campaign is delivering

	start *campaignStart // nil unless the campaign is scheduled or was sent
}

// campaignStart identifies a scheduled campaign. After a restore, a campaign has another start.
type campaignStart struct{ alarm *clock.Alarm } // the alarm is nil if the campaign starts immediately

func (c *campaign) toAPI() api.Campaign {
	out := c.Campaign
	out.Content = contentForAPI(c.Content)
	return out
}

func (c *campaign) invalidState(msg string) error {
	return apierror.Conflict("invalid_state", fmt.Sprintf("campaign %d %s", c.CampaignID, msg), "path", "campaign_id")
}
