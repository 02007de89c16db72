package mockserver_test

import (
	"strings"
	"testing"
	"time"
)

func TestConformanceCampaigns(t *testing.T) {
	conform(t, []rule{
		{"create, list and get", "service/campaigns-workflows decision/17/endpoints decision/17/fields resources/campaign/campaign_id", func(w *world) {
			list := w.list()
			created := w.post("/campaigns", f(`{"name":"Spring","list_id":%d,"sender":%s,"content":{"subject":"S","html":"<p>H</p>","text":"T"}}`, list, shop)).
				is(201, f(`{"campaign_id":"<integer>","name":"Spring","list_id":%d,"sender":%s,"content":{"subject":"S","html":"<p>H</p>","text":"T"},
					"status":"incomplete","created_on":"<unix>","updated_on":"<unix>"}`, list, shop))
			w.get(f("/campaigns/%d", created.int("campaign_id"))).is(200, string(created.raw))
			w.get("/campaigns").is(200, `{"data":[`+string(created.raw)+`],"pagination":{"page":1,"per_page":50}}`)
			w.post("/campaigns", `{}`).problem(422, "missing", "body.name")
			w.post("/campaigns", `{"name":""}`).problem(422, "value_error", "body.name")
		}},
		{"a template or inline HTML", "endpoints/campaigns/update endpoints/campaigns/template-reference resources/campaign/content service/template-users", func(w *world) {
			template := w.post("/templates", design).int("template_id")
			path := f("/campaigns/%d", w.campaign(w.list()))
			w.patch(path, f(`{"content":{"template_id":%d}}`, template)).
				is(200, f(`{"name":"Spring","content":{"subject":"Hello {{name}}","template_id":%d},"…":0}`, template))
			w.patch(path, `{"content":{"html":"<b>x</b>"}}`).is(200, `{"content":{"subject":"Hello {{name}}","html":"<b>x</b>"},"…":0}`)
			w.patch(path, `{"content":{"template_id":999999}}`).problem(404, "not_found", "body.content.template_id")
			w.post("/campaigns", f(`{"name":"A","content":{"template_id":%d}}`, template)).is(201, f(`{"content":{"template_id":%d},"…":0}`, template))
			w.post("/campaigns", f(`{"name":"A","content":{"template_id":%d,"html":"x"}}`, template)).problem(422, "value_error", "body.content.template_id")
		}},
		{"an update is partial", "endpoints/campaigns/update", func(w *world) {
			list := w.list()
			path := f("/campaigns/%d", w.campaign(list))
			other := w.list()
			w.patch(path, `{"name":"Autumn"}`).is(200, f(`{"name":"Autumn","list_id":%d,"content":%s,"sender":%s,"…":0}`, list, greeting, shop))
			w.patch(path, f(`{"list_id":%d,"sender":{"email":"b@shop.example"}}`, other)).is(200, f(`{"name":"Autumn","list_id":%d,"content":%s,"…":0}`, other, greeting))
			w.patch(path, `{"content":{"text":null}}`).is(200, `{"content":{"subject":"Hello {{name}}","html":"<p>Hello {{name}}</p>"},"…":0}`)
			w.patch(path, `{"name":""}`).problem(422, "value_error", "body.name")
		}},
		{"send now", "decision/17/scheduled_for decision/17/status events/Campaign.Sent decision/30/Campaign.Sent events/Campaign.Scheduled decision/30/Campaign.Scheduled decision/29", func(w *world) {
			w.listen("Campaign.Sent", "Campaign.Scheduled")
			list := w.list()
			w.contact(list, ada)
			campaign := w.campaign(list)
			w.get(f("/campaigns/%d", campaign)).is(200, `{"status":"incomplete","…":0}`)
			w.post(f("/campaigns/%d/schedule", campaign), "").is(200, `{"scheduled_for":"<unix>","…":0}`)
			fired := w.fires("Campaign.Scheduled", "Campaign.Sent")
			w.envelope(fired[0], f(`{"event":"Campaign.Scheduled","timestamp":"<iso>","data":{"campaign_id":"%d","list_id":"%d","name":"Spring","scheduled_for":"<iso>"}}`, campaign, list))
			w.envelope(fired[1], f(`{"event":"Campaign.Sent","timestamp":"<iso>","data":{"campaign_id":"%d","list_id":"%d","name":"Spring","sent_at":"<iso>"}}`, campaign, list))
			w.get(f("/campaigns/%d", campaign)).is(200, `{"status":"delivered","…":0}`)
			want(w, "recipients", w.recipients(), ada)
		}},
		{"delivering in between", "decision/17/status", func(w *world) {
			list := w.list()
			w.contact(list, ada)
			campaign := w.campaign(list)
			path := f("/campaigns/%d", campaign)
			w.post(path+"/schedule", "").ok()
			time.Sleep(500 * time.Microsecond)
			w.get(path).is(200, `{"status":"delivering","…":0}`)
			w.patch(path, `{"name":"Late"}`).problem(409, "invalid_state", "path.campaign_id")
			w.post(path+"/schedule", "").problem(409, "invalid_state", "path.campaign_id")
			want(w, "messages", len(w.srv.Outbox()), 0)
			w.deliveries()
			w.get(path).is(200, `{"status":"delivered","…":0}`)
			want(w, "recipients", w.recipients(), ada)
		}},
		{"send later", "decision/17/scheduled_for decision/17/status events/Campaign.Scheduled", func(w *world) {
			w.listen("Campaign.Sent", "Campaign.Scheduled")
			list := w.list()
			w.contact(list, ada)
			campaign := w.campaign(list)
			at := time.Now().Add(time.Hour)
			w.post(f("/campaigns/%d/schedule", campaign), f(`{"scheduled_for":%d}`, at.Unix())).is(200, f(`{"status":"scheduled","scheduled_for":%d,"…":0}`, at.Unix()))
			w.data(w.fires("Campaign.Scheduled")[0], f(`{"scheduled_for":%q,"…":0}`, at.UTC().Format(time.RFC3339)))
			time.Sleep(59 * time.Minute)
			w.fires()
			w.get(f("/campaigns/%d", campaign)).is(200, `{"status":"scheduled","…":0}`)
			w.contact(list, "late@example.org")
			time.Sleep(time.Minute)
			w.fires("Campaign.Sent")
			w.get(f("/campaigns/%d", campaign)).is(200, `{"status":"delivered","…":0}`)
			want(w, "recipients", w.recipients(), ada+" late@example.org")
		}},
		{"not twice, and not without content", "decision/7/409 decision/17/status", func(w *world) {
			list := w.list()
			path := f("/campaigns/%d", w.campaign(list))
			w.post(path+"/schedule", "").ok()
			w.deliveries()
			w.post(path+"/schedule", "").problem(409, "invalid_state", "path.campaign_id")
			w.patch(path, `{"name":"Late"}`).problem(409, "invalid_state", "path.campaign_id")
			for _, body := range []string{
				`{"name":"A"}`,
				f(`{"name":"A","list_id":%d,"content":%s}`, list, greeting),
				f(`{"name":"A","list_id":%d,"sender":%s}`, list, shop),
				f(`{"name":"A","list_id":%d,"sender":%s,"content":{"subject":"S"}}`, list, shop),
				f(`{"name":"A","sender":%s,"content":%s}`, shop, greeting),
			} {
				w.post(f("/campaigns/%d/schedule", w.post("/campaigns", body).int("campaign_id")), "").problem(409, "invalid_state", "path.campaign_id")
			}
			w.post(path+"/schedule", `{"scheduled_for":"tomorrow"}`).problem(422, "value_error", "body.scheduled_for")
		}},
		{"to active contacts alone", "states/list/accept-policy/allows resources/suppression/listed", func(w *world) {
			list := w.list()
			for i, status := range []string{"active", "pending", "unsubscribed", "deleted", "spam", "bounced", "suppressed"} {
				w.member(list, f("c%d-%s@example.org", i, status), status)
			}
			before := len(w.srv.Outbox())
			w.post(f("/campaigns/%d/schedule", w.campaign(list)), "").ok()
			w.deliveries()
			var to []string
			for _, m := range w.srv.Outbox()[before:] {
				to = append(to, m.To)
			}
			want(w, "recipients", strings.Join(to, " "), "c0-active@example.org")
		}},
	})
}

