package control

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/clock"
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
			number("timeout_ms", "the timeout in milliseconds", 1, maxWait, "10000")),
		handle("POST tokens/revoke", jsonBody(c.revokeToken)),
		handle("* accounts/{account_id}/api/{path...}", handler{proxy: true, media: "application/json", serve: c.serveAsAccount},
			idOf("user_id", "the id of the user; by default the first user with write access")),
		handle("GET openapi.json", noInput(c.openAPI)),
		handle("GET platform.yaml", rawResponse("application/yaml", servePlatform)),
		handle("GET overview", noInput(c.overview), ofAccount("the account; the default is all accounts"),
			number("minutes", "the number of minutes of activity to return, including the current minute", 1, delivery.MaxMinutes, "60")),
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
	MagicDomain      string                 `json:"magic_domain" doc:"the domain of test recipients that react automatically, for example with a bounce"`
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
		LookupLimit:     c.Platform.Lookups(),
		Quirks:          append([]string{}, c.options.Quirks...),
		RetryScheduleMS: []int64{},
		Events:          api.EventNames(),
		ContactStatuses: platform.Statuses(),
		EventsKept:      delivery.MaxEvents,
		MagicDomain:     platform.MagicDomain,
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

// serveAsAccount processes an API request as a user of the account. It treats the HTML
// of a rendered template as untrusted.
func (c *Control) serveAsAccount(w http.ResponseWriter, r *request) (err error) {
	id := r.PathValue("account_id")
	number, _ := strconv.ParseInt(id, 10, 64) // no account has the id 0
	caller, ok := c.Auth.OfUser(number, r.query.id("user_id"))
	if !ok {
		return apierror.NotFound("user of account", id, "path", "account_id")
	}
	inner := r.Clone(r.Context())
	if inner.URL, err = apiURL(r.URL); err != nil {
		return apierror.Invalid(err.Error(), "path", "path")
	}
	if query := inner.URL.Query(); query.Has("user_id") {
		query.Del("user_id")
		inner.URL.RawQuery = query.Encode()
	}
	w.Header().Set("Content-Security-Policy", inertPolicy)
	c.Gateway.ServeAs(w, inner, caller)
	if !reads(r.Request) {
		c.Changes.Publish(activity.Records, nil)
	}
	return nil
}

// apiURL returns the part of the URL after /api. Some clients treat everything after
// /api/ as one path parameter, so they escape its slashes and escape other characters
// twice. apiURL reverses this.
func apiURL(u *url.URL) (*url.URL, error) {
	_, path, _ := strings.Cut(u.EscapedPath(), "/api/")
	if !strings.Contains(path, "/") {
		path, _ = url.PathUnescape(path) // net/http has already parsed the path
	}
	out := *u
	out.RawPath = "/" + path
	var err error
	out.Path, err = url.PathUnescape(out.RawPath)
	return &out, err
}

// heartbeat is the interval between messages that prevent proxies from closing an idle
// stream.
const heartbeat = 15 * time.Second

func (c *Control) serveStream(w http.ResponseWriter, r *request) error {
	from, seq := c.Changes.Subscribe()
	defer c.Changes.Unsubscribe(from)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // otherwise nginx buffers the events
	out := http.NewResponseController(w)
	_, _ = fmt.Fprintf(w, "retry: 1000\nevent: hello\ndata: {\"seq\":%d}\n\n", seq)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for open := true; open && out.Flush() == nil; {
		var line []byte
		select {
		case line, open = <-from:
			if open {
				_, _ = fmt.Fprintf(w, "event: change\ndata: %s\n\n", line)
			}
		case <-beat.C:
			_, _ = io.WriteString(w, ": still here\n\n")
		case <-r.Context().Done():
			open = false
		}
	}
	return nil
}

// maxWaiting is the maximum length of the list of pending work.
const maxWaiting = 100

