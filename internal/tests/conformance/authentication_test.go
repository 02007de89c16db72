package conformance_test

import (
	"net/http"
	"testing"
)

func TestAuthentication(t *testing.T) {
	t.Run("every route wants a token", inLab(func(l *lab) {
		proves(l, "endpoints/authorization", "authentication/bearer", "decision/7/401")
		for _, r := range routes(l) {
			for _, header := range []string{
				"", "Bearer", "Bearer ", "Bearer nobody", "Basic " + owner, owner, "Bearer " + owner + "x",
			} {
				req := l.request(r.method, r.at("1"), r.example())
				req.Header.Set("Authorization", header)
				res := l.send(req).problem(401, "unauthorized", "header.authorization")
				want(l, r.String()+" WWW-Authenticate", res.header.Get("WWW-Authenticate"), "Bearer")
			}
		}
		l.as("").get("/nowhere").problem(401, "unauthorized", "header.authorization")
	}))
	t.Run("a token that may only read", inLab(func(l *lab) {
		proves(l, "decision/7/403")
		for _, r := range routes(l) {
			if r.method == http.MethodGet {
				continue
			}
			l.as(reader).do(r.method, r.at("1"), r.example()).problem(403, "forbidden", "header.authorization")
		}
		l.as(reader).get("/lists").is(200, `{"data":[],"…":0}`)
	}))
	t.Run("a token is of a user and an account", inLab(func(l *lab) {
		proves(l, "decision/8")
		list := l.list()
		l.as(colleague).get(f("/lists/%d", list)).is(200, `{"…":0}`)
		l.as(stranger).get(f("/lists/%d", list)).problem(404, "not_found", "path.list_id")
		contact := l.contact(list, ada)
		l.listen("Contact.Removed")
		l.as(colleague).delete(f("/lists/%d/contacts/%d", list, contact)).is(204, "")
		l.envelope(l.fires("Contact.Removed")[0],
			`{"account_id":1204,"user":{"id":32,"email":"dev@shop.example","account_id":1204},"…":0}`)
	}))
	t.Run("nothing of one account is seen by another", inLab(func(l *lab) {
		proves(l, "decision/7/404-account")
		list := l.list()
		contact := l.contact(list, ada)
		template := l.post("/templates", `{"name":"A"}`).int("template_id")
		campaign, workflow := l.campaign(list), l.workflow(list)
		l.post("/suppressed-emails", `{"email":"no@example.org"}`).ok()
		hook, email := l.listen(), l.submitTo(list, ada)
		other := l.as(stranger)
		for _, path := range []string{
			f("/lists/%d", list), f("/lists/%d/contacts", list), f("/lists/%d/contacts/%d", list, contact),
			f("/templates/%d", template), f("/templates/%d/render", template), f("/campaigns/%d", campaign),
			f("/workflows/%d", workflow), "/webhooks/" + hook,
		} {
			want(l, path, other.get(path).status, 404)
		}
		l.Log("an id of another account in a body")
		other.post("/v2/emails", submission(ada, f(`,"list_id":%d`, list))).problem(404, "not_found", "body.list_id")
		other.post("/campaigns", f(`{"name":"A","list_id":%d}`, list)).problem(404, "not_found", "body.list_id")
		other.post("/campaigns", f(`{"name":"A","content":{"template_id":%d}}`, template)).problem(404, "not_found",
			"body.content.template_id")
		other.get("/v2/emails/"+email).problem(404, "not_found", "path.email_id")
		other.delete("/suppressed-emails/no@example.org").problem(404, "not_found", "path.email")
		for _, path := range []string{
			"/lists", "/templates", "/campaigns", "/workflows", "/webhooks", "/suppressed-emails", "/tags",
		} {
			other.get(path).is(200, `{"data":[],"pagination":{"page":1,"per_page":50}}`)
		}
		other.submit("no@example.org", "").is(201, `{"status":"queued","…":0}`)
	}))
}