func TestConformanceWorkflows(t *testing.T) {
	conform(t, []rule{
		{"create, list and get", "service/campaigns-workflows decision/18/endpoints decision/18/fields", func(w *world) {
			list := w.list()
			created := w.post("/workflows", f(`{"name":"Welcome","list_id":%d,"trigger":"subscribed","sender":%s,"content":%s}`, list, shop, greeting)).
				is(201, f(`{"workflow_id":"<integer>","name":"Welcome","list_id":%d,"trigger":"subscribed","sender":%s,"content":%s,"status":"inactive","created_on":"<unix>"}`, list, shop, greeting))
			w.get(f("/workflows/%d", created.int("workflow_id"))).is(200, string(created.raw))
			w.get("/workflows").is(200, `{"data":[`+string(created.raw)+`],"pagination":{"page":1,"per_page":50}}`)
			w.post("/workflows", f(`{"name":"A","list_id":%d,"trigger":"birthday","sender":%s,"content":%s}`, list, shop, greeting)).problem(422, "value_error", "body.trigger")
			w.post("/workflows", `{}`).problem(422, "missing", "body.name").problem(422, "missing", "body.list_id").problem(422, "missing", "body.trigger")
			w.post("/workflows", f(`{"name":"A","list_id":999999,"trigger":"subscribed","sender":%s,"content":%s}`, shop, greeting)).problem(404, "not_found", "body.list_id")
		}},
		{"activate and deactivate", "decision/18/endpoints decision/36/nothing", func(w *world) {
			path := f("/workflows/%d", w.workflow(w.list()))
			for _, step := range []struct{ action, status string }{
				{"activate", "active"}, {"deactivate", "inactive"}, {"deactivate", "inactive"}, {"activate", "active"},
			} {
				w.post(path+"/"+step.action, "").is(204, "")
				w.get(path).is(200, f(`{"status":%q,"…":0}`, step.status))
			}
		}},
		{"an active one sends to each contact added", "decision/18/sends", func(w *world) {
			list, other := w.list(), w.list()
			w.contact(list, "before@example.org")
			workflow := w.workflow(list)
			w.contact(other, "other@example.org")
			w.post(f("/lists/%d/contacts", list), f(`{"email":%q,"custom_attributes":[{"name":"name","value":"Ada"}]}`, ada)).ok()
			m := w.lastMessage()
			want(w, "the message", m.To+"|"+m.Subject+"|"+m.HTML+"|"+m.Text, ada+"|Hello Ada|<p>Hello Ada</p>|Hello Ada")
			w.post(f("/lists/%d/contacts/import", list), `{"contacts":[{"email":"bob@example.org"},{"email":"before@example.org"}]}`).ok()
			want(w, "recipients", w.recipients(), ada+" bob@example.org")
			w.member(list, "pending@example.org", "pending")
			want(w, "the confirmation only", w.recipients(), ada+" bob@example.org pending@example.org")
			w.confirm(w.lastMessage().ID)
			want(w, "then the welcome", w.recipients(), ada+" bob@example.org pending@example.org pending@example.org")
			w.post(f("/workflows/%d/deactivate", workflow), "").ok()
			w.contact(list, "after@example.org")
			want(w, "not any more", strings.Contains(w.recipients(), "after@example.org"), false)
		}},
		{"nothing is sent to a suppressed address", "resources/suppression/listed", func(w *world) {
			list := w.list()
			w.workflow(list)
			w.post("/suppressed-emails", `{"email":"*@example.org"}`).ok()
			w.contact(list, ada)
			w.member(list, "pending@example.org", "pending")
			want(w, "recipients", w.recipients(), "")
		}},
	})
}

