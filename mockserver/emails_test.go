package mockserver_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// last returns the data of the last event that was delivered under a name.
func (p platform) last(name string) (data, user map[string]any) {
	p.t.Helper()
	p.fired()
	for _, d := range slices.Backward(p.Deliveries()) {
		if d.Event == name {
			var body struct {
				Data map[string]any `json:"data"`
				User map[string]any `json:"user"`
			}
			if err := json.Unmarshal(d.Body, &body); err != nil {
				p.t.Fatal(err)
			}
			return body.Data, body.User
		}
	}
	p.t.Fatalf("no %s", name)
	return nil, nil
}

func TestRefusals(t *testing.T) {
	for _, row := range []struct {
		status, kind, becomes, reason string
	}{
		{"active", "marketing", "queued", ""},
		{"bounced", "marketing", "rejected", "bounced"},
		{"bounced", "transactional", "rejected", "bounced"},
		{"unsubscribed", "marketing", "rejected", "unsubscribed"},
		{"unsubscribed", "transactional", "queued", ""},
		{"pending", "marketing", "rejected", "pending"},
		{"pending", "transactional", "rejected", "pending"},
		{"spam", "marketing", "rejected", "spam"},
		{"spam", "transactional", "rejected", "spam"},
		{"deleted", "marketing", "rejected", "deleted"},
		{"deleted", "transactional", "rejected", "deleted"},
		{"suppressed", "marketing", "rejected", "suppressed"},
		{"suppressed", "transactional", "rejected", "suppressed"},
	} {
		t.Run(row.status+" "+row.kind, func(t *testing.T) {
			p := newPlatform(t, mockserver.Config{Targets: receiver()})
			list := p.list()
			if row.status == "suppressed" {
				p.contact(list, "ada@example.org")
				p.must("POST", "/suppressed-emails", `{"email":"ada@example.org"}`)
			} else {
				p.in(row.status, list, "ada@example.org")
			}
			sent := len(p.Outbox())
			p.webhook(everything...)
			a := p.must("POST", "/v2/emails", map[string]any{
				"email": "ADA@example.org", "sender": map[string]any{"email": "shop@example.com"},
				"content": map[string]any{"subject": "S", "text": "T", "type": row.kind},
			})
			if a.id("status") != row.becomes {
				t.Fatalf("got %s", a.text)
			}
			if row.becomes == "queued" {
				if got := p.fired(); len(got) != 0 || len(p.Outbox()) != sent+1 {
					t.Errorf("fired %v, %d in the outbox", got, len(p.Outbox()))
				}
				return
			}
			if len(p.Outbox()) != sent {
				t.Error("it was sent")
			}
			data, user := p.last(events.NameEmailRejected)
			if data["reason"] != row.reason || data["contact"] == nil || data["list"] == nil || user["email"] != "user@example.com" {
				t.Errorf("got %v by %v", data, user)
			}
			if a := p.must("GET", "/v2/emails/"+a.id("id"), nil); a.id("status") != "rejected" || a.id("reason") != row.reason {
				t.Errorf("the lookup says %s", a.text)
			}
		})
	}
}

func TestRejectedWithoutContact(t *testing.T) {
	p := newPlatform(t, mockserver.Config{Targets: receiver()})
	p.webhook(everything...)
	p.must("POST", "/suppressed-emails", `{"email":"ada@example.org"}`)
	p.email("ada@example.org")
	if data, _ := p.last(events.NameEmailRejected); data["contact"] != nil || data["list"] != nil || data["reason"] != "suppressed" {
		t.Errorf("got %v", data)
	}
}

func TestWhichContact(t *testing.T) {
	p := newPlatform(t, mockserver.Config{})
	first, second := p.list(), p.list()
	onFirst := p.contact(first, "ada@example.org")
	onSecond := p.contact(second, "ada@example.org")
	contactOf := func(list string) any {
		body := map[string]any{"email": "ada@example.org", "sender": map[string]any{"email": "s@example.com"}, "content": map[string]any{"subject": "S", "text": "T"}}
		if list != "" {
			body["list_id"] = json.Number(strings.TrimPrefix(list, "/lists/"))
		}
		p.must("POST", "/v2/emails", body)
		box := p.Outbox()
		return fmt.Sprint(box[len(box)-1].ContactID)
	}
	if got := contactOf(""); got != onSecond {
		t.Errorf("without a list: %v, want the one added last, %v", got, onSecond)
	}
	if got := contactOf(first); got != onFirst {
		t.Errorf("with a list: %v, want %v", got, onFirst)
	}
	p.must("POST", first+"/contacts/"+onFirst+"/unsubscribe", nil)
	p.contact(first, "ada@example.org") // added again, so added last
	if got := contactOf(""); got != onFirst {
		t.Errorf("added again: %v, want %v", got, onFirst)
	}
	if got := contactOf(p.list()); got != "0" {
		t.Errorf("not on that list: %v", got)
	}
}

