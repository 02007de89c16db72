package conformance_test

import (
	"testing"
	"time"
)

const design = `{"name":"Shipped","content":{"html":"<p>Hi {{name}}</p>","text":"Hi {{name}}"}}`

func TestTemplates(t *testing.T) {
	inLab(func(l *lab) {
		proves(l, "endpoints/templates/create", "decision/9/get", "resources/template/template_id", "resources/template/name", "resources/template/content.html",
			"resources/template/content.text", "decision/9/fields", "decision/2/created", "decision/3/id-names", "decision/3/unix-seconds",
			"endpoints/templates/list", "endpoints/templates/render", "decision/9/render", "decision/9/charset")
		created := l.post("/templates", design).is(201, `{"template_id":"<integer>","name":"Shipped",
				"content":{"html":"<p>Hi {{name}}</p>","text":"Hi {{name}}"},"created_on":"<unix>","updated_on":"<unix>"}`)
		other := l.post("/templates", `{"name":"Other","content":{"html":"<p>Grüß dich {{ name }}, {{order}}!</p>"}}`).ok()
		path := f("/templates/%d", other.int("template_id"))
		l.get(f("/templates/%d", created.int("template_id"))).is(200, string(created.raw))
		l.get(path).is(200, string(other.raw))
		l.get("/templates").is(200, f(`{"data":[%s,%s],"pagination":{"page":1,"per_page":50}}`, created.raw, other.raw))
		res := l.get(path + "/render").ok()
		want(l, "the preview", string(res.raw), "<p>Grüß dich , !</p>")
		want(l, "the content type", res.header.Get("Content-Type"), "text/html; charset=utf-8")
		l.post("/templates", `{"content":{"html":"x"}}`).problem(422, "missing", "body.name")
		l.post("/templates", `{"name":"A","content":{"html":1}}`).problem(422, "value_error", "body.content.html")
	})(t)
}

func TestTemplateUpdates(t *testing.T) {
	inLab(func(l *lab) {
		proves(l, "endpoints/templates/update", "resources/template/partial-update", "decision/9/patch", "decision/9/null-text")
		created := l.post("/templates", design)
		path := f("/templates/%d", created.int("template_id"))
		time.Sleep(time.Minute)
		for change, shows := range map[string]string{
			`{"name":"New"}`:                    `"name":"New","content":{"html":"<p>Hi {{name}}</p>","text":"Hi {{name}}"}`,
			`{"content":{"html":"<b>new</b>"}}`: `"name":"Shipped","content":{"html":"<b>new</b>","text":"Hi {{name}}"}`,
			`{"content":{"text":"new"}}`:        `"name":"Shipped","content":{"html":"<p>Hi {{name}}</p>","text":"new"}`,
			`{"content":{"text":null}}`:         `"name":"Shipped","content":{"html":"<p>Hi {{name}}</p>"}`,
			`{}`:                                `"name":"Shipped","content":{"html":"<p>Hi {{name}}</p>","text":"Hi {{name}}"}`,
		} {
			updated := l.patch(path, change).is(200, f(`{"template_id":%d,%s,"created_on":%d,"updated_on":%d}`,
				created.int("template_id"), shows, time.Now().Add(-time.Minute).Unix(), time.Now().Unix()))
			l.get(path).is(200, string(updated.raw))
			l.patch(path, design).ok()
		}
		l.patch(path, `{"name":""}`).problem(422, "value_error", "body.name")
		l.patch(path, `{"content":{"html":null}}`).problem(422, "value_error", "body.content.html")
	})(t)
}