func TestConformanceSuppressionList(t *testing.T) {
	conform(t, []rule{
		{"add, list and remove", "decision/19/endpoints resources/suppression/listed states/address/suppressed", func(w *world) {
			added := w.post("/suppressed-emails", f(`{"email":%q}`, ada)).is(201, `{"email":"ada@example.org","created_on":"<unix>"}`)
			w.post("/suppressed-emails", `{"email":"bob@example.org"}`).ok()
			w.get("/suppressed-emails").is(200, `{"data":[`+string(added.raw)+`,{"email":"bob@example.org","…":0}],"pagination":{"page":1,"per_page":50}}`)
			w.get("/suppressed-emails?filter=email:bob@example.org").is(200, `{"data":[{"email":"bob@example.org","…":0}],"…":0}`)
			w.get("/suppressed-emails?filter=email:carl@example.org").is(200, `{"data":[],"…":0}`)
			w.delete("/suppressed-emails/ADA@example.org").is(204, "")
			w.delete("/suppressed-emails/"+ada).problem(404, "not_found", "path.email")
			want(w, "suppressed", w.isSuppressed(ada), false)
			w.submit(ada, "").is(201, `{"status":"queued","…":0}`)
		}},
		{"its event", "states/address/suppressed/fires resources/suppression/event events/SuppressedEmail.Added suppressed/api suppressed/data decision/19/event envelope/user-null", func(w *world) {
			w.listen("SuppressedEmail.Added")
			for _, email := range []string{ada, "*@example.com", "abuse@*"} {
				w.post("/suppressed-emails", f(`{"email":%q}`, email)).is(201, f(`{"email":%q,"…":0}`, email))
				w.envelope(w.fires("SuppressedEmail.Added")[0], f(`{"id":"<uuid>","event":"SuppressedEmail.Added","account_id":1204,"account_lineage":null,"ip":"<string>",
					"user":%s,"created_on":"<unix>","data":{"suppressedEmail":{"email":%q}}}`, noUser, email))
			}
		}},
		{"domains and local parts", "decision/19/patterns", func(w *world) {
			for _, pattern := range []string{"*@example.com", "abuse@*"} {
				w.post("/suppressed-emails", f(`{"email":%q}`, pattern)).is(201, f(`{"email":%q,"…":0}`, pattern))
			}
			for email, status := range map[string]string{
				"ada@example.com": "rejected", "Ada@EXAMPLE.com": "rejected", "abuse@example.org": "rejected", "Abuse@example.net": "rejected",
				"ada@mail.example.com": "queued", "ada@example.org": "queued", "no-abuse@example.org": "queued",
			} {
				w.submit(email, "").is(201, f(`{"status":%q,"…":0}`, status))
			}
			w.delete("/suppressed-emails/*@example.com").is(204, "")
			w.submit("ada@example.com", "").is(201, `{"status":"queued","…":0}`)
		}},
		{"what is neither", "decision/19/patterns", func(w *world) {
			for _, email := range []string{"ada", "*@*", "*", "@example.org", "ada@*.org", "ada@"} {
				res := w.post("/suppressed-emails", f(`{"email":%q}`, email))
				want(w, email, res.status, 422)
			}
		}},
	})
}
