package e2e

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/console"
)

// world is a mock server with the console, an SDK client for it, and a receiver of events.
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

// as returns a client with another token.
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

// subscribe creates a webhook for the events.
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

// list creates a list with an accepted policy and contacts.
func (w *world) list(name string, contacts ...client.ContactCreate) client.List {
	w.Helper()
	list, err := w.sdk.Lists.Create(w.Context(), client.ListCreate{Name: name})
	w.check(err)
	w.check(w.sdk.Lists.AcceptPolicy(w.Context(), list.ID))
	w.join(list.ID, contacts...)
	return list
}

// join adds contacts to a list.
func (w *world) join(list int64, contacts ...client.ContactCreate) {
	w.Helper()
	for _, c := range contacts {
		_, err := w.sdk.Contacts.Create(w.Context(), list, c)
		w.check(err)
	}
}

// template creates a template and returns its id.
func (w *world) template(name, html, text string) int64 {
	w.Helper()
	made, err := w.sdk.Templates.Create(w.Context(), client.TemplateCreate{Name: name, Content: client.TemplateContent{HTML: html, Text: text}})
	w.check(err)
	return made.ID
}

// draft creates a campaign that is not sent yet.
func (w *world) draft(list int64, name string, content client.MessageContent) client.Campaign {
	w.Helper()
	made, err := w.sdk.Campaigns.Create(w.Context(), client.CampaignCreate{
		ListID: list, Name: name, Sender: client.Sender{Name: "Harbour Books", Email: "hello@harbour.example"}, Content: content,
	})
	w.check(err)
	return made
}

// settle waits until no work is in progress.
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

//go:embed testdata/order.html
var order string

// populate creates the records of a shop's day.
func (w *world) populate() {
	w.Helper()
	w.day(w.hooks())
}

// hooks creates the shop's webhooks and returns the second one.
func (w *world) hooks() client.Webhook {
	w.Helper()
	w.hook = w.subscribe("/hooks/email", "Email.Bounced", "Email.Opened", "Email.Clicked", "Email.ReportedAsSpam",
		"Contact.Added", "Email.Unsubscribed", "Contact.Removed")
	return w.subscribe("/crm/inbound", "Email.Bounced", "Email.GlobalUnsubscribed", "SuppressedEmail.Added")
}

// day creates all records except the webhooks.
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
	w.join(readers.ID, pending(reader("kai@example.org", "Kai")))
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
	sale := w.draft(list, "Autumn", client.MessageContent{
		Subject: "The autumn catalogue is here, {{first_name}}", HTML: order, Text: "The autumn catalogue is here.",
	})
	_, err := w.sdk.Campaigns.Send(w.Context(), sale.ID)
	w.check(err)
	w.settle()
	for _, m := range w.srv.OutboxTo("omar@example.com") {
		w.check(w.srv.Complain(m.ID, "Gmail"))
	}
	for _, m := range w.srv.OutboxTo("lena@example.org") {
		w.check(w.srv.GlobalUnsubscribe(m.ID))
	}
}

// mishaps creates an archived webhook, suppressed addresses, failed requests and faults.
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

// ask sends a request without the SDK.
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

// retrying returns the id of a failed delivery to the first webhook.
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

// places returns all views of the console to check.
func (w *world) places() []string {
	w.Helper()
	list := list(w, "Readers")
	contact, err := w.sdk.Contacts.Find(w.Context(), list, "ada@example.org")
	w.check(err)
	templates, err := w.sdk.Templates.List(w.Context(), client.ListTemplatesParams{})
	w.check(err)
	campaigns, err := w.sdk.Campaigns.List(w.Context(), client.ListCampaignsParams{})
	w.check(err)
	workflows, err := w.sdk.Workflows.List(w.Context(), client.ListWorkflowsParams{})
	w.check(err)
	requests, events := w.srv.Requests(), w.srv.Events()
	rejected := slices.IndexFunc(requests, func(r mockserver.Request) bool { return r.Status == http.StatusUnprocessableEntity })
	message, delivery := w.toAda(), "deliveries/"+w.retrying()
	template := fmt.Sprintf("templates/%d", templates.Data[0].ID)
	sent, draft := fmt.Sprintf("campaigns/%d", campaigns.Data[0].ID), fmt.Sprintf("campaigns/%d", campaigns.Data[2].ID)
	return []string{
		"overview", "lists", "suppressed", "faults", "trigger", "api", "api/updateTemplate",
		"inbox", message, message + "/text", message + "/source", message + "/headers", message + "/history", message + "/checks",
		"deliveries/webhooks", delivery, delivery + "/body", delivery + "/signature",
		"events", "events/" + events[len(events)-2].ID, "requests", "requests/" + requests[rejected].ID,
		"contacts", fmt.Sprintf("contacts/%d/%d", list, contact.ID),
		"templates", template, template + "/text", template + "/source",
		"campaigns", sent, draft, "workflows", "workflows/" + workflows.Data[0].ID,
		"inbox?account=77", "inbox?density=compact", "deliveries/webhooks?density=compact", // the browser remembers the density
	}
}

// toAda returns the view of the last message to Ada.
func (w *world) toAda() string {
	all := w.srv.OutboxTo("ada@example.org")
	return "inbox/" + all[len(all)-1].ID
}
