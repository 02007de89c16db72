package engine

import (
	"reflect"
	"strings"
	"sync"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/schema"
	"example.com/emailplatform/webhook"
)

// SeedSchema is the schema of one object in a seed. An object that matches it can still
// conflict with other records, for example if an id is in use.
var SeedSchema = sync.OnceValue(func() *contract.Schema {
	return schema.Types{
		Request: true,
		Name:    func(t reflect.Type) string { return strings.Replace(t.Name(), "seed", "Seed", 1) },
		Enums: map[reflect.Type][]string{
			reflect.TypeFor[api.EventName]():        eventNames(),
			reflect.TypeFor[api.ImportTo]():         valuesOf("POST /lists/{list_id}/contacts/import", "import_to"),
			reflect.TypeFor[api.WorkflowTrigger]():  valuesOf("POST /workflows", "trigger"),
			reflect.TypeFor[api.RateLimitPeriod]():  valuesOf("POST /webhooks", "rate_limit_period"),
			reflect.TypeFor[webhook.HashFunction](): {string(webhook.SHA256), string(webhook.SHA512)},
		},
		Extra: map[reflect.Type]map[string]any{
			reflect.TypeFor[seedContent]():  oneContent(),
			reflect.TypeFor[seedWorkflow](): oneList(true),
			reflect.TypeFor[seedCampaign](): oneList(false),
		},
	}.Of(reflect.TypeFor[seed]())
})

func eventNames() (names []string) {
	for _, name := range api.EventNames() {
		names = append(names, string(name))
	}
	return names
}

// valuesOf returns the values that openapi.yaml permits for a field of a request.
func valuesOf(operation, field string) []string {
	return contract.Operations()[operation].Body.Property(field).Schema.Enum
}

// seed is one object in a seed file. Each item is the body of an API request, with
// additional fields.
type seed struct {
	AccountID  int64          `json:"account_id,omitzero" min:"1" doc:"the account; by default the account of the first configured token"`
	Tokens     []seedToken    `json:"tokens,omitzero" doc:"access tokens to add to the account; if the account does not exist, it is created"`
	Templates  []seedTemplate `json:"templates,omitzero" doc:"templates to create"`
	Lists      []seedList     `json:"lists,omitzero" doc:"lists to create, with their contacts"`
	Suppressed []string       `json:"suppressed_emails,omitzero" item:"pattern:\"suppressed\" max:\"254\"" doc:"addresses to suppress, or patterns: *@domain or local@*"`
	Workflows  []seedWorkflow `json:"workflows,omitzero" doc:"workflows to create"`
	Campaigns  []seedCampaign `json:"campaigns,omitzero" doc:"campaigns to create, as drafts"`
	Webhooks   []seedWebhook  `json:"webhooks,omitzero" doc:"webhooks to create"`
}

type seedToken struct {
	Token       string `json:"token" pattern:"token" doc:"the access token to send in requests"`
	UserID      int64  `json:"user_id,omitzero" min:"1" doc:"the id of the user; 1 by default"`
	UserEmail   string `json:"user_email,omitzero" doc:"the email address of the user in events; user@example.com by default"`
	ReadOnly    bool   `json:"read_only,omitzero" doc:"whether the token is read-only"`
	ExpiresInMS int64  `json:"expires_in_ms,omitzero" min:"0" max:"315360000000" doc:"the time until the token expires, up to ten years; 0 means that it does not expire"`
}

type seedTemplate struct {
	ID      int64  `json:"template_id,omitzero" kind:"id" doc:"the id of the template; by default the mock server assigns an id"`
	Name    string `json:"name" min:"1" doc:"the name of the template"`
	Content struct {
		HTML string `json:"html,omitzero" doc:"the HTML part"`
		Text string `json:"text,omitzero" doc:"the text part"`
	} `json:"content,omitzero" doc:"the parts of the template; merge tags are written {{name}}"`
}

type seedList struct {
	ID             int64         `json:"list_id,omitzero" kind:"id" doc:"the id of the list; by default the mock server assigns an id"`
	Name           string        `json:"name" min:"1" doc:"the name of the list; workflows and campaigns in the same seed object can use the name instead of the id"`
	PolicyAccepted bool          `json:"policy_accepted,omitzero" doc:"whether the anti-spam policy of the list is accepted; required for sending"`
	Contacts       []seedContact `json:"contacts,omitzero" doc:"contacts to import; set the ids of all contacts, in ascending order, or of none"`
}

