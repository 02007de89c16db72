package control

import (
	"slices"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/record"
)

// serverRoutes are about the server, and all that is in it.
func (c *Control) serverRoutes() section {
	return section{
		title: "The server",
		routes: slices.Concat([]route{
			{pattern: "GET health", does: "Whether it answers. It needs no token.", handler: answering(health)},
			{
				pattern: "GET info",
				does:    "Who has accounts, how the server is configured, and the names that there are.",
				handler: answering(c.info),
			},
		}, c.waitRoutes(), c.tokenRoutes(), []route{
			{
				pattern: "* accounts/{account_id}/api/{path...}",
				does: "The API as a user of the account, without a token, faults, the limit of lookups and the log of " +
					"requests: lists, contacts, suppressed addresses, webhooks, templates … Whatever the API takes and answers " +
					"stands at the same path behind `/api`, and nothing else is taken.",
				query: []param{{
					name: "user_id", means: "the user; the first who may write if left out", integer: true, min: 1, max: 1<<63 - 1,
				}},
				open:    true,
				handler: handler{media: "application/json", serve: c.serveAsAccount},
				example: example{path: "accounts/1/api/lists"},
			},
		}),
	}
}

type healthAnswer struct {
	Status string `json:"status" means:"always ok"`
}

func health(*request) (healthAnswer, error) { return healthAnswer{"ok"}, nil }

type infoAnswer struct {
	Accounts         []account            `json:"accounts" means:"those that there are tokens of"`
	TokenNeeded      bool                 `json:"token_needed" means:"whether the control routes need a token"`
	ExampleToken     string               `json:"example_token,omitzero" means:"the access token that a server has which is given none, to try the API with; left out if it opens nothing here, or where the control routes need a token themselves: no other token is ever shown"`
	FaultSeed        uint64               `json:"fault_seed" means:"of the probabilities of faults"`
	LookupLimit      platform.LookupLimit `json:"lookup_limit" means:"how lookups are counted"`
	RetryScheduleMS  []int64              `json:"retry_schedule_ms" means:"the waits before a failed delivery is tried again"`
	Events           []string             `json:"events" means:"the names of all events"`
	EventsKept       int                  `json:"events_kept" means:"how many events are kept: the latest"`
	BounceCategories []category           `json:"bounce_categories" means:"how a message can bounce"`
	MagicDomain      string               `json:"magic_domain" means:"the domain of recipients that act by themselves"`
}

type account struct {
	AccountID int64  `json:"account_id" means:"the account"`
	Users     []user `json:"users" means:"its users, one for each token"`
}

type user struct {
	UserID   int64  `json:"user_id" means:"the user"`
	Email    string `json:"email" means:"its address"`
	ReadOnly bool   `json:"read_only" means:"whether the token may only read"`
}

type category struct {
	Category    events.BounceCategory `json:"category" means:"its name"`
	Description string                `json:"description" means:"what it means"`
}

func (c *Control) info(r *request) (infoAnswer, error) {
	out := infoAnswer{
		Accounts:        c.accounts(),
		TokenNeeded:     c.options.NeedsToken(r.Request),
		LookupLimit:     c.Platform.Lookups(),
		RetryScheduleMS: []int64{},
		Events:          eventNames(),
		EventsKept:      delivery.MaxEvents,
		MagicDomain:     platform.MagicDomain,
	}
	if !out.TokenNeeded { // whoever asks may do anything here without one
		out.ExampleToken = c.exampleToken()
	}
	out.FaultSeed, _ = c.Faults.List()
	for _, wait := range c.options.RetrySchedule {
		out.RetryScheduleMS = append(out.RetryScheduleMS, wait.Milliseconds())
	}
	for _, c := range bounceCategories() {
		out.BounceCategories = append(out.BounceCategories, category{c, c.Description()})
	}
	return out, nil
}

// exampleToken returns the default access token, which everybody knows, if it may
// write here. Others are secrets, and their owners know them.
func (c *Control) exampleToken() string {
	known := func(t record.Token) bool { return t.Token == c.options.DefaultToken && !t.ReadOnly && t.ExpiresIn == 0 }
	if slices.ContainsFunc(c.Access.All(), known) {
		return c.options.DefaultToken
	}
	return ""
}

// accounts returns the accounts that there are tokens of.
func (c *Control) accounts() []account {
	accounts := []account{}
	for _, t := range c.Access.All() {
		i := slices.IndexFunc(accounts, func(a account) bool { return a.AccountID == t.AccountID })
		if i < 0 {
			i = len(accounts)
			accounts = append(accounts, account{AccountID: t.AccountID})
		}
		accounts[i].Users = append(accounts[i].Users, user{t.UserID, t.UserEmail, t.ReadOnly})
	}
	return accounts
}

// bounceCategories are the ways in which a message can bounce.
func bounceCategories() []events.BounceCategory {
	return []events.BounceCategory{
		events.BounceCategoryHard, events.BounceCategorySoft, events.BounceCategoryMailboxFull, events.BounceCategoryBlocked,
		events.BounceCategoryTransient, events.BounceCategoryDNSFailure, events.BounceCategoryAutoReply,
		events.BounceCategoryChallengeResponse, events.BounceCategoryAddressChange,
	}
}
