package control

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/model"
)

// maxWaiting is the maximum length of the list of pending work.
const maxWaiting = 100

type overview struct {
	Now        time.Time              `json:"now" doc:"the time of the virtual clock"`
	Messages   platform.MessageCounts `json:"messages" doc:"the number of sent messages, and the number of messages with each result"`
	Contacts   platform.ContactCounts `json:"contacts" doc:"the number of contacts on all lists, by status"`
	Deliveries deliveryCounts         `json:"deliveries" doc:"the number of deliveries, by state"`
	Resources  platform.Resources     `json:"resources" doc:"the number of resources, by type"`
	Events     int64                  `json:"events" doc:"the number of events; after a restore, the number of events in the snapshot"`
	Attempts   int64                  `json:"attempts" doc:"the number of delivery attempts"`
	Failed     int64                  `json:"failed" doc:"the number of failed attempts"`
	Minutes    []activity.Minute      `json:"minutes" doc:"counts for each minute with activity, oldest first"`
	Waiting    []activity.Waiting     `json:"waiting" doc:"at most 100 items of pending work, sorted by time; items without a time are last"`
	Next       *clock.Due             `json:"next" doc:"the next scheduled work"`
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
	until := activity.MinuteOf(view.Now)
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
		Queued: n[model.DeliveryQueued], Delivering: n[model.DeliveryDelivering], Retrying: n[model.DeliveryRetrying],
		Delivered: n[model.DeliveryDelivered], Failed: n[model.DeliveryFailed], Dropped: n[model.DeliveryDropped],
	}
}

func countMinutes(messages map[int64]int64, stats delivery.Stats) []activity.Minute {
	for m, n := range messages {
		stats.Minute(m).Messages = n
	}
	out := []activity.Minute{}
	for _, m := range slices.Sorted(maps.Keys(stats.Minutes)) {
		out = append(out, *stats.Minutes[m])
	}
	return out
}

// earliest returns up to maxWaiting items, sorted by time. Items without a time
// come last.
func earliest(all []activity.Waiting) []activity.Waiting {
	never := time.Unix(1<<40, 0)
	slices.SortStableFunc(all, func(a, b activity.Waiting) int { return cmp.Or(a.Until, never).Compare(cmp.Or(b.Until, never)) })
	return append([]activity.Waiting{}, all[:min(len(all), maxWaiting)]...)
}
