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

// sent sends a message to ada@example.org in the way of a sending type, and
// returns its id and its contact's path.
func (p platform) sent(by events.SendingType, list string) (id, contact string) {
	p.t.Helper()
	const rest = `"sender":{"email":"shop@example.com","name":"Shop"},"content":{"subject":"Hello {{name}}","html":"<p>Hello</p>"}`
	listID := strings.TrimPrefix(list, "/lists/")
	contact = list + "/contacts/"
	if by == events.SendingTypeWorkflow {
		w := p.must("POST", "/workflows", `{"name":"Welcome","trigger":"subscribed","list_id":`+listID+`,`+rest+`}`).id("workflow_id")
		p.must("POST", "/workflows/"+w+"/activate", nil)
	}
	contact += p.contact(list, "ada@example.org")
	switch by {
	case events.SendingTypeCampaign:
		c := p.must("POST", "/campaigns", `{"name":"Sale","list_id":`+listID+`,`+rest+`}`).id("campaign_id")
		p.must("POST", "/campaigns/"+c+"/schedule", nil)
		p.fired()
	case events.SendingTypeTransactional:
		p.must("POST", "/emails", `{"email":"ada@example.org",`+rest+`}`)
	case events.SendingTypeEmailAPI:
		p.must("POST", "/v2/emails", `{"email":"ada@example.org",`+rest+`}`)
	}
	box := p.Outbox()
	m := box[len(box)-1]
	if m.SentBy != by || m.Subject != "Hello " {
		p.t.Fatalf("got %+v", m)
	}
	return m.ID, contact
}

var sendingTypes = []events.SendingType{
	events.SendingTypeCampaign, events.SendingTypeWorkflow, events.SendingTypeTransactional, events.SendingTypeEmailAPI,
}

var categories = []events.BounceCategory{
	mockserver.HardBounce, mockserver.SoftBounce, mockserver.MailboxFullBounce, mockserver.BlockedBounce, mockserver.TransientBounce,
	mockserver.DNSBounce, mockserver.AutoReplyBounce, mockserver.ChallengeResponseBounce, mockserver.AddressChangeBounce,
}

func TestBounce(t *testing.T) {
	for _, by := range sendingTypes {
		for _, category := range categories {
			t.Run(fmt.Sprint(by, " ", category), func(t *testing.T) {
				p := newPlatform(t, mockserver.Config{Targets: receiver()})
				list := p.list()
				id, contact := p.sent(by, list)
				p.webhook(everything...)
				if err := p.Bounce(id, category, "550 said", "the server"); err != nil {
					t.Fatal(err)
				}
				if got := p.fired(); !slices.Equal(got, []string{events.NameEmailBounced}) {
					t.Fatalf("fired %v", got)
				}
				ev, err := events.Parse(p.Deliveries()[0].Body)
				if err != nil {
					t.Fatal(err)
				}
				if ev.SendingType() != by || ev.User != (events.User{}) || ev.AccountID != 1 {
					t.Errorf("got %+v of %s", ev, ev.SendingType())
				}
				checkBounce(t, ev, category)
				a := p.must("GET", contact, nil)
				want := [2]any{"active", "soft"}
				if category == mockserver.HardBounce {
					want = [2]any{"bounced", "hard"}
				}
				if got := [2]any{a.object["status"], a.object["last_bounce_type"]}; got != want || a.object["bounces_count"] != 1.0 {
					t.Errorf("the contact is %s", a.text)
				}
				if m := p.Outbox()[0]; m.Status != "bounced" || m.BounceCategory != category {
					t.Errorf("the outbox says %+v", m)
				}
			})
		}
	}
}

func checkBounce(t *testing.T, ev *events.Event, category events.BounceCategory) {
	t.Helper()
	var bounce events.BounceDetail
	switch d := ev.Data.(type) {
	case *events.CampaignBounce:
		bounce = d.Bounce
		if d.Campaign.Name != "Sale" || d.Contact.Email != "ada@example.org" || d.Contact.Status.Valid || d.List.Name.V != "Customers" || bounce.ID.Valid {
			t.Errorf("got %+v", d)
		}
	case *events.WorkflowBounce:
		bounce = d.Bounce
		if d.Automation.Trigger.Name.V != "Welcome" || d.Automation.SystemAction != nil || d.List.Name.Valid || bounce.ID.Valid {
			t.Errorf("got %+v", d)
		}
	case *events.TransactionalBounce:
		bounce = d.Bounce
		if !bounce.ID.Valid || d.TransactionalEmail.Sender.Name != "Shop" || d.Email != "ada@example.org" || d.DSNMessage != bounce.DSNMessage || !d.List.ID.IsZero() {
			t.Errorf("got %+v", d)
		}
	case *events.EmailAPIBounce:
		if d.Contact.Email != "ada@example.org" || d.List.Name.V != "Customers" {
			t.Errorf("got %+v", d)
		}
		return // says nothing more
	default:
		t.Fatalf("got %T", d)
	}
	if bounce.Category != category || bounce.DSNMessage != "550 said the server" || bounce.SourceIP == "" {
		t.Errorf("got %+v", bounce)
	}
}

