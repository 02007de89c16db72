package delivery

import (
	"cmp"
	"net/url"
	"strconv"
	"time"

	"example.com/emailplatform/webhook"
)

// Webhook is the target of deliveries. All fields except Archived are constant.
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

// Name returns the id in the format of the API, a decimal string.
func (h *Webhook) Name() string { return strconv.FormatInt(h.ID, 10) }

// redactedURL returns the URL without its password, for errors.
func (h *Webhook) redactedURL() string {
	to, err := url.Parse(h.URL)
	if err != nil {
		return "" // never, because the URL has been validated
	}
	return to.Redacted()
}

func (h *Webhook) period() time.Duration {
	periods := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "day": 24 * time.Hour}
	return cmp.Or(periods[h.Period], time.Hour)
}
