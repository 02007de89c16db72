package control

import (
	"slices"
	"strconv"
	"time"

	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/record"
)

// overviewRoutes are about all that there is.
func (c *Control) overviewRoutes() section {
	return section{
		title: "The overview",
		routes: []route{{
			pattern: "GET overview",
			does: "What there is, what happened in each of the last minutes by the platform's clock, and what waits and " +
				"why. It is counted as it happens, and answered as fast with a million messages as with one.",
			query: []param{
				ofAccount("the account; all if left out"),
				number("minutes", "how many minutes back, this one included", 1, delivery.KeptMinutes, 60),
			},
			handler: answering(c.overview),
			example: example{query: "account_id=1"},
		}},
	}
}

type overviewAnswer struct {
	Now        time.Time        `json:"now" means:"the time of the platform"`
	Messages   outcome          `json:"messages" means:"those that were sent, and what came of them"`
	Contacts   contactCounts    `json:"contacts" means:"those of all lists, by their status"`
	Deliveries deliveryCounts   `json:"deliveries" means:"by where they stand"`
	Resources  resourceCounts   `json:"resources" means:"how many there are"`
	Events     int64            `json:"events" means:"that fired; after a restore those that were kept"`
	Attempts   int64            `json:"attempts" means:"to deliver"`
	Failed     int64            `json:"failed" means:"of the attempts"`
	Minutes    []minuteCounts   `json:"minutes" means:"those in which something happened, the oldest first"`
	Waiting    []waitingOverall `json:"waiting" means:"what waits, the soonest first, and last what waits for no time; 100 at the most"`
	Next       *clock.Due       `json:"next" means:"what happens next by itself"`
}

type outcome struct {
	Sent               int64 `json:"sent" means:"how many were sent"`
	Bounced            int64 `json:"bounced" means:"how many bounced"`
	Opened             int64 `json:"opened" means:"how many were opened, once or more"`
	Clicked            int64 `json:"clicked" means:"in how many a link was followed, once or more"`
	Unsubscribed       int64 `json:"unsubscribed" means:"by how many their recipient left the list"`
	GlobalUnsubscribed int64 `json:"global_unsubscribed" means:"by how many their recipient left all email"`
	ReportedAsSpam     int64 `json:"reported_as_spam" means:"how many were reported as spam"`
}

type contactCounts struct {
	Active       int `json:"active" means:"who are sent to"`
	Pending      int `json:"pending" means:"who have not confirmed yet"`
	Unsubscribed int `json:"unsubscribed" means:"who left"`
	Deleted      int `json:"deleted" means:"who were deleted"`
	Spam         int `json:"spam" means:"who reported a message as spam"`
	Bounced      int `json:"bounced" means:"who bounced hard"`
}

type deliveryCounts struct {
	Queued     int `json:"queued" means:"not attempted yet, or asked for again"`
	Delivering int `json:"delivering" means:"being attempted"`
	Retrying   int `json:"retrying" means:"failed, and attempted again"`
	Delivered  int `json:"delivered" means:"answered with 2xx"`
	Failed     int `json:"failed" means:"given up"`
	Dropped    int `json:"dropped" means:"lost by a fault"`
}

type resourceCounts struct {
	Lists      int `json:"lists" means:"of contacts"`
	Templates  int `json:"templates" means:"of messages"`
	Campaigns  int `json:"campaigns" means:"in any state"`
	Workflows  int `json:"workflows" means:"active or not"`
	Webhooks   int `json:"webhooks" means:"archived or not"`
	Suppressed int `json:"suppressed" means:"addresses and patterns that are not sent to"`
}

type minuteCounts struct {
	Minute   time.Time `json:"minute" means:"when it begins"`
	Messages int64     `json:"messages" means:"that were sent"`
	Events   int64     `json:"events" means:"that fired"`
	Attempts int64     `json:"attempts" means:"that were made"`
	Failed   int64     `json:"failed" means:"of the attempts"`
}

