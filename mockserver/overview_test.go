package mockserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/emailplatform/mockserver"
)

// overview is the response of GET /_mock/overview.
type overview struct {
	Now        time.Time
	Messages   map[string]int64
	Contacts   map[string]int
	Deliveries map[string]int
	Resources  map[string]int
	Events     int64
	Attempts   int64
	Failed     int64
	Minutes    []struct {
		Minute                             time.Time
		Messages, Events, Attempts, Failed int64
	}
	Waiting []struct {
		Why, Name, URL string
		N              int
		Until          time.Time
		CampaignID     int64  `json:"campaign_id"`
		ListID         int64  `json:"list_id"`
		WebhookID      string `json:"webhook_id"`
	}
}

func (p probe) overview(query string) (out overview) {
	p.t.Helper()
	must(p.t, json.Unmarshal([]byte(p.must("GET", "/_mock/overview"+query, nil).text), &out))
	return out
}

func TestOverviewUnknownAccount(t *testing.T) {
	p := newProbe(t, mockserver.Config{Tokens: []mockserver.Token{{}, {Value: "second", AccountID: 2}}})
	p.overview("?account_id=2")
	a := p.do("GET", "/_mock/overview?account_id=3", nil)
	if _, loc := a.detail(); a.status != 404 || loc != "[query account_id]" {
		t.Errorf("got %d %s, want 404", a.status, a.text)
	}
}

// came counts the outcomes of messages by looking at each message.
func came(all []mockserver.Message, of func(mockserver.Message) bool) map[string]int64 {
	out := map[string]int64{
		"sent": 0, "bounced": 0, "opened": 0, "clicked": 0, "unsubscribed": 0, "global_unsubscribed": 0, "reported_as_spam": 0,
	}
	for _, m := range all {
		if !of(m) {
			continue
		}
		out["sent"]++
		for name, is := range map[string]bool{
			"bounced": m.Status == "bounced", "opened": m.Opens > 0, "clicked": m.Clicks > 0, "unsubscribed": m.Unsubscribed,
			"global_unsubscribed": m.GlobalUnsubscribed, "reported_as_spam": m.ReportedAsSpam,
		} {
			if is {
				out[name]++
			}
		}
	}
	return out
}

// counted compares the counters with the messages.
func (p probe) counted(when string) {
	p.t.Helper()
	all := p.Outbox()
	if got, want := p.overview("?account_id=1").Messages, came(all, func(m mockserver.Message) bool { return m.AccountID == 1 }); !reflect.DeepEqual(got, want) {
		p.t.Errorf("%s: account 1 has %v, counted are %v", when, want, got)
	}
	for _, kind := range []string{"campaigns", "workflows"} {
		var page struct {
			Data []struct {
				ID      string
				Outcome map[string]int64
			}
		}
		must(p.t, json.Unmarshal([]byte(p.must("GET", "/_mock/"+kind, nil).text), &page))
		for _, s := range page.Data {
			want := came(all, func(m mockserver.Message) bool {
				return fmt.Sprint(m.CampaignID) == s.ID || fmt.Sprint(m.WorkflowID) == s.ID
			})
			if !reflect.DeepEqual(s.Outcome, want) {
				p.t.Errorf("%s: of %s %s came %v, counted is %v", when, kind, s.ID, want, s.Outcome)
			}
		}
	}
}

// shop creates a campaign and a workflow, and simulates all recipient actions.
func (p probe) shop() (list string) {
	p.t.Helper()
	p.must("POST", "/webhooks", `{"url":"http://app.test/hook","events":["Email.Bounced","Email.Opened"]}`)
	list = p.list()
	id := strings.TrimPrefix(list, "/lists/")
	workflow := p.must("POST", "/workflows", `{"name":"Welcome","list_id":`+id+`,"trigger":"subscribed","sender":{"email":"s@example.org"},"content":{"subject":"W","text":"t"}}`).id("workflow_id")
	p.must("POST", "/workflows/"+workflow+"/activate", nil)
	for _, name := range []string{"bounce", "open", "click", "complaint", "unsubscribe", "global-unsubscribe"} {
		p.contact(list, name+"@mock.test")
		p.contact(list, name+"@example.org")
	}
	p.must("POST", list+"/contacts?send_double_opt_in=true", `{"email":"pending@example.org"}`)
	campaign := p.must("POST", "/campaigns", `{"name":"Autumn","list_id":`+id+`,"sender":{"email":"s@example.org"},"content":{"subject":"A","html":"<p>x</p>"}}`).id("campaign_id")
	p.must("POST", "/campaigns/"+campaign+"/schedule", nil)
	must(p.t, p.Wait(p.t.Context()))
	for i, m := range p.Outbox() {
		acts := []string{"bounce", "open", "click", "complain", "unsubscribe", "global-unsubscribe", "open"}
		body := any(nil)
		if acts[i%len(acts)] == "click" {
			body = `{"url":"https://example.org/"}`
		}
		p.do("POST", "/_mock/outbox/"+m.ID+"/"+acts[i%len(acts)], body) // some cannot
		p.do("POST", "/_mock/outbox/"+m.ID+"/"+acts[i%3], body)         // and some do it twice
	}
	p.email("ada@example.org")
	return list
}

