package client_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// platform is a mock server without a socket, with a client that meets no faults and no lookup limit.
type platform struct {
	*mockserver.Server
	clean *client.Client
	t     testing.TB
}

// newPlatform returns a platform that reports every violation of openapi.yaml.
func newPlatform(t testing.TB, change ...func(*mockserver.Config)) *platform {
	t.Helper()
	receiver := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	cfg := mockserver.Config{Targets: map[string]http.Handler{"hooks.test": receiver}, OnViolation: func(err error) { t.Error(err) }}
	for _, c := range change {
		c(&cfg)
	}
	p := &platform{Server: mockserver.New(cfg), t: t}
	p.clean = p.client(client.Config{LookupLimiter: client.NoLookupLimit{}})
	return p
}

func (p *platform) client(cfg client.Config) *client.Client {
	p.t.Helper()
	cfg.BaseURL, cfg.Token = "https://platform.test", p.Token()
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{Transport: client.Spelled(p.Transport())}
	}
	c, err := client.New(cfg)
	fatal(p.t, err)
	return c
}

// fixture is the set of records that operations use.
type fixture struct {
	list, contact, template, campaign int64
	workflow, webhook, email          string
	n                                 int // makes names new
}

func (p *platform) fixture() *fixture {
	p.t.Helper()
	ctx, f := p.t.Context(), &fixture{}
	check := func(err error) { p.t.Helper(); fatal(p.t, err) }
	list, err := p.clean.Lists.Create(ctx, client.ListCreate{Name: "Customers"})
	check(err)
	f.list = list.ID
	check(p.clean.Lists.AcceptPolicy(ctx, f.list))
	contact, err := p.clean.Contacts.Create(ctx, f.list, client.ContactCreate{Email: "ann@example.com", Tags: []string{"vip"}})
	check(err)
	f.contact = contact.ID
	template, err := p.clean.Templates.Create(ctx, client.TemplateCreate{Name: "T", Content: client.TemplateContent{HTML: "<p>{{name}}</p>"}})
	check(err)
	f.template = template.ID
	message := client.MessageContent{Subject: "Hello", TemplateID: f.template}
	campaign, err := p.clean.Campaigns.Create(ctx, client.CampaignCreate{Name: "C", ListID: f.list, Sender: sender(), Content: message})
	check(err)
	f.campaign = campaign.ID
	workflow, err := p.clean.Workflows.Create(ctx, client.WorkflowCreate{Name: "W", ListID: f.list, Trigger: client.WorkflowTriggerSubscribed, Sender: sender(), Content: message})
	check(err)
	f.workflow = workflow.ID
	webhook, err := p.clean.Webhooks.Create(ctx, client.WebhookCreate{URL: "http://hooks.test/", Events: []events.Name{events.NameEmailBounced}})
	check(err)
	f.webhook = webhook.ID
	email, err := p.clean.Emails.Send(ctx, f.submission())
	check(err)
	f.email = email.ID
	_, err = p.clean.SuppressedEmails.Add(ctx, "gone@example.com")
	check(err)
	return f
}

func sender() client.Sender { return client.Sender{Name: "Shop", Email: "shop@example.com"} }

func (f *fixture) submission() client.EmailSubmission {
	return client.EmailSubmission{
		To: "ann@example.com", Sender: sender(),
		Content: client.EmailContent{Subject: "Hello", TemplateID: f.template, Type: client.EmailTypeTransactional},
	}
}

func (f *fixture) name() string {
	f.n++
	return fmt.Sprintf("new-%d", f.n)
}

// operation calls one operation of the platform with its client method.
type operation struct {
	id   string // as in openapi.yaml
	call func(context.Context, *client.Client, *fixture) error

	// count returns how many there are of what the operation creates or sends;
	// nil if it does neither.
	count func(*platform, *fixture) int
}

func size[T any](p *platform, all iter.Seq2[T, error]) int {
	p.t.Helper()
	n := 0
	for _, err := range all {
		fatal(p.t, err)
		n++
	}
	return n
}

// outbox returns the number of emails to ann@example.com.
func outbox(p *platform, _ *fixture) int {
	p.t.Helper()
	fatal(p.t, p.Wait(p.t.Context()))
	n := 0
	for _, m := range p.Outbox() {
		if m.To == "ann@example.com" {
			n++
		}
	}
	return n
}

func drain[T any](all iter.Seq2[T, error]) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func last[T any](_ T, err error) error { return err }

