package mockserver_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver"
)

const seedFile = `{
  "templates": [{"name": "Welcome", "content": {"html": "<p>Hello {{name}}</p>"}}],
  "lists": [
    {"name": "News", "policy_accepted": true, "contacts": [
      {"email": "ada@example.com", "tags": ["vip"], "custom_attributes": [{"name": "name", "value": "Ada"}]},
      {"email": "bob@example.com", "status": "unsubscribed"},
      {"email": "eve@example.com", "status": "active"}]},
    {"name": "Staff"}],
  "suppressed_emails": ["*@example.net"],
  "workflows": [{"name": "Greeting", "list": "News", "trigger": "subscribed", "active": true,
    "sender": {"email": "shop@example.com"}, "content": {"subject": "Hello", "template": "Welcome"}}],
  "campaigns": [{"name": "May", "list": "News", "sender": {"email": "shop@example.com"},
    "content": {"subject": "May", "template": "Welcome"}}],
  "webhooks": [{"url": "http://app.test/hook", "events": ["Contact.Added", "SuppressedEmail.Added"]}]
}
{"account_id": 2, "lists": [{"name": "Of another account"}]}
`

// invalidSeeds are invalid seeds with their errors.
var invalidSeeds = []struct{ name, want, file string }{
	{"not JSON", "invalid character", `lists: []`},
	{"an unknown account", "account_id: no token belongs to account 7", `{"account_id":7}`},
	{"a template without a name", "templates[1].name: required", `{"templates":[{"name":"x","content":{"html":"x"}},{}]}`},
	{
		"a contact without an address", "lists[0].contacts[1].email: must be an email address",
		`{"lists":[{"name":"x","contacts":[{"email":"a@example.com"},{"email":"nobody"}]}]}`,
	},
	{"an unknown list", `campaigns[0].list: the object contains no entry named "y"`, `{"campaigns":[{"name":"x","list":"y"}]}`},
	{
		"a list of another object", `campaigns[0].list: the object contains no entry named "y"`,
		`{"lists":[{"name":"y"}]}{"campaigns":[{"name":"x","list":"y"}]}`,
	},
	{
		"an unknown template", `campaigns[0].content.template: the object contains no entry named "y"`,
		`{"campaigns":[{"name":"x","content":{"subject":"s","template":"y"}}]}`,
	},
	{
		"an unknown status", "lists[0].contacts[0].status: no such value: there are active, deleted, unsubscribed",
		`{"lists":[{"name":"x","contacts":[{"email":"a@example.com","status":"bored"}]}]}`,
	},
	{
		"an inactive policy", "workflows[0].path.workflow_id: the anti-spam policy of list 1 is not accepted",
		`{"lists":[{"name":"x"}],"workflows":[{"name":"w","list":"x","trigger":"subscribed","active":true,"sender":{"email":"a@example.com"},"content":{"text":"x"}}]}`,
	},
	{
		"an unknown event", "webhooks[0].events[0]: no such value: did you mean Email.Error?",
		`{"webhooks":[{"url":"http://app.test","events":["Email.Lost"]}]}`,
	},
	{"neither an address nor a pattern", "suppressed_emails[0]: must be an address, *@domain or local@*", `{"suppressed_emails":["nobody"]}`},
	{"an unknown field", "token: no such field: did you mean tokens? There are account_id", `{"token":"x"}`},
	{
		"an unknown field of a template's content", "templates[0].content.txt: no such field: did you mean text?",
		`{"templates":[{"name":"x","content":{"html":"x","txt":"y"}}]}`,
	},
	{"an id below 1", "templates[0].template_id: must be 1 to 1000000000000000", `{"templates":[{"name":"x","template_id":-1}]}`},
	{"an invalid id", "webhooks[0].webhook_id: must be an id of 1 to 1000000000000000", `{"webhooks":[{"webhook_id":"x"}]}`},
	{"an id too large", "lists[0].list_id: must be 1 to 1000000000000000", `{"lists":[{"name":"x","list_id":1000000000000001}]}`},
	{"the id of a list", "campaigns[0]: the id 5 is already in use", `{"lists":[{"name":"x","list_id":5}],"campaigns":[{"name":"y","campaign_id":5}]}`},
	{"the id of a campaign", "campaigns[1]: the id 5 is already in use", `{"campaigns":[{"name":"x","campaign_id":5},{"name":"y","campaign_id":5}]}`},
	{
		"the id of a webhook", "webhooks[1]: the id 5 is already in use",
		`{"webhooks":[{"url":"http://a.test/","events":["Email.Bounced"],"webhook_id":"5"},{"url":"http://b.test/","events":["Email.Bounced"],"webhook_id":"5"}]}`,
	},
	{
		"the id of a contact", "lists[1]: the id 7 is already in use",
		`{"lists":[{"name":"x","list_id":9,"contacts":[{"id":7,"email":"a@example.com"}]},{"name":"y","list_id":7}]}`,
	},
	{
		"ids of some contacts", "lists[0].contacts[1].id: must be set for all contacts on the list or for none",
		`{"lists":[{"name":"x","contacts":[{"id":7,"email":"a@example.com"},{"email":"b@example.com"}]}]}`,
	},
	{
		"one id for two contacts", "lists[0].contacts[1].id: must be greater than 7, the id of the previous contact",
		`{"lists":[{"name":"x","contacts":[{"id":7,"email":"a@example.com"},{"id":7,"email":"b@example.com"}]}]}`,
	},
	{
		"two ids for an address", "lists[0].contacts[1].email: the list already contains the address with another id",
		`{"lists":[{"name":"x","contacts":[{"id":7,"email":"a@example.com"},{"id":8,"email":"A@example.com"}]}]}`,
	},
	{
		"an empty secret", "webhooks[0].secret: must be a text without white space around it",
		`{"webhooks":[{"url":"http://app.test","events":["Email.Opened"],"secret":""}]}`,
	},
	{
		"an unknown hash function", "webhooks[0].hash_function: no such value: there are sha256, sha512",
		`{"webhooks":[{"url":"http://app.test","events":["Email.Opened"],"hash_function":"md5"}]}`,
	},
	{"a token without a text", "tokens[0].token: required", `{"tokens":[{"read_only":true}]}`},
	{"a token twice", "tokens[1].token: this token already exists", `{"tokens":[{"token":"x"},{"token":"x"}]}`},
	{"a token with a negative lifetime", "tokens[0].expires_in_ms: must be 0 to 315360000000", `{"tokens":[{"token":"x","expires_in_ms":-1}]}`},
}

