package e2e

import (
	"fmt"
	"strings"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// scene is what a place shows once somebody has done something there.
type scene struct {
	hash string
	act  func(*page) // nil if it is enough to go there
}

// clicked clicks one thing after the other, each of them a kind and its text.
func clicked(things ...string) func(*page) {
	return func(p *page) {
		p.Helper()
		for n := 0; n < len(things); n += 2 {
			p.click(things[n], things[n+1])
		}
	}
}

// typed fills a field.
func typed(selector, text string) func(*page) {
	return func(p *page) {
		p.Helper()
		p.fill(selector, text)
	}
}

// scenes are what the populated platform shows beside its places.
func (w *world) scenes() map[string]scene {
	w.Helper()
	all := map[string]scene{
		"help":             {"#/inbox", func(p *page) { p.press("?"); p.until(`document.querySelector('dialog').open`) }},
		"paused":           {"#/inbox", func(p *page) { p.press("p"); p.until(`document.querySelector('.live[data-state=paused]')`) }},
		"more":             {"#/requests", func(p *page) { eval[bool](p, `document.querySelector('#more')?.showPopover(), true`) }},
		"overview-table":   {"#/overview", clicked("summary", "As a table")},
		"overview-day":     {"#/overview?span=24h", nil},
		"contacts-no-list": {"#/contacts/99", nil},
		"contacts-pending": {"#/contacts?status=pending", nil},
		"suppressed-found": {"#/suppressed", typed(".formrow > .pick input", "ada@competitor.example")},
		"suppressed-not":   {"#/suppressed", typed(".formrow > .pick input", "ada@example.org")},
		"faults-delivery":  {"#/faults", clicked(".form label", "Deliveries")},
		"faults-reset":     {"#/faults", clicked("button", "Back to the start")},
		"faults-toast":     {"#/faults", clicked("button", "Duplicate deliveries")},
		"trigger-url":      {"#/trigger", clicked("label", "A URL")},
		"trigger-not-json": {"#/trigger", typed("#body", `{"event": }`)},
		"trigger-sent":     {"#/trigger", clicked("button", "Send signed")},
		"form-list":        {"#/lists", clicked("button", "New list")},
		"form-contact":     {"#/lists", clicked("button", "Add a contact")},
		"form-template":    {"#/templates", clicked("main button", "New")},
		"form-campaign":    {"#/campaigns", clicked("main button", "New")},
		"form-workflow":    {"#/workflows", clicked("main button", "New")},
		"form-webhook":     {"#/deliveries/webhooks", clicked("button", "New webhook")},
		"form-rotate":      {"#/deliveries/webhooks", clicked("button", "Rotate the secret")},
		// By its name one of the last: it leaves a webhook.
		"webhooks-rotated": {
			"#/deliveries/webhooks", clicked("button", "Rotate the secret", "dialog button", "Create the successor"),
		},
	}
	for _, place := range []string{"inbox", "deliveries", "events", "requests", "templates", "campaigns", "workflows"} {
		all[place+"-nothing"] = scene{"#/" + place + "/nothing", nil}
	}
	for _, place := range []string{"inbox", "contacts", "lists", "deliveries", "events", "requests", "campaigns", "workflows"} {
		all[place+"-not-found"] = scene{"#/" + place + "?q=nothing+like+it", nil}
	}
	w.letters(all)
	w.calls(all)
	w.records(all)
	for name, hash := range w.places() {
		all[name] = scene{hash, nil}
	}
	return all
}

// letters are messages, and what can be done with them.
func (w *world) letters(all map[string]scene) {
	w.Helper()
	for name, to := range map[string]string{"hostile": "mallory@example.org", "bounced": "grace@example.org", "confirmation": "kai@example.org", "campaign": "omar@example.com"} {
		sent := w.srv.OutboxTo(to)
		all["inbox-"+name] = scene{"#/inbox/" + sent[len(sent)-1].ID, nil}
	}
	ada := w.srv.OutboxTo("ada@example.org")
	open := "#/inbox/" + ada[len(ada)-1].ID
	for _, menu := range []string{"Click", "Bounce", "Report spam", "Unsubscribe"} {
		all["inbox-menu-"+strings.ToLower(menu[:5])] = scene{open, clicked(".actions button", menu)}
	}
	all["inbox-acted"] = scene{open, clicked(".actions button", "Open")}
	all["inbox-narrow-dark"] = scene{open, clicked(".preview label", "360", ".preview label", "Dark")}
	all["inbox-latest"] = scene{"#/inbox/latest", nil}
}

// calls are deliveries, events and requests.
func (w *world) calls(all map[string]scene) {
	w.Helper()
	all["deliveries-request"] = scene{"#/deliveries/" + w.retrying() + "/request", nil}
	all["signature-wrong"] = scene{"#/deliveries/" + w.retrying() + "/signature", typed("#secret", "guess")}
	for _, d := range w.srv.Deliveries() {
		if d.State == mockserver.DeliveryDelivered {
			all["deliveries-delivered"] = scene{"#/deliveries/" + d.ID, nil}
		}
	}
	for _, r := range w.srv.Requests() {
		switch {
		case r.Status == 404:
			all["requests-closest"] = scene{"#/requests/" + r.ID, nil}
		case r.Query != "":
			all["requests-query"] = scene{"#/requests/" + r.ID + "/query", nil}
		case r.Status == 422:
			all["requests-response"] = scene{"#/requests/" + r.ID + "/response", nil}
		}
	}
	for _, e := range w.srv.Events() {
		if len(e.Deliveries) == 0 {
			all["events-not-heard"] = scene{"#/events/" + e.ID, nil}
		}
	}
}

// records are templates, lists and campaigns.
func (w *world) records(all map[string]scene) {
	w.Helper()
	lists, err := w.sdk.Lists.List(w.Context(), client.ListListsParams{})
	w.check(err)
	all["contacts-nothing"] = scene{fmt.Sprintf("#/contacts/%d/99999", lists.Data[0].ID), nil}
	all["contacts-nobody"] = scene{fmt.Sprintf("#/contacts/%d", lists.Data[2].ID), nil}
	templates, err := w.sdk.Templates.List(w.Context(), client.ListTemplatesParams{})
	w.check(err)
	all["templates-no-html"] = scene{fmt.Sprintf("#/templates/%d", templates.Data[1].ID), nil}
	all["form-template-edit"] = scene{fmt.Sprintf("#/templates/%d", templates.Data[0].ID), clicked("button", "Edit")}
	all["templates-narrow-dark"] = scene{fmt.Sprintf("#/templates/%d", templates.Data[0].ID), clicked(".preview label", "360", ".preview label", "Dark")}
	campaigns, err := w.sdk.Campaigns.List(w.Context(), client.ListCampaignsParams{})
	w.check(err)
	all["campaigns-scheduled"] = scene{fmt.Sprintf("#/campaigns/%d", campaigns.Data[1].ID), nil}
	all["form-schedule"] = scene{fmt.Sprintf("#/campaigns/%d", campaigns.Data[2].ID), clicked("button", "Schedule")}
}

// bare are the places of a platform on which nothing has happened.
func bare() map[string]scene {
	all := map[string]scene{}
	for _, place := range []string{
		"overview", "inbox", "contacts", "lists", "templates", "campaigns", "workflows", "suppressed", "deliveries", "events", "requests", "faults", "trigger",
	} {
		all["empty-"+place] = scene{"#/" + place, nil}
	}
	return all
}

// show opens a scene.
func (p *page) show(s scene) {
	p.Helper()
	p.rest()
	if s.act != nil {
		s.act(p)
		p.rest()
	}
}
