package mockserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

func (p platform) campaign(list, content string) string {
	p.t.Helper()
	return "/campaigns/" + p.must("POST", "/campaigns", `{"name":"Sale","list_id":`+strings.TrimPrefix(list, "/lists/")+
		`,"sender":{"email":"shop@example.com"},"content":{`+content+`}}`).id("campaign_id")
}

func TestCampaign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform(t, mockserver.Config{Targets: receiver()})
		p.webhook(events.NameCampaignScheduled, events.NameCampaignSent)
		list := p.list()
		for _, status := range []string{"active", "pending", "unsubscribed", "deleted", "spam", "bounced"} {
			p.in(status, list, status+"@example.org")
		}
		p.contact(list, "suppressed@example.org")
		p.must("POST", "/suppressed-emails", `{"email":"suppressed@example.org"}`)
		campaign := p.campaign(list, `"subject":"Hi","html":"<p>{{none}}</p>"`)
		before := len(p.Outbox())
		tomorrow := time.Now().Add(24 * time.Hour).Unix()
		a := p.must("POST", campaign+"/schedule", fmt.Sprintf(`{"scheduled_for":%d}`, tomorrow))
		if a.object["status"] != "scheduled" || a.object["scheduled_for"] != float64(tomorrow) {
			t.Errorf("got %s", a.text)
		}
		if got := p.fired(); !slices.Equal(got, []string{events.NameCampaignScheduled}) || len(p.Outbox()) != before {
			t.Errorf("before its time: fired %v, %d sent", got, len(p.Outbox())-before)
		}
		p.must("PATCH", campaign, `{"content":{"subject":"Hello"}}`)
		closed := p.must("POST", "/lists", `{"name":"L"}`).id("list_id")
		for patch, want := range map[string]string{
			`{"list_id":` + closed + `}`:         "policy_not_accepted",
			`{"content":{"subject":""}}`:         "invalid_state",
			`{"name":"X","content":{"html":""}}`: "invalid_state",
		} {
			a := p.do("PATCH", campaign, patch)
			if kind, _ := a.detail(); a.status != 409 || kind != want {
				t.Errorf("%s: %s", patch, a.text)
			}
		}
		time.Sleep(24 * time.Hour)
		if got := p.fired(); !slices.Equal(got, []string{events.NameCampaignScheduled, events.NameCampaignSent}) {
			t.Errorf("fired %v", got)
		}
		box := p.Outbox()[before:]
		if len(box) != 1 || box[0].To != "active@example.org" || box[0].Subject != "Hello" || box[0].SentBy != events.SendingTypeCampaign {
			t.Errorf("sent %+v", box)
		}
		if a := p.must("GET", campaign, nil); a.object["status"] != "delivered" {
			t.Errorf("got %s", a.text)
		}
		for method, path := range map[string]string{"PATCH": campaign, "POST": campaign + "/schedule"} {
			a := p.do(method, path, `{}`)
			if kind, _ := a.detail(); a.status != 409 || kind != "invalid_state" {
				t.Errorf("%s %s: %s", method, path, a.text)
			}
		}
	})
}

func TestScheduleConflicts(t *testing.T) {
	p := newPlatform(t, mockserver.Config{})
	list := p.list()
	closed := "/lists/" + p.must("POST", "/lists", `{"name":"L"}`).id("list_id")
	const body = `"subject":"S","text":"T"`
	for name, row := range map[string]struct{ campaign, kind string }{
		"no list":             {"/campaigns/" + p.must("POST", "/campaigns", `{"name":"C","sender":{"email":"s@example.com"},"content":{`+body+`}}`).id("campaign_id"), "invalid_state"},
		"no sender":           {"/campaigns/" + p.must("POST", "/campaigns", `{"name":"C","list_id":`+list[7:]+`,"content":{`+body+`}}`).id("campaign_id"), "invalid_state"},
		"no subject":          {p.campaign(list, `"text":"T"`), "invalid_state"},
		"no body":             {p.campaign(list, `"subject":"S"`), "invalid_state"},
		"policy not accepted": {p.campaign(closed, body), "policy_not_accepted"},
	} {
		a := p.do("POST", row.campaign+"/schedule", nil)
		if kind, _ := a.detail(); a.status != 409 || kind != row.kind {
			t.Errorf("%s: %d %s", name, a.status, a.text)
		}
		if a := p.must("GET", row.campaign, nil); a.object["status"] != "incomplete" {
			t.Errorf("%s: %s", name, a.text)
		}
	}
}

func TestScheduleTooFar(t *testing.T) {
	p := newPlatform(t, mockserver.Config{Targets: receiver()})
	p.webhook(events.NameCampaignScheduled)
	campaign := p.campaign(p.list(), `"subject":"S","text":"T"`)
	a := p.do("POST", campaign+"/schedule", `{"scheduled_for":253402300800}`)
	if kind, loc := a.detail(); a.status != 422 || kind != "value_error" || loc != "[body scheduled_for]" {
		t.Errorf("the year 10000: %s", a.text)
	}
	p.must("POST", campaign+"/schedule", `{"scheduled_for":253402300799}`)
	if got := p.fired(); len(got) != 1 {
		t.Errorf("the last second of 9999: fired %v", got)
	}
}

