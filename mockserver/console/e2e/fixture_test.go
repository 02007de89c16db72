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

// fixture is a mock server with the console, an SDK client for it, and a receiver of events.
type fixture struct {
	test
	srv      *mockserver.Server
	sdk      *client.Client
	receiver *httptest.Server
	status   atomic.Int64 // status code of the receiver; 204 if zero
}

func newFixture(t *testing.T, tokens ...mockserver.Token) *fixture {
	t.Helper()
	f := &fixture{test: test{t}}
	f.srv = mockserver.Start(mockserver.Config{
		Console: consoleAndSource(), RecordEvents: true, FaultSeed: 1204, Tokens: tokens,
		RetrySchedule: []time.Duration{30 * time.Minute, 2 * time.Hour, 12 * time.Hour},
	})
	t.Cleanup(f.srv.Close)
	f.sdk = f.as(f.srv.Token())
	f.receiver = httptest.NewServer(http.HandlerFunc(f.receive))
	t.Cleanup(f.receiver.Close)
	return f
}

// consoleAndSource also serves the source of the console, so tests can import single modules from src/.
func consoleAndSource() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", console.Handler())
	mux.Handle("/_mock/src/", http.StripPrefix("/_mock/src/", http.FileServer(http.Dir("../src"))))
	return mux
}

// as returns a client with another token.
func (f *fixture) as(token string) *client.Client {
	f.Helper()
	sdk, err := client.New(client.Config{BaseURL: f.srv.URL(), Token: token})
	f.check(err)
	return sdk
}

func (f *fixture) receive(out http.ResponseWriter, _ *http.Request) {
	if status := int(f.status.Load()); status != 0 {
		http.Error(out, "the database is down", status)
		return
	}
	out.WriteHeader(http.StatusNoContent)
}

// subscribe creates a webhook for the events.
func (f *fixture) subscribe(path string, names ...events.Name) client.Webhook {
	f.Helper()
	hook, err := f.sdk.Webhooks.Create(f.Context(), client.WebhookCreate{URL: f.receiver.URL + path, Events: names})
	f.check(err)
	return hook
}

// send sends an email and returns its id.
func (f *fixture) send(to, subject, html string) string {
	f.Helper()
	email, err := f.submit(to, subject, html)
	f.check(err)
	return email.ID
}

func (f *fixture) submit(to, subject, html string) (client.SubmittedEmail, error) {
	return f.sdk.Emails.Send(f.Context(), client.EmailSubmission{
		To: to, Sender: client.Sender{Name: "Harbour Books", Email: "hello@harbour.example"},
		Content: client.EmailContent{Subject: subject, HTML: html, Text: "Hello,\n\n" + subject + ".\n", Type: client.EmailTypeTransactional},
	})
}

// list creates a list with an accepted policy and contacts.
func (f *fixture) list(name string, contacts ...client.ContactCreate) client.List {
	f.Helper()
	list, err := f.sdk.Lists.Create(f.Context(), client.ListCreate{Name: name})
	f.check(err)
	f.check(f.sdk.Lists.AcceptPolicy(f.Context(), list.ID))
	f.join(list.ID, contacts...)
	return list
}

// join adds contacts to a list.
func (f *fixture) join(list int64, contacts ...client.ContactCreate) {
	f.Helper()
	for _, c := range contacts {
		_, err := f.sdk.Contacts.Create(f.Context(), list, c)
		f.check(err)
	}
}

// template creates a template and returns its id.
func (f *fixture) template(name, html, text string) int64 {
	f.Helper()
	made, err := f.sdk.Templates.Create(f.Context(), client.TemplateCreate{Name: name, Content: client.TemplateContent{HTML: html, Text: text}})
	f.check(err)
	return made.ID
}

// draft creates a campaign that is not sent yet.
func (f *fixture) draft(list int64, name string, content client.MessageContent) client.Campaign {
	f.Helper()
	made, err := f.sdk.Campaigns.Create(f.Context(), client.CampaignCreate{
		ListID: list, Name: name, Sender: client.Sender{Name: "Harbour Books", Email: "hello@harbour.example"}, Content: content,
	})
	f.check(err)
	return made
}

// settle waits until no work is in progress.
func (f *fixture) settle() {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), actionTimeout)
	defer cancel()
	f.check(f.srv.Wait(ctx))
}

