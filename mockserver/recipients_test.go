package mockserver_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

func TestMagicRecipients(t *testing.T) { synctest.Test(t, testMagicRecipients) }

func testMagicRecipients(t *testing.T) {
	p := newProbe(t, mockserver.Config{Targets: receiver()})
	list := p.list()
	for _, name := range []string{"unsubscribe", "global-unsubscribe+3"} {
		p.contact(list, name+"@"+mockserver.MagicDomain)
	}
	p.webhook(everything...)
	n := 0
	for _, row := range []struct {
		local string
		fires []events.Name
		says  string
	}{
		{local: "bounce", fires: []events.Name{events.NameEmailBounced}, says: "bounce_hb"},
		{local: "bounce+2", fires: []events.Name{events.NameEmailBounced}, says: "bounce_hb"},
		{local: "bounce+fm+2", fires: []events.Name{events.NameEmailBounced}, says: "bounce_fm"},
		{local: "BOUNCE+AC", fires: []events.Name{events.NameEmailBounced}, says: "bounce_ac"},
		{local: "complaint+1", fires: []events.Name{events.NameEmailReportedAsSpam}, says: `"reported_as_spam":true`},
		{local: "error+1", fires: []events.Name{events.NameEmailError}, says: `"error":"internal error;`},
		{local: "open", fires: []events.Name{events.NameEmailOpened}, says: `"opens":1`},
		{local: "click", fires: []events.Name{events.NameEmailClicked}, says: `"clicks":1`},
		{
			local: "unsubscribe",
			fires: []events.Name{events.NameEmailUnsubscribed, events.NameContactRemoved, events.NameContactUnsubscribed},
			says:  `"unsubscribed":true`,
		},
		{
			local: "global-unsubscribe+3",
			fires: []events.Name{events.NameSuppressedEmailAdded, events.NameEmailGlobalUnsubscribed},
			says:  `"global_unsubscribed":true`,
		},
		{local: "ada", says: `"status":"delivered"`},
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
	p := newProbe(t, mockserver.Config{})
	list := p.list()
	p.in("unsubscribed", list, "ada@example.org")
	rejected := p.email("ada@example.org")
	for name, err := range map[string]error{
		"unknown email":    p.Open("nothing"),
		"rejected email":   p.Open(rejected),
		"unknown category": p.Bounce(p.email("bob@example.org"), "bounce_xx"),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "mockserver: ") {
			t.Errorf("%s: %v, want an error of mockserver", name, err)
		}
	}
}

// Who left by the email of one workflow, or could not be reached, is not sent that
// of the next.
func TestMagicRecipientsOfWorkflows(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	list := p.list()
	for range 2 {
		workflow := p.must("POST", "/workflows", `{"name":"Welcome","list_id":`+strings.TrimPrefix(list, "/lists/")+`,"trigger":"subscribed",
			"sender":{"email":"shop@example.com"},"content":{"subject":"Welcome","text":"Hello"}}`).id("workflow_id")
		p.must("POST", "/workflows/"+workflow+"/activate", nil)
	}
	for local, want := range map[string]int{
		"ada": 2, "open": 2, "bounce+sb": 2, "bounce": 1, "unsubscribe": 1, "global-unsubscribe": 1, "complaint": 1,
	} {
		p.contact(list, local+"@"+mockserver.MagicDomain)
		if got := len(p.OutboxTo(local + "@" + mockserver.MagicDomain)); got != want {
			t.Errorf("%s is sent %d emails, want %d", local, got, want)
		}
	}
}
