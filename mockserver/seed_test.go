package mockserver_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
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

func TestSeed(t *testing.T) {
	p := newProbe(t, mockserver.Config{
		RecordEvents: true,
		Tokens:       []mockserver.Token{{Value: "one"}, {Value: "two", UserID: 2, AccountID: 2}},
		Targets:      map[string]http.Handler{"app.test": http.NotFoundHandler()},
	})
	p.must("POST", "/_mock/seed", seedFile)
	tests := []struct{ path, contains string }{
		{"/lists", `"name":"News","policy_accepted":true`},
		{"/lists", `"name":"Staff","policy_accepted":false`},
		{"/lists/2/contacts?filter=status:active&with_count=true", `"count":2`},
		{"/lists/2/contacts?filter=status:unsubscribed", `"bob@example.com"`},
		{"/lists/2/contacts?filter=tag:vip", `"value":"Ada"`},
		{"/suppressed-emails", `"*@example.net"`},
		{"/workflows", `"status":"active"`},
		{"/workflows", `"template_id":1`},
		{"/campaigns", `"list_id":2`},
		{"/webhooks", `"http://app.test/hook"`},
	}
	for _, tt := range tests {
		if a := p.must("GET", tt.path, nil); !strings.Contains(a.text, tt.contains) {
			t.Errorf("%s has no %s: %s", tt.path, tt.contains, a.text)
		}
	}
	if a := p.as("two").must("GET", "/lists", nil); !strings.Contains(a.text, "Of another account") ||
		strings.Contains(a.text, "News") {
		t.Errorf("the other account has %s, want its own list alone", a.text)
	}
	if n := len(p.Events()) + len(p.Deliveries()); n != 0 {
		t.Errorf("the seed fires %d events and deliveries, want none", n)
	}
	if n := len(p.Requests()); n != len(tests)+1 {
		t.Errorf("%d requests were logged, want %d", n, len(tests)+1)
	}
}

// A seed may have more contacts than one import.
func TestSeedManyContacts(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	var contacts []string
	for i := range 2500 {
		contacts = append(contacts, fmt.Sprintf(`{"email":"user%d@example.com"}`, i))
	}
	if err := p.Seed(
		strings.NewReader(`{"lists":[{"name":"Large","contacts":[` + strings.Join(contacts, ",") + `]}]}`)); err != nil {
		t.Fatal(err)
	}
	if a := p.must("GET", "/lists/1/contacts?with_count=true&per_page=1", nil); !strings.Contains(a.text, `"count":2500`) {
		t.Errorf("got %s, want 2500", a.text)
	}
}

