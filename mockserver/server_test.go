package mockserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// TestRun goes from an empty account to a verified, decoded bounce.
func TestRun(t *testing.T) {
	received := make(chan string, 10)
	mux := http.NewServeMux()
	p := newPlatform(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": mux}})
	hook := p.must("POST", "/webhooks", map[string]any{"url": "http://app.test/hook", "events": []string{events.NameEmailBounced}})
	verifier, err := webhook.NewVerifier(webhook.Secret{Key: hook.id("secret")})
	if err != nil {
		t.Fatal(err)
	}
	mux.HandleFunc("/hook", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = verifier.Verify(body, r.Header.Get(webhook.DefaultSignatureHeader))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		ev, err := events.Parse(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		received <- ev.Data.(*events.EmailAPIBounce).Contact.Email
	})

	list := p.list()
	p.contact(list, "ada@example.org")
	id := p.email("ada@example.org")
	if err := p.Bounce(id, mockserver.HardBounce); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-received; got != "ada@example.org" {
		t.Errorf("the bounce is of %q", got)
	}
	if a := p.must("GET", "/v2/emails/"+id, nil); a.object["status"] != "bounced" || !strings.Contains(a.text, `"type":"hard"`) {
		t.Errorf("the lookup says %s", a.text)
	}
}

// TestOperations sends one good request to every operation of the document and
// lets every answer be validated.
func TestOperations(t *testing.T) {
	p := newPlatform(t, mockserver.Config{Targets: receiver()})
	hook := p.webhook(everything...)
	list := p.list()
	tpl := "/templates/" + p.must("POST", "/templates", `{"name":"T","content":{"html":"<b>{{n}}</b>","text":"{{n}}"}}`).id("template_id")
	contact := list + "/contacts/" + p.contact(list, "ada@example.org")
	email := p.email("bob@example.org")
	listID := strings.TrimPrefix(list, "/lists/")
	message := `,"list_id":` + listID + `,"sender":{"email":"a@example.com"},"content":{"subject":"S","text":"T"}}`
	campaign := "/campaigns/" + p.must("POST", "/campaigns", `{"name":"C"`+message).id("campaign_id")
	workflow := "/workflows/" + p.must("POST", "/workflows", `{"name":"W","trigger":"subscribed"`+message).id("workflow_id")

	for _, r := range []struct{ method, path, body string }{
		{"GET", "/templates", ""},
		{"GET", tpl, ""},
		{"PATCH", tpl, `{"content":{"text":null}}`},
		{"GET", tpl + "/render", ""},
		{"DELETE", tpl, ""},
		{"GET", "/lists", ""},
		{"GET", list, ""},
		{"GET", list + "/contacts?sort=email:desc&filter=status:active&with_count=true", ""},
		{"GET", contact, ""},
		{"PATCH", contact, `{"custom_attributes":[{"name":"city","value":"Paris"},{"name":"x","value":null}]}`},
		{"POST", list + "/contacts/import", `{"contacts":[{"email":"c@example.org"},{"email":"bad"}]}`},
		{"POST", list + "/contacts/tag", `{"contact_ids":[` + contact[strings.LastIndex(contact, "/")+1:] + `],"tags":["vip"]}`},
		{"GET", "/tags", ""},
		{"GET", "/v2/emails/" + email, ""},
		{"POST", "/emails", `{"email":"d@example.org","sender":{"email":"a@example.com"},"content":{"subject":"S","html":"H"}}`},
		{"GET", "/campaigns", ""},
		{"GET", campaign, ""},
		{"PATCH", campaign, `{"content":{"html":"<p>Hi</p>"}}`},
		{"POST", campaign + "/schedule", ""},
		{"GET", "/workflows", ""},
		{"GET", workflow, ""},
		{"POST", workflow + "/activate", ""},
		{"POST", workflow + "/deactivate", ""},
		{"POST", "/suppressed-emails", `{"email":"*@example.net"}`},
		{"GET", "/suppressed-emails?filter=email:*@example.net", ""},
		{"DELETE", "/suppressed-emails/*@example.net", ""},
		{"GET", "/webhooks", ""},
		{"GET", hook, ""},
		{"POST", contact + "/unsubscribe", ""},
		{"DELETE", contact, ""},
		{"POST", hook + "/archive", ""},
		{"POST", hook + "/unarchive", ""},
	} {
		var body any
		if r.body != "" {
			body = r.body
		}
		p.must(r.method, r.path, body)
	}
	if err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	assertAllOperations(t, p)
}

func assertAllOperations(t *testing.T, p platform) {
	t.Helper()
	var seen []string
	for _, r := range p.Requests() {
		seen = append(seen, r.Operation)
	}
	for _, id := range mockserver.Operations() {
		if !slices.Contains(seen, id) {
			t.Errorf("operation %s was not called", id)
		}
	}
}

func TestErrors(t *testing.T) {
	p := newPlatform(t, mockserver.Config{Tokens: []mockserver.Token{
		{Token: "one"}, {Token: "two", UserID: 2, AccountID: 2}, {Token: "reader", UserID: 3, ReadOnly: true},
	}})
	list := p.list()
	p.contact(list, "ada@example.org")
	import1001, err := json.Marshal(map[string]any{"contacts": slices.Repeat([]any{map[string]any{"email": "a@example.org"}}, 1001)})
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		token, method, path, body string
		status                    int
		kind, loc                 string
	}{
		"no token":               {"", "GET", "/lists", "", 401, "unauthorized", "[header authorization]"},
		"unknown token":          {"nobody", "GET", "/lists", "", 401, "unauthorized", "[header authorization]"},
		"unknown path, no token": {"", "GET", "/nothing", "", 401, "unauthorized", "[header authorization]"},
		"read-only token":        {"reader", "POST", "/lists", `{"name":"L"}`, 403, "forbidden", "[header authorization]"},
		"malformed JSON":         {"one", "POST", "/lists", `{"name":`, 400, "json_invalid", "[body]"},
		"two JSON values":        {"one", "POST", "/lists", `{} {}`, 400, "json_invalid", "[body]"},
		"missing member":         {"one", "POST", "/lists", `{}`, 422, "missing", "[body name]"},
		"wrong type":             {"one", "POST", "/lists", `{"name":5}`, 422, "value_error", "[body name]"},
		"null":                   {"one", "POST", "/lists", `{"name":null}`, 422, "value_error", "[body name]"},
		"empty name":             {"one", "POST", "/lists", `{"name":""}`, 422, "value_error", "[body name]"},
		"not an object":          {"one", "POST", "/lists", `[]`, 422, "value_error", "[body]"},
		"bad address":            {"one", "POST", list + "/contacts", `{"email":"ada"}`, 422, "value_error", "[body email]"},
		"deep member":            {"one", "POST", "/v2/emails", `{"email":"a@example.org","sender":{},"content":{"subject":"S","text":"T"}}`, 422, "missing", "[body sender email]"},
		"element of an array":    {"one", "POST", list + "/contacts", `{"email":"b@example.org","tags":["a",""]}`, 422, "value_error", "[body tags 1]"},
		"unknown enum":           {"one", "POST", list + "/contacts/import", `{"contacts":[],"import_to":"spam"}`, 422, "value_error", "[body import_to]"},
		"1,001 contacts":         {"one", "POST", list + "/contacts/import", string(import1001), 422, "too_many_contacts", "[body contacts]"},
		"path is no integer":     {"one", "GET", "/lists/abc", "", 422, "value_error", "[path list_id]"},
		"page 0":                 {"one", "GET", "/lists?page=0", "", 422, "value_error", "[query page]"},
		"per_page 101":           {"one", "GET", "/lists?per_page=101", "", 422, "value_error", "[query per_page]"},
		"page is no integer":     {"one", "GET", "/lists?page=x", "", 422, "value_error", "[query page]"},
		"unknown sort":           {"one", "GET", list + "/contacts?sort=name:asc", "", 422, "value_error", "[query sort]"},
		"unknown filter":         {"one", "GET", list + "/contacts?filter=name:x", "", 422, "value_error", "[query filter]"},
		"unknown id":             {"one", "GET", "/lists/999", "", 404, "not_found", "[path list_id]"},
		"other account's id":     {"two", "GET", list, "", 404, "not_found", "[path list_id]"},
		"unknown path":           {"one", "GET", "/nothing", "", 404, "not_found", "[path]"},
		"wrong method":           {"one", "DELETE", "/lists", "", 405, "method_not_allowed", "[path]"},
		"contact exists":         {"one", "POST", list + "/contacts", `{"email":"ADA@example.org"}`, 409, "contact_exists", "[body email]"},
		"relative webhook":       {"one", "POST", "/webhooks", `{"url":"/hook","events":["Email.Opened"]}`, 422, "value_error", "[body url]"},
		"webhook of ftp":         {"one", "POST", "/webhooks", `{"url":"ftp://x.example/","events":["Email.Opened"]}`, 422, "value_error", "[body url]"},
		"unknown event":          {"one", "POST", "/webhooks", `{"url":"http://x.example/","events":["Email.Read"]}`, 422, "value_error", "[body events 0]"},
	} {
		t.Run(name, func(t *testing.T) {
			p := p.as(row.token)
			p.t = t
			var body any
			if row.body != "" {
				body = row.body
			}
			a := p.do(row.method, row.path, body)
			kind, loc := a.detail()
			if a.status != row.status || kind != row.kind || loc != row.loc {
				t.Errorf("got %d %s %s, want %d %s %s\n%s", a.status, kind, loc, row.status, row.kind, row.loc, a.text)
			}
			if a.header.Get("X-Request-Id") == "" {
				t.Error("no X-Request-Id")
			}
			if row.status == 405 && a.header.Get("Allow") != "GET, HEAD, POST" {
				t.Errorf("Allow is %q", a.header.Get("Allow"))
			}
			if row.status == 401 && a.header.Get("WWW-Authenticate") != "Bearer" {
				t.Error("no WWW-Authenticate")
			}
		})
	}
}

