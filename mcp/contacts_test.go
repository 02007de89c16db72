package mcp_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
)

func TestCreateAndList(t *testing.T) {
	t.Parallel()
	_, c, list, s := newAccount(t)
	text, out := s.ok(t, "contacts", args{
		"operation": "create", "list_id": list, "email": "ada@example.com",
		"custom_attributes": args{"first_name": "Ada", "born": "1815"},
	})
	contact := out["contact"].(map[string]any)
	line := fmt.Sprintf(`%v ada@example.com active, subscribed on %v, born="1815", first_name="Ada", last bounce none`,
		contact["id"], contact["subscribed_on"])
	assert.Equal(t, fmt.Sprintf("Created in list %d: %s", list, line), text, "text")
	stored, err := c.Contacts.Get(t.Context(), list, int64(contact["id"].(float64)))
	require.NoError(t, err)
	if stored.Email != "ada@example.com" || fmt.Sprint(stored.CustomAttributes) != "[{born 1815} {first_name Ada}]" {
		t.Errorf("the platform has %+v", stored)
	}
	text, out = s.ok(t, "contacts", args{"operation": "list", "list_id": list})
	want := fmt.Sprintf("Contacts of list %d, 50 per page. Page 1: 1 of 1; this is the last page.\n- %s", list, line)
	if text != want || !reflect.DeepEqual(out["contacts"], []any{contact}) {
		t.Errorf("listed %v, created %v, text\n got %s\nwant %s", out["contacts"], contact, text, want)
	}
}

// TestObjectInString: some assistants send every argument as a string, including objects.
func TestObjectInString(t *testing.T) {
	t.Parallel()
	_, c, list, s := newAccount(t)
	for i, attributes := range []string{`{"first_name":"Ada"}`, ` {"first_name": "Ada"}`, "{}"} {
		_, out := s.ok(t, "contacts", args{
			"operation": "create", "list_id": fmt.Sprint(list), "email": fmt.Sprintf("ada%d@example.com", i), "custom_attributes": attributes,
		})
		stored, err := c.Contacts.Get(t.Context(), list, int64(out["contact"].(map[string]any)["id"].(float64)))
		require.NoError(t, err)
		assert.Equal(t, strings.Contains(attributes, "Ada"), fmt.Sprint(stored.CustomAttributes) == "[{first_name Ada}]", attributes)
	}
}

// fill puts n contacts c000@example.com … on a list.
func fill(t *testing.T, c *client.Client, list int64, n int) {
	t.Helper()
	var batch client.ImportBatch
	for i := range n {
		contact := client.ImportContact{Email: fmt.Sprintf("c%03d@example.com", i)}
		if i%2 == 1 {
			contact.Tags = []string{"odd"}
		}
		batch.Contacts = append(batch.Contacts, contact)
	}
	_, err := c.Contacts.ImportBatch(t.Context(), list, batch)
	require.NoError(t, err)
}

var pages = []struct {
	name         string
	in           args
	first        string // email address of the first contact
	shown, count int
	next         any
	summary      string
}{
	{"the default", args{}, "c000", 50, 230, 2.0, "Page 1: 50 of 230; for more, call again with page 2"},
	{"the largest page", args{"per_page": 100, "page": 2}, "c100", 100, 230, 3.0, "Page 2: 100 of 230; for more"},
	{"the last page", args{"per_page": 100, "page": 3}, "c200", 30, 230, nil, "Page 3: 30 of 230; this is the last page."},
	{"a last page that is full", args{"per_page": 46, "page": 5}, "c184", 46, 230, nil, "this is the last page"},
	{
		"a page past the end",
		args{"per_page": 46, "page": 6},
		"", 0, 230, nil,
		"Page 6 is after the last page; the total is 230, and the last page is page 5.",
	},
	{"sorted", args{"sort": "email:desc", "per_page": 1}, "c229", 1, 230, 2.0, "Page 1: 1 of 230"},
	{"filtered", args{"filter": "tag:odd", "per_page": 100}, "c001", 100, 115, 2.0, "100 of 115"},
	{"no contact", args{"filter": "email:x@example.com", "per_page": 1}, "", 0, 0, nil, "Page 1: 0 of 0; this is the last page."},
	{
		"numbers as some assistants write them",
		args{"per_page": json.Number("2.0"), "page": json.Number("1e0")},
		"c000", 2, 230, 2.0,
		"Page 1: 2 of 230",
	},
	{"numbers in strings", args{"per_page": "7", "page": "2"}, "c007", 7, 230, 3.0, "Page 2: 7 of 230"},
	{
		"arguments that say nothing",
		args{"sort": nil, "filter": "", "email": "", "custom_attributes": args{}, "per_page": 1},
		"c000", 1, 230, 2.0, "Page 1",
	},
}

