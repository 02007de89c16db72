package mockserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// in brings a contact of a list into a status.
func (p platform) in(status, list, address string) string {
	p.t.Helper()
	switch status {
	case "pending":
		return p.must("POST", list+"/contacts?send_double_opt_in=true", map[string]any{"email": address}).id("id")
	case "active":
		return p.contact(list, address)
	}
	id := p.contact(list, address)
	act := map[string]func(string) error{
		"spam":    func(email string) error { return p.Complain(email, "") },
		"bounced": func(email string) error { return p.Bounce(email, mockserver.HardBounce) },
	}[status]
	switch {
	case act != nil:
		if err := act(p.email(address)); err != nil {
			p.t.Fatal(err)
		}
	case status == "unsubscribed":
		p.must("POST", list+"/contacts/"+id+"/unsubscribe", nil)
	case status == "deleted":
		p.must("DELETE", list+"/contacts/"+id, nil)
	}
	if got := p.status(list, id); got != status {
		p.t.Fatalf("the contact is %s, not %s", got, status)
	}
	return id
}

func TestContactAgain(t *testing.T) {
	for _, row := range []struct {
		status string
		code   int
	}{
		{"active", 409}, {"pending", 409}, {"spam", 409}, {"bounced", 409}, {"unsubscribed", 201}, {"deleted", 201},
	} {
		t.Run(row.status, func(t *testing.T) {
			p := newPlatform(t, mockserver.Config{})
			list := p.list()
			id := p.in(row.status, list, "Ada@example.org")
			a := p.do("POST", list+"/contacts", `{"email":"ada@EXAMPLE.org"}`)
			if a.status != row.code {
				t.Fatalf("got %d %s", a.status, a.text)
			}
			if row.code == 201 && (a.id("id") != id || a.id("status") != "active" || p.status(list, id) != "active") {
				t.Errorf("got %s", a.text)
			}
			if kind, _ := a.detail(); row.code == 409 && (kind != "contact_exists" || p.status(list, id) != row.status) {
				t.Errorf("got %s, the contact is %s", a.text, p.status(list, id))
			}
		})
	}
}

func TestDeletedContact(t *testing.T) {
	p := newPlatform(t, mockserver.Config{})
	list := p.list()
	id := p.in("deleted", list, "ada@example.org")
	contact := list + "/contacts/" + id
	for _, r := range []struct{ method, path, body string }{
		{"DELETE", contact, ""},
		{"POST", contact + "/unsubscribe", ""},
		{"PATCH", contact, `{"custom_attributes":[]}`},
		{"POST", list + "/contacts/tag", `{"contact_ids":[` + id + `],"tags":["vip"]}`},
	} {
		var body any
		if r.body != "" {
			body = r.body
		}
		if a := p.do(r.method, r.path, body); a.status != 404 {
			t.Errorf("%s %s: %d %s", r.method, r.path, a.status, a.text)
		}
	}
	if a := p.must("GET", list+"/contacts?filter=status:deleted", nil); !strings.Contains(a.text, "ada@example.org") {
		t.Errorf("got %s", a.text)
	}
}

func TestContactAttributes(t *testing.T) {
	p := newPlatform(t, mockserver.Config{})
	list := p.list()
	contact := list + "/contacts/" + p.must("POST", list+"/contacts", `{"email":"ada@example.org",
		"custom_attributes":[{"name":"a","value":"1"},{"name":"b","value":"2"},{"name":"a","value":"3"}]}`).id("id")
	p.must("PATCH", contact, `{"custom_attributes":[{"name":"b","value":null},{"name":"c","value":""},{"name":"none","value":null}]}`)
	want := `"custom_attributes":[{"name":"a","value":"3"},{"name":"c","value":""}]`
	if a := p.must("GET", contact, nil); !strings.Contains(a.text, want) {
		t.Errorf("got %s, want %s", a.text, want)
	}
}

