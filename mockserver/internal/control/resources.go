package control

import (
	"encoding/json"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"time"

	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
)

// resourceRoutes show what the API has no words for: how the contacts of a list
// stand, what came of a campaign, how a template looks.
func (c *Control) resourceRoutes() section {
	attributes := text("attributes", "a JSON object of texts, which fill the merge tags; nothing does if left out")
	return section{
		title: "Lists, campaigns and templates",
		about: "What the API says of them, and does, is at `/_mock/accounts/{account_id}/api`.",
		routes: []route{
			{
				pattern: "GET lists",
				does:    "Lists, and how many of their contacts stand where.",
				query:   listed(ofAccount("the account of the list")),
				handler: answering(c.lists),
				example: example{query: "search=news"},
			},
			{
				pattern: "GET campaigns",
				does:    "Campaigns, and what came of the messages that they sent.",
				query: listed(ofAccount("the account of the campaign"),
					choice("status", "where it stands", "incomplete", "scheduled", "delivering", "delivered")),
				handler: answering(func(r *request) (recordList[sending], error) { return sendings(r, c.Platform.Campaigns()), nil }),
			},
			{
				pattern: "GET workflows",
				does:    "Workflows, and what came of the messages that they sent.",
				query: listed(ofAccount("the account of the workflow"),
					choice("status", "where it stands", "active", "inactive")),
				handler: answering(func(r *request) (recordList[sending], error) { return sendings(r, c.Platform.Workflows()), nil }),
			},
			{
				pattern: "GET templates/{id}/html",
				does:    "The HTML of a template as a recipient with these attributes would get it, under a policy that runs and loads nothing.",
				query:   []param{attributes},
				handler: serving("text/html", c.serveTemplateHTML),
				example: example{query: "attributes=%7B%22name%22:%22Ada%22%7D"},
			},
			{
				pattern: "GET templates/{id}/text",
				does:    "The same of its text part.",
				query:   []param{attributes},
				handler: serving("text/plain", c.serveTemplateText),
				example: example{query: "attributes=%7B%22name%22:%22Ada%22%7D"},
			},
		},
	}
}

type listSummary struct {
	ID             string        `json:"id" means:"of the list"`
	AccountID      int64         `json:"account_id" means:"its account"`
	Name           string        `json:"name" means:"its name"`
	PolicyAccepted bool          `json:"policy_accepted" means:"whether it can be sent to"`
	CreatedOn      time.Time     `json:"created_on" means:"when it was made"`
	Contacts       contactCounts `json:"contacts" means:"how many of its contacts stand where"`
}

func (c *Control) lists(r *request) (recordList[listSummary], error) {
	all := c.Platform.Lists()
	return listOf(r, all, func(q listQuery, l platform.ListStanding) row[listSummary] {
		id := strconv.FormatInt(l.ID, 10)
		text := func() []string { return []string{id, l.Name} }
		return row[listSummary]{id, q.allowsAccount(l.AccountID), text, func() listSummary {
			return listSummary{id, l.AccountID, l.Name, l.PolicyAccepted, l.CreatedOn, contactCounts(l.Contacts)}
		}}
	}), nil
}

// sending is a campaign or a workflow.
type sending struct {
	ID           string    `json:"id" means:"of the campaign or workflow"`
	AccountID    int64     `json:"account_id" means:"its account"`
	Name         string    `json:"name" means:"its name"`
	ListID       int64     `json:"list_id,omitzero" means:"the list that it is sent to"`
	ListName     string    `json:"list_name,omitzero" means:"the name of the list"`
	FromEmail    string    `json:"from_email,omitzero" means:"the sender's address"`
	Subject      string    `json:"subject,omitzero" means:"the subject, with its merge tags"`
	TemplateID   int64     `json:"template_id,omitzero" means:"the template that it is made of"`
	Status       string    `json:"status" means:"where it stands"`
	CreatedOn    time.Time `json:"created_on" means:"when it was made"`
	ScheduledFor time.Time `json:"scheduled_for,omitzero" means:"when a campaign is sent, or was"`
	Outcome      outcome   `json:"outcome" means:"what it sent, and what came of it"`
}

func sendings(r *request, all []platform.Sending) recordList[sending] {
	return listOf(r, all, func(q listQuery, s platform.Sending) row[sending] {
		id := strconv.FormatInt(s.ID, 10)
		wanted := q.allowsAccount(s.AccountID) && q.allows("status", s.Status)
		text := func() []string { return []string{id, s.Name, s.Subject, s.ListName, s.Status} }
		return row[sending]{id, wanted, text, func() sending {
			return sending{
				id, s.AccountID, s.Name, s.ListID, s.ListName, s.FromEmail, s.Subject, s.TemplateID, s.Status, s.CreatedOn,
				s.ScheduledFor, outcome(s.Outcome),
			}
		}}
	})
}

// listOf shows some views, which come newest first.
func listOf[V, T any](r *request, all []V, rowOf func(listQuery, V) row[T]) recordList[T] {
	q := listQueryOf(r)
	return list(q, len(all), mapped(slices.Values(all), func(v V) row[T] { return rowOf(q, v) }))
}

func mapped[V, T any](all iter.Seq[V], f func(V) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for v := range all {
			if !yield(f(v)) {
				return
			}
		}
	}
}

func (c *Control) serveTemplateHTML(w http.ResponseWriter, r *request) {
	c.serveTemplate(w, r, func(html, _ string) { writeMailHTML(w, html, mailPolicy+mailAlone) })
}

func (c *Control) serveTemplateText(w http.ResponseWriter, r *request) {
	c.serveTemplate(w, r, func(_, text string) { writePlain(w, []byte(text)) })
}

// serveTemplate shows a part of a template, filled in.
func (c *Control) serveTemplate(w http.ResponseWriter, r *request, show func(html, text string)) {
	attributes := map[string]string{}
	if given := r.query["attributes"]; given != "" {
		if err := json.Unmarshal([]byte(given), &attributes); err != nil {
			gateway.WriteError(w, r.Request, problem.Invalid("want a JSON object of texts", "query", "attributes"))
			return
		}
	}
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64) // 0 is that of no template
	html, text, ok := c.Platform.FilledTemplate(id, attributes)
	if !ok {
		gateway.WriteError(w, r.Request, problem.NotFound("template", r.PathValue("id"), "path", "id"))
		return
	}
	show(html, text)
}
