package e2e

import (
	"context"
	_ "embed"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/rawhttp"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/console"
	"example.com/emailplatform/webhook"
)

// world is a mock server with the console, an SDK client for it, and a receiver of events.
type world struct {
	test
	srv      *mockserver.Server
	sdk      *client.Client
	receiver *httptest.Server
	status   atomic.Int64 // status code of the receiver; 204 if zero
}

func newWorld(t *testing.T, tokens ...mockserver.Token) *world {
	t.Helper()
	w := &world{test: test{t}}
	w.srv = mockserver.Start(mockserver.Config{
		Console: consoleAndSource(), RecordEvents: true, FaultSeed: 1204, Tokens: tokens,
		RetrySchedule: []time.Duration{30 * time.Minute, 2 * time.Hour, 12 * time.Hour},
	})
	t.Cleanup(w.srv.Close)
	w.sdk = w.as(w.srv.Token())
	w.receiver = httptest.NewServer(http.HandlerFunc(w.receive))
	t.Cleanup(w.receiver.Close)
	return w
}

// consoleAndSource also serves the source of the console, so tests can import single modules from src/.
func consoleAndSource() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", console.Handler())
	mux.Handle("/_mock/src/", http.StripPrefix("/_mock/src/", http.FileServer(http.Dir("../src"))))
	return mux
}

// as returns a client with another token.
func (w *world) as(token string) *client.Client {
	w.Helper()
	sdk, err := client.New(client.Config{BaseURL: w.srv.URL(), Token: token})
	w.check(err)
	return sdk
}

func (w *world) receive(out http.ResponseWriter, _ *http.Request) {
	if status := int(w.status.Load()); status != 0 {
		http.Error(out, "the database is down", status)
		return
	}
	out.WriteHeader(http.StatusNoContent)
}

// subscribe creates a webhook for the events.
func (w *world) subscribe(path string, names ...events.Name) client.Webhook {
	w.Helper()
	hook, err := w.sdk.Webhooks.Create(w.Context(), client.WebhookCreate{URL: w.receiver.URL + path, Events: names})
	w.check(err)
	return hook
}

// send sends an email and returns its id.
func (w *world) send(to, subject, html string) string {
	w.Helper()
	email, err := w.submit(to, subject, html)
	w.check(err)
	return email.ID
}

func (w *world) submit(to, subject, html string) (client.SubmittedEmail, error) {
	return w.sdk.Emails.Send(w.Context(), client.EmailSubmission{
		To: to, Sender: client.Sender{Name: "Harbour Books", Email: "hello@harbour.example"},
		Content: client.EmailContent{Subject: subject, HTML: html, Text: "Hello,\n\n" + subject + ".\n", Type: client.EmailTypeTransactional},
	})
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

// opens opens an email and waits for the deliveries.
func (w *world) opens(id string) {
	w.Helper()
	w.check(w.srv.Open(id))
	w.settle()
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

// shop is the seed of a shop. RECEIVER is the URL of the receiver, and ORDER and WELCOME are the HTML of emails.
//
//go:embed testdata/shop.json
var shop string

// openShop creates the records in testdata/shop.json with their ids, schedules a campaign and adds two contacts, who get a welcome email.
func (w *world) openShop() {
	w.Helper()
	text := func(html string) string {
		encoded, err := json.Marshal(html)
		w.check(err)
		return string(encoded)
	}
	welcome := strings.ReplaceAll(order, "Hello Ada", "Hello {{first_name}} of {{city}}")
	seed := strings.NewReplacer("RECEIVER", w.receiver.URL, `"ORDER"`, text(order), `"WELCOME"`, text(welcome)).Replace(shop)
	w.check(w.srv.Seed(strings.NewReader(seed)))
	_, err := w.sdk.Campaigns.Schedule(w.Context(), 502, w.srv.Now().Add(72*time.Hour))
	w.check(err)
	w.join(101, reader("noor@example.org", "Noor"), reader("click@mock.test", "Noor"))
	w.settle()
}

// day creates the messages, events, deliveries, requests and faults of a day in the shop.
func (w *world) day() {
	w.Helper()
	_, err := w.sdk.Campaigns.Send(w.Context(), 501)
	w.check(err)
	w.settle()
	w.check(w.srv.Complain(w.lastTo("omar@example.com"), "Gmail"))
	w.check(w.srv.GlobalUnsubscribe(w.lastTo("lena@example.org")))
	w.join(101, pending(reader("kai@example.org", "Kai")))
	w.send("billing@northwind.example", "Your invoice 2026-118", order)
	bounced := w.send("grace@example.org", "Your order is on its way", order)
	opened := w.send("ada@example.org", "Your order is on its way", order)
	w.send("ruth@example.org", "Two books for the price of one", order)
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

	w.check(w.sdk.Webhooks.Archive(w.Context(), "602"))
	w.check(w.srv.Bounce(w.send("kim@example.org", "Reset your password", order), mockserver.HardBounce))
	w.ask("POST", "/v2/email", `{"email":"ada@example.org"}`)
	w.ask("POST", "/v2/emails",
		`{"email":"not an address","sender":{"email":"hello@harbour.example"},"content":{"html":"<p>x</p>"}}`)
	w.ask("GET", "/lists/99/contacts?page=0", "")
	_, err = w.srv.Inject(
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
	rawhttp.Send(w, http.DefaultClient, rawhttp.NewRequest(w, method, w.srv.URL()+path, w.srv.Token(), body))
}

// testSecret returns a secret for events to a URL without a webhook.
func testSecret(t test) webhook.Secret {
	t.Helper()
	secret, err := webhook.ParseSecret("s", "")
	t.check(err)
	return secret
}

// lastTo returns the id of the last message to an address.
func (w *world) lastTo(address string) string {
	all := w.srv.OutboxTo(address)
	return all[len(all)-1].ID
}

// retrying returns the id of a failed delivery to the first webhook.
func (w *world) retrying() string {
	w.Helper()
	for _, d := range w.srv.Deliveries() {
		if d.State == mockserver.DeliveryRetrying && d.WebhookID == "601" {
			return d.ID
		}
	}
	w.Fatal("no delivery is retried")
	return ""
}
