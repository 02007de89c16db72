package conformance_test

import (
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

func TestWebhooks(t *testing.T) {
	t.Run("create and get", inLab(func(l *lab) {
		proves(l, "endpoints/webhooks/create", "endpoints/webhooks/get", "resources/webhook/webhook_id",
			"resources/webhook/secret", "resources/webhook/hash_function", "decision/20/fields", "decision/20/secret", "decision/2/created", "decision/3/id-names",
			"decision/20/hash_function")
		created := l.post(
			"/webhooks",
			`{"url":"https://shop.example/hook?a=1","events":["Email.Bounced","Email.Error"],"rate_limit":100,`+
				`"rate_limit_period":"minute"}`,
		).
			is(
				201,
				`{"webhook_id":"<string>","url":"https://shop.example/hook?a=1","events":["Email.Bounced","Email.Error"],`+
					`"rate_limit":100,"rate_limit_period":"minute","status":"active","secret":"<string>"}`,
			)
		l.get("/webhooks/"+created.text("webhook_id")).is(
			200,
			f(`{"webhook_id":%q,"url":"https://shop.example/hook?a=1","events":["Email.Bounced","Email.Error"],
				"rate_limit":100,"rate_limit_period":"minute","status":"active","secret":%q,"hash_function":"sha256"}`,
				created.text("webhook_id"), created.text("secret")),
		)
		l.post("/webhooks", `{}`).problem(422, "missing", "body.url").problem(422, "missing", "body.events")
	}))
	t.Run("secrets differ", inLab(func(l *lab) {
		proves(l, "resources/webhook/secret")
		body := `{"url":"https://shop.example/","events":["Email.Bounced"]}`
		first, second := l.post("/webhooks", body), l.post("/webhooks", body)
		want(l, "the same secret", first.text("secret") == second.text("secret"), false)
	}))
	t.Run("list", inLab(func(l *lab) {
		proves(l, "endpoints/webhooks/list", "decision/20/list", "decision/20/secret")
		a, b := l.listen("Email.Bounced"), l.listenWith(`,"rate_limit":5`, "Email.Error")
		l.post("/webhooks/"+b+"/archive", "").ok()
		l.get("/webhooks").is(200, f(`{"data":[
				{"webhook_id":%q,"url":"http://hook.test/1","events":["Email.Bounced"],"status":"active"},
				{"webhook_id":%q,"url":"http://hook.test/2","events":["Email.Error"],
				"rate_limit":5,"rate_limit_period":"hour","status":"archived"}],
				"pagination":{"page":1,"per_page":50}}`, a, b))
		want(l, "of another account", len(l.as(stranger).get("/webhooks").column("webhook_id")), 0)
	}))
	t.Run("any URL", inLab(func(l *lab) {
		proves(l, "resources/webhook/url")
		for _, url := range []string{
			"http://localhost:8080", "https://a.b.example/x/y?z=1#f", "https://192.0.2.1:9000/", "http://[::1]/",
			"https://hooks.example/%20",
		} {
			l.post("/webhooks", f(`{"url":%q,"events":["Email.Bounced"]}`, url)).is(201, f(`{"url":%q,"…":0}`, url))
		}
		for _, url := range []string{
			"", "shop.example/hook", "/hook", "ftp://shop.example/", "http://", "https:///path", "mailto:a@b.example",
			"http://a b/",
		} {
			l.post("/webhooks", f(`{"url":%q,"events":["Email.Bounced"]}`, url)).problem(422, "value_error", "body.url")
		}
	}))
	t.Run("the events", inLab(func(l *lab) {
		proves(l, "resources/webhook/events")
		l.post("/webhooks", f(`{"url":"https://shop.example/","events":%s}`, show(eventNames()))).is(201,
			f(`{"events":%s,"…":0}`, show(eventNames())))
		l.post("/webhooks", `{"url":"https://shop.example/","events":["Email.Bounced","Email.Burned"]}`).problem(422,
			"value_error", "body.events.1")
		l.post("/webhooks", `{"url":"https://shop.example/","events":[]}`).problem(422, "value_error", "body.events")
	}))
	t.Run("the rate limit", inLab(func(l *lab) {
		proves(l, "resources/webhook/rate_limit", "resources/webhook/rate_limit_period", "decision/20/fields")
		body := `{"url":"https://shop.example/","events":["Email.Bounced"],"rate_limit":%s,"rate_limit_period":%q}`
		for _, period := range []string{"second", "minute", "hour", "day"} {
			l.post("/webhooks", f(body, "10", period)).is(201, f(`{"rate_limit":10,"rate_limit_period":%q,"…":0}`, period))
		}
		l.post("/webhooks", f(body, "10", "week")).problem(422, "value_error", "body.rate_limit_period")
		l.post("/webhooks", f(body, "0", "hour")).problem(422, "value_error", "body.rate_limit")
		l.post("/webhooks", f(body, "-1", "hour")).problem(422, "value_error", "body.rate_limit")
	}))
}

func TestWebhookStates(t *testing.T) {
	t.Run("archive and unarchive", inLab(func(l *lab) {
		proves(l, "resources/webhook/archive", "endpoints/webhooks/archive", "decision/2/no-content", "states/webhook/archive",
			"states/webhook/unarchive", "decision/20/status", "decision/20/unarchive", "decision/20/archive-twice")
		path := "/webhooks/" + l.listen()
		for _, step := range []struct{ action, status string }{
			{action: "archive", status: "archived"},
			{action: "archive", status: "archived"},
			{action: "unarchive", status: "active"},
			{action: "unarchive", status: "active"},
			{action: "archive", status: "archived"},
		} {
			l.post(path+"/"+step.action, "").is(204, "")
			l.get(path).is(200, f(`{"status":%q,"…":0}`, step.status))
		}
	}))
	t.Run("never deleted", inLab(func(l *lab) {
		proves(l, "resources/webhook/not-deleted", "limits/webhook-removal")
		path := "/webhooks/" + l.listen()
		res := l.delete(path).is(405, `{"detail":"<array>"}`)
		want(l, "Allow has DELETE", strings.Contains(res.header.Get("Allow"), "DELETE"), false)
		l.get(path).is(200, `{"…":0}`)
	}))
	t.Run("another hash function", inLab(func(l *lab) {
		proves(l, "decision/21", "authentication/hash_function", "resources/webhook/hash_function")
		l.receiver.useSHA512() // the receiver fails on another signature
		l.get("/webhooks/"+l.listen("SuppressedEmail.Added")).is(200, `{"hash_function":"sha512","…":0}`)
		l.post("/suppressed-emails", f(`{"email":%q}`, ada)).ok()
		l.fires("SuppressedEmail.Added")
	}, func(c *mockserver.Config) { c.HashFunction = webhook.SHA512 }))
}
