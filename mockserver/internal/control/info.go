package control

import (
	"net/http"
	"slices"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/platform"
)

func (c *Control) info(r *http.Request) (any, error) {
	type user struct {
		UserID   int64  `json:"user_id"`
		Email    string `json:"email"`
		ReadOnly bool   `json:"read_only"`
	}
	type account struct {
		AccountID int64  `json:"account_id"`
		Users     []user `json:"users"`
	}
	type category struct {
		Category    events.BounceCategory `json:"category"`
		Description string                `json:"description"`
	}
	var accounts []account
	for _, t := range c.Tokens {
		i := slices.IndexFunc(accounts, func(a account) bool { return a.AccountID == t.AccountID })
		if i < 0 {
			i = len(accounts)
			accounts = append(accounts, account{AccountID: t.AccountID})
		}
		accounts[i].Users = append(accounts[i].Users, user{t.UserID, t.UserEmail, t.ReadOnly})
	}
	var categories []category
	for _, c := range []events.BounceCategory{
		events.BounceCategoryHard, events.BounceCategorySoft, events.BounceCategoryMailboxFull, events.BounceCategoryBlocked, events.BounceCategoryTransient,
		events.BounceCategoryDNSFailure, events.BounceCategoryAutoReply, events.BounceCategoryChallengeResponse, events.BounceCategoryAddressChange,
	} {
		categories = append(categories, category{c, c.Description()})
	}
	seed, _ := c.Faults.List()
	waits := []int64{}
	for _, wait := range c.options.RetrySchedule {
		waits = append(waits, wait.Milliseconds())
	}
	return map[string]any{
		"accounts":          accounts,
		"token_needed":      c.options.NeedsToken(r),
		"fault_seed":        seed,
		"lookup_limit":      c.Platform.Lookups(),
		"retry_schedule_ms": waits,
		"events":            api.EventNames(),
		"bounce_categories": categories,
		"magic_domain":      platform.MagicDomain,
	}, nil
}
