package control

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/record"
)

// maxWaiting is the maximum length of the list of pending work.
const maxWaiting = 100

// overviewRoutes returns the routes for counts of all records and for pending work.
func (c *Control) overviewRoutes() section {
	return section{
		title: "The overview",
		routes: []route{handle("GET overview", noInput(c.overview),
			"Counts of all records, activity in each of the last minutes of the virtual clock, and pending work with "+
				"its reasons. The response time does not depend on the number of messages.").
			params(ofAccount("the account; all by default"),
				number("minutes", "the number of minutes, including the current one", 1, delivery.KeptMinutes, 60)).
			try(example{query: "account_id=1"})},
	}
}

type overview struct {
	Now        time.Time          `json:"now" doc:"the time of the virtual clock"`
	Messages   platform.Outcome   `json:"messages" doc:"the messages that were sent, and their results"`
	Contacts   platform.Contacts  `json:"contacts" doc:"the contacts of all lists, by status"`
	Deliveries deliveryCounts     `json:"deliveries" doc:"the deliveries, by state"`
	Resources  platform.Resources `json:"resources" doc:"the number of resources"`
	Events     int64              `json:"events" doc:"the number of events; after a restore, only the events of the snapshot"`
	Attempts   int64              `json:"attempts" doc:"the number of delivery attempts"`
	Failed     int64              `json:"failed" doc:"the number of failed attempts"`
	Minutes    []minuteCounts     `json:"minutes" doc:"minutes with activity, the oldest first"`
	Waiting    []waiting          `json:"waiting" doc:"pending work, the earliest first, then work without a time; at most 100"`
	Next       *clock.Due         `json:"next" doc:"the next scheduled work"`
}

type deliveryCounts struct {
	Queued     int `json:"queued" doc:"not attempted yet, or redelivered"`
	Delivering int `json:"delivering" doc:"being attempted"`
	Retrying   int `json:"retrying" doc:"failed, and will be retried"`
	Delivered  int `json:"delivered" doc:"the receiver responded with 2xx"`
	Failed     int `json:"failed" doc:"failed, and will not be retried"`
	Dropped    int `json:"dropped" doc:"dropped by a fault rule"`
}

type minuteCounts struct {
	Minute   time.Time `json:"minute" doc:"the start of the minute"`
	Messages int64     `json:"messages" doc:"the number of sent messages"`
	Events   int64     `json:"events" doc:"the number of events"`
	Attempts int64     `json:"attempts" doc:"the number of attempts"`
	Failed   int64     `json:"failed" doc:"the number of failed attempts"`
}

type waiting struct {
	Why        string    `json:"why" doc:"for deliveries: retry, rate_limit, archived, delay (by a fault) or turn (the limit of concurrent attempts); campaign for a scheduled campaign; confirmation for contacts that have not confirmed"`
	N          int       `json:"n" doc:"the number of waiting deliveries, campaigns or contacts"`
	Until      time.Time `json:"until,omitzero" doc:"the earliest end of waiting, if known"`
	WebhookID  string    `json:"webhook_id,omitzero" doc:"the webhook of the deliveries, if any"`
	URL        string    `json:"url,omitzero" doc:"the target of deliveries"`
	CampaignID int64     `json:"campaign_id,omitzero" doc:"the campaign"`
	ListID     int64     `json:"list_id,omitzero" doc:"the list of the contacts"`
	Name       string    `json:"name,omitzero" doc:"the name of the campaign or list"`
}

func (c *Control) overview(r *request) (out overview, err error) {
	account := r.query.id("account_id") // 0 means all accounts
	if account != 0 && !c.Access.HasAccount(account) && !c.Platform.HasAccount(account) {
		return out, problem.NotFound("account", account, "query", "account_id")
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
		Minutes:    countMinutes(records, stats),
		Waiting:    allWaiting(records, stats),
		Next:       view.Next,
	}, nil
}

func countStates(n map[record.DeliveryState]int) deliveryCounts {
	return deliveryCounts{
		Queued: n[record.DeliveryQueued], Delivering: n[record.DeliveryInFlight], Retrying: n[record.DeliveryRetrying],
		Delivered: n[record.DeliveryDelivered], Failed: n[record.DeliveryFailed], Dropped: n[record.DeliveryDropped],
	}
}

func countMinutes(records platform.Overview, stats delivery.Stats) []minuteCounts {
	all := map[int64]minuteCounts{}
	for m, n := range records.Minutes {
		all[m] = minuteCounts{Messages: n}
	}
	for m, n := range stats.Minutes {
		all[m] = minuteCounts{Messages: all[m].Messages, Events: n.Events, Attempts: n.Attempts, Failed: n.Failed}
	}
	out := []minuteCounts{}
	for _, m := range slices.Sorted(maps.Keys(all)) {
		counts := all[m]
		counts.Minute = delivery.MinuteStart(m)
		out = append(out, counts)
	}
	return out
}

func allWaiting(records platform.Overview, stats delivery.Stats) []waiting {
	out := []waiting{}
	for _, w := range stats.Waiting {
		out = append(out, waiting{Why: w.Why, N: w.N, Until: w.Until.UTC(), WebhookID: w.WebhookID, URL: w.URL})
	}
	for _, d := range records.Scheduled {
		out = append(out, waiting{Why: "campaign", N: 1, Until: d.At, CampaignID: d.CampaignID, Name: d.Name})
	}
	for _, p := range records.Pending {
		out = append(out, waiting{Why: "confirmation", N: p.N, ListID: p.ListID, Name: p.Name})
	}
	never := time.Unix(1<<40, 0)
	slices.SortStableFunc(out, func(a, b waiting) int { return cmp.Or(a.Until, never).Compare(cmp.Or(b.Until, never)) })
	return out[:min(len(out), maxWaiting)]
}