func operations() []operation {
	return slices.Concat(templateOperations(), listOperations(), emailOperations(), campaignOperations(), workflowOperations(), suppressionOperations(), webhookOperations())
}

func templateOperations() []operation {
	return []operation{
		{"createTemplate", func(ctx context.Context, c *client.Client, f *fixture) error {
			return last(c.Templates.Create(ctx, client.TemplateCreate{Name: f.name()}))
		}, func(p *platform, _ *fixture) int {
			return size(p, p.clean.Templates.All(p.t.Context(), client.ListTemplatesParams{}))
		}},
		{"listTemplates", func(ctx context.Context, c *client.Client, _ *fixture) error {
			return cmp.Or(last(c.Templates.List(ctx, client.ListTemplatesParams{PerPage: 100, WithCount: true})), drain(c.Templates.All(ctx, client.ListTemplatesParams{PerPage: 100, WithCount: true})))
		}, nil},
		{"getTemplate", func(ctx context.Context, c *client.Client, f *fixture) error {
			return last(c.Templates.Get(ctx, f.template))
		}, nil},
		{"updateTemplate", func(ctx context.Context, c *client.Client, f *fixture) error {
			return last(c.Templates.Update(ctx, f.template, client.TemplateUpdate{
				Name: new(f.name()), Content: &client.TemplateContentUpdate{Text: client.Null[string]()},
			}))
		}, nil},
		{"renderTemplate", func(ctx context.Context, c *client.Client, f *fixture) error {
			return last(c.Templates.Render(ctx, f.template))
		}, nil},
	}
}

func listOperations() []operation {
	contacts := func(p *platform, f *fixture) int {
		return size(p, p.clean.Contacts.All(p.t.Context(), f.list, client.ListContactsParams{}))
	}
	return []operation{
		{"createList", func(ctx context.Context, c *client.Client, f *fixture) error {
			return last(c.Lists.Create(ctx, client.ListCreate{Name: f.name()}))
		}, func(p *platform, _ *fixture) int {
			return size(p, p.clean.Lists.All(p.t.Context(), client.ListListsParams{}))
		}},
		{"listLists", func(ctx context.Context, c *client.Client, _ *fixture) error {
			return cmp.Or(last(c.Lists.List(ctx, client.ListListsParams{Page: 1})), drain(c.Lists.All(ctx, client.ListListsParams{})))
		}, nil},
		{"getList", func(ctx context.Context, c *client.Client, f *fixture) error { return last(c.Lists.Get(ctx, f.list)) }, nil},
		{"acceptListPolicy", func(ctx context.Context, c *client.Client, f *fixture) error {
			return c.Lists.AcceptPolicy(ctx, f.list)
		}, nil},
		{"createContact", func(ctx context.Context, c *client.Client, f *fixture) error {
			contact := client.ContactCreate{Email: f.name() + "@example.com", CustomAttributes: client.Attributes{{Name: "name", Value: "N"}}, Interests: []string{"news"}}
			contact.DoubleOptIn, contact.Resubscribe = f.n%2 == 0, f.n%3 == 0
			return last(c.Contacts.Create(ctx, f.list, contact))
		}, contacts},
		{"listContacts", func(ctx context.Context, c *client.Client, f *fixture) error {
			return drain(c.Contacts.All(ctx, f.list, client.ListContactsParams{Sort: "email:desc", Filter: "status:active"}, client.Prefetch(1)))
		}, nil},
		{"getContact", func(ctx context.Context, c *client.Client, f *fixture) error {
			return last(c.Contacts.Get(ctx, f.list, f.contact))
		}, nil},
		{"updateContact", func(ctx context.Context, c *client.Client, f *fixture) error {
			return last(c.Contacts.Update(ctx, f.list, f.contact, client.ContactUpdate{CustomAttributes: []client.CustomAttributeUpdate{
				{Name: "name", Value: client.Value("Ann")}, {Name: "city", Value: client.Null[string]()},
			}}))
		}, nil},
		{"tagContacts", func(ctx context.Context, c *client.Client, f *fixture) error {
			return c.Contacts.Tag(ctx, f.list, client.ContactTagging{ContactIDs: []int64{f.contact}, Tags: []string{"new"}})
		}, nil},
		{"importContacts", func(ctx context.Context, c *client.Client, f *fixture) error {
			batch := []client.ImportContact{{Email: f.name() + "@example.com", Tags: []string{"x"}, Line: 2}, {Email: "ann@example.com"}, {Email: "bad"}}
			return last(c.Contacts.Import(ctx, f.list, client.ContactsFromSlice(batch), client.ImportOptions{ImportTo: client.ImportToActive}))
		}, nil},
		{"listTags", func(ctx context.Context, c *client.Client, _ *fixture) error {
			return cmp.Or(last(c.Tags.List(ctx, client.ListTagsParams{})), drain(c.Tags.All(ctx, client.ListTagsParams{})))
		}, nil},
	}
}

