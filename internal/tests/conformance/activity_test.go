package conformance_test

import "testing"

// Events in the general envelope, which tell what contacts do.

func TestOpenedAndClicked(t *testing.T) {
	t.Run("Email.Opened", inLab(func(l *lab) {
		proves(l, "events/Email.Opened", "events/opened-body", "decision/29", "decision/30/Email.Opened",
			"decision/30/ids", "decision/30/times")
		l.listen("Email.Opened")
		s := l.sendByCampaign()
		l.open(s.id)
		l.envelope(l.fires("Email.Opened")[0], s.fill(`{"event":"Email.Opened","timestamp":"<iso>",
			"data":{"email_id":"$id","contact_id":"$contact","campaign_id":"$campaign","list_id":"$list",
				"email_address":"ada@example.org","opened_at":"<iso>"}}`))
		l.open(s.id)
		l.fires("Email.Opened")
	}))
	t.Run("Email.Clicked", inLab(func(l *lab) {
		proves(l, "events/Email.Clicked", "decision/29", "decision/30/Email.Clicked", "decision/30/ids", "decision/30/times")
		l.listen("Email.Clicked")
		s := l.sendByCampaign()
		l.click(s.id, "https://shop.example/?a=1&b=2")
		l.envelope(l.fires("Email.Clicked")[0], s.fill(`{"event":"Email.Clicked","timestamp":"<iso>",
			"data":{"email_id":"$id","contact_id":"$contact","campaign_id":"$campaign","list_id":"$list",
				"email_address":"ada@example.org","url":"https://shop.example/?a=1&b=2","clicked_at":"<iso>"}}`))
	}))
	for _, sending := range sendings {
		t.Run("by "+sending.name, inLab(func(l *lab) {
			l.listen("Email.Opened", "Email.Clicked")
			s := sending.send(l)
			l.open(s.id)
			l.open(s.id)
			l.click(s.id, "https://shop.example/")
			fired := l.fires("Email.Opened", "Email.Opened", "Email.Clicked")
			l.data(fired[0], s.fill(`{"email_id":"$id","email_address":"ada@example.org","…":0}`))
			data := fired[2].body["data"].(map[string]any)
			_, ofContact := data["contact_id"].(string)
			want(l, "it names a contact", ofContact, s.contact != 0)
			_, ofCampaign := data["campaign_id"].(string)
			want(l, "it names a campaign", ofCampaign, s.campaign != 0)
		}))
	}
}

func TestAddedAndUnsubscribed(t *testing.T) {
	t.Run("Contact.Added", inLab(func(l *lab) {
		proves(l, "events/Contact.Added", "decision/29", "decision/30/Contact.Added", "decision/30/ids", "decision/30/times")
		l.listen("Contact.Added")
		list := l.list()
		contact := l.contact(list, ada)
		l.envelope(l.fires("Contact.Added")[0], f(`{"event":"Contact.Added","timestamp":"<iso>",
			"data":{"contact_id":"%d","list_id":"%d","email_address":"ada@example.org","added_at":"<iso>"}}`,
			contact, list))
	}))
	t.Run("Contact.Added for everyone who becomes active", inLab(func(l *lab) {
		proves(l, "decision/33")
		l.listen("Contact.Added")
		list := l.list()
		l.member(list, "gone@example.org", "unsubscribed")
		l.fires("Contact.Added")
		l.contact(list, "gone@example.org")
		l.fires("Contact.Added")
		l.member(list, "later@example.org", "pending")
		l.fires()
		for _, fires := range [][]string{{"Contact.Added"}, nil} { // who confirms twice becomes active once
			l.confirm(l.lastMessage().ID)
			l.fires(fires...)
		}
	}))
	t.Run("Contact.Unsubscribed", inLab(func(l *lab) {
		proves(l, "events/Contact.Unsubscribed", "decision/30/Contact.Unsubscribed", "decision/29")
		l.listen("Contact.Unsubscribed")
		s := l.sendByCampaign()
		l.unsubscribe(s.id)
		l.envelope(l.fires("Contact.Unsubscribed")[0], s.fill(`{"event":"Contact.Unsubscribed","timestamp":"<iso>",
			"data":{"contact_id":"$contact","list_id":"$list","email_address":"ada@example.org",
				"unsubscribed_at":"<iso>"}}`))
	}))
}