type overview struct {
	Now        time.Time          `json:"now" doc:"the time of the virtual clock"`
	Messages   platform.Outcome   `json:"messages" doc:"the number of sent messages, and the number of messages with each result"`
	Contacts   platform.Contacts  `json:"contacts" doc:"the number of contacts on all lists, by status"`
	Deliveries deliveryCounts     `json:"deliveries" doc:"the number of deliveries, by state"`
	Resources  platform.Resources `json:"resources" doc:"the number of resources, by type"`
	Events     int64              `json:"events" doc:"the number of events; after a restore, the number of events in the snapshot"`
	Attempts   int64              `json:"attempts" doc:"the number of delivery attempts"`
	Failed     int64              `json:"failed" doc:"the number of failed attempts"`
	Minutes    []delivery.Minute  `json:"minutes" doc:"counts for each minute with activity, oldest first"`
	Waiting    []delivery.Waiting `json:"waiting" doc:"at most 100 items of pending work, sorted by time; items without a time are last"`
	Next       *clock.Due         `json:"next" doc:"the next scheduled work; null if no work is scheduled"`
}

type deliveryCounts struct {
	Queued     int `json:"queued" doc:"deliveries that wait for the first attempt or for a redelivery"`
	Delivering int `json:"delivering" doc:"deliveries with an attempt in progress"`
	Retrying   int `json:"retrying" doc:"deliveries that failed and will be retried"`
	Delivered  int `json:"delivered" doc:"deliveries with a 2xx response from the receiver"`
	Failed     int `json:"failed" doc:"deliveries that failed and will not be retried"`
	Dropped    int `json:"dropped" doc:"deliveries that a fault rule dropped"`
}

func (c *Control) overview(r *request) (out overview, err error) {
	account := r.query.id("account_id") // 0 means all accounts
	if account != 0 && !c.Auth.HasAccount(account) && !c.Platform.HasAccount(account) {
		return out, apierror.NotFound("account", account, "query", "account_id")
	}
	view := c.Clock.View()
	until := delivery.MinuteOf(view.Now)
	from := until - int64(r.query.number("minutes")) + 1
	records, stats := c.Platform.Overview(account, from, until), c.Deliveries.Stats(account, from, until)
	return overview{
		Now:        view.Now,
		Messages:   records.Messages,
		Contacts:   records.Contacts,
		Deliveries: countStates(stats.States),
		Resources:  records.Resources,
		Events:     stats.Events,
		Attempts:   stats.Attempts,
		Failed:     stats.Failed,
		Minutes:    countMinutes(records.Minutes, stats),
		Waiting:    earliest(slices.Concat(stats.Waiting, records.Waiting)),
		Next:       view.Next,
	}, nil
}

func countStates(n map[model.DeliveryState]int) deliveryCounts {
	return deliveryCounts{
		Queued: n[model.DeliveryQueued], Delivering: n[model.DeliveryInFlight], Retrying: n[model.DeliveryRetrying],
		Delivered: n[model.DeliveryDelivered], Failed: n[model.DeliveryFailed], Dropped: n[model.DeliveryDropped],
	}
}

func countMinutes(messages map[int64]int64, stats delivery.Stats) []delivery.Minute {
	for m, n := range messages {
		stats.Minute(m).Messages = n
	}
	out := []delivery.Minute{}
	for _, m := range slices.Sorted(maps.Keys(stats.Minutes)) {
		out = append(out, *stats.Minutes[m])
	}
	return out
}

// earliest returns up to maxWaiting items, sorted by time. Items without a time
// come last.
func earliest(all []delivery.Waiting) []delivery.Waiting {
	never := time.Unix(1<<40, 0)
	slices.SortStableFunc(all, func(a, b delivery.Waiting) int { return cmp.Or(a.Until, never).Compare(cmp.Or(b.Until, never)) })
	return append([]delivery.Waiting{}, all[:min(len(all), maxWaiting)]...)
}