// The method and the route reject an invalid seed. The error names the field.
func TestSeedInvalid(t *testing.T) {
	for _, tt := range invalidSeeds {
		t.Run(tt.name, func(t *testing.T) {
			p := newProbe(t, mockserver.Config{})
			if err := p.Seed(strings.NewReader(tt.file)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if a := p.do("POST", "/_mock/seed", tt.file); a.status != 422 && (a.status != 400 || tt.name != "not JSON") {
				t.Errorf("over HTTP: got %d %s, want 422, or 400 if it is not JSON", a.status, a.text)
			}
		})
	}
}

func FuzzSeed(f *testing.F) {
	f.Add(seedFile)
	f.Add(`{"lists":[{"name":"x","contacts":[{"email":"a@example.com","status":{}}]}]}`)
	f.Fuzz(func(_ *testing.T, in string) {
		srv := mockserver.New(mockserver.Config{})
		defer srv.Close()
		_ = srv.Seed(strings.NewReader(in)) // must not panic
	})
}

// stable is a seed with fixed ids, secrets and tokens. One list and one webhook have no id.
const stable = `{
  "account_id": 2,
  "tokens": [{"token": "writer", "user_id": 7, "user_email": "w@example.com"},
    {"token": "reader", "read_only": true}, {"token": "short", "expires_in_ms": 3600000}],
  "templates": [{"template_id": 500, "name": "Welcome", "content": {"html": "<p>Hello</p>"}}],
  "lists": [{"list_id": 40, "name": "News", "policy_accepted": true, "contacts": [
    {"id": 1001, "email": "ada@example.com"}, {"id": 2002, "email": "Bob@example.com", "status": "unsubscribed"}]},
    {"name": "Staff"}],
  "workflows": [{"workflow_id": 60, "name": "Greeting", "list": "News", "trigger": "subscribed",
    "sender": {"email": "shop@example.com"}, "content": {"subject": "Hello", "template": "Welcome"}}],
  "campaigns": [{"campaign_id": 70, "name": "May", "list": "News", "content": {"subject": "May", "template": "Welcome"}}],
  "webhooks": [{"webhook_id": "80", "url": "http://app.test/hook", "events": ["SuppressedEmail.Added"],
    "secret": "a secret of ours", "hash_function": "sha512"}, {"url": "http://app.test/hook", "events": ["Email.Opened"]}]
}`

func seeded(t *testing.T, text string, cfg mockserver.Config) probe {
	t.Helper()
	p := newProbe(t, cfg)
	must(t, p.Seed(strings.NewReader(text)))
	return p
}

func TestSeedTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seeded(t, stable, mockserver.Config{})
		time.Sleep(time.Hour - 1)
		for token, want := range map[string][2]int{
			"writer":                {201, 200},
			"reader":                {403, 200},
			"short":                 {201, 200},
			mockserver.DefaultToken: {201, 404}, // the list belongs to another account
			"unknown":               {401, 401},
		} {
			q := p.as(token)
			if got := [2]int{q.do("POST", "/lists", `{"name":"x"}`).status, q.do("GET", "/lists/40", nil).status}; got != want {
				t.Errorf("%s: create and read return %v, want %v", token, got, want)
			}
		}
		time.Sleep(time.Nanosecond)
		if a := p.as("short").do("GET", "/lists", nil); a.status != 401 || !strings.Contains(a.text, "has expired") {
			t.Errorf("after its hour: %d %s, want 401", a.status, a.text)
		}
		if a := p.do("GET", "/_mock/info", nil); !strings.Contains(a.text, `{"user_id":7,"email":"w@example.com","read_only":false}`) {
			t.Errorf("the accounts omit the writer: %s", a.text)
		}
	})
}
