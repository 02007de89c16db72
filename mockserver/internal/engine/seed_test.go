package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/engine"
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

// The error names the record and the field.
func TestSeedInvalid(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	err := p.Seed(strings.NewReader(`{"lists":[{"name":"x","contacts":[{"email":"a@b.example","id":1},{"email":"c@d.example"}]}]}`))
	assert.ErrorContains(t, err, "lists[0].contacts[1].id: must be set")
}

// TestSeedIDs: the schema of a seed limits each id of a record, because package platform does not check this limit.
func TestSeedIDs(t *testing.T) {
	var names []string
	const maxID, greatest, above = int64(1e15), "1000000000000000", "1000000000000001"
	var check func(s *contract.Schema)
	check = func(s *contract.Schema) {
		for _, p := range s.Properties {
			switch pattern := p.Schema.Pattern; {
			case p.Schema.Items != nil:
				check(p.Schema.Items)
			case !strings.Contains(p.Doc, "the mock server assigns an id"):
			case pattern != nil:
				names = append(names, p.Name)
				assert.True(t, pattern.MatchString(greatest) && !pattern.MatchString(above), "%s: the pattern id (patterns.go)", p.Name)
				assert.Contains(t, p.Schema.Expected, greatest, "%s: the pattern id (patterns.go)", p.Name)
			default:
				names = append(names, p.Name)
				assert.Equal(t, maxID, p.Schema.Max, "%s in seedbody.go", p.Name)
			}
		}
	}
	check(engine.SeedSchema())
	assert.Equal(t, []string{"template_id", "list_id", "id", "workflow_id", "campaign_id", "webhook_id"}, names)
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
