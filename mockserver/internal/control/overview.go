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

// maxWaiting is the length of the list of what waits.
const maxWaiting = 100

// overviewRoutes are about all that there is.
func (c *Control) overviewRoutes() section {
	return section{
		title: "The overview",
		routes: []route{handle("GET overview", noInput(c.overview),
			"Counts of all records, what happened in each of the last minutes by the clock of the platform, and what waits "+
				"and why. A million messages do not make it slower.").
			params(ofAccount("the account; all by default"),
				number("minutes", "how many minutes back, including this one", 1, delivery.KeptMinutes, 60)).
			try(example{query: "account_id=1"})},
	}
}

type overview struct {
	Now        time.Time          `json:"now" doc:"the time of the platform"`
	Messages   platform.Outcome   `json:"messages" doc:"the messages that were sent, and their results"`
	Contacts   platform.Contacts  `json:"contacts" doc:"the contacts of all lists, by status"`
	Deliveries deliveryCounts     `json:"deliveries" doc:"the deliveries, by state"`
	Resources  platform.Resources `json:"resources" doc:"the number of resources"`
	Events     int64              `json:"events" doc:"how many events fired; after a restore, those that were kept"`
	Attempts   int64              `json:"attempts" doc:"how many attempts were made to deliver"`
	Failed     int64              `json:"failed" doc:"how many attempts failed"`
	Minutes    []minuteCounts     `json:"minutes" doc:"minutes with activity, the oldest first"`
	Waiting    []waiting          `json:"waiting" doc:"what waits, the soonest first, and last what waits for no time; at most 100"`
	Next       *clock.Due         `json:"next" doc:"the next scheduled work"`
}

type deliveryCounts struct {
	Queued     int `json:"queued" doc:"not attempted yet, or redelivered"`
	Delivering int `json:"delivering" doc:"being attempted"`
	Retrying   int `json:"retrying" doc:"failed, and will be retried"`
	Delivered  int `json:"delivered" doc:"the receiver responded with 2xx"`
	Failed     int `json:"failed" doc:"failed, and will not be retried"`
	Dropped    int `json:"dropped" doc:"lost by a fault"`
}

type minuteCounts struct {
	Minute   time.Time `json:"minute" doc:"when it begins"`
	Messages int64     `json:"messages" doc:"how many messages were sent"`
	Events   int64     `json:"events" doc:"how many events fired"`
	Attempts int64     `json:"attempts" doc:"how many attempts were made"`
	Failed   int64     `json:"failed" doc:"how many attempts failed"`
}

type waiting struct {
	Why        string    `json:"why" doc:"of deliveries: retry, rate_limit, archived, delay (by a fault) or turn (the limit of concurrent attempts); or campaign (scheduled), or confirmation (by a contact)"`
	N          int       `json:"n" doc:"how many wait"`
	Until      time.Time `json:"until,omitzero" doc:"when the first of them ends, if that is known"`
	WebhookID  string    `json:"webhook_id,omitzero" doc:"the webhook, of deliveries to one"`
	URL        string    `json:"url,omitzero" doc:"the target of deliveries"`
	CampaignID int64     `json:"campaign_id,omitzero" doc:"the campaign"`
	ListID     int64     `json:"list_id,omitzero" doc:"the list of the contacts"`
	Name       string    `json:"name,omitzero" doc:"the name of the campaign or list"`
}

func (c *Control) overview(r *request) (out overview, err error) {
	account := r.query.id("account_id") // 0 is all
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
