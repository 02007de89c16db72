package platform

import (
	"fmt"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
)

// Templates, workflows and suppressed addresses are stored in generated API types. The
// other resources have types in this file, because they need fields that the generated
// types lack.

type list struct {
	api.List

	contacts *contactTable
}

func (l *list) wire() api.List { return l.List }

// mayBeSentTo returns an error if the list's anti-spam policy is not accepted
// (specification, "States and transitions", "Errors").
func (l *list) mayBeSentTo(loc ...any) error {
	if l.PolicyAccepted {
		return nil
	}
	return apierror.Conflict("policy_not_accepted", fmt.Sprintf("the anti-spam policy of list %d has not been accepted", l.ListID), loc...)
}

// If you add a status, add it to CampaignStatuses or WorkflowStatuses.
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

func (c *campaign) wire() api.Campaign {
	out := c.Campaign
	out.Content = contentForAPI(c.Content)
	return out
}

func (c *campaign) invalidState(msg string) error {
	return apierror.Conflict("invalid_state", fmt.Sprintf("campaign %d %s", c.CampaignID, msg), "path", "campaign_id")
}

const (
	workflowActive   = "active"
	workflowInactive = "inactive"
)

// WorkflowStatuses returns the statuses of a workflow.
func WorkflowStatuses() []string { return []string{workflowActive, workflowInactive} }

func workflowWire(w *api.Workflow) api.Workflow {
	out := *w
	out.Content = contentForAPI(w.Content)
	return out
}

// copyOf returns the wire format of a resource that is stored in its generated API type.
func copyOf[T any](resource *T) T { return *resource }

const (
	hookActive   = "active"
	hookArchived = "archived" // the webhook does not receive deliveries
)

func hookSummary(h *delivery.Webhook) api.WebhookSummary {
	status := hookActive
	if h.Archived {
		status = hookArchived
	}
	return api.WebhookSummary{
		WebhookID:       h.Name(),
		URL:             h.URL,
		Events:          h.Events,
		RateLimit:       h.RateLimit,
		RateLimitPeriod: h.Period,
		Status:          status,
	}
}

// hookWire returns the webhook with its secret for API responses. Only a response to GET
// contains the hash function.
func hookWire(h *delivery.Webhook) api.Webhook {
	s := hookSummary(h)
	return api.Webhook{
		WebhookID:       s.WebhookID,
		URL:             s.URL,
		Events:          s.Events,
		RateLimit:       s.RateLimit,
		RateLimitPeriod: s.RateLimitPeriod,
		Status:          s.Status,
		Secret:          h.Secret,
	}
}