type waitingOverall struct {
	Why        string    `json:"why" means:"deliveries: retry, rate_limit, archived, delay by a fault, or turn, behind as many attempts as are made at a time; campaign, which is scheduled; confirmation, by a contact"`
	N          int       `json:"n" means:"how many wait"`
	Until      time.Time `json:"until,omitzero" means:"for the first of them, if it is known"`
	WebhookID  string    `json:"webhook_id,omitzero" means:"the webhook, of deliveries to one"`
	URL        string    `json:"url,omitzero" means:"where deliveries go"`
	CampaignID int64     `json:"campaign_id,omitzero" means:"the campaign"`
	ListID     int64     `json:"list_id,omitzero" means:"the list of the contacts"`
	Name       string    `json:"name,omitzero" means:"of the campaign or list"`
}

// maxWaiting is how much of what waits is named.
const maxWaiting = 100

func (c *Control) overview(r *request) (overviewAnswer, error) {
	account, _ := strconv.ParseInt(r.query["account_id"], 10, 64) // 0 is all of them
	if account != 0 && !c.Access.HasAccount(account) && !c.Platform.HasAccount(account) {
		return overviewAnswer{}, problem.NotFound("account", account, "query", "account_id")
	}
	view := c.Clock.View()
	until := delivery.MinuteOf(view.Now)
	from := until - int64(r.query.number("minutes")) + 1
	records, stats := c.Platform.Overview(account, from, until), c.Deliveries.Stats(account, from, until)
	return overviewAnswer{
		Now:        view.Now,
		Messages:   outcome(records.Messages),
		Contacts:   contactCounts(records.Contacts),
		Deliveries: countsOf(stats),
		Resources: resourceCounts{
			records.Lists, records.Templates, records.Campaigns, records.Workflows, records.Webhooks, records.Suppressed,
		},
		Events:   stats.Events,
		Attempts: stats.Attempts,
		Failed:   stats.Failed,
		Minutes:  minutesOf(records, stats),
		Waiting:  waitingOf(records, stats),
		Next:     view.Next,
	}, nil
}

func countsOf(s delivery.Stats) deliveryCounts {
	return deliveryCounts{
		Queued: s.States[record.DeliveryQueued], Delivering: s.States[record.DeliveryInFlight],
		Retrying: s.States[record.DeliveryRetrying], Delivered: s.States[record.DeliveryDelivered],
		Failed: s.States[record.DeliveryFailed], Dropped: s.States[record.DeliveryDropped],
	}
}

// minutesOf puts together what is known of each minute.
func minutesOf(records platform.Overview, stats delivery.Stats) []minuteCounts {
	by := map[int64]*minuteCounts{}
	at := func(m int64) *minuteCounts {
		if by[m] == nil {
			by[m] = &minuteCounts{Minute: delivery.MinuteStart(m)}
		}
		return by[m]
	}
	for m, n := range records.Minutes {
		at(m).Messages = n
	}
	for m, n := range stats.Minutes {
		counts := at(m)
		counts.Events, counts.Attempts, counts.Failed = n.Events, n.Attempts, n.Failed
	}
	out := []minuteCounts{}
	for _, counts := range by {
		out = append(out, *counts)
	}
	slices.SortFunc(out, func(a, b minuteCounts) int { return a.Minute.Compare(b.Minute) })
	return out
}

// waitingOf puts together what waits.
func waitingOf(records platform.Overview, stats delivery.Stats) []waitingOverall {
	out := []waitingOverall{}
	for _, w := range stats.Waiting {
		out = append(out, waitingOverall{Why: w.Why, N: w.N, Until: w.Until, WebhookID: w.WebhookID, URL: w.URL})
	}
	for _, d := range records.Scheduled {
		out = append(out, waitingOverall{Why: "campaign", N: 1, Until: d.At, CampaignID: d.CampaignID, Name: d.Name})
	}
	for _, p := range records.Pending {
		out = append(out, waitingOverall{Why: "confirmation", N: p.N, ListID: p.ListID, Name: p.Name})
	}
	slices.SortStableFunc(out, func(a, b waitingOverall) int {
		switch {
		case a.Until.IsZero() == b.Until.IsZero():
			return a.Until.Compare(b.Until)
		case a.Until.IsZero():
			return 1
		}
		return -1
	})
	return out[:min(len(out), maxWaiting)]
}
