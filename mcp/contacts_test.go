package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

func TestCreateAndList(t *testing.T) {
	t.Parallel()
	_, c, list, s := newAccount(t)

	text, out := s.ok(t, "contacts", args{
		"operation": "create", "list_id": list, "email": "ada@example.com",
		"custom_attributes": args{"first_name": "Ada", "born": "1815"},
	})
	contact := out["contact"].(map[string]any)
	if want := fmt.Sprintf(`Created in list %d: %v ada@example.com active, subscribed on %v, born="1815", first_name="Ada", last bounce none`, list,
		contact["id"], contact["subscribed_on"]); text != want {
		t.Errorf("text\n got %s\nwant %s", text, want)
	}
	stored, err := c.Contacts.Get(t.Context(), list, int64(contact["id"].(float64)))
	fatal(t, err)
	if stored.Email != "ada@example.com" || fmt.Sprint(stored.CustomAttributes) != "[{born 1815} {first_name Ada}]" {
		t.Errorf("the platform has %+v", stored)
	}

	text, out = s.ok(t, "contacts", args{"operation": "list", "list_id": list})
	if want := fmt.Sprintf(
		"Contacts of list %d, 50 per page. Page 1: 1 of 1; this is the last page.\n"+
			"- %v ada@example.com active, subscribed on %v, born=\"1815\", first_name=\"Ada\", last bounce none",
		list,
		contact["id"], contact["subscribed_on"],
	); text != want {
		t.Errorf("text\n got %s\nwant %s", text, want)
	}
	if got := fmt.Sprint(out["contacts"]); got != fmt.Sprint([]any{contact}) {
		t.Errorf("listed %s, created %v", got, contact)
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
	fatal(t, err)
}

var pages = []struct {
	name    string
	in      args
	first   string
	shown   int
	count   int
	next    any
	summary string
}{
	{
		name: "the first page, as long as the default",
		in:   args{}, first: "c000@example.com", shown: 50, count: 230, next: 2.0,
		summary: "Page 1: 50 of 230; for more, call again with page 2 and the same other arguments.",
	},
	{
		name: "the largest page",
		in:   args{"per_page": 100, "page": 2}, first: "c100@example.com", shown: 100, count: 230, next: 3.0,
		summary: "Page 2: 100 of 230; for more, call again with page 3",
	},
	{
		name: "the last page",
		in:   args{"per_page": 100, "page": 3}, first: "c200@example.com", shown: 30, count: 230,
		summary: "Page 3: 30 of 230; this is the last page.",
	},
	{
		name: "a last page that is full",
		in:   args{"per_page": 46, "page": 5}, first: "c184@example.com", shown: 46, count: 230,
		summary: "this is the last page",
	},
	{
		name: "a page past the end",
		in:   args{"per_page": 46, "page": 6}, count: 230,
		summary: "Page 6 is after the last page; the total is 230, and the last page is page 5.",
	},
	{
		name: "sorted",
		in:   args{"sort": "email:desc", "per_page": 1}, first: "c229@example.com", shown: 1, count: 230,
		next: 2.0, summary: "Page 1: 1 of 230",
	},
	{
		name: "filtered",
		in:   args{"filter": "tag:odd", "per_page": 100}, first: "c001@example.com", shown: 100, count: 115,
		next: 2.0, summary: "100 of 115",
	},
	{
		name: "nobody",
		in:   args{"filter": "email:nobody@example.com", "per_page": 1}, summary: "Page 1: 0 of 0; this is the last page.",
	},
	{
		name: "numbers as some assistants write them",
		in:   args{"per_page": json.Number("2.0"), "page": json.Number("1e0")}, first: "c000@example.com", shown: 2, count: 230, next: 2.0,
		summary: "Page 1: 2 of 230",
	},
	{
		name: "numbers in strings",
		in:   args{"per_page": "7", "page": "2"}, first: "c007@example.com", shown: 7, count: 230, next: 3.0,
		summary: "Page 2: 7 of 230",
	},
	{
		name:  "arguments that say nothing",
		in:    args{"sort": nil, "filter": "", "email": "", "custom_attributes": args{}, "per_page": 1},
		first: "c000@example.com", shown: 1, count: 230, next: 2.0, summary: "Page 1",
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
			if len(contacts) > 0 && contacts[0].(map[string]any)["email"] != row.first {
				t.Errorf("first is %v, want %s", contacts[0], row.first)
			}
			if !strings.Contains(text, row.summary) || strings.Count(text, "\n- ") != row.shown {
				t.Errorf("text does not say %q, or not one line a contact:\n%s", row.summary, text)
			}
		})
	}
}

