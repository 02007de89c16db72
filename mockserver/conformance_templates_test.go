package mockserver_test

import (
	"net/http"
	"testing"
	"time"
)

const design = `{"name":"Shipped","content":{"html":"<p>Hi {{name}}</p>","text":"Hi {{name}}"}}`

func TestConformanceTemplates(t *testing.T) {
	conform(t, []rule{
		{"create", "endpoints/templates/create resources/template/name resources/template/content.html resources/template/content.text decision/9/fields", func(w *world) {
			created := w.post("/templates", design).is(201, `{"template_id":"<integer>","name":"Shipped",
				"content":{"html":"<p>Hi {{name}}</p>","text":"Hi {{name}}"},"created_on":"<unix>","updated_on":"<unix>"}`)
			w.get(f("/templates/%d", created.int("template_id"))).is(200, string(created.raw))
			w.post("/templates", `{"content":{"html":"x"}}`).problem(422, "missing", "body.name")
			w.post("/templates", `{"name":""}`).problem(422, "value_error", "body.name")
			w.post("/templates", `{"name":"A","content":{"html":1}}`).problem(422, "value_error", "body.content.html")
		}},
		{"list", "endpoints/templates/list", func(w *world) {
			for _, name := range []string{"A", "B", "C"} {
				w.post("/templates", f(`{"name":%q}`, name)).ok()
			}
			want(w, "page 2", f("%v", w.get("/templates?page=2&per_page=2").column("name")), "[C]")
			w.get("/templates?page=1&per_page=1").is(200, `{"data":[{"template_id":"<integer>","name":"A","…":0}],"…":0}`)
		}},
		{"get", "decision/9/get resources/template/template_id", func(w *world) {
			a, b := w.post("/templates", design), w.post("/templates", `{"name":"Other"}`)
			w.get(f("/templates/%d", a.int("template_id"))).is(200, string(a.raw))
			w.get(f("/templates/%d", b.int("template_id"))).is(200, string(b.raw))
		}},
		{"render", "endpoints/templates/render decision/9/render", func(w *world) {
			id := w.post("/templates", `{"name":"A","content":{"html":"<p>Hi {{ name }}, {{order}}!</p>","text":"x"}}`).int("template_id")
			res := w.get(f("/templates/%d/render", id)).ok()
			want(w, "the preview", string(res.raw), "<p>Hi , !</p>")
			if kind := res.header.Get("Content-Type"); kind != "text/html" && kind != "text/html; charset=utf-8" {
				w.Errorf("the content type is %q", kind)
			}
		}},
		{"update", "endpoints/templates/update", func(w *world) {
			id := w.post("/templates", design).int("template_id")
			time.Sleep(time.Minute)
			w.patch(f("/templates/%d", id), `{"name":"New","content":{"html":"<b>new</b>","text":"new"}}`).
				is(200, f(`{"template_id":%d,"name":"New","content":{"html":"<b>new</b>","text":"new"},"created_on":%d,"updated_on":%d}`,
					id, time.Now().Add(-time.Minute).Unix(), time.Now().Unix()))
			w.patch(f("/templates/%d", id), `{"name":""}`).problem(422, "value_error", "body.name")
		}},
		{"an update is partial", "resources/template/partial-update decision/9/patch", func(w *world) {
			path := f("/templates/%d", w.post("/templates", design).int("template_id"))
			w.patch(path, `{"name":"New"}`).
				is(200, `{"name":"New","content":{"html":"<p>Hi {{name}}</p>","text":"Hi {{name}}"},"…":0}`)
			w.patch(path, `{"content":{"html":"<b>new</b>"}}`).
				is(200, `{"name":"New","content":{"html":"<b>new</b>","text":"Hi {{name}}"},"…":0}`)
			w.patch(path, `{"content":{"text":"new"}}`).is(200, `{"name":"New","content":{"html":"<b>new</b>","text":"new"},"…":0}`)
			unchanged := w.patch(path, `{}`).is(200, `{"name":"New","content":{"html":"<b>new</b>","text":"new"},"…":0}`)
			w.get(path).is(200, string(unchanged.raw))
		}},
		{"null removes the text part", "decision/9/null-text", func(w *world) {
			path := f("/templates/%d", w.post("/templates", design).int("template_id"))
			w.patch(path, `{"content":{"text":null}}`).is(200, `{"content":{"html":"<p>Hi {{name}}</p>"},"…":0}`)
			w.patch(path, `{"content":{"html":null}}`).problem(422, "value_error", "body.content.html")
		}},
		{"delete", "endpoints/templates/delete decision/36/deleted", func(w *world) {
			path := f("/templates/%d", w.post("/templates", design).int("template_id"))
			w.delete(path).is(204, "")
			for _, res := range []reply{w.delete(path), w.get(path), w.get(path + "/render"), w.patch(path, `{}`)} {
				res.problem(404, "not_found", "path.template_id")
			}
			want(w, "templates left", len(w.get("/templates").column("name")), 0)
		}},
		{"used by campaigns and by emails", "service/template-users service/merge-tags resources/email/content.template_id", func(w *world) {
			list := w.list()
			w.post(f("/lists/%d/contacts", list), f(`{"email":%q,"custom_attributes":[{"name":"name","value":"Ada"}]}`, ada)).ok()
			template := w.post("/templates", design).int("template_id")
			content := f(`{"subject":"Dear {{name}}","template_id":%d}`, template)
			email := f(`{"email":%q,"sender":%s,"content":%s}`, ada, shop, content)
			campaign := w.post("/campaigns", f(`{"name":"A","list_id":%d,"sender":%s,"content":%s}`, list, shop, content)).int("campaign_id")
			for name, send := range map[string]func() reply{
				"campaign":      func() reply { return w.post(f("/campaigns/%d/schedule", campaign), "") },
				"email API":     func() reply { return w.post("/v2/emails", email) },
				"transactional": func() reply { return w.post("/emails", email) },
			} {
				send().ok()
				w.deliveries()
				m := w.lastMessage()
				want(w, name, m.Subject+"|"+m.HTML+"|"+m.Text, "Dear Ada|<p>Hi Ada</p>|Hi Ada")
			}
			w.patch(f("/templates/%d", template), `{"content":{"html":"changed {{name}}"}}`).ok()
			w.post("/v2/emails", email).ok()
			want(w, "after a change", w.lastMessage().HTML, "changed Ada")
			w.post("/v2/emails", f(`{"email":%q,"sender":%s,"content":{"subject":"x","template_id":1}}`, ada, shop)).
				problem(404, "not_found", "body.content.template_id")
		}},
	})
}

