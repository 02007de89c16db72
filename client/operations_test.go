// The tests in this file call every operation of the package. Other tests use its table of operations.

package client

import (
	"context"
	"fmt"
	"iter"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
)

// env contains the values that a call of an operation needs.
type env struct {
	*Client
	*records
	ctx context.Context
	p   *platform // only for operation.count
}

// operation is an operation of the platform, with a call of its client method.
type operation struct {
	id   string // as in openapi.yaml
	call func(env) (any, error)

	// count returns the number of records that the operation creates or of emails that it sends. It is nil for
	// importContacts, and for operations that neither create records nor send emails.
	count func(env) int

	known []knownResponse
}

// knownResponse contains a response and the value that the client reads from it. The response has fields that
// openapi.yaml does not have.
type knownResponse struct {
	body string
	want any
}

// one returns an operation without a count and with one known response.
func one(id string, call func(env) (any, error), body string, want any) operation {
	return operation{id, call, nil, []knownResponse{{body, want}}}
}

const pagination = `"pagination":{"page":1,"per_page":50,"count":1,"cursor":{"previous":null,"next":"b3B"}}`

func page() Pagination { return Pagination{Page: 1, PerPage: 50, Count: 1} }

func size[T any](p *platform, all iter.Seq2[T, error]) int {
	p.Helper()
	n := 0
	for _, err := range all {
		require.NoError(p, err)
		n++
	}
	return n
}

// outbox returns the number of emails to ann@example.com.
func outbox(e env) int {
	e.p.Helper()
	require.NoError(e.p, e.p.Wait(e.ctx))
	return len(e.p.OutboxTo("ann@example.com"))
}

func allOperations() []operation {
	return slices.Concat(templateOperations(), listOperations(), contactOperations(), emailOperations(), campaignOperations(),
		workflowOperations(), suppressionOperations(), webhookOperations(), deletions())
}

func templateOperations() []operation {
	template := Template{ID: 7, Name: "T", Content: TemplateContent{HTML: "<p>", Text: "t"}, CreatedOn: time.Unix(1700000000, 0).UTC()}
	data := `{"template_id":7,"name":"T","content":{"html":"<p>","text":"t"},"created_on":1700000000,"tags":[],"owner":null}`
	return []operation{
		{
			"createTemplate", func(e env) (any, error) { return e.Templates.Create(e.ctx, TemplateCreate{Name: e.name()}) },
			func(e env) int { return size(e.p, e.Templates.All(e.ctx, ListTemplatesParams{})) },
			[]knownResponse{{data, template}, {`{"template_id":7,"owner":{}}`, Template{ID: 7}}},
		},
		one("listTemplates", func(e env) (any, error) {
			return e.Templates.List(e.ctx, ListTemplatesParams{PerPage: 100, WithCount: true})
		}, `{`+pagination+`,"data":[`+data+`]}`, TemplatePage{Data: []Template{template}, Pagination: page()}),
		one("getTemplate", func(e env) (any, error) { return e.Templates.Get(e.ctx, e.template) },
			data, template),
		one("updateTemplate", func(e env) (any, error) {
			update := TemplateUpdate{Name: new(e.name()), Content: &TemplateContentUpdate{Text: Null[string]()}}
			return e.Templates.Update(e.ctx, e.template, update)
		}, data, template),
		one("renderTemplate", func(e env) (any, error) { return e.Templates.Render(e.ctx, e.template) }, `<p>`, "<p>"),
	}
}