func TestComplain(t *testing.T) {
	for _, by := range sendingTypes {
		t.Run(string(by), func(t *testing.T) {
			p := newPlatform(t, mockserver.Config{Targets: receiver()})
			id, contact := p.sent(by, p.list())
			p.webhook(everything...)
			for range 2 {
				if err := p.Complain(id, "Big Mail"); err != nil {
					t.Fatal(err)
				}
			}
			if got := p.fired(); !slices.Equal(got, []string{events.NameEmailReportedAsSpam}) {
				t.Fatalf("fired %v", got)
			}
			body := string(p.Deliveries()[0].Body)
			if by != events.SendingTypeEmailAPI && !strings.Contains(body, `"provider":"Big Mail"`) {
				t.Errorf("got %s", body)
			}
			if (by == events.SendingTypeCampaign || by == events.SendingTypeWorkflow) && !strings.Contains(body, `"status":"spam"`) {
				t.Errorf("got %s", body)
			}
			if ev, err := events.Parse([]byte(body)); err != nil || ev.SendingType() != by {
				t.Errorf("got %v, %v", ev, err)
			}
			if a := p.must("GET", contact, nil); a.object["status"] != "spam" {
				t.Errorf("the contact is %s", a.text)
			}
			if a := p.must("GET", "/suppressed-emails", nil); !strings.Contains(a.text, "ada@example.org") {
				t.Errorf("suppressed are %s", a.text)
			}
		})
	}
}

func TestUnsubscribe(t *testing.T) {
	for _, row := range []struct {
		by    events.SendingType
		fires []string
	}{
		{events.SendingTypeCampaign, []string{events.NameContactRemoved, events.NameContactUnsubscribed}},
		{events.SendingTypeWorkflow, []string{events.NameContactRemoved, events.NameContactUnsubscribed}},
		{events.SendingTypeEmailAPI, []string{events.NameEmailUnsubscribed, events.NameContactRemoved, events.NameContactUnsubscribed}},
	} {
		t.Run(string(row.by), func(t *testing.T) {
			p := newPlatform(t, mockserver.Config{Targets: receiver()})
			id, contact := p.sent(row.by, p.list())
			p.webhook(everything...)
			for range 2 {
				if err := p.Unsubscribe(id); err != nil {
					t.Fatal(err)
				}
			}
			if got := p.fired(); !slices.Equal(got, row.fires) {
				t.Fatalf("fired %v, want %v", got, row.fires)
			}
			data, user := p.last(row.fires[0])
			if context := data["context"].(map[string]any); context["ip"] == nil || context["user_agent"] == nil {
				t.Errorf("context %v", context)
			}
			if user["id"] != nil {
				t.Errorf("user %v", user)
			}
			if a := p.must("GET", contact, nil); a.object["status"] != "unsubscribed" {
				t.Errorf("the contact is %s", a.text)
			}
		})
	}
	p := newPlatform(t, mockserver.Config{})
	if err := p.Unsubscribe(p.email("stranger@example.org")); err == nil {
		t.Error("somebody on no list unsubscribed from it")
	}
}

func TestGlobalUnsubscribe(t *testing.T) {
	for _, row := range []struct {
		by     events.SendingType
		fires  []string
		status string
	}{
		{events.SendingTypeCampaign, []string{events.NameSuppressedEmailAdded, events.NameContactRemoved, events.NameContactUnsubscribed}, "unsubscribed"},
		{events.SendingTypeWorkflow, []string{events.NameSuppressedEmailAdded, events.NameContactRemoved, events.NameContactUnsubscribed}, "unsubscribed"},
		{events.SendingTypeEmailAPI, []string{events.NameSuppressedEmailAdded, events.NameEmailGlobalUnsubscribed}, "active"},
		{events.SendingTypeTransactional, []string{events.NameSuppressedEmailAdded}, "active"},
	} {
		t.Run(string(row.by), func(t *testing.T) {
			p := newPlatform(t, mockserver.Config{Targets: receiver()})
			id, contact := p.sent(row.by, p.list())
			p.webhook(everything...)
			for range 2 {
				if err := p.GlobalUnsubscribe(id); err != nil {
					t.Fatal(err)
				}
			}
			if got := p.fired(); !slices.Equal(got, row.fires) {
				t.Fatalf("fired %v, want %v", got, row.fires)
			}
			if a := p.must("GET", contact, nil); a.object["status"] != row.status {
				t.Errorf("the contact is %s", a.text)
			}
			if a := p.must("GET", "/suppressed-emails", nil); !strings.Contains(a.text, "ada@example.org") {
				t.Errorf("suppressed are %s", a.text)
			}
		})
	}
}

