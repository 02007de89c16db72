package client

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/emailplatform/events"
)

// knownResponse is a response in the format of an existing platform, with the value that the client reads.
type knownResponse struct {
	op     string
	status int
	body   string
	call   func(context.Context, *Client) (any, error)
	want   any
}

const pagination = `"pagination":{"page":1,"per_page":50,"count":1,"cursor":{"previous":null,"next":"b3B"}}`

func page() Pagination { return Pagination{Page: 1, PerPage: 50, Count: 1} }

func knownResponses() []knownResponse {
	return slices.Concat(knownTemplates(), knownLists(), knownContacts(), knownEmails(), knownCampaigns(), knownWorkflows(), knownWebhooks())
}

func knownTemplates() []knownResponse {
	template := Template{ID: 7, Name: "T", Content: TemplateContent{HTML: "<p>", Text: "t"}, CreatedOn: time.Unix(1700000000, 0).UTC()}
	data := `{"id":7,"name":"T","content":{"html":"<p>","text":"t"},"created_on":1700000000,"tags":[],"owner":null}`
	return []knownResponse{
		{"createTemplate", 201, `{"id":7,"object":"template","created":true,"data":` + data + `}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Templates.Create(ctx, TemplateCreate{Name: "T"})
		}, template},
		{"createTemplate", 201, `{"id":7,"object":"template","created":true}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Templates.Create(ctx, TemplateCreate{Name: "T"})
		}, Template{ID: 7}},
		{"listTemplates", 200, `{` + pagination + `,"data":[` + data + `]}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Templates.List(ctx, ListTemplatesParams{})
		}, TemplatePage{Data: []Template{template}, Pagination: page()}},
		{"getTemplate", 200, `{"data":` + data + `}`, func(ctx context.Context, c *Client) (any, error) { return c.Templates.Get(ctx, 7) }, template},
		{"updateTemplate", 200, `{"id":7,"object":"template","updated":true,"data":` + data + `}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Templates.Update(ctx, 7, TemplateUpdate{})
		}, template},
		{"deleteTemplate", 200, `{"id":7,"object":"template","deleted":true}`, func(ctx context.Context, c *Client) (any, error) { return nil, c.Templates.Delete(ctx, 7) }, nil},
		{"renderTemplate", 200, `<p>`, func(ctx context.Context, c *Client) (any, error) { return c.Templates.Render(ctx, 7) }, "<p>"},
	}
}

