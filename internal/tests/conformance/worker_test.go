package conformance_test

import (
	"math/rand/v2"
	"strings"
	"time"

	"example.com/emailplatform/mockserver"
)

// worker is one of the crowd. Nobody else changes its own contacts.
type worker struct {
	*crowd
	n      int
	random *rand.Rand
	owned  map[string]*ownContact
}

type ownContact struct {
	id     int64
	status string
}

func (w *worker) work() {
	acts := []func(){
		w.create, w.create, w.create, w.leave, w.contend, w.importBatch, w.tag, w.submit, w.submit, w.suppress, w.global,
		w.complain, w.sendCampaign, w.archive, w.read, w.read, w.inspect, w.changeTemplate,
	}
	for i := 0; ; i++ {
		if w.deadline.IsZero() && i >= 40 || !w.deadline.IsZero() && time.Now().After(w.deadline) || w.Failed() {
			return
		}
		acts[w.random.IntN(len(acts))]()
	}
}

// address is one of the worker's own.
func (w *worker) address() string { return f("c%d-%d@example.org", w.n, w.random.IntN(8)) }

func (w *worker) create() {
	email := w.address()
	own := w.owned[email]
	status, body := w.call("POST", f("/lists/%d/contacts", w.shared), f(`{"email":%q}`, email))
	if own != nil && own.status == "active" {
		w.expect("creating again", status, 409)
		return
	}
	w.expect("creating", f("%d %v", status, body["status"]), "201 active")
	id := number(body["id"])
	if own != nil {
		w.expect("the id", id, own.id)
	}
	w.owned[email] = &ownContact{id, "active"}
	w.happened("Contact.Added")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids[id] = true
}

// leave unsubscribes or deletes an own contact.
func (w *worker) leave() {
	own := w.owned[w.address()]
	switch {
	case own == nil || own.status == "deleted":
	case w.random.IntN(2) == 0:
		status, _ := w.call("POST", f("/lists/%d/contacts/%d/unsubscribe", w.shared, own.id), "")
		w.expect("unsubscribing", status, 204)
		if own.status == "active" {
			w.happened("Contact.Removed", "Contact.Unsubscribed")
		}
		own.status = "unsubscribed"
	default:
		status, _ := w.call("DELETE", f("/lists/%d/contacts/%d", w.shared, own.id), "")
		w.expect("deleting", status, 204)
		w.happened("Contact.Removed")
		own.status = "deleted"
	}
}

// contend wants the same as everybody: one address that is added by one and
// deleted by one at a time.
func (w *worker) contend() {
	status, body := w.call("POST", f("/lists/%d/contacts", w.shared), `{"email":"contended@example.org"}`)
	if status == 409 {
		return
	}
	w.expect("contending", status, 201)
	w.happened("Contact.Added")
	w.mu.Lock()
	w.ids[number(body["id"])] = true
	w.mu.Unlock()
	for range 2 { // only we can delete it now
		status, _ = w.call("DELETE", f("/lists/%d/contacts/%v", w.shared, body["id"]), "")
		if status == 204 {
			w.happened("Contact.Removed")
		}
	}
}

// importBatch imports addresses that others import too.
func (w *worker) importBatch() {
	var entries []string
	for range 5 {
		entries = append(entries, f(`{"email":"i%d@example.org"}`, w.random.IntN(2000)))
	}
	status, body := w.call("POST", f("/lists/%d/contacts/import", w.shared),
		`{"contacts":[`+strings.Join(entries, ",")+`]}`)
	w.expect("importing", f("%d %d", status, number(body["imported"])+number(body["updated"])), "200 5")
	for range number(body["imported"]) {
		w.happened("Contact.Added")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.imported += number(body["imported"])
}

func (w *worker) tag() {
	status, _ := w.call("POST", f("/lists/%d/contacts/tag", w.campaign),
		f(`{"contact_ids":%s,"tags":["t%d","t%d"]}`, show(w.members), w.random.IntN(9), w.random.IntN(9)))
	w.expect("tagging", status, 204)
}

// submit sends an email to nobody's contact, whom much happens to.
func (w *worker) submit() {
	status, body := w.call("POST", "/v2/emails", submission(f("r%d-%d@example.org", w.n, w.random.IntN(1000)), ""))
	w.expect("submitting", f("%d %v", status, body["status"]), "201 queued")
	id, _ := body["id"].(string)
	for name, act := range map[string]func() error{
		"Email.Opened":  func() error { return w.srv.Open(id) },
		"Email.Clicked": func() error { return w.srv.Click(id, "https://shop.example/") },
		"Email.Bounced": func() error { return w.srv.Bounce(id, mockserver.SoftBounce) },
	} {
		w.expect(name, act(), nil)
		w.happened(name)
	}
}

// suppress adds an own address, is refused, and takes the address off again.
func (w *worker) suppress() {
	email := f("s%d@example.org", w.n)
	status, _ := w.call("POST", "/suppressed-emails", f(`{"email":%q}`, email))
	w.expect("suppressing", status, 201)
	_, body := w.call("POST", "/v2/emails", submission(email, ""))
	w.expect("submitting to a suppressed address", body["status"], "rejected")
	status, _ = w.call("DELETE", "/suppressed-emails/"+email, "")
	w.expect("removing", status, 204)
	w.happened("SuppressedEmail.Added", "Email.Rejected")
}

// unwanted submits an email to an address of its own and notes that the address
// is suppressed from now on.
func (w *worker) unwanted(kind string) (id string) {
	email := f("%s%d-%d@example.org", kind, w.n, w.random.Uint64())
	_, body := w.call("POST", "/v2/emails", submission(email, ""))
	id, _ = body["id"].(string)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.suppressed[email] = true
	return id
}

func (w *worker) global() {
	w.expect("unsubscribing from all", w.srv.GlobalUnsubscribe(w.unwanted("g")), nil)
	w.happened("Email.GlobalUnsubscribed", "SuppressedEmail.Added")
}

func (w *worker) complain() {
	w.expect("complaining", w.srv.Complain(w.unwanted("x"), ""), nil)
	w.happened("Email.ReportedAsSpam")
}

func (w *worker) sendCampaign() {
	_, body := w.call("POST", "/campaigns",
		f(`{"name":"A","list_id":%d,"sender":%s,"content":{"subject":"S","template_id":%d}}`, w.campaign, shop, w.template))
	status, _ := w.call("POST", f("/campaigns/%v/schedule", body["campaign_id"]), "{}")
	w.expect("scheduling", status, 200)
	w.happened("Campaign.Scheduled", "Campaign.Sent")
}

func (w *worker) archive() {
	status, _ := w.call("POST",
		f("/webhooks/%s/%s", w.hook, pick([]string{"archive", "unarchive"}, byte(w.random.UintN(2)))), "")
	w.expect("archiving", status, 204)
}

func (w *worker) read() {
	for _, path := range []string{
		f("/lists/%d/contacts?sort=email:desc&filter=status:active&page=%d&with_count=true", w.shared, 1+w.random.IntN(3)),
		"/tags", "/webhooks", "/campaigns?per_page=1", "/suppressed-emails?per_page=3", f("/templates/%d", w.template),
	} {
		status, _ := w.call("GET", path, "")
		w.expect(path, status, 200)
	}
}

func (w *worker) inspect() {
	if w.random.IntN(20) == 0 {
		w.srv.Outbox()
		w.srv.Deliveries()
		w.srv.Requests()
	}
}

func (w *worker) changeTemplate() {
	status, _ := w.call("PATCH", f("/templates/%d", w.template), f(`{"content":{"text":"by %d"}}`, w.n))
	w.expect("changing", status, 200)
}
