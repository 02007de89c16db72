package client

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
)

// platform is a mock server without a socket. The field clean is a client without a lookup limit, whose transport
// has no faults.
type platform struct {
	probe.Probe

	clean *Client
}

// withPlatform runs f on virtual time with a platform that rejects unknown fields and parameters.
func withPlatform(t *testing.T, f func(t *testing.T, p *platform)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		targets := map[string]http.Handler{"hooks.test": new(probe.Receiver)}
		p := &platform{Probe: probe.New(t, mockserver.Config{Targets: targets, RejectUnknownFields: true})}
		p.clean = p.client(p.Transport())
		f(t, p)
	})
}

func (p *platform) client(transport http.RoundTripper, change ...func(*Config)) *Client {
	p.Helper()
	change = append([]func(*Config){func(cfg *Config) { cfg.Token, cfg.LookupLimiter = p.Token(), NoLookupLimit{} }}, change...)
	return newBubbleClient(p, transport.RoundTrip, change...)
}

// records contains the ids of the records that operations use.
type records struct {
	list, contact, template, campaign int64
	workflow, webhook, email          string
	n                                 int // number of names that the method name has returned
}

// knownRecords contains the ids of the known responses.
func knownRecords() *records {
	return &records{list: 3, contact: 9, template: 7, campaign: 5, workflow: "w-4", webhook: "h-2", email: "e-1"}
}

func (p *platform) createRecords() *records {
	p.Helper()
	ctx, c, rec := p.Context(), p.clean, &records{}
	rec.list = check.Need(c.Lists.Create(ctx, ListCreate{Name: "Customers"}))(p).ID
	require.NoError(p, c.Lists.AcceptPolicy(ctx, rec.list))
	rec.contact = check.Need(c.Contacts.Create(ctx, rec.list, ContactCreate{Email: "ann@example.com", Tags: []string{"vip"}}))(p).ID
	template := TemplateCreate{Name: "T", Content: TemplateContent{HTML: "<p>{{name}}</p>"}}
	rec.template = check.Need(c.Templates.Create(ctx, template))(p).ID
	message := MessageContent{Subject: "Hello", TemplateID: rec.template}
	campaign := CampaignCreate{Name: "C", ListID: rec.list, Sender: shop(), Content: message}
	rec.campaign = check.Need(c.Campaigns.Create(ctx, campaign))(p).ID
	workflow := WorkflowCreate{Name: "W", ListID: rec.list, Trigger: WorkflowTriggerSubscribed, Sender: shop(), Content: message}
	rec.workflow = check.Need(c.Workflows.Create(ctx, workflow))(p).ID
	hook := WebhookCreate{URL: "http://hooks.test/", Events: []events.Name{events.NameEmailBounced}}
	rec.webhook = check.Need(c.Webhooks.Create(ctx, hook))(p).ID
	rec.email = check.Need(c.Emails.Send(ctx, rec.submission()))(p).ID
	check.Need(c.SuppressedEmails.Add(ctx, "gone@example.com"))(p)
	return rec
}

func shop() Sender { return Sender{Name: "Shop", Email: "shop@example.com"} }

func (rec *records) submission() EmailSubmission {
	return EmailSubmission{
		To: "ann@example.com", Sender: shop(), CustomAttributes: Attributes{{Name: "name", Value: "Ann"}},
		Content: EmailContent{Subject: "Hello", TemplateID: rec.template, Type: EmailTypeTransactional},
	}
}

func (rec *records) name() string {
	rec.n++
	return fmt.Sprintf("new-%d", rec.n)
}