func TestTagging(t *testing.T) {
	p := newPlatform(t, mockserver.Config{})
	list, other := p.list(), p.list()
	a, b, stranger := p.contact(list, "a@example.org"), p.contact(list, "b@example.org"), p.contact(other, "c@example.org")
	tag := func(ids string) int {
		return p.do("POST", list+"/contacts/tag", `{"contact_ids":[`+ids+`],"tags":["vip","new"]}`).status
	}
	if got := tag(a + "," + stranger); got != 404 {
		t.Errorf("a contact of another list: %d", got)
	}
	if a := p.must("GET", "/tags?with_count=true", nil); !strings.Contains(a.text, `"count":0`) {
		t.Errorf("after a refusal: %s", a.text)
	}
	if got := tag(a + "," + b); got != 204 {
		t.Errorf("got %d", got)
	}
	if got := tag(a); got != 204 {
		t.Errorf("again: %d", got)
	}
	if a := p.must("GET", list+"/contacts/"+a, nil); !strings.Contains(a.text, `"tags":["vip","new"]`) {
		t.Errorf("got %s", a.text)
	}
	if a := p.must("GET", "/tags", nil); !strings.Contains(a.text, `[{"name":"new"},{"name":"vip"}]`) {
		t.Errorf("got %s", a.text)
	}
}

func TestContactPages(t *testing.T) {
	p := newPlatform(t, mockserver.Config{})
	list := p.list()
	for i := range 120 {
		p.contact(list, fmt.Sprintf("user%03d@example.org", (i*7)%120))
	}
	get := func(query string) (emails []string, pagination map[string]any) {
		a := p.must("GET", list+"/contacts?"+query, nil)
		for _, c := range a.object["data"].([]any) {
			emails = append(emails, c.(map[string]any)["email"].(string))
		}
		return emails, a.object["pagination"].(map[string]any)
	}
	if emails, pagination := get(""); len(emails) != 50 || emails[1] != "user007@example.org" || pagination["count"] != nil {
		t.Errorf("by default: %d, %v", len(emails), pagination)
	}
	if emails, pagination := get("sort=email:asc&page=2&per_page=100&with_count=true"); len(emails) != 20 || emails[0] != "user100@example.org" || pagination["count"] != 120.0 {
		t.Errorf("second page: %v, %v", emails, pagination)
	}
	if emails, _ := get("sort=email:desc&per_page=2"); !slices.Equal(emails, []string{"user119@example.org", "user118@example.org"}) {
		t.Errorf("descending: %v", emails)
	}
	if emails, pagination := get("page=99"); len(emails) != 0 || pagination["page"] != 99.0 {
		t.Errorf("past the end: %v, %v", emails, pagination)
	}
	if emails, _ := get("filter=email:USER005@example.org"); !slices.Equal(emails, []string{"user005@example.org"}) {
		t.Errorf("filter: %v", emails)
	}
}

func TestImport(t *testing.T) {
	p := newPlatform(t, mockserver.Config{Targets: receiver()})
	list := p.list()
	p.webhook(everything...)
	const batch = `{"contacts":[
		{"email":"new@example.org","custom_attributes":[{"name":"n","value":"1"}],"tags":["t"],"interests":["i"]},
		{"email":"bad"},{},{"email":5},{"email":"x@example.org","tags":[""]},{"email":"NEW@example.org"},
		{"email":"y@example.org","custom_attributes":[{"value":"1"}]},"no object"]}`
	a := p.must("POST", list+"/contacts/import", batch)
	if a.object["imported"] != 1.0 || a.object["updated"] != 1.0 {
		t.Errorf("got %s", a.text)
	}
	var errs []string
	for _, e := range a.object["errors"].([]any) {
		e := e.(map[string]any)
		errs = append(errs, fmt.Sprintf("%v %v %v", e["index"], e["type"], e["loc"]))
	}
	want := []string{
		"1 value_error [body contacts 1 email]", "2 missing [body contacts 2 email]", "3 value_error [body contacts 3 email]",
		"4 value_error [body contacts 4 tags 0]", "6 missing [body contacts 6 custom_attributes 0 name]", "7 value_error [body contacts 7]",
	}
	if !slices.Equal(errs, want) {
		t.Errorf("errors %q, want %q", errs, want)
	}
	if a := p.must("POST", list+"/contacts/import", batch); a.object["imported"] != 0.0 || a.object["updated"] != 2.0 {
		t.Errorf("again: %s", a.text)
	}
	if got := p.fired(); !slices.Equal(got, []string{events.NameContactAdded}) {
		t.Errorf("fired %v", got)
	}
}