// Counters of the overview, campaigns and workflows are the same after a restore, and zero after an account was
// cleared.
func TestOverviewCounts(t *testing.T) {
	p := newProbe(t, mockserver.Config{
		RecordEvents: true,
		Targets:      map[string]http.Handler{"app.test": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})},
		Tokens:       []mockserver.Token{{Value: "one"}, {Value: "two", AccountID: 2}},
	})
	p.counted("nothing")
	p.shop()
	p.as("two").email("other@example.org")
	must(t, p.Wait(t.Context()))
	p.counted("a day")
	all := p.Outbox()
	for _, m := range []mockserver.Message{all[0], all[len(all)/2]} {
		p.must("DELETE", "/_mock/outbox/"+m.ID, nil)
		if err := p.Open(m.ID); err != nil { // its recipient has it still
			t.Fatal(err)
		}
	}
	must(t, p.Wait(t.Context()))
	p.counted("without two messages")
	before := p.overview("?account_id=1")
	if before.Messages["sent"] < 15 || before.Messages["clicked"] == 0 || before.Events == 0 || before.Attempts == 0 ||
		before.Resources["campaigns"] != 1 || before.Contacts["spam"] == 0 || before.Deliveries["delivered"] != int(before.Attempts) {
		t.Errorf("%+v", before)
	}
	if all, one := p.overview("").Messages["sent"], before.Messages["sent"]; all != one+1 {
		t.Errorf("all accounts sent %d, the first %d", all, one)
	}
	sum := int64(0)
	for _, m := range before.Minutes {
		sum += m.Messages
		if m.Minute.Second() != 0 || m.Minute.After(before.Now) {
			t.Errorf("a minute begins at %v, and now it is %v", m.Minute, before.Now)
		}
	}
	if sum != before.Messages["sent"]+2 {
		t.Errorf("the minutes have %d messages, %d were sent, and two deleted", sum, before.Messages["sent"])
	}

	var state bytes.Buffer
	must(t, p.Snapshot(&state))
	must(t, p.Restore(bytes.NewReader(state.Bytes())))
	p.counted("restored")
	if after := p.overview("?account_id=1"); after.Attempts != before.Attempts || after.Events != before.Events || !reflect.DeepEqual(after.Deliveries, before.Deliveries) {
		t.Errorf("restored it is %+v, and was %+v", after, before)
	}
	p.must("POST", "/_mock/reset?account_id=1", nil)
	p.counted("forgotten")
	if got := p.overview("?account_id=1"); got.Messages["sent"] != 0 || got.Events != 0 || got.Attempts != 0 || len(got.Minutes) != 0 {
		t.Errorf("it is forgotten, and has %+v", got)
	}
	if got := p.overview("?account_id=2").Messages["sent"]; got != 1 {
		t.Errorf("the other account sent %d, want 1", got)
	}
}

// After a reset, an account has its resources and no messages.
func TestOverviewAfterAccountReset(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	p.shop()
	p.must("PUT", "/_mock/baseline", nil)
	p.must("POST", "/_mock/reset?account_id=1", nil)
	p.counted("reset")
	if got := p.overview(""); got.Resources["campaigns"] != 1 || got.Messages["sent"] != 0 || len(p.Outbox()) != 0 {
		t.Errorf("%+v, %d messages", got, len(p.Outbox()))
	}
}