func listOperations() []operation {
	list := List{ID: 3, Name: "L", CreatedOn: time.Unix(1700000000, 0).UTC(), PolicyAccepted: true}
	data := `{"list_id":3,"name":"L","status":"active","language":"en","created_on":1700000000,"policy_accepted":true}`
	return []operation{
		{
			"createList", func(e env) (any, error) { return e.Lists.Create(e.ctx, ListCreate{Name: e.name()}) },
			func(e env) int { return size(e.p, e.Lists.All(e.ctx, ListListsParams{})) },
			[]knownResponse{{data, list}},
		},
		one("listLists", func(e env) (any, error) { return e.Lists.List(e.ctx, ListListsParams{Page: 1}) },
			`{`+pagination+`,"data":[`+data+`]}`, ListPage{Data: []List{list}, Pagination: page()}),
		one("getList", func(e env) (any, error) { return e.Lists.Get(e.ctx, e.list) }, data, list),
		one("acceptListPolicy", func(e env) (any, error) { return nil, e.Lists.AcceptPolicy(e.ctx, e.list) },
			`{"id":3,"object":"list","accepted":true}`, nil),
		one("listTags", func(e env) (any, error) { return e.Tags.List(e.ctx, ListTagsParams{}) },
			`{`+pagination+`,"data":[{"name":"vip"}]}`, TagPage{Data: []Tag{{Name: "vip"}}, Pagination: page()}),
	}
}

func contactOperations() []operation {
	contact := Contact{
		ID: 9, Email: "a@b.example", Status: events.ContactStatusActive, SubscribedOn: time.Unix(1700000000, 0).UTC(), LastBounceType: "none",
		CustomAttributes: Attributes{{Name: "city", Value: "Bonn"}}, Tags: []string{"vip"}, Interests: []string{},
	}
	data := `{"id":9,"email":"a@b.example","status":"active","subscribed_on":1700000000,"last_bounce_type":"none","bounces_count":0,` +
		`"custom_attributes":[{"name":"city","value":"Bonn"}],"tags":["vip"],"interests":[]}`
	return []operation{
		{
			"createContact", func(e env) (any, error) {
				contact := ContactCreate{Email: e.name() + "@example.com", CustomAttributes: Attributes{{Name: "name", Value: "N"}}, Interests: []string{"news"}}
				contact.DoubleOptIn, contact.Resubscribe = e.n%2 == 0, e.n%3 == 0
				return e.Contacts.Create(e.ctx, e.list, contact)
			},
			func(e env) int { return size(e.p, e.Contacts.All(e.ctx, e.list, ListContactsParams{})) },
			[]knownResponse{{data, contact}},
		},
		one("listContacts", func(e env) (any, error) {
			return e.Contacts.List(e.ctx, e.list, ListContactsParams{Sort: "email:desc", Filter: "status:active"})
		}, `{`+pagination+`,"data":[`+data+`]}`, ContactPage{Data: []Contact{contact}, Pagination: page()}),
		one("getContact", func(e env) (any, error) { return e.Contacts.Get(e.ctx, e.list, e.contact) },
			data, contact),
		one("updateContact", func(e env) (any, error) {
			return e.Contacts.Update(e.ctx, e.list, e.contact, ContactUpdate{CustomAttributes: []CustomAttributeUpdate{
				{Name: "name", Value: Value("Ann")}, {Name: "city", Value: Null[string]()},
			}})
		}, data, contact),
		one("tagContacts", func(e env) (any, error) {
			return nil, e.Contacts.Tag(e.ctx, e.list, ContactTagging{ContactIDs: []int64{e.contact}, Tags: []string{"new"}})
		}, `{"object":"contact","tagged":true,"data":[9]}`, nil),
		{
			"importContacts", func(e env) (any, error) {
				contacts := []ImportContact{{Email: e.name() + "@example.com", Tags: []string{"x"}, Line: 2}, {Email: "bad"}}
				return e.Contacts.ImportBatch(e.ctx, e.list, ImportBatch{Contacts: contacts, ImportTo: ImportToActive})
			}, nil,
			[]knownResponse{{
				`{"imported":1,"updated":0,"errors":[{"loc":["body","contacts",1,"email"],"msg":"no address","code":8001}]}`,
				ImportResult{Imported: 1, Errors: []RejectedEntry{{Index: 1, Loc: Location{"body", "contacts", "1", "email"}, Msg: "no address", Type: "8001"}}},
			}},
		},
	}
}

