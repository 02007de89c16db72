package control

import (
	"encoding/json"
	"net/http"
	"strconv"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/platform"
)

// resourceRoutes returns the routes for data that the API does not provide: searches,
// statistics, and rendered templates.
func (c *Control) resourceRoutes() []route {
	attributes := text("attributes", "the values of the merge tags, as a JSON object of strings; empty by default")
	html := func(w http.ResponseWriter, html, _ string) { writeMailHTML(w, html, mailPolicy+mailAlone) }
	plain := func(w http.ResponseWriter, _, text string) { writePlain(w, []byte(text)) }
	return []route{
		listRoute("GET lists", c.lists()),
		listRoute("GET campaigns", sendings(c.Platform.Campaigns, "campaigns", platform.CampaignStatuses()...)),
		listRoute("GET workflows", sendings(c.Platform.Workflows, "workflows", platform.WorkflowStatuses()...)),
		handle("DELETE campaigns/{id}", byID(c.deleteCampaign)),
		handle("GET campaigns/{id}/html", filled("campaign", c.Platform.FilledCampaign, "text/html", html), attributes),
		handle("GET campaigns/{id}/text", filled("campaign", c.Platform.FilledCampaign, "text/plain", plain), attributes),
		handle("GET templates/{id}/html", filled("template", c.Platform.FilledTemplate, "text/html", html), attributes),
		handle("GET templates/{id}/text", filled("template", c.Platform.FilledTemplate, "text/plain", plain), attributes),
	}
}

func (c *Control) lists() listing[platform.ListSummary, platform.ListSummary] {
	id := func(l platform.ListSummary) string { return strconv.FormatInt(l.ID, 10) }
	return listing[platform.ListSummary, platform.ListSummary]{
		find:   everyOf(c.Platform.Lists),
		id:     id,
		text:   func(to []byte, l platform.ListSummary) []byte { return lines(to, id(l), l.Name) },
		record: func(l platform.ListSummary) platform.ListSummary { return l },
		filters: []filter[platform.ListSummary]{
			whereAccount("the account that owns the lists", func(l platform.ListSummary) int64 { return l.AccountID }),
		},
	}
}

// sendings returns the list of campaigns or workflows.
func sendings(all func() []platform.Sending, kind string, statuses ...string) listing[platform.Sending, platform.Sending] {
	id := func(s platform.Sending) string { return strconv.FormatInt(s.ID, 10) }
	return listing[platform.Sending, platform.Sending]{
		find: everyOf(all),
		id:   id,
		text: func(to []byte, s platform.Sending) []byte {
			return lines(to, id(s), s.Name, s.Subject, s.ListName, s.Status)
		},
		record: func(s platform.Sending) platform.Sending { return s },
		filters: []filter[platform.Sending]{
			whereAccount("the account that owns the "+kind, func(s platform.Sending) int64 { return s.AccountID }),
			where(choice("status", "the status of the "+kind, statuses...), func(s platform.Sending) string { return s.Status }),
		},
	}
}

func (c *Control) deleteCampaign(id string) (emptyBody, error) {
	n, _ := strconv.ParseInt(id, 10, 64) // no campaign has the id 0
	if err := c.Platform.DeleteCampaign(n); err != nil {
		return emptyBody{}, err
	}
	c.Changes.Publish(changes.Records, nil)
	return emptyBody{}, nil
}

// filled returns a handler that responds with a rendered part of a template or a campaign.
func filled(
	kind string, get func(int64, map[string]string) (html, text string, ok bool),
	media string, write func(w http.ResponseWriter, html, text string),
) handler {
	return rawResponse(media, func(w http.ResponseWriter, r *request) error {
		attributes := map[string]string{}
		if given := r.query["attributes"]; given != "" {
			err := json.Unmarshal([]byte(given), &attributes)
			if err != nil || contract.CheckText([]byte(given), true) != nil {
				return apierror.Invalid("must be a JSON object whose values are strings", "query", "attributes")
			}
		}
		id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64) // no record has the id 0
		html, text, ok := get(id, attributes)
		if !ok {
			return apierror.NotFound(kind, r.PathValue("id"), "path", "id")
		}
		write(w, html, text)
		return nil
	})
}
