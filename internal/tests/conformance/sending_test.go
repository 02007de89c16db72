package conformance_test

import (
	"strings"
	"testing"
	"time"
)

func TestCampaigns(t *testing.T) {
	t.Run("create, list and get", inLab(func(l *lab) {
		proves(l, "service/campaigns-workflows", "decision/17/endpoints", "decision/17/fields",
			"resources/campaign/campaign_id", "decision/2/created", "decision/3/id-names", "decision/3/unix-seconds")
		list := l.list()
		holds := f(`"name":"Spring","list_id":%d,"sender":%s,"content":%s`, list, shop, greeting)
		created := l.post("/campaigns", `{`+holds+`}`).is(201, `{`+holds+`,"campaign_id":"<integer>",
			"status":"incomplete","created_on":"<unix>","updated_on":"<unix>"}`)
		l.get(f("/campaigns/%d", created.int("campaign_id"))).is(200, string(created.raw))
		l.get("/campaigns").is(200, `{"data":[`+string(created.raw)+`],"pagination":{"page":1,"per_page":50}}`)
		l.post("/campaigns", `{}`).problem(422, "missing", "body.name")
		l.post("/campaigns", `{"name":""}`).problem(422, "value_error", "body.name")
	}))
	t.Run("a template or inline HTML", inLab(func(l *lab) {
		proves(l, "endpoints/campaigns/update", "endpoints/campaigns/template-reference", "resources/campaign/content",
			"service/template-users")
		template := l.post("/templates", design).int("template_id")
		path := f("/campaigns/%d", l.campaign(l.list()))
		l.patch(path, f(`{"content":{"template_id":%d}}`, template)).
			is(200, f(`{"name":"Spring","content":{"subject":"Hello {{name}}","template_id":%d},"…":0}`, template))
		l.patch(path, `{"content":{"html":"<b>x</b>"}}`).is(200,
			`{"content":{"subject":"Hello {{name}}","html":"<b>x</b>"},"…":0}`)
		l.patch(path, `{"content":{"template_id":999999}}`).problem(404, "not_found", "body.content.template_id")
		l.patch(path, f(`{"content":{"template_id":%d,"html":"x"}}`, template)).
			problem(422, "value_error", "body.content.template_id")
		l.patch(path, `{"content":{"text":"T"}}`).
			is(200, `{"content":{"subject":"Hello {{name}}","html":"<b>x</b>","text":"T"},"…":0}`)
		l.post("/campaigns", f(`{"name":"A","content":{"template_id":%d}}`, template)).is(201,
			f(`{"content":{"template_id":%d},"…":0}`, template))
		l.post("/campaigns", f(`{"name":"A","content":{"template_id":%d,"html":"x"}}`, template)).
			problem(422, "value_error", "body.content.template_id")
		l.patch(path, `{"name":"refused","list_id":999999}`).problem(404, "not_found", "body.list_id")
		l.get(path).is(200, `{"name":"Spring","…":0}`)
	}))
}

func TestSendingCampaigns(t *testing.T) {
	inLab(func(l *lab) {
		proves(l, "decision/17/scheduled_for", "decision/17/status", "events/Campaign.Sent", "decision/30/Campaign.Sent", "decision/2/ok",
			"events/Campaign.Scheduled", "decision/30/Campaign.Scheduled", "decision/29")
		l.listen("Campaign.Sent", "Campaign.Scheduled")
		s := l.sendByCampaignLater("")
		path := f("/campaigns/%d", s.campaign)
		time.Sleep(500 * time.Microsecond)
		l.get(path).is(200, `{"status":"delivering","scheduled_for":"<unix>","…":0}`)
		l.patch(path, `{"name":"Late"}`).problem(409, "invalid_state", "path.campaign_id")
		l.post(path+"/schedule", "").problem(409, "invalid_state", "path.campaign_id")
		want(l, "recipients", l.recipients(), "")
		for i, d := range l.fires("Campaign.Scheduled", "Campaign.Sent") {
			l.envelope(d, s.fill(`{"event":"`+d.event+`","timestamp":"<iso>","data":{"campaign_id":"$campaign","list_id":"$list","name":"Spring",
				"`+[]string{"scheduled_for", "sent_at"}[i]+`":"<iso>"}}`))
		}
		l.get(path).is(200, `{"status":"delivered","…":0}`)
		want(l, "recipients", l.recipients(), ada)
		l.patch(path, `{"name":"Late"}`).problem(409, "invalid_state", "path.campaign_id")
		l.post(path+"/schedule", "").problem(409, "invalid_state", "path.campaign_id")
	})(t)
}

// sendByCampaignLater schedules a campaign with this body, and does not wait.
func (l *lab) sendByCampaignLater(schedule string) sent {
	l.Helper()
	list := l.list()
	s := sent{list: list, contact: l.contact(list, ada), campaign: l.campaign(list)}
	l.post(f("/campaigns/%d/schedule", s.campaign), schedule).ok()
	return s
}