func TestListPages(t *testing.T) {
	t.Parallel()
	_, c, list, s := newAccount(t)
	fill(t, c, list, 230)
	for _, row := range pages {
		t.Run(row.name, func(t *testing.T) {
			row.in["operation"], row.in["list_id"] = "list", list
			text, out := s.ok(t, "contacts", row.in)
			contacts := out["contacts"].([]any)
			if len(contacts) != row.shown || out["count"] != float64(row.count) || out["next_page"] != row.next {
				t.Errorf("%d shown, count %v, next %v; want %d, %d, %v", len(contacts), out["count"], out["next_page"], row.shown,
					row.count, row.next)
			}
			if len(contacts) > 0 && contacts[0].(map[string]any)["email"] != row.first+"@example.com" {
				t.Errorf("first is %v, want %s", contacts[0], row.first)
			}
			if !strings.Contains(text, row.summary) || strings.Count(text, "\n- ") != row.shown {
				t.Errorf("the text does not contain %q, or not one line per contact:\n%s", row.summary, text)
			}
		})
	}
}

// TestContactText: the text contains each field of a contact, because some clients do not use the structured content.
func TestContactText(t *testing.T) {
	t.Parallel()
	const body = `{"data":[{"id":7,"email":"ada@example.com","status":"bounced","subscribed_on":1777626000,` +
		`"tags":["vip"],"interests":["math"],"last_bounce_type":"hard","bounces_count":1}]}`
	text, out := connectTo(t, respondWith(200, nil, body)).ok(t, "contacts", listing(nil))
	const want = `- 7 ada@example.com bounced, subscribed on 2026-05-01T09:00:00Z, ` +
		`tags ["vip"], interests ["math"], last bounce hard, 1 bounces`
	assert.Contains(t, text, want)
	if attributes, ok := out["contacts"].([]any)[0].(map[string]any)["custom_attributes"]; ok {
		t.Errorf("custom attributes %v, want none", attributes)
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	_, c, list, s := newAccount(t)
	text, out := s.ok(t, "tags", args{}) // the tool has one operation, which may be omitted
	if text != "Tags, 50 per page. Page 1: 0 of 0; this is the last page." || fmt.Sprint(out["tags"]) != "[]" {
		t.Errorf("without tags: %s %v", text, out)
	}

	_, err := c.Contacts.Create(t.Context(), list,
		client.ContactCreate{Email: "ada@example.com", Tags: []string{"vip", "beta", "line\nbreak"}})
	require.NoError(t, err)
	text, out = s.ok(t, "tags", args{"operation": "list", "per_page": 2})
	want := "Tags, 2 per page. Page 1: 2 of 3; for more, call again with page 2 and the same other arguments.\n" +
		"- \"beta\"\n- \"line\\nbreak\""
	assert.Equal(t, want, text, "text")
	assert.Equal(t, "map[count:3 next_page:2 page:1 per_page:2 tags:[beta line\nbreak]]", fmt.Sprint(out))
	if _, out = s.ok(t, "tags", args{"operation": "list", "per_page": 2, "page": 2}); fmt.Sprint(out["tags"]) != "[vip]" {
		t.Errorf("second page: %v", out)
	}
}

func TestTolerantReader(t *testing.T) {
	t.Parallel()
	contact := `{"id":7,"email":"a@example.com","status":"x","subscribed_on":1700000000,"shoe_size":44}`
	many := strings.Repeat(contact+",", 249) + contact
	for _, row := range []struct {
		name, data, pagination string
		want                   string // the structured content without the contacts
		text                   string
	}{
		{"no pagination", ``, `{}`, "map[count:0 page:1 per_page:50]", "Page 1: 0 of 0; this is the last page."},
		{
			"no count, a full page", contact, `{"page":1,"per_page":1}`, "map[next_page:2 page:1 per_page:1]",
			"Page 1: 1; for more, call again with page 2",
		},
		{
			"no count, a short page", contact, `{"page":1,"per_page":50}`, "map[page:1 per_page:50]",
			"Page 1: 1; this is the last page.",
		},
		{
			"per_page ignored", many, `{}`, "map[next_page:2 omitted:150 page:1 per_page:50]",
			"Page 1: 100; 150 more on this page were omitted",
		},
		{"unknown fields and times", contact, `{"count":1}`, "map[count:1 page:1 per_page:50]", "7 a@example.com x"},
		{
			"an empty page before the last", ``, `{"page":1,"per_page":50,"count":60}`, "map[count:60 next_page:2 page:1 per_page:50]",
			"Page 1: 0 of 60; for more, call again with page 2",
		},
		{
			"no count, an empty page after the first", ``, `{"page":2,"per_page":50}`, "map[page:2 per_page:50]",
			"Page 2: 0; this is the last page.",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := connectTo(t, respondWith(200, nil, `{"data":[`+row.data+`],"pagination":`+row.pagination+`}`))
			text, out := s.ok(t, "contacts", listing(nil))
			if n := len(out["contacts"].([]any)); n > 100 {
				t.Errorf("%d contacts", n)
			}
			delete(out, "contacts")
			if fmt.Sprint(out) != row.want || !strings.Contains(text, row.text) {
				t.Errorf("got %v and %.200s", out, text)
			}
		})
	}
}