// Pending work is listed with its reason, the next one first.
func TestOverviewPending(t *testing.T) {
	status := http.StatusInternalServerError
	p := newProbe(t, mockserver.Config{
		FreezeClock: true, Now: time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC), RetrySchedule: []time.Duration{time.Hour},
		Targets: map[string]http.Handler{"app.test": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })},
	})
	list := p.list()
	p.must("POST", list+"/contacts?send_double_opt_in=true", `{"email":"pending@example.org"}`)
	p.must("POST", "/webhooks", `{"url":"http://app.test/hook","events":["Email.Opened"]}`)
	p.must("POST", "/webhooks", `{"url":"http://app.test/slow","events":["Email.Clicked"],"rate_limit":1,"rate_limit_period":"minute"}`)
	archived := p.must("POST", "/webhooks", `{"url":"http://app.test/old","events":["Email.Bounced"]}`).id("webhook_id")
	email := p.email("ada@example.org")
	p.must("POST", "/_mock/outbox/"+email+"/open", nil)
	p.must("POST", "/_mock/outbox/"+email+"/bounce", nil)
	must(t, p.Wait(t.Context()))
	status = http.StatusNoContent
	for range 3 {
		p.must("POST", "/_mock/outbox/"+email+"/click", `{"url":"https://example.org/"}`)
	}
	p.must("POST", "/webhooks/"+archived+"/archive", nil)
	id := strings.TrimPrefix(list, "/lists/")
	campaign := p.must("POST", "/campaigns", `{"name":"Autumn","list_id":`+id+`,"sender":{"email":"s@example.org"},"content":{"subject":"A","html":"<p>x</p>"}}`).id("campaign_id")
	p.must("POST", "/campaigns/"+campaign+"/schedule", `{"scheduled_for":`+fmt.Sprint(time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC).Unix())+`}`)
	must(t, p.Wait(t.Context()))
	var got []string
	view := p.overview("")
	for _, w := range view.Waiting {
		until := ""
		if !w.Until.IsZero() {
			until = " " + w.Until.Sub(view.Now).Round(time.Second).String()
		}
		got = append(got, fmt.Sprintf("%s %d%s", w.Why, w.N, until))
	}
	if text := strings.Join(got, ", "); text != "rate_limit 2 1m0s, campaign 1 29m30s, retry 1 1h0m0s, archived 1, confirmation 1" {
		t.Errorf("what waits: %s", text)
	}
	if first := view.Minutes; len(first) != 1 || first[0].Attempts != 3 || first[0].Failed != 2 || !first[0].Minute.Equal(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("the minute is %+v", first)
	}
	must(t, p.Advance(t.Context(), 2*time.Hour))
	if minutes := p.overview("?minutes=5").Minutes; len(minutes) != 0 {
		t.Errorf("within the last five minutes: %+v", minutes)
	}
	if minutes := p.overview("?minutes=180").Minutes; len(minutes) < 3 || minutes[0].Messages != 2 {
		t.Errorf("within three hours: %+v", minutes)
	}
}

func TestOutboxByCampaignAndWorkflow(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	p.shop()
	for _, kind := range []string{"campaign", "workflow"} {
		var page struct {
			Data []struct {
				ID      string
				Outcome struct{ Sent int }
			}
		}
		_ = json.Unmarshal([]byte(p.must("GET", "/_mock/"+kind+"s", nil).text), &page)
		var messages struct{ Total int }
		_ = json.Unmarshal([]byte(p.must("GET", "/_mock/outbox?"+kind+"_id="+page.Data[0].ID, nil).text), &messages)
		if messages.Total == 0 || messages.Total != page.Data[0].Outcome.Sent {
			t.Errorf("%s %s sent %d, and has %d messages", kind, page.Data[0].ID, page.Data[0].Outcome.Sent, messages.Total)
		}
	}
}

// The preview of a template replaces merge tags and runs no script.
func TestTemplatePreview(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	id := p.must("POST", "/templates", `{"name":"W","content":{"html":"<p>Hello {{name}}, {{other}}<script>alert(1)</script>","text":"Hello {{ name }}"}}`).id("template_id")
	const attributes = "?attributes=%7B%22name%22:%22A%3Cda%3E%22%7D"
	html := p.must("GET", "/_mock/templates/"+id+"/html"+attributes, nil)
	if !strings.Contains(html.text, "<p>Hello A&lt;da&gt;, <script>") {
		t.Errorf("the HTML is %s", html.text)
	}
	if policy := html.header.Get("Content-Security-Policy"); !strings.Contains(policy, "sandbox allow-popups") || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("its policy is %q", policy)
	}
	if text := p.must("GET", "/_mock/templates/"+id+"/text"+attributes, nil); text.text != "Hello A<da>" || !strings.HasPrefix(text.header.Get("Content-Type"), "text/plain") {
		t.Errorf("the text is %q", text.text)
	}
	for path, status := range map[string]int{id + "/html?attributes=%7B%22a%22:1%7D": 422, id + "/text?attributes=x": 422, "77/html": 404, "x/text": 404} {
		if a := p.do("GET", "/_mock/templates/"+path, nil); a.status != status {
			t.Errorf("%s: %d %s, want %d", path, a.status, a.text, status)
		}
	}
}

// Lists have the number of contacts by status, and can be searched by name.
func TestListContactCounts(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	list := p.shop()
	p.must("POST", "/lists", `{"name":"Unused"}`)
	var page struct {
		Total int
		Data  []struct {
			ID       string
			Contacts map[string]int
			Accepted bool `json:"policy_accepted"`
		}
	}
	_ = json.Unmarshal([]byte(p.must("GET", "/_mock/lists?search=custom", nil).text), &page)
	if page.Total != 1 || "/lists/"+page.Data[0].ID != list || !page.Data[0].Accepted {
		t.Fatalf("found %+v", page)
	}
	for status, n := range page.Data[0].Contacts {
		var found struct{ Pagination struct{ Count int } }
		_ = json.Unmarshal([]byte(p.must("GET", list+"/contacts?with_count=true&filter=status:"+status, nil).text), &found)
		if found.Pagination.Count != n {
			t.Errorf("%d contacts are %s, counted are %d", found.Pagination.Count, status, n)
		}
	}
}