// opens opens an email and waits for the deliveries.
func (f *fixture) opens(id string) {
	f.Helper()
	f.check(f.srv.Open(id))
	f.settle()
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

// seedShop creates the records in testdata/shop.json with their ids, schedules a campaign and adds two contacts, who get a welcome email.
func (f *fixture) seedShop() {
	f.Helper()
	text := func(html string) string {
		encoded, err := json.Marshal(html)
		f.check(err)
		return string(encoded)
	}
	welcome := strings.ReplaceAll(order, "Hello Ada", "Hello {{first_name}} of {{city}}")
	seed := strings.NewReplacer("RECEIVER", f.receiver.URL, `"ORDER"`, text(order), `"WELCOME"`, text(welcome)).Replace(shop)
	f.check(f.srv.Seed(strings.NewReader(seed)))
	_, err := f.sdk.Campaigns.Schedule(f.Context(), 502, f.srv.Now().Add(72*time.Hour))
	f.check(err)
	f.join(101, reader("noor@example.org", "Noor"), reader("click@mock.test", "Noor"))
	f.settle()
}

// createDay creates the messages, events, deliveries, requests and faults of a day in the shop.
func (f *fixture) createDay() {
	f.Helper()
	_, err := f.sdk.Campaigns.Send(f.Context(), 501)
	f.check(err)
	f.settle()
	f.check(f.srv.Complain(f.lastTo("omar@example.com"), "Gmail"))
	f.check(f.srv.GlobalUnsubscribe(f.lastTo("lena@example.org")))
	f.join(101, pending(reader("kai@example.org", "Kai")))
	f.send("billing@northwind.example", "Your invoice 2026-118", order)
	bounced := f.send("grace@example.org", "Your order is on its way", order)
	opened := f.send("ada@example.org", "Your order is on its way", order)
	f.send("ruth@example.org", "Two books for the price of one", order)
	f.check(f.srv.Open(opened))
	f.check(f.srv.Click(opened, "https://harbour.example/track/10482"))
	f.settle()
	f.status.Store(http.StatusInternalServerError)
	f.check(f.srv.Bounce(bounced, mockserver.MailboxFullBounce))
	f.settle()
	f.status.Store(http.StatusServiceUnavailable)
	f.check(f.srv.Redeliver(f.retrying()))
	f.settle()
	f.status.Store(0)

	f.check(f.sdk.Webhooks.Archive(f.Context(), "602"))
	f.check(f.srv.Bounce(f.send("kim@example.org", "Reset your password", order), mockserver.HardBounce))
	f.ask("POST", "/v2/email", `{"email":"ada@example.org"}`)
	f.ask("POST", "/v2/emails",
		`{"email":"not an address","sender":{"email":"hello@harbour.example"},"content":{"html":"<p>x</p>"}}`)
	f.ask("GET", "/lists/99/contacts?page=0", "")
	_, err = f.srv.Inject(
		mockserver.Fault{Operation: "submitEmail", Nth: 3, Action: mockserver.FaultReset, AfterProcessing: true},
		mockserver.Fault{Action: mockserver.FaultStatus, Status: 503, Probability: 0.2, Operation: "listContacts"},
		mockserver.Fault{Event: "Email.Opened", Action: mockserver.FaultDuplicate},
	)
	f.check(err)
	f.settle()
}

// ask sends a request without the SDK.
func (f *fixture) ask(method, path, body string) {
	f.Helper()
	rawhttp.Send(f, http.DefaultClient, rawhttp.NewRequest(f, method, f.srv.URL()+path, f.srv.Token(), body))
}

// testSecret returns a secret for events to a URL without a webhook.
func testSecret(t test) webhook.Secret {
	t.Helper()
	secret, err := webhook.ParseSecret("s", "")
	t.check(err)
	return secret
}

// lastTo returns the id of the last message to an address.
func (f *fixture) lastTo(address string) string {
	all := f.srv.OutboxTo(address)
	return all[len(all)-1].ID
}

// retrying returns the id of a failed delivery to the first webhook.
func (f *fixture) retrying() string {
	f.Helper()
	for _, d := range f.srv.Deliveries() {
		if d.State == mockserver.DeliveryRetrying && d.WebhookID == "601" {
			return d.ID
		}
	}
	f.Fatal("no delivery is retried")
	return ""
}