func TestCampaignTiming(t *testing.T) {
	t.Run("send later", inLab(func(l *lab) {
		proves(l, "decision/17/scheduled_for", "decision/17/status", "events/Campaign.Scheduled", "decision/17/scheduled-patch")
		l.listen("Campaign.Sent", "Campaign.Scheduled")
		at := time.Now().Add(time.Hour)
		s := l.sendByCampaignLater(f(`{"scheduled_for":%d}`, at.Unix()))
		path := f("/campaigns/%d", s.campaign)
		l.data(l.fires("Campaign.Scheduled")[0], f(`{"scheduled_for":%q,"…":0}`, at.UTC().Format(time.RFC3339)))
		changed := l.patch(path, `{"content":{"subject":"Later"}}`).is(200, f(`{"status":"scheduled","scheduled_for":%d,"…":0}`, at.Unix()))
		l.patch(path, f(`{"name":"X","list_id":%d}`, l.closedList())).problem(409, "policy_not_accepted", "path.campaign_id")
		for _, incomplete := range []string{
			`{"name":"X","content":{"subject":""}}`, `{"name":"X","content":{"html":"","text":""}}`,
		} {
			l.patch(path, incomplete).problem(409, "invalid_state", "path.campaign_id")
		}
		time.Sleep(59 * time.Minute)
		l.fires()
		l.get(path).is(200, string(changed.raw))
		l.contact(s.list, "late@example.org")
		time.Sleep(time.Minute)
		l.fires("Campaign.Sent")
		l.get(path).is(200, `{"status":"delivered","…":0}`)
		want(l, "recipients", l.recipients(), ada+" late@example.org")
		want(l, "the subject", l.lastMessage().Subject, "Later")
	}))
	t.Run("only to active contacts", inLab(func(l *lab) {
		proves(l, "states/list/accept-policy/allows", "resources/suppression/listed", "decision/17/recipients")
		list := l.list()
		for i, status := range []string{"active", "pending", "unsubscribed", "deleted", "spam", "bounced", "suppressed"} {
			l.member(list, f("c%d-%s@example.org", i, status), status)
		}
		before := l.recipients()
		l.post(f("/campaigns/%d/schedule", l.campaign(list)), "").ok()
		l.deliveries()
		want(l, "recipients", l.recipients(), before+" c0-active@example.org")
	}))
}

func TestScheduleCampaign(t *testing.T) {
	inLab(func(l *lab) {
		proves(l, "decision/7/409", "decision/17/status")
		list := l.list()
		for _, body := range []string{
			`{"name":"A"}`,
			f(`{"name":"A","list_id":%d,"content":%s}`, list, greeting),
			f(`{"name":"A","list_id":%d,"sender":%s}`, list, shop),
			f(`{"name":"A","list_id":%d,"sender":%s,"content":{"subject":"S"}}`, list, shop),
			f(`{"name":"A","list_id":%d,"sender":%s,"content":{"text":"T"}}`, list, shop),
			f(`{"name":"A","sender":%s,"content":%s}`, shop, greeting),
		} {
			path := f("/campaigns/%d", l.post("/campaigns", body).int("campaign_id"))
			l.post(path+"/schedule", "").problem(409, "invalid_state", "path.campaign_id")
			l.get(path).is(200, `{"status":"incomplete","…":0}`)
		}
		path := f("/campaigns/%d/schedule", l.campaign(list))
		for _, at := range []string{`"tomorrow"`, "253402300800"} { // the year 10000
			l.post(path, `{"scheduled_for":`+at+`}`).problem(422, "value_error", "body.scheduled_for")
		}
		l.listen("Campaign.Scheduled")
		l.post(path, `{"scheduled_for":253402300799}`).ok()
		l.fires("Campaign.Scheduled")
	})(t)
}

