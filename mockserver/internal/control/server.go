package control

import (
	"net/http"
	"slices"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/model"
)

func (c *Control) serverRoutes() []route {
	return []route{
		handle("GET health", noInput(health)),
		handle("GET info", noInput(c.info)),
		handle("POST wait", optional(jsonBody(c.wait)),
			choice("drain", "whether to wait for retries and rate limits too", "true", "false"),
			number("timeout_ms", "the timeout", 1, maxWait, "10000")),
		handle("POST tokens/revoke", jsonBody(c.revokeToken)),
		handle("* accounts/{account_id}/api/{path...}", handler{proxy: true, media: "application/json", serve: c.serveAsAccount},
			idOf("user_id", "the id of the user; by default the first user with write access")),
		handle("GET openapi.json", noInput(c.openAPI)),
		handle("GET platform.yaml", rawResponse("application/yaml", servePlatform)),
		handle("GET overview", noInput(c.overview), ofAccount("the account; the default is all accounts"),
			number("minutes", "the number of minutes of activity to return, including the current minute", 1, activity.MaxMinutes, "60")),
		handle("GET stream", rawResponse("text/event-stream", c.serveStream)),
	}
}

type healthStatus struct {
	Status string `json:"status" doc:"always ok"`
}

func health(*request) (healthStatus, error) { return healthStatus{"ok"}, nil }

type serverInfo struct {
	Accounts         []account              `json:"accounts" doc:"the accounts that have access tokens"`
	TokenRequired    bool                   `json:"token_required" doc:"whether the control routes require a token"`
	DefaultToken     string                 `json:"default_token,omitzero" doc:"the default access token, if the token is valid and the control routes require no token; other tokens are never returned"`
	FaultSeed        uint64                 `json:"fault_seed" doc:"the seed for random faults"`
	LookupLimit      platform.LookupLimit   `json:"lookup_limit" doc:"the algorithm of the lookup rate limit"`
	Quirks           []string               `json:"quirks" doc:"the enabled deviations that the client accepts"`
	RetryScheduleMS  []int64                `json:"retry_schedule_ms" doc:"the delays before the retries of a delivery"`
	Events           []api.EventName        `json:"events" doc:"the names of all events"`
	ContactStatuses  []string               `json:"contact_statuses" doc:"the statuses of contacts"`
	EventsKept       int                    `json:"events_kept" doc:"the maximum number of events in the log; older events are deleted"`
	BounceCategories []category             `json:"bounce_categories" doc:"the bounce categories"`
	TestDomain       string                 `json:"test_domain" doc:"the domain of test recipients that react automatically, for example with a bounce"`
	TestAddresses    []platform.TestAddress `json:"test_addresses" doc:"the addresses in this domain, and the action of each recipient"`
}

type account struct {
	AccountID int64  `json:"account_id" doc:"the id of the account"`
	Users     []user `json:"users" doc:"the users of the account, one for each token"`
}

type user struct {
	UserID   int64  `json:"user_id" doc:"the id of the user"`
	Email    string `json:"email" doc:"the user's address"`
	ReadOnly bool   `json:"read_only" doc:"whether the token is read-only"`
}

type category struct {
	Category    events.BounceCategory `json:"category" doc:"the name of the category"`
	Description string                `json:"description" doc:"the meaning of the category"`
	Diagnostic  string                `json:"diagnostic" doc:"the response of the receiving server, unless a bounce sets it"`
}

func (c *Control) info(r *request) (serverInfo, error) {
	out := serverInfo{
		Accounts:        c.accounts(),
		TokenRequired:   c.options.NeedsToken(r.Request),
		LookupLimit:     c.Platform.CurrentLookupLimit(),
		Quirks:          append([]string{}, c.options.Quirks...),
		RetryScheduleMS: []int64{},
		Events:          api.EventNames(),
		ContactStatuses: platform.ContactStatuses(),
		EventsKept:      delivery.MaxEvents,
		TestDomain:      platform.TestDomain,
		TestAddresses:   platform.TestAddresses(),
	}
	isDefault := func(t model.Token) bool { return t.Value == c.options.DefaultToken && !t.ReadOnly && t.ExpiresIn == 0 }
	if !out.TokenRequired && slices.ContainsFunc(c.Auth.All(), isDefault) {
		out.DefaultToken = c.options.DefaultToken
	}
	out.FaultSeed, _ = c.Faults.List()
	for _, wait := range c.options.RetrySchedule {
		out.RetryScheduleMS = append(out.RetryScheduleMS, wait.Milliseconds())
	}
	for _, c := range events.BounceCategories() {
		out.BounceCategories = append(out.BounceCategories, category{c, c.Description(), platform.Diagnostic(c)})
	}
	return out, nil
}

func (c *Control) accounts() []account {
	accounts := []account{}
	for _, t := range c.Auth.All() {
		i := slices.IndexFunc(accounts, func(a account) bool { return a.AccountID == t.AccountID })
		if i < 0 {
			i = len(accounts)
			accounts = append(accounts, account{AccountID: t.AccountID})
		}
		accounts[i].Users = append(accounts[i].Users, user{t.UserID, t.UserEmail, t.ReadOnly})
	}
	return accounts
}

type tokenBody struct {
	Token string `json:"token" doc:"the access token to revoke"`
}

func (c *Control) revokeToken(_ *request, in tokenBody) (emptyBody, error) {
	if !c.Auth.Revoke(in.Token) {
		return emptyBody{}, apierror.New(http.StatusNotFound, "not_found", "the token does not exist", "body", "token")
	}
	return emptyBody{}, nil
}