type seedContact struct {
	ID         int64           `json:"id,omitzero" kind:"id" doc:"the id of the contact; by default the mock server assigns an id"`
	Status     api.ImportTo    `json:"status,omitzero" doc:"the status of the contact; active by default"`
	Email      string          `json:"email" pattern:"email" max:"254" doc:"the address of the contact"`
	Attributes []seedAttribute `json:"custom_attributes,omitzero" doc:"the attributes of the contact, for merge tags"`
	Tags       []string        `json:"tags,omitzero" item:"min:\"1\"" doc:"the tags of the contact"`
	Interests  []string        `json:"interests,omitzero" item:"min:\"1\"" doc:"the interests of the contact"`
}

type seedAttribute struct {
	Name  string `json:"name" doc:"the name of the attribute"`
	Value string `json:"value" doc:"the value of the attribute"`
}

type seedWorkflow struct {
	ID      int64               `json:"workflow_id,omitzero" kind:"id" doc:"the id of the workflow; by default the mock server assigns an id"`
	Active  bool                `json:"active,omitzero" doc:"whether the workflow is active; requires a list whose anti-spam policy is accepted"`
	Name    string              `json:"name" min:"1" doc:"the name of the workflow"`
	ListID  int64               `json:"list_id,omitzero" min:"1" doc:"the id of the list"`
	List    *string             `json:"list,omitzero" doc:"the name of a list in the same seed object, instead of list_id"`
	Trigger api.WorkflowTrigger `json:"trigger" doc:"the trigger of the workflow"`
	Sender  seedSender          `json:"sender" doc:"the sender of the emails"`
	Content seedContent         `json:"content" doc:"the content of the emails; must contain a template, HTML or text"`
}

type seedCampaign struct {
	ID      int64        `json:"campaign_id,omitzero" kind:"id" doc:"the id of the campaign; by default the mock server assigns an id"`
	Name    string       `json:"name" min:"1" doc:"the name of the campaign"`
	ListID  int64        `json:"list_id,omitzero" min:"1" doc:"the id of the list"`
	List    *string      `json:"list,omitzero" doc:"the name of a list in the same seed object, instead of list_id"`
	Sender  *seedSender  `json:"sender,omitzero" doc:"the sender of the emails"`
	Content *seedContent `json:"content,omitzero" doc:"the content of the emails"`
}

type seedSender struct {
	Name  string `json:"name,omitzero" doc:"the name of the sender"`
	Email string `json:"email" pattern:"email" max:"254" doc:"the address of the sender"`
}

type seedContent struct {
	Subject    string  `json:"subject,omitzero" doc:"the subject of the emails"`
	TemplateID int64   `json:"template_id,omitzero" min:"1" doc:"the id of a template, instead of html and text"`
	Template   *string `json:"template,omitzero" doc:"the name of a template in the same seed object, instead of template_id"`
	HTML       string  `json:"html,omitzero" min:"1" doc:"the HTML part"`
	Text       string  `json:"text,omitzero" min:"1" doc:"the text part"`
}

type seedWebhook struct {
	ID     string               `json:"webhook_id,omitzero" kind:"id" doc:"the id of the webhook; by default the mock server assigns an id"`
	Secret string               `json:"secret,omitzero" pattern:"text" doc:"the signing secret; random by default"`
	Hash   webhook.HashFunction `json:"hash_function,omitzero" doc:"the hash function for signatures; by default the server's configured hash function"`
	URL    string               `json:"url" pattern:"url" doc:"the http or https URL that receives the events"`
	Events []api.EventName      `json:"events" min:"1" doc:"the names of the subscribed events"`
	Limit  int64                `json:"rate_limit,omitzero" min:"1" doc:"the maximum number of deliveries per period; unlimited by default"`
	Period api.RateLimitPeriod  `json:"rate_limit_period,omitzero" doc:"the period of the rate limit; an hour by default"`
}

// oneContent rejects content with both a template and inline parts, or with both the id
// and the name of a template.
func oneContent() object {
	return object{"not": object{"anyOf": []object{
		required("template_id", "template"), required("template_id", "html"), required("template_id", "text"),
		required("template", "html"), required("template", "text"),
	}}}
}

// oneList rejects an object that has both the id and the name of a list. If workflow is
// set, the object must have one of them, and its content must have a template, HTML or
// text.
func oneList(workflow bool) object {
	if !workflow {
		return object{"not": required("list_id", "list")}
	}
	content := object{"anyOf": []object{required("template_id"), required("template"), required("html"), required("text")}}
	return object{
		"oneOf": []object{required("list_id"), required("list")},
		"allOf": []object{{"properties": object{"content": content}}},
	}
}

type object = map[string]any

func required(names ...string) object { return object{"required": names} }
