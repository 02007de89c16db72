package control

import (
	"strconv"
	"time"

	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
)

// contactRoutes find somebody on a list. All else about contacts is the API's.
func (c *Control) contactRoutes() section {
	return section{
		title: "Contacts",
		about: "The API finds a contact by its whole address. Whatever else there is to do with lists and contacts is the API's, at " +
			"`/_mock/accounts/{account_id}/api`.",
		routes: []route{{
			pattern: "GET lists/{id}/contacts",
			does:    "The contacts of a list, also by a part of their address.",
			query:   listed(choice("status", "where they stand", contactStatuses()...)),
			handler: answering(c.contacts),
			example: example{query: "search=ada"},
		}},
	}
}

// contactStatuses are where a contact can stand.
func contactStatuses() []string {
	return []string{"active", "pending", "unsubscribed", "deleted", "spam", "bounced", "suppressed"}
}

type contactSummary struct {
	ID           string    `json:"id" means:"of the contact"`
	Email        string    `json:"email" means:"its address"`
	Status       string    `json:"status" means:"where it stands"`
	SubscribedOn time.Time `json:"subscribed_on" means:"when it came to the list"`
	Tags         []string  `json:"tags" means:"its tags"`
}

func summaryOf(m platform.Member) contactSummary {
	return contactSummary{strconv.FormatInt(m.ID, 10), m.Email, m.Status, m.SubscribedOn, append([]string{}, m.Tags...)}
}

func (c *Control) contacts(r *request) (recordList[contactSummary], error) {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64) // 0 is that of no list
	n, members, ok := c.Platform.NewestMembers(id)
	if !ok {
		return recordList[contactSummary]{}, problem.NotFound("list", r.PathValue("id"), "path", "id")
	}
	q := listQueryOf(r)
	return list(q, n, func(yield func(row[contactSummary]) bool) {
		for m := range members {
			text := func() []string { return []string{m.Email} }
			summary := func() contactSummary { return summaryOf(m) }
			if !yield(row[contactSummary]{strconv.FormatInt(m.ID, 10), q.allows("status", m.Status), text, summary}) {
				return
			}
		}
	}), nil
}
