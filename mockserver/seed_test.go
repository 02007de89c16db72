package mockserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

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

func TestSeed(t *testing.T) {
	p := newProbe(t, mockserver.Config{
		RecordEvents: true,
		Tokens:       []mockserver.Token{{Token: "one"}, {Token: "two", UserID: 2, AccountID: 2}},
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

// Contacts go in batches of what an import takes.
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

func TestSeedMistakes(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{name: "not JSON", file: `lists: []`, want: "invalid character"},
		{name: "an unknown member", file: `{"contacts":[]}`, want: "contacts: no such member: there are"},
		{name: "an unknown account", file: `{"account_id":7}`, want: "account_id"},
		{
			name: "a template without a name",
			file: `{"templates":[{"name":"x","content":{"html":"x"}},{}]}`,
			want: "templates[1]: [body name]: required",
		},
		{name: "a list without a name", file: `{"lists":[{}]}`, want: "lists[0]: [body name]"},
		{
			name: "a contact without an address",
			file: `{"lists":[{"name":"x","contacts":[{"email":"a@example.com"},{"email":"nobody"}]}]}`,
			want: "lists[0]: contacts[1]: email: not an email address",
		},
		{
			name: "an unknown status",
			file: `{"lists":[{"name":"x","contacts":[{"email":"a@example.com","status":"bored"}]}]}`,
			want: "lists[0]: contacts[0]: status: want active, unsubscribed or deleted",
		},
		{
			name: "a status that is no text",
			file: `{"lists":[{"name":"x","contacts":[{"email":"a@example.com","status":1}]}]}`,
			want: "contacts[0]: status: want",
		},
		{
			name: "a status that is an array",
			file: `{"lists":[{"name":"x","contacts":[{"email":"a@example.com","status":[]}]}]}`,
			want: "contacts[0]: status: want",
		},
		{
			name: "an unknown list",
			file: `{"campaigns":[{"name":"x","list":"y"}]}`,
			want: `campaigns[0]: list: the object has none named "y"`,
		},
		{
			name: "an unknown template",
			file: `{"campaigns":[{"name":"x","content":{"subject":"s","template":"y"}}]}`,
			want: `campaigns[0]: template: the object has none named "y"`,
		},
		{
			name: "a list of another object",
			file: `{"lists":[{"name":"y"}]}{"campaigns":[{"name":"x","list":"y"}]}`,
			want: `campaigns[0]: list: the object has none named "y"`,
		},
		{
			name: "an activity that is a string",
			file: `{"lists":[{"name":"x","policy_accepted":true}],"workflows":[{"name":"w","list":"x","trigger":"subscribed",` +
				`"active":"true","sender":{"email":"a@example.com"},"content":{"text":"x"}}]}`,
			want: "workflows[0]: active: want true or false",
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
			want: "webhooks[0]: [body events 0]",
		},
		{name: "no address at all", file: `{"suppressed_emails":["nobody"]}`, want: "suppressed_emails[0]: [body email]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status := 422
			if tt.name == "not JSON" {
				status = 400
			}
			wantSeedMistake(t, tt.file, tt.want, status)
		})
	}
}

// wantSeedMistake holds that a seed fails, by the method and over HTTP.
func wantSeedMistake(t *testing.T, file, want string, status int) {
	t.Helper()
	p := newProbe(t, mockserver.Config{})
	if err := p.Seed(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if a := p.do("POST", "/_mock/seed", file); a.status != status {
		t.Errorf("over HTTP: %d %s, want %d", a.status, a.text, status)
	}
}

// A seed with a member that nobody knows is refused, and told what there is.
func TestSeedUnknownMembers(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{name: "a misspelt member", file: `{"lits":[]}`, want: "did you mean lists?"},
		{
			name: "an unknown member of a contact",
			file: `{"lists":[{"name":"x","contacts":[{"email":"a@example.com"},{"email":"b@example.com","tgas":[]}]}]}`,
			want: "lists[0]: contacts[1]: tgas: no such member: did you mean tags?",
		},
		{
			name: "an unknown member of a webhook",
			file: `{"webhooks":[{"url":"http://app.test","events":["Email.Bounced"],"rate":1}]}`,
			want: "webhooks[0]: [body rate]: no such member: there are",
		},
		{
			name: "an unknown member of a template's content",
			file: `{"templates":[{"name":"x","content":{"html":"x","txt":"y"}}]}`,
			want: "templates[0]: [body content txt]: no such member: did you mean text?",
		},
	} {
		t.Run(tt.name, func(t *testing.T) { wantSeedMistake(t, tt.file, tt.want, 422) })
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