// TestCampaignContent changes a campaign between a template and inline parts.
func TestCampaignContent(t *testing.T) {
	p := newPlatform(t, mockserver.Config{})
	list := p.list()
	p.contact(list, "ada@example.org")
	tpl := p.must("POST", "/templates", `{"name":"T","content":{"html":"<b>old</b>"}}`).id("template_id")
	campaign := p.campaign(list, `"subject":"S","html":"<i>inline</i>","text":"inline"`)
	for _, row := range []struct{ patch, want string }{
		{`{"content":{"template_id":` + tpl + `}}`, `"content":{"subject":"S","template_id":` + tpl + `}`},
		{`{"content":{"html":"<i>new</i>"}}`, `"content":{"html":"<i>new</i>","subject":"S"}`},
		{`{"content":{"text":"new"}}`, `"content":{"html":"<i>new</i>","subject":"S","text":"new"}`},
		{`{"content":{"text":null,"subject":"S2"}}`, `"content":{"html":"<i>new</i>","subject":"S2"}`},
		{`{"content":{"template_id":` + tpl + `}}`, `"content":{"subject":"S2","template_id":` + tpl + `}`},
	} {
		a := p.must("PATCH", campaign, row.patch)
		if got := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(a.text); !strings.Contains(got, row.want) {
			t.Errorf("%s: got %s, want %s", row.patch, got, row.want)
		}
	}
	for patch, status := range map[string]int{
		`{"content":{"template_id":999}}`:                   404,
		`{"content":{"template_id":` + tpl + `,"html":""}}`: 422,
		`{"name":"X","list_id":999}`:                        404,
		`{"name":""}`:                                       422,
	} {
		if a := p.do("PATCH", campaign, patch); a.status != status {
			t.Errorf("%s: %d %s", patch, a.status, a.text)
		}
	}
	if a := p.must("GET", campaign, nil); a.object["name"] != "Sale" {
		t.Errorf("a refused change was made: %s", a.text)
	}
	p.must("PATCH", "/templates/"+tpl, `{"content":{"html":"<b>new</b>"}}`)
	p.must("DELETE", "/templates/"+tpl, nil)
	p.must("POST", campaign+"/schedule", nil)
	p.fired()
	if m := p.Outbox()[0]; m.HTML != "<b>new</b>" {
		t.Errorf("got %+v", m)
	}
}

func TestCampaignToMany(t *testing.T) {
	p := newPlatform(t, mockserver.Config{Targets: receiver()})
	list := p.list()
	for i := range 3 {
		p.must("POST", list+"/contacts/import", contacts(i*1000))
	}
	p.webhook(events.NameCampaignSent)
	campaign := p.campaign(list, `"subject":"S","text":"Hello {{first_name}}"`)
	p.must("POST", campaign+"/schedule", `{"scheduled_for":1}`)
	if got := p.fired(); len(got) != 1 {
		t.Errorf("fired %v", got)
	}
	box := p.Outbox()
	if len(box) != 3000 || box[2999].Text != "Hello Name2999" {
		t.Errorf("%d sent", len(box))
	}
}

func TestWorkflow(t *testing.T) {
	p := newPlatform(t, mockserver.Config{})
	list, other := p.list(), p.list()
	closed := "/lists/" + p.must("POST", "/lists", `{"name":"L"}`).id("list_id")
	create := func(list string) string {
		return "/workflows/" + p.must("POST", "/workflows", `{"name":"W","trigger":"subscribed","list_id":`+list[7:]+
			`,"sender":{"email":"s@example.com"},"content":{"subject":"Welcome {{name}}","text":"T"}}`).id("workflow_id")
	}
	workflow := create(list)
	sent := func() (to []string) {
		for _, m := range p.Outbox() {
			if !m.Confirmation {
				to = append(to, m.To)
			}
		}
		return to
	}
	p.contact(list, "before@example.org")
	p.must("POST", workflow+"/activate", nil)
	p.must("POST", workflow+"/activate", nil)
	p.must("POST", "/suppressed-emails", `{"email":"suppressed@example.org"}`)
	p.must("POST", list+"/contacts", `{"email":"created@example.org","custom_attributes":[{"name":"name","value":"Ada"}]}`)
	p.contact(list, "suppressed@example.org")
	p.contact(other, "other@example.org")
	p.must("POST", list+"/contacts/import", `{"contacts":[{"email":"imported@example.org"},{"email":"before@example.org"}]}`)
	p.must("POST", list+"/contacts/import", `{"contacts":[{"email":"gone@example.org"}],"import_to":"unsubscribed"}`)
	p.in("pending", list, "confirmed@example.org")
	if want := []string{"created@example.org", "imported@example.org"}; !slices.Equal(sent(), want) {
		t.Errorf("sent to %v, want %v", sent(), want)
	}
	if m := p.Outbox()[0]; m.Subject != "Welcome Ada" || "/workflows/"+fmt.Sprint(m.WorkflowID) != workflow {
		t.Errorf("got %+v", m)
	}
	box := p.Outbox()
	if err := p.Confirm(box[len(box)-1].ID); err != nil {
		t.Fatal(err)
	}
	p.must("POST", workflow+"/deactivate", nil)
	p.must("POST", workflow+"/deactivate", nil)
	p.contact(list, "after@example.org")
	if want := []string{"created@example.org", "imported@example.org", "confirmed@example.org"}; !slices.Equal(sent(), want) {
		t.Errorf("sent to %v, want %v", sent(), want)
	}
	a := p.do("POST", create(closed)+"/activate", nil)
	if kind, _ := a.detail(); a.status != 409 || kind != "policy_not_accepted" {
		t.Errorf("without accepted policy: %s", a.text)
	}
}