func emailOperations() []operation {
	return []operation{
		{"submitEmail", func(ctx context.Context, c *client.Client, f *fixture) error {
			email := f.submission()
			email.CustomAttributes = client.Attributes{{Name: "name", Value: "Ann"}}
			return last(c.Emails.Send(ctx, email))
		}, outbox},
		{"getEmail", func(ctx context.Context, c *client.Client, f *fixture) error { return last(c.Emails.Get(ctx, f.email)) }, nil},
		{"sendTransactionalEmail", func(ctx context.Context, c *client.Client, _ *fixture) error {
			return last(c.Emails.SendLegacy(ctx, client.TransactionalSubmission{
				To: "ann@example.com", Sender: sender(), Content: client.MessageContent{Subject: "S", HTML: "<b>H</b>"},
				AdditionalHeaders: []client.EmailHeader{{Name: "X-Order", Value: "7"}},
			}))
		}, outbox},
	}
}

func campaignOperations() []operation {
	return []operation{
		{"createCampaign", func(ctx context.Context, c *client.Client, f *fixture) error {
			return last(c.Campaigns.Create(ctx, client.CampaignCreate{Name: f.name(), ListID: f.list, Sender: sender(), Content: client.MessageContent{Subject: "S", Text: "T"}}))
		}, func(p *platform, _ *fixture) int {
			return size(p, p.clean.Campaigns.All(p.t.Context(), client.ListCampaignsParams{}))
		}},
		{"listCampaigns", func(ctx context.Context, c *client.Client, _ *fixture) error {
			return cmp.Or(last(c.Campaigns.List(ctx, client.ListCampaignsParams{})), drain(c.Campaigns.All(ctx, client.ListCampaignsParams{})))
		}, nil},
		{"getCampaign", func(ctx context.Context, c *client.Client, f *fixture) error {
			return last(c.Campaigns.Get(ctx, f.campaign))
		}, nil},
		{"updateCampaign", func(ctx context.Context, c *client.Client, f *fixture) error {
			return last(c.Campaigns.Update(ctx, f.campaign, client.CampaignUpdate{
				Name: new(f.name()), Content: &client.MessageContentUpdate{TemplateID: new(f.template)},
			}))
		}, nil},
		{"scheduleCampaign", func(ctx context.Context, c *client.Client, f *fixture) error {
			return last(c.Campaigns.Send(ctx, f.campaign))
		}, outbox},
	}
}

func workflowOperations() []operation {
	return []operation{
		{"createWorkflow", func(ctx context.Context, c *client.Client, f *fixture) error {
			return last(c.Workflows.Create(ctx, client.WorkflowCreate{
				Name: f.name(), ListID: f.list, Trigger: client.WorkflowTriggerSubscribed, Sender: sender(),
				Content: client.MessageContent{Subject: "S", HTML: "H"},
			}))
		}, func(p *platform, _ *fixture) int {
			return size(p, p.clean.Workflows.All(p.t.Context(), client.ListWorkflowsParams{}))
		}},
		{"listWorkflows", func(ctx context.Context, c *client.Client, _ *fixture) error {
			return cmp.Or(last(c.Workflows.List(ctx, client.ListWorkflowsParams{})), drain(c.Workflows.All(ctx, client.ListWorkflowsParams{})))
		}, nil},
		{"getWorkflow", func(ctx context.Context, c *client.Client, f *fixture) error {
			return last(c.Workflows.Get(ctx, f.workflow))
		}, nil},
		{"activateWorkflow", func(ctx context.Context, c *client.Client, f *fixture) error {
			return c.Workflows.Activate(ctx, f.workflow)
		}, nil},
		{"deactivateWorkflow", func(ctx context.Context, c *client.Client, f *fixture) error {
			return c.Workflows.Deactivate(ctx, f.workflow)
		}, nil},
	}
}