func knownLists() []knownResponse {
	list := List{ID: 3, Name: "L", CreatedOn: time.Unix(1700000000, 0).UTC(), PolicyAccepted: true}
	data := `{"id":3,"name":"L","status":"active","language":"en","created_on":1700000000,"policy_accepted":true}`
	return []knownResponse{
		{"createList", 201, `{"id":3,"object":"list","created":true,"data":` + data + `}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Lists.Create(ctx, ListCreate{Name: "L"})
		}, list},
		{"listLists", 200, `{` + pagination + `,"data":[` + data + `]}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Lists.List(ctx, ListListsParams{})
		}, ListPage{Data: []List{list}, Pagination: page()}},
		{"getList", 200, `{"data":` + data + `}`, func(ctx context.Context, c *Client) (any, error) { return c.Lists.Get(ctx, 3) }, list},
		{"acceptListPolicy", 200, `{"id":3,"object":"list","accepted":true}`, func(ctx context.Context, c *Client) (any, error) { return nil, c.Lists.AcceptPolicy(ctx, 3) }, nil},
		{"listTags", 200, `{` + pagination + `,"data":[{"tag":"vip"}]}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Tags.List(ctx, ListTagsParams{})
		}, TagPage{Data: []Tag{{Name: "vip"}}, Pagination: page()}},
		{"addSuppressedEmail", 201, `{"email":"a@b.example","object":"suppressed_email","created":true}`, func(ctx context.Context, c *Client) (any, error) {
			return c.SuppressedEmails.Add(ctx, "a@b.example")
		}, SuppressedEmail{Email: "a@b.example"}},
		{"listSuppressedEmails", 200, `{` + pagination + `,"data":[{"email":"a@b.example","source_type":"api","created_on":1700000000}]}`, func(ctx context.Context, c *Client) (any, error) {
			return c.SuppressedEmails.List(ctx, ListSuppressedEmailsParams{})
		}, SuppressedEmailPage{Data: []SuppressedEmail{{Email: "a@b.example", CreatedOn: time.Unix(1700000000, 0).UTC()}}, Pagination: page()}},
		{"removeSuppressedEmail", 200, `{"email":"a@b.example","object":"suppressed_email","deleted":true}`, func(ctx context.Context, c *Client) (any, error) {
			return nil, c.SuppressedEmails.Remove(ctx, "a@b.example")
		}, nil},
	}
}

func knownContacts() []knownResponse {
	contact := Contact{
		ID: 9, Email: "a@b.example", Status: events.ContactStatusActive, SubscribedOn: time.Unix(1700000000, 0).UTC(), LastBounceType: "none",
		CustomAttributes: Attributes{{Name: "city", Value: "Bonn"}}, Tags: []string{"vip"}, Interests: []string{},
	}
	data := `{"id":9,"email":"a@b.example","status":"active","subscribed_on":1700000000,"last_bounce_type":"none","bounces_count":0,` +
		`"custom_attributes":[{"name":"city","value":"Bonn"}],"tags":["vip"],"interests":[]}`
	return []knownResponse{
		{"createContact", 201, `{"id":9,"object":"contact","created":true,"data":` + data + `}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Contacts.Create(ctx, 3, ContactCreate{Email: "a@b.example"})
		}, contact},
		{"listContacts", 200, `{` + pagination + `,"data":[` + data + `]}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Contacts.List(ctx, 3, ListContactsParams{})
		}, ContactPage{Data: []Contact{contact}, Pagination: page()}},
		{"getContact", 200, `{"data":` + data + `}`, func(ctx context.Context, c *Client) (any, error) { return c.Contacts.Get(ctx, 3, 9) }, contact},
		{"updateContact", 200, `{"id":9,"object":"contact","updated":true,"data":` + data + `}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Contacts.Update(ctx, 3, 9, ContactUpdate{})
		}, contact},
		{"deleteContact", 200, `{"id":9,"object":"contact","deleted":true}`, func(ctx context.Context, c *Client) (any, error) { return nil, c.Contacts.Delete(ctx, 3, 9) }, nil},
		{"unsubscribeContact", 200, `{"id":9,"object":"contact","unsubscribed":true}`, func(ctx context.Context, c *Client) (any, error) {
			return nil, c.Contacts.Unsubscribe(ctx, 3, 9)
		}, nil},
		{
			"importContacts", 201,
			`{"import_id":"i-1","id":[9],"object":"import","imported":true,"data":[` + data + `],"errors":[{"loc":["body","contacts",1,"email"],"msg":"no address","code":8001}]}`,
			func(ctx context.Context, c *Client) (any, error) {
				return c.Contacts.ImportBatch(ctx, 3, ImportBatch{Contacts: []ImportContact{{Email: "a@b.example"}, {Email: "b"}}})
			},
			ImportResult{Accepted: 1, Errors: []RejectedEntry{{Index: 1, Loc: Location{"body", "contacts", "1", "email"}, Msg: "no address", Type: "8001"}}},
		},
		{"tagContacts", 200, `{"object":"contact","tagged":true,"data":[9]}`, func(ctx context.Context, c *Client) (any, error) {
			return nil, c.Contacts.Tag(ctx, 3, ContactTagging{ContactIDs: []int64{9}, Tags: []string{"vip"}})
		}, nil},
	}
}

func knownEmails() []knownResponse {
	lookup := `"contact_id":9,"list_id":3,"submitted_time":1700000000,"status":"%s","open":true,"click":2,"hard_bounced":%t,"soft_bounced":%t,"unsubscribed":false,` +
		`"content":{"subject":"Hello","template_id":7,"type":"transactional","encoding":"utf-8"}`
	email := Email{ID: "e-1", ContactID: 9, ListID: 3, SubmittedOn: time.Unix(1700000000, 0).UTC(), Status: "open", Opens: 1, Clicks: 2, Subject: "Hello", TemplateID: 7, Type: "transactional"}
	hard, soft := email, email
	hard.Status, hard.Bounce = "bounce", &EmailBounce{Type: "hard"}
	soft.Status, soft.Bounce = "bounce", &EmailBounce{Type: "soft"}
	get := func(ctx context.Context, c *Client) (any, error) { return c.Emails.Get(ctx, "e-1") }
	return []knownResponse{
		{"submitEmail", 201, `{"email":"a@b.example","object":"email","submitted":true,"data":{"id":"e-1","status":"submitted"}}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Emails.Send(ctx, EmailSubmission{To: "a@b.example"})
		}, SubmittedEmail{ID: "e-1", To: "a@b.example", Status: "submitted"}},
		{"getEmail", 200, `{"email_id":"e-1",` + fmt.Sprintf(lookup, "open", false, false) + `}`, get, email},
		{"getEmail", 200, `{"email_id":"e-1",` + fmt.Sprintf(lookup, "bounce", true, true) + `}`, get, hard},
		{"getEmail", 200, `{"data":{"id":"e-1",` + fmt.Sprintf(lookup, "bounce", false, true) + `}}`, get, soft},
		{"sendTransactionalEmail", 201, `{"email":"a@b.example","object":"email","sent":true,"data":{"id":812}}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Emails.SendLegacy(ctx, TransactionalSubmission{To: "a@b.example"})
		}, TransactionalReceipt{ID: "812"}},
	}
}