func TestTemplatesInUse(t *testing.T) {
	t.Run("delete", inLab(func(l *lab) {
		proves(l, "endpoints/templates/delete", "decision/36/deleted")
		path := f("/templates/%d", l.post("/templates", design).int("template_id"))
		l.delete(path).is(204, "")
		for _, res := range []reply{l.delete(path), l.get(path), l.get(path + "/render"), l.patch(path, `{}`)} {
			res.problem(404, "not_found", "path.template_id")
		}
		want(l, "templates left", len(l.get("/templates").column("name")), 0)
	}))
	t.Run("used by campaigns and by emails", inLab(func(l *lab) {
		proves(l, "service/template-users", "service/merge-tags", "resources/email/content.template_id")
		list := l.list()
		l.post(f("/lists/%d/contacts", list), f(`{"email":%q,"custom_attributes":[{"name":"name","value":"Ada"}]}`, ada)).ok()
		template := l.post("/templates", design).int("template_id")
		content := f(`{"subject":"Dear {{name}}","template_id":%d}`, template)
		email := f(`{"email":%q,"sender":%s,"content":%s}`, ada, shop, content)
		campaign := l.post("/campaigns", f(`{"name":"A","list_id":%d,"sender":%s,`+
			`"content":%s}`, list, shop, content)).int("campaign_id")
		for name, send := range map[string]func() reply{
			"campaign":      func() reply { return l.post(f("/campaigns/%d/schedule", campaign), "") },
			"email API":     func() reply { return l.post("/v2/emails", email) },
			"transactional": func() reply { return l.post("/emails", email) },
		} {
			send().ok()
			l.deliveries()
			m := l.lastMessage()
			want(l, name, m.Subject+"|"+m.HTML+"|"+m.Text, "Dear Ada|<p>Hi Ada</p>|Hi Ada")
		}
		l.patch(f("/templates/%d", template), `{"content":{"html":"changed {{name}}"}}`).ok()
		l.post("/v2/emails", email).ok()
		want(l, "after a change", l.lastMessage().HTML, "changed Ada")
		l.patch(f("/templates/%d", template), `{"content":{"html":"changed again"}}`).ok()
		want(l, "what was sent before", l.lastMessage().HTML, "changed Ada")
	}))
	t.Run("deleted, it leaves its content", inLab(func(l *lab) {
		proves(l, "decision/9/deleted")
		list := l.list()
		content := f(`{"subject":"S","template_id":%d}`, l.post("/templates", design).int("template_id"))
		holds := f(`"name":"A","list_id":%d,"sender":%s,"content":%s`, list, shop, content)
		campaign := l.post("/campaigns", `{`+holds+`}`).int("campaign_id")
		workflow := l.post("/workflows", `{`+holds+`,"trigger":"subscribed"}`).int("workflow_id")
		l.post(f("/workflows/%d/activate", workflow), "").ok()
		l.delete(f("/templates/%d", 2)).is(204, "")
		l.contact(list, ada)
		want(l, "by the workflow", l.lastMessage().HTML, "<p>Hi </p>")
		l.post(f("/campaigns/%d/schedule", campaign), "").ok()
		l.deliveries()
		want(l, "by the campaign", l.lastMessage().HTML, "<p>Hi </p>")
		want(l, "messages", len(l.srv.Outbox()), 2)
	}))
}

func TestLists(t *testing.T) {
	t.Run("create, get and list", inLab(func(l *lab) {
		proves(l, "endpoints/lists/create", "resources/list/list_id", "resources/list/name", "decision/10/fields", "decision/2/created", "decision/3/id-names",
			"decision/3/unix-seconds", "decision/10/get")
		created := l.post("/lists", `{"name":"News"}`).
			is(201, `{"list_id":"<integer>","name":"News","policy_accepted":false,"created_on":"<unix>"}`)
		l.get(f("/lists/%d", created.int("list_id"))).is(200, string(created.raw))
		other := l.list()
		l.get("/lists").is(200, f(`{"data":[%s,{"list_id":%d,"policy_accepted":true,"…":0}],"pagination":{"page":1,"per_page":50}}`, created.raw, other))
		l.post("/lists", `{"name":""}`).problem(422, "value_error", "body.name")
	}))
	t.Run("the id names the list in all contact operations", inLab(func(l *lab) {
		proves(l, "resources/list/list_id-in-paths", "service/lists")
		a, b := l.list(), l.list()
		onA, onB := l.contact(a, ada), l.contact(b, ada)
		want(l, "two contacts of one address", onA != onB, true)
		for _, res := range []reply{
			l.get(f("/lists/%d/contacts/%d", b, onA)),
			l.patch(f("/lists/%d/contacts/%d", b, onA), `{}`),
			l.delete(f("/lists/%d/contacts/%d", b, onA)),
			l.post(f("/lists/%d/contacts/%d/unsubscribe", b, onA), ""),
		} {
			res.problem(404, "not_found", "path.contact_id")
		}
		want(l, "on the list", f("%v", l.get(f("/lists/%d/contacts", a)).column("id")), f("[%d]", onA))
	}))
	t.Run("the policy", inLab(func(l *lab) {
		proves(l, "endpoints/lists/accept-policy", "decision/2/no-content", "states/list/accept-policy", "states/list/accept-policy/allows",
			"decision/10/twice", "service/policy-first", "states/list/no-policy", "errors/policy", "decision/17/policy", "decision/23/policy")
		list := l.closedList()
		campaign := l.campaign(list)
		l.contact(list, ada)
		l.submit(ada, f(`,"list_id":%d`, list)).problem(409, "policy_not_accepted", "body.list_id")
		l.post(f("/campaigns/%d/schedule", campaign), "").problem(409, "policy_not_accepted", "path.campaign_id")
		workflow := l.post("/workflows",
			f(`{"name":"A","list_id":%d,"trigger":"subscribed","sender":%s,"content":%s}`, list, shop, greeting)).int("workflow_id")
		l.post(f("/workflows/%d/activate", workflow), "").problem(409, "policy_not_accepted", "path.workflow_id")
		l.deliveries()
		want(l, "recipients", l.recipients(), "")
		for range 2 {
			l.post(f("/lists/%d/accept-policy", list), "").is(204, "")
			l.get(f("/lists/%d", list)).is(200, `{"policy_accepted":true,"…":0}`)
		}
		l.post(f("/campaigns/%d/schedule", campaign), "").is(200, `{"…":0}`)
		l.deliveries()
		want(l, "recipients", l.recipients(), ada)
	}))
}