func TestSubmissionErrors(t *testing.T) {
	p := newPlatform(t, mockserver.Config{Tokens: []mockserver.Token{{Token: "one"}, {Token: "two", AccountID: 2}}})
	closed := p.must("POST", "/lists", `{"name":"L"}`).id("list_id")
	foreign := p.as("two").must("POST", "/templates", `{"name":"T","content":{"text":"T"}}`).id("template_id")
	for name, row := range map[string]struct {
		content, more string
		status        int
		kind, loc     string
	}{
		"policy not accepted": {`"text":"T"`, `,"list_id":` + closed, 409, "policy_not_accepted", "[body list_id]"},
		"unknown list":        {`"text":"T"`, `,"list_id":999`, 404, "not_found", "[body list_id]"},
		"unknown template":    {`"template_id":999`, ``, 404, "not_found", "[body content template_id]"},
		"foreign template":    {`"template_id":` + foreign, ``, 404, "not_found", "[body content template_id]"},
		"no body":             {`"html":""`, ``, 422, "value_error", "[body content]"},
		"both":                {`"template_id":1,"html":"H"`, ``, 422, "value_error", "[body content template_id]"},
		"unknown type":        {`"text":"T","type":"spam"`, ``, 422, "value_error", "[body content type]"},
		"attribute a number":  {`"text":"T"`, `,"custom_attributes":{"a":1}`, 422, "value_error", "[body custom_attributes a]"},
	} {
		a := p.do("POST", "/v2/emails", `{"email":"a@example.org","sender":{"email":"s@example.com"},"content":{"subject":"S",`+row.content+`}`+row.more+`}`)
		if kind, loc := a.detail(); a.status != row.status || kind != row.kind || loc != row.loc {
			t.Errorf("%s: %d %s", name, a.status, a.text)
		}
	}
	if n := len(p.Outbox()); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
}

func TestMergeTags(t *testing.T) {
	p := newPlatform(t, mockserver.Config{})
	list := p.list()
	p.must("POST", list+"/contacts", `{"email":"ada@example.org","custom_attributes":[{"name":"name","value":"Ada"},{"name":"city","value":"<Paris>"}]}`)
	tpl := p.must("POST", "/templates", `{"name":"T","content":{"html":"<p>{{name}} {{city}} {{none}}</p>","text":"{{name}} {{city}}"}}`).id("template_id")
	p.must("POST", "/v2/emails", `{"email":"ada@example.org","sender":{"email":"s@example.com","name":"Shop"},
		"content":{"subject":"{{city}} {{name}}","template_id":`+tpl+`},"custom_attributes":{"name":"A & B"}}`)
	p.must("PATCH", "/templates/"+tpl, `{"content":{"html":"changed"}}`)
	p.must("DELETE", "/templates/"+tpl, nil)
	m := p.Outbox()[0]
	if m.Subject != "<Paris> A & B" || m.HTML != "<p>A &amp; B &lt;Paris&gt; </p>" || m.Text != "A & B <Paris>" {
		t.Errorf("got %q, %q, %q", m.Subject, m.HTML, m.Text)
	}
	if !slices.Contains(m.Headers, mockserver.Header{Name: "From", Value: `"Shop" <s@example.com>`}) {
		t.Errorf("headers %v", m.Headers)
	}
}