func knownCampaigns() []knownResponse {
	campaign := Campaign{ID: 5, ListID: 3, Name: "C", Status: "archived", Sender: Sender{Name: "S", Email: "s@b.example"}}
	data := `{"id":5,"name":"C","status":"archived","audience":{"list_id":3,"segment_id":null},"sender":{"id":"x","name":"S","email":"s@b.example"}}`
	return []knownResponse{
		{"createCampaign", 201, `{"id":5,"object":"campaign","created":true,"data":` + data + `}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Campaigns.Create(ctx, CampaignCreate{Name: "C"})
		}, campaign},
		{"listCampaigns", 200, `{` + pagination + `,"data":[` + data + `]}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Campaigns.List(ctx, ListCampaignsParams{})
		}, CampaignPage{Data: []Campaign{campaign}, Pagination: page()}},
		{"getCampaign", 200, `{"data":` + data + `}`, func(ctx context.Context, c *Client) (any, error) { return c.Campaigns.Get(ctx, 5) }, campaign},
		{"updateCampaign", 200, `{"id":5,"object":"campaign","updated":true,"data":` + data + `}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Campaigns.Update(ctx, 5, CampaignUpdate{})
		}, campaign},
		{"scheduleCampaign", 200, `{"id":5,"object":"campaign","scheduled":true}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Campaigns.Send(ctx, 5)
		}, Campaign{ID: 5}},
	}
}

func knownWorkflows() []knownResponse {
	workflow := Workflow{ID: "w-4", ListID: 3, Name: "W", Status: WorkflowStatusInactive}
	data := `{"id":"w-4","name":"W","status":"inactive","audience":{"list_id":3},"trigger":null}`
	return []knownResponse{
		{"createWorkflow", 201, `{"id":"w-4","object":"workflow","created":true,"data":` + data + `}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Workflows.Create(ctx, WorkflowCreate{Name: "W"})
		}, workflow},
		{"listWorkflows", 200, `{` + pagination + `,"data":[` + data + `]}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Workflows.List(ctx, ListWorkflowsParams{})
		}, WorkflowPage{Data: []Workflow{workflow}, Pagination: page()}},
		{"getWorkflow", 200, `{"data":` + data + `}`, func(ctx context.Context, c *Client) (any, error) { return c.Workflows.Get(ctx, "w-4") }, workflow},
		{"activateWorkflow", 200, `{"id":"w-4","object":"workflow","activated":true}`, func(ctx context.Context, c *Client) (any, error) {
			return nil, c.Workflows.Activate(ctx, "w-4")
		}, nil},
		{"deactivateWorkflow", 200, `{"id":"w-4","object":"workflow","deactivated":true}`, func(ctx context.Context, c *Client) (any, error) {
			return nil, c.Workflows.Deactivate(ctx, "w-4")
		}, nil},
	}
}