func TestConformanceLists(t *testing.T) {
	conform(t, []rule{
		{"create", "endpoints/lists/create resources/list/list_id resources/list/name decision/10/fields", func(w *world) {
			created := w.post("/lists", `{"name":"News"}`).
				is(201, `{"list_id":"<integer>","name":"News","policy_accepted":false,"created_on":"<unix>"}`)
			w.get(f("/lists/%d", created.int("list_id"))).is(200, string(created.raw))
			w.post("/lists", `{}`).problem(422, "missing", "body.name")
			w.post("/lists", `{"name":""}`).problem(422, "value_error", "body.name")
		}},
		{"get and list", "decision/10/get", func(w *world) {
			a, b := w.closedList(), w.list()
			w.get(f("/lists/%d", b)).is(200, f(`{"list_id":%d,"policy_accepted":true,"…":0}`, b))
			w.get("/lists").is(200, f(`{"data":[{"list_id":%d,"…":0},{"list_id":%d,"…":0}],"pagination":{"page":1,"per_page":50}}`, a, b))
		}},
		{"the id names the list in all contact operations", "resources/list/list_id-in-paths service/lists", func(w *world) {
			a, b := w.list(), w.list()
			onA, onB := w.contact(a, ada), w.contact(b, ada)
			want(w, "two contacts of one address", onA != onB, true)
			for _, res := range []reply{
				w.get(f("/lists/%d/contacts/%d", b, onA)),
				w.patch(f("/lists/%d/contacts/%d", b, onA), `{}`),
				w.delete(f("/lists/%d/contacts/%d", b, onA)),
				w.post(f("/lists/%d/contacts/%d/unsubscribe", b, onA), ""),
			} {
				res.problem(404, "not_found", "path.contact_id")
			}
			want(w, "on the list", f("%v", w.get(f("/lists/%d/contacts", a)).column("id")), f("[%d]", onA))
			w.post(f("/lists/%d/contacts", b+1000), f(`{"email":%q}`, ada)).problem(404, "not_found", "path.list_id")
			w.post(f("/lists/%d/contacts/import", b+1000), `{"contacts":[]}`).problem(404, "not_found", "path.list_id")
		}},
		{"accept the policy", "endpoints/lists/accept-policy states/list/accept-policy states/list/accept-policy/allows decision/10/twice", func(w *world) {
			list := w.closedList()
			campaign := w.campaign(list)
			w.contact(list, ada)
			w.post(f("/campaigns/%d/schedule", campaign), "").problem(409, "policy_not_accepted", "path.campaign_id")
			for range 2 {
				w.post(f("/lists/%d/accept-policy", list), "").is(204, "")
				w.get(f("/lists/%d", list)).is(200, `{"policy_accepted":true,"…":0}`)
			}
			w.post(f("/campaigns/%d/schedule", campaign), "").is(200, `{"…":0}`)
			w.deliveries()
			want(w, "recipients", w.recipients(), ada)
		}},
		{"no sending before the policy", "service/policy-first states/list/no-policy errors/policy decision/17/policy", func(w *world) {
			list := w.closedList()
			w.contact(list, ada)
			w.submit(ada, f(`,"list_id":%d`, list)).problem(409, "policy_not_accepted", "body.list_id")
			w.post(f("/campaigns/%d/schedule", w.campaign(list)), "").problem(409, "policy_not_accepted", "path.campaign_id")
			workflow := w.post("/workflows", f(`{"name":"A","list_id":%d,"trigger":"subscribed","sender":%s,"content":%s}`, list, shop, greeting))
			w.post(f("/workflows/%d/activate", workflow.int("workflow_id")), "").problem(409, "policy_not_accepted", "path.workflow_id")
			w.contact(list, "bob@example.org")
			w.deliveries()
			want(w, "recipients", w.recipients(), "")
			want(w, "method of the list", w.do(http.MethodDelete, f("/lists/%d", list), "").status, 405)
		}},
	})
}