func TestBodies(t *testing.T) {
	p := newPlatform(t, mockserver.Config{})
	for name, row := range map[string]struct {
		contentType, body string
		status            int
	}{
		"10 MiB":       {"application/json", `{"name":"` + strings.Repeat("x", 10<<20-11) + `"}`, 201},
		"over 10 MiB":  {"application/json", `{"name":"` + strings.Repeat("x", 10<<20-10) + `"}`, 413},
		"charset":      {"application/json; charset=utf-8", `{"name":"L"}`, 201},
		"form":         {"application/x-www-form-urlencoded", `name=L`, 415},
		"no type":      {"", `{"name":"L"}`, 415},
		"no body":      {"application/json", ``, 400},
		"text as JSON": {"text/plain", `{"name":"L"}`, 415},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), "POST", p.URL()+"/lists", strings.NewReader(row.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+p.Token())
			if row.contentType != "" {
				req.Header.Set("Content-Type", row.contentType)
			}
			if a := p.send(req); a.status != row.status {
				t.Errorf("got %d, want %d: %.200s", a.status, row.status, a.text)
			}
		})
	}
}

// TestSkipValidation finds the same mistakes without the document, as far as
// handlers look themselves.
func TestSkipValidation(t *testing.T) {
	p := newPlatform(t, mockserver.Config{SkipValidation: true})
	list := p.list()
	for _, row := range []struct{ method, path, body, loc string }{
		{"POST", "/lists", `{"name":5}`, "[body name]"},
		{"POST", list + "/contacts", `{"email":"ada"}`, "[body email]"},
		{"GET", "/lists/abc", "", "[path list_id]"},
		{"GET", "/lists?page=x", "", "[query page]"},
		{"GET", "/lists?per_page=101", "", "[query per_page]"},
	} {
		var body any
		if row.body != "" {
			body = row.body
		}
		a := p.do(row.method, row.path, body)
		if _, loc := a.detail(); a.status != 422 || loc != row.loc {
			t.Errorf("%s %s: %d %s", row.method, row.path, a.status, a.text)
		}
	}
}

// The log of requests is bounded, whatever part of them is large.
func TestRequestsAreBounded(t *testing.T) {
	p := newPlatform(t, mockserver.Config{})
	large := strings.Repeat("x", 1<<20)
	for range 40 {
		p.do("GET", "/?x="+large, nil)
	}
	p.do("GET", "/"+large, nil)
	kept := p.Requests()
	bytes := 0
	for _, r := range kept {
		bytes += len(r.Path) + len(r.Query)
	}
	if bytes > 32<<20 || len(kept) < 25 {
		t.Errorf("%d requests of %d bytes are kept", len(kept), bytes)
	}
	if last := kept[len(kept)-1]; last.Path != "/"+large {
		t.Errorf("the last one has a path of %d bytes", len(last.Path))
	}
}