func emailOperations() []operation {
	lookup := `{"id":%s,"contact_id":9,"list_id":3,"submitted_on":1700000000,"status":"bounce","opens":1,"clicks":2,"bounce":{"type":"hard"},` +
		`"subject":"Hello","template_id":7,"type":"transactional","encoding":"utf-8"}`
	email := Email{
		ID: "e-1", ContactID: 9, ListID: 3, SubmittedOn: time.Unix(1700000000, 0).UTC(), Status: "bounce", Opens: 1, Clicks: 2,
		Bounce: &EmailBounce{Type: "hard"}, Subject: "Hello", TemplateID: 7, Type: "transactional",
	}
	numbered := email
	numbered.ID = "812"
	return []operation{
		{
			"submitEmail", func(e env) (any, error) { return e.Emails.Send(e.ctx, e.submission()) },
			outbox,
			[]knownResponse{{
				`{"id":"e-1","email":"a@b.example","status":"submitted","object":"email"}`,
				SubmittedEmail{ID: "e-1", To: "a@b.example", Status: "submitted"},
			}},
		},
		{
			"getEmail", func(e env) (any, error) { return e.Emails.Get(e.ctx, e.email) }, nil,
			[]knownResponse{
				{fmt.Sprintf(lookup, `"e-1"`), email},
				{fmt.Sprintf(lookup, `812`), numbered},
			},
		},
		{
			"sendTransactionalEmail", func(e env) (any, error) {
				return e.Emails.SendLegacy(e.ctx, TransactionalSubmission{
					To: "ann@example.com", Sender: shop(), Content: MessageContent{Subject: "S", HTML: "<b>H</b>"},
					AdditionalHeaders: []EmailHeader{{Name: "X-Order", Value: "7"}},
				})
			},
			outbox,
			[]knownResponse{{`{"id":812,"object":"email","sent":true}`, TransactionalReceipt{ID: "812"}}},
		},
	}
}

func campaignOperations() []operation {
	campaign := Campaign{ID: 5, ListID: 3, Name: "C", Status: "archived", Sender: Sender{Name: "S", Email: "s@b.example"}}
	data := `{"campaign_id":5,"name":"C","status":"archived","list_id":3,"segment_id":null,"sender":{"id":"x","name":"S","email":"s@b.example"}}`
	return []operation{
		{
			"createCampaign", func(e env) (any, error) {
				return e.Campaigns.Create(e.ctx, CampaignCreate{Name: e.name(), ListID: e.list, Sender: shop(), Content: MessageContent{Subject: "S", Text: "T"}})
			},
			func(e env) int { return size(e.p, e.Campaigns.All(e.ctx, ListCampaignsParams{})) },
			[]knownResponse{{data, campaign}},
		},
		one("listCampaigns", func(e env) (any, error) { return e.Campaigns.List(e.ctx, ListCampaignsParams{}) },
			`{`+pagination+`,"data":[`+data+`]}`, CampaignPage{Data: []Campaign{campaign}, Pagination: page()}),
		one("getCampaign", func(e env) (any, error) { return e.Campaigns.Get(e.ctx, e.campaign) },
			data, campaign),
		one("updateCampaign", func(e env) (any, error) {
			update := CampaignUpdate{Name: new(e.name()), Content: &MessageContentUpdate{TemplateID: new(e.template)}}
			return e.Campaigns.Update(e.ctx, e.campaign, update)
		}, data, campaign),
		{
			"scheduleCampaign", func(e env) (any, error) { return e.Campaigns.Send(e.ctx, e.campaign) },
			outbox,
			[]knownResponse{{`{"campaign_id":5,"status":"delivering","object":"campaign"}`, Campaign{ID: 5, Status: CampaignStatusDelivering}}},
		},
	}
}