func TestImportTo(t *testing.T) {
	for _, row := range []struct{ was, to, becomes, fires string }{
		{"", "active", "active", "[Contact.Added]"},
		{"", "unsubscribed", "unsubscribed", "[]"},
		{"", "deleted", "deleted", "[]"},
		{"active", "active", "active", "[]"},
		{"active", "unsubscribed", "unsubscribed", "[]"},
		{"active", "deleted", "deleted", "[]"},
		{"pending", "active", "active", "[Contact.Added]"},
		{"unsubscribed", "active", "active", "[Contact.Added]"},
		{"deleted", "active", "active", "[Contact.Added]"},
		{"spam", "active", "spam", "[]"},
		{"bounced", "active", "bounced", "[]"},
	} {
		t.Run(row.was+" to "+row.to, func(t *testing.T) {
			p := newPlatform(t, mockserver.Config{Targets: receiver()})
			list := p.list()
			if row.was != "" {
				p.in(row.was, list, "ada@example.org")
			}
			p.webhook(everything...)
			p.must("POST", list+"/contacts/import", `{"contacts":[{"email":"ada@example.org"}],"import_to":"`+row.to+`"}`)
			a := p.must("GET", list+"/contacts", nil)
			if !strings.Contains(a.text, `"status":"`+row.becomes+`"`) {
				t.Errorf("got %s, want %s", a.text, row.becomes)
			}
			if got := fmt.Sprint(p.fired()); got != row.fires {
				t.Errorf("fired %s, want %s", got, row.fires)
			}
		})
	}
}

func TestSuppression(t *testing.T) {
	p := newPlatform(t, mockserver.Config{Targets: receiver()})
	p.webhook(everything...)
	for _, entry := range []string{"ada@example.org", "*@example.net", "abuse@*"} {
		p.must("POST", "/suppressed-emails", `{"email":"`+entry+`"}`)
		p.must("POST", "/suppressed-emails", `{"email":"`+strings.ToUpper(entry)+`"}`)
	}
	if got := len(p.fired()); got != 3 {
		t.Errorf("%d events", got)
	}
	send := func(to string) string {
		return p.must("POST", "/v2/emails", map[string]any{
			"email": to, "sender": map[string]any{"email": "shop@example.com"}, "content": map[string]any{"subject": "S", "text": "T", "type": "transactional"},
		}).id("status")
	}
	for to, want := range map[string]string{
		"ada@example.org": "rejected", "ADA@Example.org": "rejected", "bob@example.net": "rejected", "abuse@example.com": "rejected",
		"bob@example.org": "queued", "bob@sub.example.net": "queued", "abuse2@example.com": "queued",
	} {
		if got := send(to); got != want {
			t.Errorf("%s is %s, want %s", to, got, want)
		}
	}
	p.must("DELETE", "/suppressed-emails/ADA@example.org", nil)
	if a := p.do("DELETE", "/suppressed-emails/ada@example.org", nil); a.status != 404 {
		t.Errorf("removing again: %d", a.status)
	}
	if got := send("ada@example.org"); got != "queued" {
		t.Errorf("after removal: %s", got)
	}
	for _, bad := range []string{"*@*", "*", "@example.org", "a@b@c.example", "*@", "x y@*"} {
		if a := p.do("POST", "/suppressed-emails", map[string]any{"email": bad}); a.status != 422 {
			t.Errorf("%s: %d", bad, a.status)
		}
	}
}
