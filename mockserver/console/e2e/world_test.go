package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/console"
)

// world is a platform with the console, an SDK client of it, and a receiver of events.
type world struct {
	*testing.T
	srv      *mockserver.Server
	sdk      *client.Client
	receiver *httptest.Server
	status   atomic.Int64 // status code of the receiver; 204 if zero
	hook     client.Webhook
}

func newWorld(t *testing.T, tokens ...mockserver.Token) *world {
	t.Helper()
	w := &world{T: t}
	w.srv = mockserver.Start(mockserver.Config{
		Console: console.Handler(), RecordEvents: true, FaultSeed: 1204, Tokens: tokens,
		RetrySchedule: []time.Duration{30 * time.Minute, 2 * time.Hour, 12 * time.Hour},
	})
	t.Cleanup(w.srv.Close)
	w.sdk = w.as(w.srv.Token())
	w.receiver = httptest.NewServer(http.HandlerFunc(w.receive))
	t.Cleanup(w.receiver.Close)
	return w
}

// as is a client with another token.
func (w *world) as(token string) *client.Client {
	w.Helper()
	sdk, err := client.New(client.Config{BaseURL: w.srv.URL(), Token: token})
	w.check(err)
	return sdk
}

func (w *world) receive(out http.ResponseWriter, _ *http.Request) {
	status := int(w.status.Load())
	if status == 0 {
		status = http.StatusNoContent
	}
	if status >= 400 {
		http.Error(out, "the database is down", status)
		return
	}
	out.WriteHeader(status)
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// subscribe makes a webhook for the events.
func (w *world) subscribe(path string, names ...events.Name) client.Webhook {
	w.Helper()
	hook, err := w.sdk.Webhooks.Create(w.Context(), client.WebhookCreate{URL: w.receiver.URL + path, Events: names})
	w.check(err)
	return hook
}

// send submits a message with the SDK.
func (w *world) send(to, subject, html string) string {
	w.Helper()
	email, err := w.sdk.Emails.Send(w.Context(), client.EmailSubmission{
		To:     to,
		Sender: client.Sender{Name: "Harbour Books", Email: "hello@harbour.example"},
		Content: client.EmailContent{
			Subject: subject,
			HTML:    html,
			Text:    "Hello,\n\n" + subject + ".\n",
			Type:    client.EmailTypeTransactional,
		},
	})
	w.check(err)
	return email.ID
}

// list makes a list that can be sent to, with contacts.
func (w *world) list(name string, contacts ...client.ContactCreate) client.List {
	w.Helper()
	list, err := w.sdk.Lists.Create(w.Context(), client.ListCreate{Name: name})
	w.check(err)
	w.check(w.sdk.Lists.AcceptPolicy(w.Context(), list.ID))
	for _, c := range contacts {
		_, err := w.sdk.Contacts.Create(w.Context(), list.ID, c)
		w.check(err)
	}
	return list
}

// settle returns when nothing happens any more.
func (w *world) settle() {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	w.check(w.srv.Wait(ctx))
}

func pending(c client.ContactCreate) client.ContactCreate {
	c.DoubleOptIn = true
	return c
}

func reader(email, first string, tags ...string) client.ContactCreate {
	return client.ContactCreate{
		Email: email, Tags: tags, Interests: []string{"books"},
		CustomAttributes: client.Attributes{{Name: "first_name", Value: first}, {Name: "city", Value: "Lyon"}},
	}
}

const order = `<!doctype html><html><head><meta name="color-scheme" content="light dark"><style>
body { margin: 0; padding: 28px 16px; background: #f3efe7; font: 16px/1.5 Georgia, serif; color: #1d1d1b }
.sheet { max-width: 500px; margin: auto; padding: 28px 30px; background: #fffdf8; border-radius: 8px }
h1 { font-size: 25px; margin: 0 0 18px } td { padding: 10px 0; border-bottom: 1px solid #d9d3c6 } table { width: 100%; border-collapse: collapse }
.end { text-align: right } .go { display: inline-block; margin: 20px 0; padding: 12px 22px; border-radius: 6px; background: #204b45; color: #fff; font: 15px sans-serif; text-decoration: none }
.foot { max-width: 560px; margin: 18px auto; font: 13px sans-serif; color: #77705f } .foot a { color: inherit }
@media (prefers-color-scheme: dark) { body { background: #171512; color: #eee6d8 } .sheet { background: #24211c } td { border-color: #423c31 } .go { background: #7fc0b2; color: #10211e } }
</style></head><body><div class="sheet"><h1>Your order is on its way</h1><p>Hello Ada,</p><p>order <b>10 482</b> left our shop this morning and should reach you on Tuesday.</p>
<table><tr><td>1 × The Left Hand of Darkness</td><td class="end">€ 12.00</td></tr><tr><td>1 × Piranesi</td><td class="end">€ 10.50</td></tr></table>
<a class="go" href="https://harbour.example/track/10482">Track your parcel</a></div>
<p class="foot">Harbour Books, 4 Quay Street, Lyon<br><a href="https://harbour.example/unsubscribe">Unsubscribe</a> · <a href="https://harbour.example/help">Help</a></p></body></html>`

// populate lets a shop's day happen.
func (w *world) populate() {
	w.Helper()
	w.day(w.hooks())
}

// hooks makes the shop's webhooks, and returns the second one.
func (w *world) hooks() client.Webhook {
	w.Helper()
	w.hook = w.subscribe("/hooks/email", "Email.Bounced", "Email.Opened", "Email.Clicked", "Email.ReportedAsSpam",
		"Contact.Added", "Email.Unsubscribed", "Contact.Removed")
	return w.subscribe("/crm/inbound", "Email.Bounced", "Email.GlobalUnsubscribed", "SuppressedEmail.Added")
}

// day is all that happens after that.
func (w *world) day(crm client.Webhook) {
	w.Helper()
	readers := w.list("Readers", reader("ada@example.org", "Ada", "vip", "customer"),
		reader("grace@example.org", "Grace", "customer"), reader("omar@example.com", "Omar"),
		reader("lena@example.org", "Léna", "press"), reader("ines@example.net", "Inês", "customer"),
		reader("tomasz.wojciechowski-lewandowski@example.org", "Tomasz"))
	w.list("Authors", reader("ursula@example.org", "Ursula", "vip"))
	_, err := w.sdk.Lists.Create(w.Context(), client.ListCreate{Name: "Unused"})
	w.check(err)
	w.campaign(readers.ID)
	w.resources(readers.ID)
	_, err = w.sdk.Contacts.Create(w.Context(), readers.ID, pending(reader("kai@example.org", "Kai")))
	w.check(err)
	w.send("billing@northwind.example", "Your invoice 2026-118", order)
	w.send("mallory@example.org", `Hostile <img src=x onerror=alert(1)> subject`, strings.ReplaceAll(hostile, "PORT", "1"))
	bounced := w.send("grace@example.org", "Your order is on its way", order)
	opened := w.send("ada@example.org", "Your order is on its way", order)
	w.send("ruth@example.org", "Two books for the price of one", order)
	w.settle()
	w.check(w.srv.Open(opened))
	w.check(w.srv.Click(opened, "https://harbour.example/track/10482"))
	w.settle()
	w.status.Store(http.StatusInternalServerError)
	w.check(w.srv.Bounce(bounced, mockserver.MailboxFullBounce))
	w.settle()
	w.status.Store(http.StatusServiceUnavailable)
	w.check(w.srv.Redeliver(w.retrying()))
	w.settle()
	w.status.Store(0)
	w.mishaps(crm)
}

func (w *world) campaign(list int64) {
	w.Helper()
	sale, err := w.sdk.Campaigns.Create(w.Context(), client.CampaignCreate{
		ListID: list,
		Name:   "Autumn",
		Sender: client.Sender{Name: "Harbour Books", Email: "hello@harbour.example"},
		Content: client.MessageContent{
			Subject: "The autumn catalogue is here, {{first_name}}",
			HTML:    order,
			Text:    "The autumn catalogue is here.",
		},
	})
	w.check(err)
	_, err = w.sdk.Campaigns.Send(w.Context(), sale.ID)
	w.check(err)
	w.settle()
	for _, m := range w.srv.Outbox() {
		if m.To == "omar@example.com" {
			w.check(w.srv.Complain(m.ID, "Gmail"))
		}
		if m.To == "lena@example.org" {
			w.check(w.srv.GlobalUnsubscribe(m.ID))
		}
	}
}

// mishaps are an archived webhook, suppressed addresses, requests that fail, and faults.
func (w *world) mishaps(crm client.Webhook) {
	w.Helper()
	for _, email := range []string{"*@competitor.example", "no-more@example.org"} {
		_, err := w.sdk.SuppressedEmails.Add(w.Context(), email)
		w.check(err)
	}
	w.check(w.sdk.Webhooks.Archive(w.Context(), crm.ID))
	w.check(w.srv.Bounce(w.send("kim@example.org", "Reset your password", order), mockserver.HardBounce))
	w.ask("POST", "/v2/email", `{"email":"ada@example.org"}`)
	w.ask("POST", "/v2/emails",
		`{"email":"not an address","sender":{"email":"hello@harbour.example"},"content":{"html":"<p>x</p>"}}`)
	w.ask("GET", "/lists/99/contacts?page=0", "")
	_, err := w.srv.Inject(
		mockserver.Fault{Operation: "submitEmail", Nth: 3, Action: mockserver.FaultReset, AfterProcessing: true},
		mockserver.Fault{Action: mockserver.FaultStatus, Status: 503, Probability: 0.2, Operation: "listContacts"},
		mockserver.Fault{Event: "Email.Opened", Action: mockserver.FaultDuplicate},
	)
	w.check(err)
	w.settle()
}

// ask sends a request that the SDK would not.
func (w *world) ask(method, path, body string) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), method, w.srv.URL()+path, strings.NewReader(body))
	w.check(err)
	req.Header.Set("Authorization", "Bearer "+w.srv.Token())
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	w.check(err)
	w.check(res.Body.Close())
}