func suppressionOperations() []operation {
	return []operation{
		{"addSuppressedEmail", func(ctx context.Context, c *client.Client, f *fixture) error {
			return last(c.SuppressedEmails.Add(ctx, f.name()+"@example.net"))
		}, func(p *platform, _ *fixture) int {
			return size(p, p.clean.SuppressedEmails.All(p.t.Context(), client.ListSuppressedEmailsParams{}))
		}},
		{"listSuppressedEmails", func(ctx context.Context, c *client.Client, _ *fixture) error {
			params := client.ListSuppressedEmailsParams{Filter: "email:gone@example.com"}
			return cmp.Or(last(c.SuppressedEmails.List(ctx, params)), drain(c.SuppressedEmails.All(ctx, params)))
		}, nil},
		{"removeSuppressedEmail", func(ctx context.Context, c *client.Client, _ *fixture) error {
			return c.SuppressedEmails.Remove(ctx, "gone@example.com")
		}, nil},
	}
}

// webhookOperations are last, with the operations that delete records of the others.
func webhookOperations() []operation {
	return []operation{
		{"createWebhook", func(ctx context.Context, c *client.Client, _ *fixture) error {
			return last(c.Webhooks.Create(ctx, client.WebhookCreate{
				URL: "http://hooks.test/", Events: []events.Name{events.NameEmailOpened}, RateLimit: 10, RateLimitPeriod: client.RateLimitPeriodSecond,
			}))
		}, func(p *platform, _ *fixture) int {
			return size(p, p.clean.Webhooks.All(p.t.Context(), client.ListWebhooksParams{}))
		}},
		{"listWebhooks", func(ctx context.Context, c *client.Client, _ *fixture) error {
			return cmp.Or(last(c.Webhooks.List(ctx, client.ListWebhooksParams{})), drain(c.Webhooks.All(ctx, client.ListWebhooksParams{})))
		}, nil},
		{"getWebhook", func(ctx context.Context, c *client.Client, f *fixture) error {
			return last(c.Webhooks.Get(ctx, f.webhook))
		}, nil},
		{"archiveWebhook", func(ctx context.Context, c *client.Client, f *fixture) error {
			return c.Webhooks.Archive(ctx, f.webhook)
		}, nil},
		{"unarchiveWebhook", func(ctx context.Context, c *client.Client, f *fixture) error {
			return c.Webhooks.Unarchive(ctx, f.webhook)
		}, nil},
		{"unsubscribeContact", func(ctx context.Context, c *client.Client, f *fixture) error {
			return c.Contacts.Unsubscribe(ctx, f.list, f.contact)
		}, nil},
		{"deleteContact", func(ctx context.Context, c *client.Client, f *fixture) error {
			return c.Contacts.Delete(ctx, f.list, f.contact)
		}, nil},
		{"deleteTemplate", func(ctx context.Context, c *client.Client, f *fixture) error {
			return c.Templates.Delete(ctx, f.template)
		}, nil},
	}
}

// TestEveryOperation calls the method of each operation in openapi.yaml. The mock server validates each request and
// response.
func TestEveryOperation(t *testing.T) {
	document, err := os.ReadFile("../openapi.yaml")
	fatal(t, err)
	paths, _, _ := strings.Cut(string(document), "\nwebhooks:\n")
	var ids []string
	for _, m := range regexp.MustCompile(`(?m)^ {6}operationId: (\w+)$`).FindAllStringSubmatch(paths, -1) {
		ids = append(ids, m[1])
	}
	if len(ids) < 39 {
		t.Fatalf("only %d operations found in the document", len(ids))
	}
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform(t)
		defer p.Close()
		c, f := p.client(client.Config{}), p.fixture()
		for _, op := range operations() {
			before := len(p.Requests())
			if err := op.call(t.Context(), c, f); err != nil {
				t.Errorf("%s: %v", op.id, err)
			}
			synctest.Wait() // for abandoned requests
			for _, r := range p.Requests()[before:] {
				if r.Operation != op.id || r.Status >= 300 {
					t.Errorf("the method for %[2]s called %[1]s, status %[3]d", r.Operation, op.id, r.Status)
				}
			}
			ids = slices.DeleteFunc(ids, func(id string) bool { return id == op.id })
		}
		if len(ids) > 0 {
			t.Errorf("the client has no method for %v", ids)
		}
	})
}

// fatal ends the test if there is an error.
func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