func knownWebhooks() []knownResponse {
	hook := Webhook{ID: "h-2", URL: "https://b.example/", Events: []events.Name{"Email.Bounced"}, Status: WebhookStatusActive}
	whole := hook
	whole.Secret, whole.HashFunction = NewSecret("key"), "sha256"
	summary := WebhookSummary{ID: "h-2", URL: "https://b.example/", Events: []events.Name{"Email.Bounced"}, Status: WebhookStatusActive}
	data := `{"id":"h-2","url":"https://b.example/","event":"Email.Bounced","status":"active","name":"n"}`
	return []knownResponse{
		{"createWebhook", 201, `{"id":"h-2","object":"webhook","created":true,"data":` + data + `}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Webhooks.Create(ctx, WebhookCreate{URL: "https://b.example/", Events: []events.Name{events.NameEmailBounced}})
		}, hook},
		{"listWebhooks", 200, `{` + pagination + `,"data":[` + data + `]}`, func(ctx context.Context, c *Client) (any, error) {
			return c.Webhooks.List(ctx, ListWebhooksParams{})
		}, WebhookPage{Data: []WebhookSummary{summary}, Pagination: page()}},
		{"getWebhook", 200, `{"data":` + data + `,"signature":{"key":"key","hash_function":"sha256"}}`, func(ctx context.Context, c *Client) (any, error) { return c.Webhooks.Get(ctx, "h-2") }, whole},
		{"archiveWebhook", 200, `{"id":"h-2","object":"webhook","archived":true}`, func(ctx context.Context, c *Client) (any, error) {
			return nil, c.Webhooks.Archive(ctx, "h-2")
		}, nil},
		{"unarchiveWebhook", 200, `{"id":"h-2","object":"webhook","unarchived":true}`, func(ctx context.Context, c *Client) (any, error) {
			return nil, c.Webhooks.Unarchive(ctx, "h-2")
		}, nil},
	}
}

func TestKnownResponses(t *testing.T) {
	missing := operationIDs(t)
	for _, a := range knownResponses() {
		t.Run(a.op, func(t *testing.T) {
			c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(a.status, a.body, "Content-Type", ""), nil })
			var asked string
			ctx := WithResponseHook(t.Context(), func(r Response) { asked = r.Op })
			if got, err := a.call(ctx, c); err != nil || asked != a.op || !reflect.DeepEqual(got, a.want) {
				t.Errorf("%s made of %s\n got %+v, %v\nwant %+v", asked, a.body, got, err, a.want)
			}
		})
		missing = slices.DeleteFunc(missing, func(id string) bool { return id == a.op })
	}
	if len(missing) > 0 {
		t.Errorf("no response for %v", missing)
	}
}

func operationIDs(t testing.TB) (ids []string) {
	t.Helper()
	document, err := os.ReadFile("../openapi.yaml")
	fatal(t, err)
	paths, _, _ := strings.Cut(string(document), "\nwebhooks:\n")
	for _, m := range regexp.MustCompile(`(?m)^ {6}operationId: (\w+)$`).FindAllStringSubmatch(paths, -1) {
		ids = append(ids, m[1])
	}
	if len(ids) < 40 {
		t.Fatalf("only %d operations found in the document", len(ids))
	}
	return ids
}

// TestFieldNamePrecedence: if a field has both names, the name in the specification has precedence.
func TestFieldNamePrecedence(t *testing.T) {
	for body, want := range map[string]List{
		`{"list_id":7,"id":8,"name":"n"}`:                       {ID: 7, Name: "n"},
		`{"id":8,"list_id":7}`:                                  {ID: 7},
		`{"id":8,"data":{"list_id":7}}`:                         {ID: 7},
		`{"list_id":7,"data":{"id":8}}`:                         {ID: 7},
		`{"data":{"list_id":7},"id":8}`:                         {ID: 7},
		`{"list_id":7,"id":{}}`:                                 {ID: 7},
		`{"list_id":null,"id":8}`:                               {ID: 8},
		`{"data":{"id":8,"name":"n"},"name":"success"}`:         {ID: 8, Name: "n"},
		`{"id":8,"data":{"id":null,"name":null},"name":"n"}`:    {ID: 8, Name: "n"},
		`{"id":8,"data":[{"id":9}]}`:                            {ID: 8},
		`{"id":8,"data":"none"}`:                                {ID: 8},
		`{"id":"8","object":"list","created":true,"data":null}`: {ID: 8},
	} {
		c := newTestClient(t, respondWith(200, "text/plain", body))
		if got, err := c.Lists.Get(t.Context(), 7); got != want || err != nil {
			t.Errorf("%s: %+v, %v; want %+v", body, got, err, want)
		}
	}
	c := newTestClient(t, respondWith(200, "text/plain", `{"webhook_id":"1","id":2,"events":["a","b"],"event":"c","secret":"s","signature":{"key":"k","hash_function":"sha512"},"hash_function":"sha256"}`))
	hook, err := c.Webhooks.Get(t.Context(), "1")
	if want := (Webhook{ID: "1", Events: []events.Name{"a", "b"}, Secret: NewSecret("s"), HashFunction: "sha256"}); !reflect.DeepEqual(hook, want) || err != nil {
		t.Errorf("%+v, %v", hook, err)
	}
	c = newTestClient(t, respondWith(200, "text/plain", `{"campaign_id":1,"audience":{"list_id":2},"list_id":3}`))
	if got, err := c.Campaigns.Get(t.Context(), 1); got.ListID != 3 || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	c = newTestClient(t, respondWith(200, "text/plain", `{"campaign_id":1,"audience":[2]}`))
	if got, err := c.Campaigns.Get(t.Context(), 1); got != (Campaign{ID: 1}) || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSettled(t *testing.T) {
	for status, want := range map[EmailStatus]bool{"": false, "queued": false, "submitted": false, "processing": false, "delivered": true, "bounce": true, "rejected": true, "global_unsubscribe": true} {
		if got := (Email{Status: status}).Settled(); got != want {
			t.Errorf("%q is settled: %v", status, got)
		}
	}
}
