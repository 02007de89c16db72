package platform

import (
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/delivery"
)

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