func TestWorkflows(t *testing.T) {
	t.Run("create, list and get", inLab(func(l *lab) {
		proves(l, "service/campaigns-workflows", "decision/18/endpoints", "decision/18/fields", "decision/2/created", "decision/3/id-names", "decision/3/unix-seconds",
			"decision/36/nothing")
		body := f(`{"name":"Welcome","list_id":%d,"trigger":"subscribed","sender":%s,"content":%s}`, l.list(), shop, greeting)
		created := l.post("/workflows", body).is(201,
			strings.TrimSuffix(body, "}")+`,"workflow_id":"<integer>","status":"inactive","created_on":"<unix>"}`)
		path := f("/workflows/%d", created.int("workflow_id"))
		l.get(path).is(200, string(created.raw))
		l.get("/workflows").is(200, `{"data":[`+string(created.raw)+`],"pagination":{"page":1,"per_page":50}}`)
		l.post("/workflows", strings.Replace(body, "subscribed", "birthday", 1)).problem(422, "value_error", "body.trigger")
		l.post("/workflows", strings.Replace(body, `"list_id":`, `"list_id":99999`, 1)).problem(404, "not_found", "body.list_id")
		l.post("/workflows", `{}`).problem(422, "missing", "body.name").problem(422, "missing", "body.list_id").
			problem(422, "missing", "body.trigger")
		for _, step := range []struct{ action, status string }{
			{"activate", "active"}, {"activate", "active"}, {"deactivate", "inactive"}, {"deactivate", "inactive"}, {"activate", "active"},
		} {
			l.post(path+"/"+step.action, "").is(204, "")
			l.get(path).is(200, f(`{"status":%q,"…":0}`, step.status))
		}
	}))
	t.Run("an active one sends to each contact added", inLab(func(l *lab) {
		proves(l, "decision/18/sends", "resources/suppression/listed")
		list, other := l.list(), l.list()
		l.contact(list, "before@example.org")
		workflow := l.workflow(list)
		l.contact(other, "other@example.org")
		l.post(f("/lists/%d/contacts", list), f(`{"email":%q,"custom_attributes":[{"name":"name","value":"Ada"}]}`, ada)).ok()
		m := l.lastMessage()
		want(l, "the message", m.To+"|"+m.Subject+"|"+m.HTML+"|"+m.Text, ada+"|Hello Ada|<p>Hello Ada</p>|Hello Ada")
		l.post(f("/lists/%d/contacts/import", list),
			`{"contacts":[{"email":"bob@example.org"},{"email":"before@example.org"}]}`).ok()
		l.post(f("/lists/%d/contacts/import", list),
			`{"contacts":[{"email":"gone@example.org"}],"import_to":"unsubscribed"}`).ok()
		want(l, "recipients", l.recipients(), ada+" bob@example.org")
		l.member(list, "pending@example.org", "pending")
		want(l, "only the confirmation", l.recipients(), ada+" bob@example.org pending@example.org")
		l.confirm(l.lastMessage().ID)
		want(l, "then the welcome", l.recipients(), ada+" bob@example.org pending@example.org pending@example.org")
		before := l.recipients()
		l.post("/suppressed-emails", `{"email":"*@suppressed.example"}`).ok()
		l.contact(list, "ada@suppressed.example")
		l.member(list, "bob@suppressed.example", "pending")
		l.post(f("/workflows/%d/deactivate", workflow), "").ok()
		l.contact(list, "after@example.org")
		want(l, "after suppression and deactivation", l.recipients(), before)
	}))
}

func TestSuppressionList(t *testing.T) {
	t.Run("add, list and remove", inLab(func(l *lab) {
		proves(l, "decision/19/endpoints", "resources/suppression/listed", "states/address/suppressed", "decision/2/created", "decision/2/no-content", "decision/3/unix-seconds")
		added := l.post("/suppressed-emails", f(`{"email":%q}`, ada)).is(201,
			`{"email":"ada@example.org","created_on":"<unix>"}`)
		l.post("/suppressed-emails", `{"email":"bob@example.org"}`).ok()
		l.get("/suppressed-emails").is(200,
			`{"data":[`+string(added.raw)+`,{"email":"bob@example.org","…":0}],"pagination":{"page":1,"per_page":50}}`)
		l.get("/suppressed-emails?filter=email:bob@example.org").is(200, `{"data":[{"email":"bob@example.org","…":0}],"…":0}`)
		l.delete("/suppressed-emails/ADA@example.org").is(204, "")
		l.delete("/suppressed-emails/"+ada).problem(404, "not_found", "path.email")
		want(l, "suppressed", l.isSuppressed(ada), false)
		l.submit(ada, "").is(201, `{"status":"queued","…":0}`)
	}))
	t.Run("addresses and patterns", inLab(func(l *lab) {
		proves(l, "states/address/suppressed/fires", "resources/suppression/event", "events/SuppressedEmail.Added",
			"suppressed/api", "suppressed/data", "decision/19/event", "envelope/user-null", "decision/19/patterns")
		l.listen("SuppressedEmail.Added")
		for _, email := range []string{ada, "*@example.com", "abuse@*"} {
			l.post("/suppressed-emails", f(`{"email":%q}`, email)).is(201, f(`{"email":%q,"…":0}`, email))
			l.envelope(
				l.fires("SuppressedEmail.Added")[0],
				f(`{"id":"<uuid>","event":"SuppressedEmail.Added","account_id":1204,"account_lineage":null,"ip":"<string>",
					"user":%s,"created_on":"<unix>","data":{"suppressedEmail":{"email":%q}}}`, noUser, email),
			)
		}
		for email, status := range map[string]string{
			"bob@example.com": "rejected", "Bob@EXAMPLE.com": "rejected", "abuse@example.org": "rejected", "Abuse@example.net": "rejected",
			"bob@mail.example.com": "queued", "bob@example.org": "queued", "no-abuse@example.org": "queued",
		} {
			l.submit(email, "").is(201, f(`{"status":%q,"…":0}`, status))
		}
		l.delete("/suppressed-emails/*@example.com").is(204, "")
		l.submit("bob@example.com", "").is(201, `{"status":"queued","…":0}`)
		l.post("/suppressed-emails", `{"email":"ada@*.org"}`).problem(422, "value_error", "body.email")
	}))
}