func workflowOperations() []operation {
	workflow := Workflow{ID: "w-4", ListID: 3, Name: "W", Status: WorkflowStatusInactive}
	data := `{"workflow_id":"w-4","name":"W","status":"inactive","list_id":3,"trigger":null}`
	return []operation{
		{
			"createWorkflow", func(e env) (any, error) {
				return e.Workflows.Create(e.ctx, WorkflowCreate{
					Name: e.name(), ListID: e.list, Trigger: WorkflowTriggerSubscribed, Sender: shop(), Content: MessageContent{Subject: "S", HTML: "H"},
				})
			},
			func(e env) int { return size(e.p, e.Workflows.All(e.ctx, ListWorkflowsParams{})) },
			[]knownResponse{{data, workflow}},
		},
		one("listWorkflows", func(e env) (any, error) { return e.Workflows.List(e.ctx, ListWorkflowsParams{}) },
			`{`+pagination+`,"data":[`+data+`]}`, WorkflowPage{Data: []Workflow{workflow}, Pagination: page()}),
		one("getWorkflow", func(e env) (any, error) { return e.Workflows.Get(e.ctx, e.workflow) },
			data, workflow),
		one("activateWorkflow", func(e env) (any, error) { return nil, e.Workflows.Activate(e.ctx, e.workflow) },
			`{"id":"w-4","object":"workflow","activated":true}`, nil),
		one("deactivateWorkflow", func(e env) (any, error) { return nil, e.Workflows.Deactivate(e.ctx, e.workflow) },
			`{"id":"w-4","object":"workflow","deactivated":true}`, nil),
	}
}

func suppressionOperations() []operation {
	suppressed := SuppressedEmail{Email: "a@b.example", CreatedOn: time.Unix(1700000000, 0).UTC()}
	return []operation{
		{
			"addSuppressedEmail", func(e env) (any, error) { return e.SuppressedEmails.Add(e.ctx, e.name()+"@example.net") },
			func(e env) int { return size(e.p, e.SuppressedEmails.All(e.ctx, ListSuppressedEmailsParams{})) },
			[]knownResponse{{`{"email":"a@b.example","object":"suppressed_email","created":true}`, SuppressedEmail{Email: "a@b.example"}}},
		},
		{
			"listSuppressedEmails", func(e env) (any, error) {
				return e.SuppressedEmails.List(e.ctx, ListSuppressedEmailsParams{Filter: "email:gone@example.com"})
			}, nil,
			[]knownResponse{{
				`{` + pagination + `,"data":[{"email":"a@b.example","source_type":"api","created_on":1700000000}]}`,
				SuppressedEmailPage{Data: []SuppressedEmail{suppressed}, Pagination: page()},
			}},
		},
		one("removeSuppressedEmail", func(e env) (any, error) { return nil, e.SuppressedEmails.Remove(e.ctx, "gone@example.com") },
			`{"email":"a@b.example","object":"suppressed_email","deleted":true}`, nil),
	}
}

func webhookOperations() []operation {
	hook := Webhook{ID: "h-2", URL: "https://b.example/", Events: []events.Name{"Email.Bounced"}, Status: WebhookStatusActive}
	whole := hook
	whole.Secret, whole.HashFunction = NewSecret("key"), "sha256"
	summary := WebhookSummary{ID: "41", URL: "https://b.example/", Events: []events.Name{"Email.Bounced"}, Status: WebhookStatusActive}
	data := `{"webhook_id":"h-2","url":"https://b.example/","events":["Email.Bounced"],"status":"active","name":"n"}`
	return []operation{
		{
			"createWebhook", func(e env) (any, error) {
				return e.Webhooks.Create(e.ctx, WebhookCreate{
					URL: "http://hooks.test/", Events: []events.Name{events.NameEmailOpened}, RateLimit: 10, RateLimitPeriod: RateLimitPeriodSecond,
				})
			},
			func(e env) int { return size(e.p, e.Webhooks.All(e.ctx, ListWebhooksParams{})) },
			[]knownResponse{{data, hook}},
		},
		one("listWebhooks", func(e env) (any, error) { return e.Webhooks.List(e.ctx, ListWebhooksParams{}) },
			`{`+pagination+`,"data":[`+strings.Replace(data, `"h-2"`, "41", 1)+`]}`, WebhookPage{Data: []WebhookSummary{summary}, Pagination: page()}),
		one("getWebhook", func(e env) (any, error) { return e.Webhooks.Get(e.ctx, e.webhook) },
			strings.Replace(data, `"name"`, `"secret":"key","hash_function":"sha256","name"`, 1), whole),
		one("archiveWebhook", func(e env) (any, error) { return nil, e.Webhooks.Archive(e.ctx, e.webhook) },
			`{"id":"h-2","object":"webhook","archived":true}`, nil),
		one("unarchiveWebhook", func(e env) (any, error) { return nil, e.Webhooks.Unarchive(e.ctx, e.webhook) },
			`{"id":"h-2","object":"webhook","unarchived":true}`, nil),
	}
}

