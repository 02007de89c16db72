package control

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
)

func (c *Control) contactRoutes() section {
	return section{
		title: "Contacts",
		intro: "To find contacts, search for parts of their addresses. For other operations on lists and contacts, " +
			"use the API at `/_mock/accounts/{account_id}/api`.",
		routes: []route{handle("GET lists/{id}/contacts", noInput(c.contacts),
			"The contacts of a list. `search` matches parts of addresses.").
			filters(choice("status", "the status of the contacts",
				"active", "pending", "unsubscribed", "deleted", "spam", "bounced", "suppressed")).
			try(example{query: "search=ada"})},
	}
}

func (c *Control) contacts(r *request) (out recordList[platform.Member], err error) {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64) // no list has the id 0
	n, members, ok := c.Platform.NewestMembers(id)
	if !ok {
		return out, problem.NotFound("list", r.PathValue("id"), "path", "id")
	}
	q := listQueryOf(r)
	return list(q, n, members, view[platform.Member, platform.Member]{
		id:      func(m platform.Member) string { return strconv.FormatInt(m.ID, 10) },
		allowed: func(m platform.Member) bool { return q.allows("status", m.Status) },
		text:    func(to []byte, m platform.Member) []byte { return lines(to, m.Email) },
		record:  func(m platform.Member) platform.Member { m.Tags = append([]string{}, m.Tags...); return m },
	}), nil
}

// resourceRoutes returns the routes for data that the API does not provide: list and
// campaign statistics, and rendered templates.
func (c *Control) resourceRoutes() section {
	attributes := []param{text("attributes", "the values of the merge tags, as a JSON object of strings; empty by default")}
	html := func(w http.ResponseWriter, html, _ string) { writeMailHTML(w, html, mailPolicy+mailAlone) }
	plain := func(w http.ResponseWriter, _, text string) { writePlain(w, []byte(text)) }
	ada := example{query: "attributes=%7B%22name%22:%22Ada%22%7D"}
	return section{
		title: "Lists, campaigns and templates",
		intro: "For other operations on lists, campaigns, workflows and templates, use the API at `/_mock/accounts/{account_id}/api`.",
		routes: []route{
			handle("GET lists", noInput(c.lists),
				"Lists, with the number of contacts in each status.").
				filters(ofAccount("the account that owns the lists")).
				try(example{query: "search=news"}),
			handle("GET campaigns", noInput(sendings(c.Platform.Campaigns)),
				"Campaigns, with the results of their messages.").
				filters(ofAccount("the account that owns the campaigns"),
					choice("status", "the status of the campaigns", "incomplete", "scheduled", "delivering", "delivered")),
			handle("GET workflows", noInput(sendings(c.Platform.Workflows)),
				"Workflows, with the results of their messages.").
				filters(ofAccount("the account that owns the workflows"),
					choice("status", "the status of the workflows", "active", "inactive")),
			handle("DELETE campaigns/{id}", byID(c.deleteCampaign),
				"Deletes a draft campaign. The email API has no such operation. Returns 409 if the status of the campaign is not `incomplete`."),
			handle("GET campaigns/{id}/html", filled("campaign", c.Platform.FilledCampaign, "text/html", html),
				"The HTML of a campaign, rendered with the values in `attributes`. A Content-Security-Policy header blocks scripts and remote content.").params(attributes...).try(ada),
			handle("GET campaigns/{id}/text", filled("campaign", c.Platform.FilledCampaign, "text/plain", plain),
				"The text part of a campaign, rendered with the values in `attributes`.").params(attributes...).try(ada),
			handle("GET templates/{id}/html", filled("template", c.Platform.FilledTemplate, "text/html", html),
				"The HTML of a template, rendered with the values in `attributes`. A Content-Security-Policy header blocks scripts "+
					"and remote content.").params(attributes...).try(ada),
			handle("GET templates/{id}/text", filled("template", c.Platform.FilledTemplate, "text/plain", plain),
				"The text part of a template, rendered with the values in `attributes`.").params(attributes...).try(ada),
		},
	}
}

func (c *Control) lists(r *request) (recordList[platform.ListSummary], error) {
	q, all := listQueryOf(r), c.Platform.Lists()
	id := func(l platform.ListSummary) string { return strconv.FormatInt(l.ID, 10) }
	return list(q, len(all), slices.Values(all), view[platform.ListSummary, platform.ListSummary]{
		id:      id,
		allowed: func(l platform.ListSummary) bool { return q.allowsAccount(l.AccountID) },
		text:    func(to []byte, l platform.ListSummary) []byte { return lines(to, id(l), l.Name) },
		record:  func(l platform.ListSummary) platform.ListSummary { return l },
	}), nil
}

func sendings(get func() []platform.Sending) func(*request) (recordList[platform.Sending], error) {
	return func(r *request) (recordList[platform.Sending], error) {
		q, all := listQueryOf(r), get()
		id := func(s platform.Sending) string { return strconv.FormatInt(s.ID, 10) }
		return list(q, len(all), slices.Values(all), view[platform.Sending, platform.Sending]{
			id:      id,
			allowed: func(s platform.Sending) bool { return q.allowsAccount(s.AccountID) && q.allows("status", s.Status) },
			text: func(to []byte, s platform.Sending) []byte {
				return lines(to, id(s), s.Name, s.Subject, s.ListName, s.Status)
			},
			record: func(s platform.Sending) platform.Sending { return s },
		}), nil
	}
}

func (c *Control) deleteCampaign(id string) (nothing, error) {
	n, _ := strconv.ParseInt(id, 10, 64) // no campaign has the id 0
	if err := c.Platform.DeleteCampaign(n); err != nil {
		return nothing{}, err
	}
	c.Changes.Publish(activity.Records, nil)
	return nothing{}, nil
}

// filled returns a handler that responds with a rendered part of a template or a campaign.
func filled(
	kind string, get func(int64, map[string]string) (html, text string, ok bool),
	media string, write func(w http.ResponseWriter, html, text string),
) handler {
	return rawResponse(media, func(w http.ResponseWriter, r *request) error {
		attributes := map[string]string{}
		if given := r.query["attributes"]; given != "" {
			if err := json.Unmarshal([]byte(given), &attributes); err != nil {
				return problem.Invalid("must be a JSON object of strings", "query", "attributes")
			}
		}
		id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64) // no record has the id 0
		html, text, ok := get(id, attributes)
		if !ok {
			return problem.NotFound(kind, r.PathValue("id"), "path", "id")
		}
		write(w, html, text)
		return nil
	})
}