// retrying is a delivery to the first webhook that has failed.
func (w *world) retrying() string {
	w.Helper()
	for _, d := range w.srv.Deliveries() {
		if d.State == mockserver.DeliveryRetrying && d.WebhookID == w.hook.ID {
			return d.ID
		}
	}
	w.Fatal("no delivery is retried")
	return ""
}

// places are all views of the console that are worth a look.
func (w *world) places() map[string]string {
	message, delivery, request := "", w.retrying(), ""
	for _, m := range w.srv.Outbox() {
		if m.To == "ada@example.org" {
			message = m.ID
		}
	}
	for _, r := range w.srv.Requests() {
		if r.Status == http.StatusUnprocessableEntity {
			request = r.ID
			break
		}
	}
	events := w.srv.Events()
	lists, err := w.sdk.Lists.List(w.Context(), client.ListListsParams{})
	w.check(err)
	list := lists.Data[0].ID
	contacts, err := w.sdk.Contacts.List(w.Context(), list, client.ListContactsParams{})
	w.check(err)
	all := placesOf(message, delivery, request, events[len(events)-2].ID, list, contacts.Data[0].ID)
	maps.Copy(all, w.resourcePlaces())
	return all
}

func placesOf(message, delivery, request, event string, list, contact int64) map[string]string {
	return map[string]string{
		"inbox":           "#/inbox/" + message,
		"inbox-text":      "#/inbox/" + message + "/text",
		"inbox-source":    "#/inbox/" + message + "/source",
		"inbox-headers":   "#/inbox/" + message + "/headers",
		"inbox-history":   "#/inbox/" + message + "/history",
		"inbox-checks":    "#/inbox/" + message + "/checks",
		"inbox-list":      "#/inbox",
		"inbox-compact":   "#/inbox?density=compact",
		"contacts":        fmt.Sprintf("#/contacts/%d/%d", list, contact),
		"contacts-list":   "#/contacts",
		"suppressed":      "#/suppressed",
		"deliveries":      "#/deliveries/" + delivery,
		"deliveries-body": "#/deliveries/" + delivery + "/body",
		"signature":       "#/deliveries/" + delivery + "/signature",
		"webhooks":        "#/deliveries/webhooks",
		"hooks-compact":   "#/deliveries/webhooks?density=compact",
		"no-account":      "#/inbox?account=77",
		"events":          "#/events/" + event,
		"events-list":     "#/events",
		"requests":        "#/requests/" + request,
		"requests-list":   "#/requests",
		"faults":          "#/faults",
		"trigger":         "#/trigger",
		"api":             "#/api/updateTemplate",
		"api-list":        "#/api",
	}
}