func TestOpenAndClick(t *testing.T) {
	for _, by := range sendingTypes {
		t.Run(string(by), func(t *testing.T) {
			p := newPlatform(t, mockserver.Config{Targets: receiver()})
			id, _ := p.sent(by, p.list())
			p.webhook(everything...)
			for range 2 {
				if err := p.Open(id); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.Click(id, "https://shop.example/?a=1&b=2"); err != nil {
				t.Fatal(err)
			}
			if got := p.fired(); !slices.Equal(got, []string{events.NameEmailOpened, events.NameEmailOpened, events.NameEmailClicked}) {
				t.Fatalf("fired %v", got)
			}
			data, _ := p.last(events.NameEmailClicked)
			_, ofContact := data["contact_id"].(string)
			_, ofCampaign := data["campaign_id"].(string)
			if data["email_id"] != id || data["url"] != "https://shop.example/?a=1&b=2" ||
				ofContact != (by != events.SendingTypeTransactional) || ofCampaign != (by == events.SendingTypeCampaign) {
				t.Errorf("got %v", data)
			}
			if m := p.Outbox()[0]; m.Opens != 2 || m.Clicks != 1 {
				t.Errorf("got %+v", m)
			}
		})
	}
}

func TestDoubleOptIn(t *testing.T) {
	p := newPlatform(t, mockserver.Config{Targets: receiver()})
	p.webhook(everything...)
	closed := "/lists/" + p.must("POST", "/lists", `{"name":"L"}`).id("list_id")
	if a := p.do("POST", closed+"/contacts?send_double_opt_in=true", `{"email":"ada@example.org"}`); a.status != 409 {
		t.Errorf("without accepted policy: %d", a.status)
	}
	list := p.list()
	id := p.in("pending", list, "ada@example.org")
	if got := p.fired(); len(got) != 0 {
		t.Errorf("before the confirmation: %v", got)
	}
	m := p.Outbox()[0]
	if !m.Confirmation || m.To != "ada@example.org" || m.SentBy != events.SendingTypeWorkflow {
		t.Fatalf("got %+v", m)
	}
	for range 2 {
		if err := p.Confirm(m.ID); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.fired(); p.status(list, id) != "active" || !slices.Equal(got, []string{events.NameContactAdded}) {
		t.Errorf("after the confirmation: %s, %v", p.status(list, id), got)
	}
	if err := p.Bounce(m.ID, mockserver.SoftBounce); err != nil {
		t.Fatal(err)
	}
	data, _ := p.last(events.NameEmailBounced)
	automation, err := json.Marshal(data["automation"])
	if err != nil {
		t.Fatal(err)
	}
	if got := string(automation); !strings.Contains(got, `"type":"douopt-in"`) || !strings.Contains(got, `"workflow":{"id":null,"name":null}`) || strings.Contains(got, "trigger") {
		t.Errorf("got %s", got)
	}
	if err := p.Confirm(p.email("ada@example.org")); err == nil {
		t.Error("a message that is no confirmation was confirmed")
	}
}

func TestMagicRecipients(t *testing.T) { synctest.Test(t, testMagicRecipients) }

func testMagicRecipients(t *testing.T) {
	p := newPlatform(t, mockserver.Config{Targets: receiver()})
	list := p.list()
	for _, name := range []string{"unsubscribe", "global-unsubscribe+3"} {
		p.contact(list, name+"@"+mockserver.MagicDomain)
	}
	p.webhook(everything...)
	n := 0
	for _, row := range []struct {
		local string
		fires []string
		says  string
	}{
		{"bounce", []string{events.NameEmailBounced}, "bounce_hb"},
		{"bounce+2", []string{events.NameEmailBounced}, "bounce_hb"},
		{"bounce+fm+2", []string{events.NameEmailBounced}, "bounce_fm"},
		{"BOUNCE+AC", []string{events.NameEmailBounced}, "bounce_ac"},
		{"complaint+1", []string{events.NameEmailReportedAsSpam}, `"reported_as_spam":true`},
		{"error+1", []string{events.NameEmailError}, `"error":"internal error;`},
		{"open", []string{events.NameEmailOpened}, `"opens":1`},
		{"click", []string{events.NameEmailClicked}, `"clicks":1`},
		{"unsubscribe", []string{events.NameEmailUnsubscribed, events.NameContactRemoved, events.NameContactUnsubscribed}, `"unsubscribed":true`},
		{"global-unsubscribe+3", []string{events.NameSuppressedEmailAdded, events.NameEmailGlobalUnsubscribed}, `"global_unsubscribed":true`},
		{"ada", nil, `"status":"delivered"`},
	} {
		id := p.email(row.local + "@" + mockserver.MagicDomain)
		fired := p.fired()[n:]
		n += len(fired)
		if !slices.Equal(fired, row.fires) {
			t.Errorf("%s: fired %v, want %v", row.local, fired, row.fires)
		}
		time.Sleep(time.Second) // the limit of lookups
		if a := p.must("GET", "/v2/emails/"+id, nil); !strings.Contains(a.text, row.says) {
			t.Errorf("%s: the lookup says %s, want %s", row.local, a.text, row.says)
		}
	}
}

func TestRecipientErrors(t *testing.T) {
	p := newPlatform(t, mockserver.Config{})
	list := p.list()
	p.in("unsubscribed", list, "ada@example.org")
	rejected := p.email("ada@example.org")
	for name, err := range map[string]error{
		"unknown email":    p.Open("nothing"),
		"rejected email":   p.Open(rejected),
		"unknown category": p.Bounce(p.email("bob@example.org"), "bounce_xx"),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "mockserver: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