func TestInternalError(t *testing.T) {
	p := newPlatform(t, mockserver.Config{Targets: receiver()})
	p.webhook(everything...)
	a := p.must("POST", "/v2/emails", `{"email":"error@`+mockserver.MagicDomain+`","sender":{"email":"s@example.com"},"content":{"subject":"S","text":"T"}}`)
	data, user := p.last(events.NameEmailError)
	if a.id("status") != "error" || !strings.HasPrefix(data["error"].(string), "internal error;") || user["id"] != 1.0 {
		t.Errorf("got %s, event %v by %v", a.text, data, user)
	}
	if len(p.Outbox()) != 0 {
		t.Error("it was sent")
	}
	if a := p.must("GET", "/v2/emails/"+a.id("id"), nil); a.id("status") != "error" || a.id("error") == "" {
		t.Errorf("the lookup says %s", a.text)
	}
}

func TestLookupLimit(t *testing.T) {
	tokens := []mockserver.Token{{Token: "one"}, {Token: "same"}, {Token: "user", UserID: 2}, {Token: "account", AccountID: 2}}
	for _, row := range []struct {
		name  string
		limit mockserver.LookupLimit
		gaps  []time.Duration
		want  []int
	}{
		{"gap", mockserver.LookupGap, []time.Duration{0, 0, 999 * time.Millisecond, time.Millisecond, 1500 * time.Millisecond, 500 * time.Millisecond}, []int{200, 429, 429, 200, 200, 429}},
		{"bucket", mockserver.LookupBucket, []time.Duration{0, 0, 0, 500 * time.Millisecond, 500 * time.Millisecond, time.Hour, 0, 0}, []int{200, 200, 429, 429, 200, 200, 200, 429}},
		{"calendar", mockserver.LookupCalendar, []time.Duration{900 * time.Millisecond, 100 * time.Millisecond, 900 * time.Millisecond, 100 * time.Millisecond}, []int{200, 200, 429, 200}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlatform(t, mockserver.Config{Lookups: row.limit, Tokens: tokens})
				path := "/v2/emails/" + p.email("ada@example.org")
				for i, gap := range row.gaps {
					time.Sleep(gap)
					a := p.do("GET", path, nil)
					if a.status != row.want[i] {
						t.Errorf("lookup %d: %d, want %d", i, a.status, row.want[i])
					}
					if a.status == 429 && a.header.Get("Retry-After") != "1" {
						t.Error("no Retry-After")
					}
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform(t, mockserver.Config{Tokens: tokens})
		path := "/v2/emails/" + p.email("ada@example.org")
		for _, row := range []struct {
			token string
			want  int
		}{{"one", 200}, {"same", 429}, {"user", 200}, {"account", 404}} {
			if a := p.as(row.token).do("GET", path, nil); a.status != row.want {
				t.Errorf("%s: %d, want %d", row.token, a.status, row.want)
			}
		}
	})
}

func TestDeprecatedEmails(t *testing.T) {
	p := newPlatform(t, mockserver.Config{})
	list := p.list()
	p.in("unsubscribed", list, "ada@example.org")
	a := p.must("POST", "/emails", `{"email":"ada@example.org","sender":{"email":"s@example.com"},"content":{"subject":"S","text":"T {{a}}"},
		"custom_attributes":{"a":"x"},"additional_headers":[{"name":"X-Order","value":"7"}]}`)
	if a.header.Get("Deprecation") == "" {
		t.Error("no Deprecation header")
	}
	m := p.Outbox()[len(p.Outbox())-1]
	if m.ID != a.id("id") || m.SentBy != events.SendingTypeTransactional || m.Text != "T x" || m.Headers[len(m.Headers)-1] != (mockserver.Header{Name: "X-Order", Value: "7"}) {
		t.Errorf("got %+v", m)
	}
	if a := p.do("GET", "/v2/emails/"+a.id("id"), nil); a.status != 404 {
		t.Errorf("the Email API knows it: %d", a.status)
	}
}

// What the console looks up is neither limited nor counted: the application's
// own next lookup is answered.
func TestLookupLimitOfTheConsole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform(t, mockserver.Config{})
		path := "/v2/emails/" + p.email("a@example.org")
		for range 2 {
			if a := p.do("GET", "/_mock/accounts/1/api"+path, nil); a.status != 200 {
				t.Errorf("by the console: %d %s, want 200", a.status, a.text)
			}
		}
		for i, want := range []int{200, 429} {
			if a := p.do("GET", path, nil); a.status != want {
				t.Errorf("lookup %d by the application: %d %s, want %d", i+1, a.status, a.text, want)
			}
		}
	})
}