// TestContactText: the text contains each field of a contact, because some clients do not use the structured content.
func TestContactText(t *testing.T) {
	t.Parallel()
	p, c, list, s := newAccount(t)
	fatal(t, c.Lists.AcceptPolicy(t.Context(), list))
	contact, err := c.Contacts.Create(t.Context(), list, client.ContactCreate{
		Email: "ada@example.com", Tags: []string{"vip"}, Interests: []string{"math"},
	})
	fatal(t, err)
	if _, err := c.Emails.Send(t.Context(), client.EmailSubmission{
		To: contact.Email, ListID: list, Sender: client.Sender{Email: "shop@example.com"},
		Content: client.EmailContent{Subject: "S", Text: "T"},
	}); err != nil {
		t.Fatal(err)
	}
	fatal(t, p.Bounce(p.Outbox()[0].ID, mockserver.HardBounce))
	text, out := s.ok(t, "contacts", args{"operation": "list", "list_id": list})
	listed := out["contacts"].([]any)[0].(map[string]any)
	since := listed["subscribed_on"]
	want := fmt.Sprintf(`%d ada@example.com bounced, subscribed on %v, tags ["vip"], interests ["math"], last bounce hard, 1 bounces`, contact.ID, since)
	if !strings.Contains(text, want) {
		t.Errorf("got %s\nwant %s", text, want)
	}
	if attributes, ok := listed["custom_attributes"]; ok {
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
	fatal(t, err)
	text, out = s.ok(t, "tags", args{"operation": "list", "per_page": 2})
	want := "Tags, 2 per page. Page 1: 2 of 3; for more, call again with page 2 and the same other arguments.\n" +
		"- \"beta\"\n- \"line\\nbreak\""
	if text != want {
		t.Errorf("text\n got %s\nwant %s", text, want)
	}
	if fmt.Sprint(out) != "map[count:3 next_page:2 page:1 per_page:2 tags:[beta line\nbreak]]" {
		t.Errorf("got %v", out)
	}
	if _, out = s.ok(t, "tags", args{"operation": "list", "per_page": 2, "page": 2}); fmt.Sprint(out["tags"]) != "[vip]" {
		t.Errorf("second page: %v", out)
	}
}

func TestTolerantReader(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(`{"id":1,"email":"a@example.com","status":"new"},`, 249) + `{"id":2,"email":"z@example.com","status":"new"}`
	for _, row := range []struct {
		name string
		body string
		want string // the structured content without the contacts
		text string
	}{
		{
			name: "no pagination",
			body: `{"data":[]}`, want: "map[count:0 page:1 per_page:50]",
			text: "Page 1: 0 of 0; this is the last page.",
		},
		{
			name: "no count, a full page",
			body: `{"data":[{"id":7,"email":"a@example.com","status":"active"}],"pagination":{"page":1,"per_page":1}}`,
			want: "map[next_page:2 page:1 per_page:1]", text: "Page 1: 1; for more, call again with page 2",
		},
		{
			name: "no count, a short page",
			body: `{"data":[{"id":7}],"pagination":{"page":1,"per_page":50}}`, want: "map[page:1 per_page:50]",
			text: "Page 1: 1; this is the last page.",
		},
		{
			name: "per_page ignored",
			body: `{"data":[` + many + `]}`, want: "map[next_page:2 omitted:150 page:1 per_page:50]",
			text: "Page 1: 100; 150 more on this page were omitted",
		},
		{
			name: "unknown members and times",
			body: `{"data":[{"id":7,"email":"a@example.com","status":"x","subscribed_on":1700000000,"shoe_size":44}],` +
				`"pagination":{"count":1}}`,
			want: "map[count:1 page:1 per_page:50]", text: "7 a@example.com x",
		},
		{
			name: "an empty page before the last",
			body: `{"data":[],"pagination":{"page":1,"per_page":50,"count":60}}`,
			want: "map[count:60 next_page:2 page:1 per_page:50]",
			text: "Page 1: 0 of 60; for more, call again with page 2",
		},
		{
			name: "no count, an empty page after the first",
			body: `{"data":[],"pagination":{"page":2,"per_page":50}}`, want: "map[page:2 per_page:50]",
			text: "Page 2: 0; this is the last page.",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := connectTo(t, answering(200, nil, row.body))
			text, out := s.ok(t, "contacts", args{"operation": "list", "list_id": 7})
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

func TestContactTextLimit(t *testing.T) {
	t.Parallel()
	_, _, list, s := newAccount(t)
	text, out := s.ok(t, "contacts", args{
		"operation": "create", "list_id": list, "email": "ada@example.com",
		"custom_attributes": args{"note": strings.Repeat("ignore\nall ", 1000), "short": strings.Repeat("s", 300)},
	})
	if len(text) > 800 || strings.Contains(text, "\n") || !strings.Contains(text, `s"`) {
		t.Errorf("text of %d bytes: %s", len(text), text)
	}
	if note := out["contact"].(map[string]any)["custom_attributes"].(map[string]any)["note"]; note != strings.Repeat("ignore\nall ", 1000) {
		t.Errorf("the structured content lost something: %v", note)
	}
}
