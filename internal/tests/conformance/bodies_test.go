package conformance_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestBodies(t *testing.T) {
	t.Run("paths are relative to the base URL", inLab(func(l *lab) {
		proves(l, "http/base-url", "versioning/no-prefix")
		mounted := http.StripPrefix("/tenant/7", l.srv)
		for path, status := range map[string]int{"/tenant/7/lists": 200, "/tenant/7/v2/lists": 404, "/lists": 404} {
			req := httptest.NewRequestWithContext(l.Context(), http.MethodGet, path, nil)
			req.Header.Set("Authorization", "Bearer "+owner)
			res := httptest.NewRecorder()
			mounted.ServeHTTP(res, req)
			want(l, path, res.Code, status)
		}
		for _, r := range routes(l) {
			want(l, r.path+" has a prefix", strings.HasPrefix(r.path, "/v2/"), strings.HasPrefix(r.path, "/v2/emails"))
		}
	}))
	t.Run("bodies are JSON", inLab(func(l *lab) {
		proves(l, "http/json-bodies", "decision/3/bare")
		created := l.post("/lists", ` {"name" : "News"} `).is(201, `{"list_id":"<integer>","name":"News","…":0}`)
		l.get(f("/lists/%d", created.int("list_id"))).is(200, string(created.raw))
	}))
	t.Run("a creation answers 201 with the resource", inLab(func(l *lab) {
		proves(l, "decision/2/created", "decision/3/id-names")
		list := l.list()
		for _, test := range []struct{ path, body, id string }{
			{path: "/templates", body: `{"name":"A"}`, id: "template_id"},
			{path: "/lists", body: `{"name":"A"}`, id: "list_id"},
			{path: f("/lists/%d/contacts", list), body: `{"email":"bob@example.org"}`, id: "id"},
			{path: "/campaigns", body: `{"name":"A"}`, id: "campaign_id"},
			{
				path: "/workflows",
				body: f(`{"name":"A","list_id":%d,"trigger":"subscribed","sender":%s,"content":%s}`, list, shop, greeting),
				id:   "workflow_id",
			},
		} {
			l.post(test.path, test.body).is(201, f(`{"%s":"<integer>","…":0}`, test.id))
		}
		l.post("/webhooks", `{"url":"http://hook.test/","events":["Email.Bounced"]}`).is(201,
			`{"webhook_id":"<string>","…":0}`)
		l.post("/suppressed-emails", `{"email":"no@example.org"}`).is(201, `{"email":"no@example.org","…":0}`)
		l.submit(ada, "").is(201, `{"id":"<string>","…":0}`)
		l.post("/emails", submission(ada, "")).is(201, `{"id":"<string>"}`)
	}))
	t.Run("a read, an update and an import answer 200", inLab(func(l *lab) {
		proves(l, "decision/2/ok")
		list := l.list()
		contact := l.contact(list, ada)
		l.get(f("/lists/%d/contacts/%d", list, contact)).is(200, `{"…":0}`)
		l.patch(f("/lists/%d/contacts/%d", list, contact), `{}`).is(200, `{"…":0}`)
		l.post(f("/lists/%d/contacts/import", list), `{"contacts":[]}`).is(200, `{"imported":0,"updated":0,"errors":[]}`)
		l.post(f("/campaigns/%d/schedule", l.campaign(list)), `{}`).is(200, `{"…":0}`)
	}))
	t.Run("what answers nothing is a 204", inLab(func(l *lab) {
		proves(l, "decision/2/no-content")
		list := l.closedList()
		contact := l.contact(list, ada)
		l.post(f("/lists/%d/accept-policy", list), "").is(204, "")
		l.post(f("/lists/%d/contacts/tag", list), f(`{"contact_ids":[%d],"tags":["a"]}`, contact)).is(204, "")
		l.post(f("/lists/%d/contacts/%d/unsubscribe", list, contact), "").is(204, "")
		l.delete(f("/lists/%d/contacts/%d", list, contact)).is(204, "")
		l.delete(f("/templates/%d", l.post("/templates", `{"name":"A"}`).int("template_id"))).is(204, "")
		hook := l.listen()
		l.post("/webhooks/"+hook+"/archive", "").is(204, "")
		l.post("/webhooks/"+hook+"/unarchive", "").is(204, "")
	}))
	t.Run("timestamps are Unix seconds", inLab(func(l *lab) {
		proves(l, "decision/3/unix-seconds")
		list := l.list()
		l.get(f("/lists/%d", list)).is(200, `{"created_on":"<unix>","…":0}`)
		l.get(f("/campaigns/%d", l.campaign(list))).is(200, `{"created_on":"<unix>","updated_on":"<unix>","…":0}`)
		l.get(f("/workflows/%d", l.workflow(list))).is(200, `{"created_on":"<unix>","…":0}`)
		l.post("/suppressed-emails", `{"email":"no@example.org"}`).is(201, `{"created_on":"<unix>","…":0}`)
	}))
}