// TestContactTextLimit: the text contains at most 300 characters of each attribute, and the structured content all.
func TestContactTextLimit(t *testing.T) {
	t.Parallel()
	_, _, list, s := newAccount(t)
	note := strings.Repeat("ignore\nall ", 1000)
	text, out := s.ok(t, "contacts", creating(args{
		"list_id": list, "custom_attributes": args{"note": note, "short": strings.Repeat("s", 300)},
	}))
	if len(text) > 800 || strings.Contains(text, "\n") || !strings.Contains(text, `s"`) {
		t.Errorf("text of %d bytes: %s", len(text), text)
	}
	if got := out["contact"].(map[string]any)["custom_attributes"].(map[string]any)["note"]; got != note {
		t.Errorf("the structured content is incomplete: %v", got)
	}
}

// TestContactFields: the result of the tool has each field of a contact.
func TestContactFields(t *testing.T) {
	t.Parallel()
	list, err := connectTo(t, nil).ListTools(t.Context(), nil)
	require.NoError(t, err)
	for _, tool := range list.Tools {
		if tool.Name != "contacts" {
			continue
		}
		text, err := json.Marshal(tool.OutputSchema)
		require.NoError(t, err)
		var schema struct {
			Properties struct {
				Contact struct{ Properties map[string]any }
			}
		}
		require.NoError(t, json.Unmarshal(text, &schema))
		for field := range reflect.TypeFor[client.Contact]().Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "-" {
				assert.Contains(t, schema.Properties.Contact.Properties, name, "contactSchema in contacts.go describes the type contact")
			}
		}
	}
}