// deletions returns the operations that must be last, because they remove records that other operations use.
func deletions() []operation {
	return []operation{
		one("unsubscribeContact", func(e env) (any, error) { return nil, e.Contacts.Unsubscribe(e.ctx, e.list, e.contact) },
			`{"id":9,"object":"contact","unsubscribed":true}`, nil),
		one("deleteContact", func(e env) (any, error) { return nil, e.Contacts.Delete(e.ctx, e.list, e.contact) },
			`{"id":9,"object":"contact","deleted":true}`, nil),
		one("deleteTemplate", func(e env) (any, error) { return nil, e.Templates.Delete(e.ctx, e.template) },
			`{"id":7,"object":"template","deleted":true}`, nil),
	}
}

// servicesOn returns a client without layers, whose calls have only the handler.
func servicesOn(h handler) *Client {
	return &Client{
		Templates: &Templates{h}, Lists: &Lists{h}, Contacts: &Contacts{h}, Tags: &Tags{h}, Emails: &Emails{h},
		Campaigns: &Campaigns{h}, Workflows: &Workflows{h}, SuppressedEmails: &SuppressedEmails{h}, Webhooks: &Webhooks{h, nil},
	}
}

// TestEveryOperation calls the method of each operation in openapi.yaml. The mock server validates each request and
// response.
func TestEveryOperation(t *testing.T) {
	document, err := os.ReadFile("../openapi.yaml")
	require.NoError(t, err)
	paths, _, _ := strings.Cut(string(document), "\nwebhooks:\n")
	var ids []string
	for _, m := range regexp.MustCompile(`(?m)^ {6}operationId: (\w+)$`).FindAllStringSubmatch(paths, -1) {
		ids = append(ids, m[1])
	}
	if len(ids) < 40 {
		t.Fatalf("%d operations in the document are too few", len(ids))
	}
	withPlatform(t, func(t *testing.T, p *platform) {
		rec := p.createRecords()
		for _, op := range allOperations() {
			before := len(p.Requests())
			if _, err := op.call(env{p.clean, rec, t.Context(), p}); err != nil {
				t.Errorf("%s: %v", op.id, err)
			}
			synctest.Wait() // until the requests have ended
			for _, r := range p.Requests()[before:] {
				assert.Equal(t, op.id, r.Operation, "%+v", r)
				assert.Less(t, r.Status, 300, "%+v", r)
			}
			ids = slices.DeleteFunc(ids, func(id string) bool { return id == op.id })
		}
		if len(ids) > 0 {
			t.Errorf("the tables of operations in operations_test.go have no rows for %v", ids)
		}
	})
}

// TestKnownResponses: each method reads responses with unknown fields. The next response overwrites the buffer, so no
// result may share memory with it.
func TestKnownResponses(t *testing.T) {
	for _, op := range allOperations() {
		if len(op.known) == 0 {
			t.Errorf("no response for %s", op.id)
		}
		for _, known := range op.known {
			x := handler(func(_ context.Context, c *call) error {
				buffer := []byte(known.body)
				defer clear(buffer)
				return c.decode(buffer)
			})
			got, err := op.call(env{servicesOn(x), knownRecords(), t.Context(), nil})
			require.NoError(t, err, op.id)
			assert.Equal(t, known.want, got, op.id)
		}
	}
}
