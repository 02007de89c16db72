package delivery

import (
	"strconv"
	"time"

	"example.com/emailplatform/webhook"
)

// Webhook is the target of deliveries. Only Archived changes.
type Webhook struct {
	ID        int64                `json:"id"`
	AccountID int64                `json:"account_id"`
	URL       string               `json:"url"`
	Events    []string             `json:"events"`
	RateLimit int64                `json:"rate_limit,omitzero"` // 0 is unlimited
	Period    string               `json:"rate_limit_period,omitzero"`
	Secret    string               `json:"secret"`
	Hash      webhook.HashFunction `json:"hash_function"`
	Archived  bool                 `json:"archived,omitzero"`
}

// Name is the id as the API writes it.
func (h *Webhook) Name() string { return strconv.FormatInt(h.ID, 10) }

// period is the period of RateLimit.
func (h *Webhook) period() time.Duration {
	switch h.Period {
	case "second":
		return time.Second
	case "minute":
		return time.Minute
	case "day":
		return 24 * time.Hour
	}
	return time.Hour
}
