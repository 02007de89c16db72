package activity

import "time"

// WaitReason is a reason for waiting.
type WaitReason string

// The reasons for waiting.
const (
	WaitRetry        WaitReason = "retry"
	WaitRateLimit    WaitReason = "rate_limit"
	WaitArchived     WaitReason = "archived"
	WaitDelay        WaitReason = "delay"        // by a fault
	WaitTurn         WaitReason = "turn"         // the limit of concurrent attempts
	WaitCampaign     WaitReason = "campaign"     // scheduled for later
	WaitConfirmation WaitReason = "confirmation" // contacts that have not confirmed
)

// WaitReasons returns all reasons for waiting.
func WaitReasons() []WaitReason {
	return []WaitReason{WaitRetry, WaitRateLimit, WaitArchived, WaitDelay, WaitTurn, WaitCampaign, WaitConfirmation}
}

// Waiting describes pending work that waits for the same reason: deliveries to one
// webhook, a campaign, or the contacts of one list.
type Waiting struct {
	Why        WaitReason `json:"why" doc:"the reason for waiting; delay is by a fault, turn is the limit of concurrent attempts"`
	N          int        `json:"n" doc:"the number of waiting deliveries, campaigns or contacts"`
	Until      time.Time  `json:"until,omitzero" doc:"the time when the first wait ends, if known"`
	WebhookID  string     `json:"webhook_id,omitzero" doc:"the id of the webhook that receives the deliveries, if any"`
	URL        string     `json:"url,omitzero" doc:"the target URL of the deliveries"`
	CampaignID int64      `json:"campaign_id,omitzero" doc:"the id of the campaign"`
	ListID     int64      `json:"list_id,omitzero" doc:"the id of the list that contains the contacts"`
	Name       string     `json:"name,omitzero" doc:"the name of the campaign or list"`
}