// invalidSeeds are seeds with the error that they cause.
var invalidSeeds = []struct{ name, file, want string }{
	{name: "not JSON", file: `lists: []`, want: "invalid character"},
	{name: "an array", file: `[]`, want: "must be an object, got an array"},
	{name: "an unknown account", file: `{"account_id":7}`, want: "account_id"},
	{
		name: "a template without a name",
		file: `{"templates":[{"name":"x","content":{"html":"x"}},{}]}`,
		want: "templates[1].name: required",
	},
	{name: "a list without a name", file: `{"lists":[{}]}`, want: "lists[0].name: required"},
	{
		name: "a contact without an address",
		file: `{"lists":[{"name":"x","contacts":[{"email":"a@example.com"},{"email":"nobody"}]}]}`,
		want: "lists[0].contacts[1].email: must be an email address",
	},
	{
		name: "an unknown status",
		file: `{"lists":[{"name":"x","contacts":[{"email":"a@example.com","status":"bored"}]}]}`,
		want: "lists[0].contacts[0].status: no such value: there are active, deleted, unsubscribed",
	},
	{
		name: "a status that is no text",
		file: `{"lists":[{"name":"x","contacts":[{"email":"a@example.com","status":1}]}]}`,
		want: "lists[0].contacts[0].status: must be a string, got a number",
	},
	{
		name: "an unknown list",
		file: `{"campaigns":[{"name":"x","list":"y"}]}`,
		want: `campaigns[0].list: the object contains no entry named "y"`,
	},
	{
		name: "a list of another object",
		file: `{"lists":[{"name":"y"}]}{"campaigns":[{"name":"x","list":"y"}]}`,
		want: `campaigns[0].list: the object contains no entry named "y"`,
	},
	{
		name: "an unknown template",
		file: `{"campaigns":[{"name":"x","content":{"subject":"s","template":"y"}}]}`,
		want: `campaigns[0].content.template: the object contains no entry named "y"`,
	},
	{
		name: "an activity that is a string",
		file: `{"lists":[{"name":"x","policy_accepted":true}],"workflows":[{"name":"w","list":"x","trigger":"subscribed",` +
			`"active":"true","sender":{"email":"a@example.com"},"content":{"text":"x"}}]}`,
		want: "workflows[0].active: must be true or false, got a string",
	},
	{
		name: "an inactive policy",
		file: `{"lists":[{"name":"x"}],"workflows":[{"name":"w","list":"x","trigger":"subscribed","active":true,` +
			`"sender":{"email":"a@example.com"},"content":{"text":"x"}}]}`,
		want: "workflows[0]",
	},
	{
		name: "an unknown event",
		file: `{"webhooks":[{"url":"http://app.test","events":["Email.Lost"]}]}`,
		want: "webhooks[0].events[0]: no such value: did you mean Email.Error?",
	},
	{name: "no address at all", file: `{"suppressed_emails":["nobody"]}`, want: "suppressed_emails[0]: must be an address, *@domain or local@*"},
	{name: "a misspelled member", file: `{"lits":[]}`, want: "lits: no such field: did you mean lists?"},
	{
		name: "a member of another object",
		file: `{"token":"x"}`,
		want: "token: no such field: did you mean tokens? There are account_id, campaigns, lists, suppressed_emails, templates, tokens, webhooks, workflows",
	},
	{
		name: "a misspelled member of a list",
		file: `{"lists":[{"nam":"x"}]}`,
		want: "lists[0].nam: no such field: did you mean name? There are contacts, list_id, name, policy_accepted",
	},
	{
		name: "an unknown member of a template's content",
		file: `{"templates":[{"name":"x","content":{"html":"x","txt":"y"}}]}`,
		want: "templates[0].content.txt: no such field: did you mean text?",
	},
	{name: "an id below 1", file: `{"templates":[{"name":"x","template_id":-1}]}`, want: "templates[0].template_id: must be 1 to 1000000000000000"},
	{name: "an id that is 0", file: `{"lists":[{"name":"x","list_id":0}]}`, want: "lists[0].list_id: must be 1 to 1000000000000000"},
	{name: "an id that is none", file: `{"webhooks":[{"webhook_id":"x"}]}`, want: "webhooks[0].webhook_id: must be an id of 1 to 1000000000000000"},
	{name: "an id too large", file: `{"lists":[{"name":"x","list_id":1000000000000001}]}`, want: "lists[0].list_id: must be 1 to 1000000000000000"},
	{
		name: "an id that is taken",
		file: `{"lists":[{"name":"x","list_id":5}],"campaigns":[{"name":"y","campaign_id":5}]}`,
		want: "campaigns[0]: the id 5 is already in use",
	},
	{
		name: "an id that a campaign has",
		file: `{"campaigns":[{"name":"x","campaign_id":5},{"name":"y","campaign_id":5}]}`,
		want: "campaigns[1]: the id 5 is already in use",
	},
	{
		name: "an id that a webhook has",
		file: `{"webhooks":[{"url":"http://a.test/","events":["Email.Bounced"],"webhook_id":"5"},
			{"url":"http://b.test/","events":["Email.Bounced"],"webhook_id":"5"}]}`,
		want: "webhooks[1]: the id 5 is already in use",
	},
	{
		name: "an id that a contact has",
		file: `{"lists":[{"name":"x","list_id":9,"contacts":[{"id":7,"email":"a@example.com"}]},{"name":"y","list_id":7}]}`,
		want: "lists[1]: the id 7 is already in use",
	},
	{
		name: "ids of some contacts",
		file: `{"lists":[{"name":"x","contacts":[{"id":7,"email":"a@example.com"},{"email":"b@example.com"}]}]}`,
		want: "lists[0].contacts[1].id: must be set for all contacts on the list or for none",
	},
	{
		name: "ids of contacts that do not grow",
		file: `{"lists":[{"name":"x","contacts":[{"id":7,"email":"a@example.com"},{"id":6,"email":"b@example.com"}]}]}`,
		want: "lists[0].contacts[1].id: must be greater than 7, the id of the previous contact",
	},
	{
		name: "two ids of an address",
		file: `{"lists":[{"name":"x","contacts":[{"id":7,"email":"a@example.com"},{"id":8,"email":"A@example.com"}]}]}`,
		want: "lists[0].contacts[1].email: the list already contains the address with another id",
	},
	{
		name: "an empty secret",
		file: `{"webhooks":[{"url":"http://app.test","events":["Email.Opened"],"secret":""}]}`,
		want: "webhooks[0].secret: must be a text without white space around it",
	},
	{
		name: "a blank secret",
		file: `{"webhooks":[{"url":"http://app.test","events":["Email.Opened"],"secret":" \t"}]}`,
		want: "webhooks[0].secret: must be a text without white space around it",
	},
	{
		name: "an unknown hash function",
		file: `{"webhooks":[{"url":"http://app.test","events":["Email.Opened"],"hash_function":"md5"}]}`,
		want: "webhooks[0].hash_function: no such value: there are sha256, sha512",
	},
	{name: "a token without a text", file: `{"tokens":[{"read_only":true}]}`, want: "tokens[0].token: required"},
	{name: "a token twice", file: `{"tokens":[{"token":"x"},{"token":"x"}]}`, want: "tokens[1].token: this token already exists"},
	{name: "a token for no time", file: `{"tokens":[{"token":"x","expires_in_ms":-1}]}`, want: "tokens[0].expires_in_ms: must be 0 to 315360000000"},
}

