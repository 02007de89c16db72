package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// exported is the list that is read whole. Its contacts never change.
type exported struct {
	listID int64
	emails []string // of its contacts
	ids    []int64
}

// heardEvents are those that the webhook is for: those that have an id.
func heardEvents() []events.Name {
	return []events.Name{
		events.NameEmailBounced, events.NameEmailReportedAsSpam, events.NameEmailUnsubscribed,
		events.NameEmailGlobalUnsubscribed, events.NameContactRemoved, events.NameSuppressedEmailAdded, events.NameEmailRejected,
	}
}

// setUp makes what all runs need, before anything goes wrong.
func (w *world) setUp() {
	w.platform.proc.start()
	var hook struct{ Secret string }
	w.must(w.platform.post("/webhooks", map[string]any{"url": "https://" + receiverHost + "/hook", "events": heardEvents()}, &hook))
	secret, err := webhook.ParseSecret(hook.Secret, "")
	w.must(err)
	v, err := webhook.NewVerifier(secret)
	w.must(err)
	w.verifier = v
	w.exported = &exported{listID: w.newList("exported")}
	var contacts []map[string]string
	for i := range w.plan.Contacts {
		email := fmt.Sprintf("e%d@example.org", i+1)
		w.exported.emails = append(w.exported.emails, email)
		contacts = append(contacts, map[string]string{"email": email})
	}
	if len(contacts) > 0 {
		w.must(w.platform.post(fmt.Sprintf("/lists/%d/contacts/import", w.exported.listID), map[string]any{"contacts": contacts}, nil))
	}
	found, err := all[struct{ ID int64 }](w.platform, fmt.Sprintf("/lists/%d/contacts", w.exported.listID))
	w.must(err)
	for _, c := range found {
		w.exported.ids = append(w.exported.ids, c.ID)
	}
	for i, s := range w.plan.Steps {
		if _, ok := s.Do.(Import); ok {
			id := stepID(i)
			w.importLists[id] = w.newList(id)
		}
	}
	for _, r := range w.receiver.replicas {
		r.proc.start()
	}
	for _, c := range w.callers {
		c.proc.start()
	}
}

func (*world) must(err error) {
	if err != nil {
		panic("simulation: setting up: " + err.Error())
	}
}

// newList makes a list that may be sent to.
func (w *world) newList(name string) int64 {
	var list struct {
		ID int64 `json:"list_id"`
	}
	w.must(w.platform.post("/lists", map[string]any{"name": name}, &list))
	w.must(w.platform.post("/lists/"+strconv.FormatInt(list.ID, 10)+"/accept-policy", nil, nil))
	return list.ID
}

// post asks the platform itself, past network, faults and client.
func (p *platform) post(path string, body, into any) error {
	payload, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if body == nil {
		payload = nil
	}
	return p.request(http.MethodPost, path, payload, into)
}

// ask reads from the platform itself.
func (p *platform) ask(path string, into any) error {
	return p.request(http.MethodGet, path, nil, into)
}

func (p *platform) request(method, path string, body []byte, into any) error {
	r, err := http.NewRequestWithContext(p.w.ctx, method, "http://platform.test"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+witness)
	r.Header.Set("Content-Type", "application/json")
	resp, err := p.now().Transport().RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: status %d", method, path, resp.StatusCode)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// all reads all pages of a list.
func all[T any](p *platform, path string) ([]T, error) {
	const perPage = 100
	var items []T
	for n := 1; ; n++ {
		var page struct{ Data []T }
		if err := p.ask(fmt.Sprintf("%s?per_page=%d&page=%d", path, perPage, n), &page); err != nil {
			return nil, err
		}
		items = append(items, page.Data...)
		if len(page.Data) < perPage {
			return items, nil
		}
	}
}