// An invalid seed is rejected by the method and by the route. The error names the field.
func TestSeedInvalid(t *testing.T) {
	for _, tt := range invalidSeeds {
		t.Run(tt.name, func(t *testing.T) {
			p := newProbe(t, mockserver.Config{})
			if err := p.Seed(strings.NewReader(tt.file)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			status := map[bool]int{true: 400, false: 422}[tt.name == "not JSON"]
			if a := p.do("POST", "/_mock/seed", tt.file); a.status != status {
				t.Errorf("over HTTP: got %d %s, want %d", a.status, a.text, status)
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
		_ = srv.Seed(strings.NewReader(in)) // whatever it says, it does not panic
	})
}

// stable contains all ids and secrets that the server would choose.
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

func TestSeedFixesIDs(t *testing.T) {
	p := seeded(t, stable, mockserver.Config{}).as("writer")
	tests := []struct{ path, contains string }{
		{"/templates/500", `"name":"Welcome"`},
		{"/lists/40", `"name":"News"`},
		{"/lists/40/contacts/1001", `"ada@example.com"`},
		{"/lists/40/contacts/2002", `"status":"unsubscribed"`},
		{"/workflows/60", `"template_id":500`},
		{"/campaigns/70", `"list_id":40`},
		{"/webhooks/80", `"hash_function":"sha512"`},
		{"/webhooks/80", `"secret":"a secret of ours"`},
	}
	for _, tt := range tests {
		if a := p.must("GET", tt.path, nil); !strings.Contains(a.text, tt.contains) {
			t.Errorf("%s has no %s: %s", tt.path, tt.contains, a.text)
		}
	}
	if a := p.must("POST", "/lists", `{"name":"Next"}`); a.object["list_id"].(float64) <= 2002 {
		t.Errorf("the next id is %v, want one behind those that are fixed", a.object["list_id"])
	}
	var kept strings.Builder
	must(t, p.Snapshot(&kept))
	if err := p.Restore(strings.NewReader(kept.String())); err != nil {
		t.Errorf("a state with fixed ids cannot be restored: %v", err)
	}
}

// A seed can contain the secret of a webhook.
func TestSeedFixesSecrets(t *testing.T) {
	var heard error
	secret, err := webhook.ParseSecret("a secret of ours", "sha512")
	must(t, err)
	verifier, err := webhook.NewVerifier(secret)
	must(t, err)
	p := seeded(t, stable, mockserver.Config{}).as("writer")
	p.SetTarget("app.test", webhookCheck(verifier, &heard))
	p.must("POST", "/suppressed-emails", `{"email":"eve@example.com"}`)
	p.fired()
	if d := p.Deliveries(); len(d) != 1 || d[0].State != mockserver.DeliveryDelivered || heard != nil {
		t.Errorf("%d deliveries, %v; want one that verifies", len(d), heard)
	}
}

// webhookCheck verifies deliveries.
func webhookCheck(v *webhook.Verifier, err *error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*err = v.Verify(body, r.Header.Get("X-Service-Signature"))
		w.WriteHeader(http.StatusNoContent)
	})
}

func TestSeedTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seeded(t, stable, mockserver.Config{})
		create := func(token string) int { return p.as(token).do("POST", "/lists", `{"name":"x"}`).status }
		read := func(token string) int { return p.as(token).do("GET", "/lists/40", nil).status }
		time.Sleep(time.Hour - 1)
		for token, want := range map[string][2]int{
			"writer":                {201, 200},
			"reader":                {403, 200},
			"short":                 {201, 200},
			mockserver.DefaultToken: {201, 404}, // of another account
			"nobody's":              {401, 401},
		} {
			if got := [2]int{create(token), read(token)}; got != want {
				t.Errorf("%s: creating and reading are answered %v, want %v", token, got, want)
			}
		}
		time.Sleep(time.Nanosecond)
		if a := p.as("short").do("GET", "/lists", nil); a.status != 401 || !strings.Contains(a.text, "has expired") {
			t.Errorf("after its hour: %d %s, want 401", a.status, a.text)
		}
		a := p.do("GET", "/_mock/info", nil)
		if want := `{"user_id":7,"email":"w@example.com","read_only":false}`; !strings.Contains(a.text, want) {
			t.Errorf("no %s among the accounts: %s", want, a.text)
		}
	})
}

// An account with only a read-only token can be seeded.
func TestSeedReadOnlyAccount(t *testing.T) {
	p := seeded(t, `{"account_id":9,"tokens":[{"token":"reader","read_only":true}],"lists":[{"name":"News"}]}`, mockserver.Config{})
	if a := p.as("reader").must("GET", "/lists", nil); !strings.Contains(a.text, "News") {
		t.Errorf("got %s, want the list", a.text)
	}
}
