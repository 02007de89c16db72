package mockserver_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

func TestConformanceWebhooks(t *testing.T) {
	conform(t, []rule{
		{"create and get", "endpoints/webhooks/create endpoints/webhooks/get resources/webhook/webhook_id resources/webhook/secret resources/webhook/hash_function decision/20/fields decision/20/secret decision/20/hash_function", func(w *world) {
			created := w.post("/webhooks", `{"url":"https://shop.example/hook?a=1","events":["Email.Bounced","Email.Error"],"rate_limit":100,"rate_limit_period":"minute"}`).
				is(201, `{"webhook_id":"<string>","url":"https://shop.example/hook?a=1","events":["Email.Bounced","Email.Error"],"rate_limit":100,"rate_limit_period":"minute","status":"active","secret":"<string>"}`)
			w.get("/webhooks/"+created.text("webhook_id")).is(200, f(`{"webhook_id":%q,"url":"https://shop.example/hook?a=1","events":["Email.Bounced","Email.Error"],
				"rate_limit":100,"rate_limit_period":"minute","status":"active","secret":%q,"hash_function":"sha256"}`, created.text("webhook_id"), created.text("secret")))
			w.post("/webhooks", `{}`).problem(422, "missing", "body.url").problem(422, "missing", "body.events")
		}},
		{"secrets differ", "resources/webhook/secret", func(w *world) {
			body := `{"url":"https://shop.example/","events":["Email.Bounced"]}`
			first, second := w.post("/webhooks", body), w.post("/webhooks", body)
			want(w, "the same secret", first.text("secret") == second.text("secret"), false)
		}},
		{"list", "endpoints/webhooks/list decision/20/list decision/20/secret", func(w *world) {
			a, b := w.listen("Email.Bounced"), w.listenWith(`,"rate_limit":5`, "Email.Error")
			w.post("/webhooks/"+b+"/archive", "").ok()
			w.get("/webhooks").is(200, f(`{"data":[
				{"webhook_id":%q,"url":"http://hook.test/1","events":["Email.Bounced"],"status":"active"},
				{"webhook_id":%q,"url":"http://hook.test/2","events":["Email.Error"],"rate_limit":5,"rate_limit_period":"hour","status":"archived"}],
				"pagination":{"page":1,"per_page":50}}`, a, b))
			want(w, "of another account", len(w.as(stranger).get("/webhooks").column("webhook_id")), 0)
		}},
		{"any URL", "resources/webhook/url", func(w *world) {
			for _, url := range []string{"http://localhost:8080", "https://a.b.example/x/y?z=1#f", "https://192.0.2.1:9000/", "http://[::1]/", "https://hooks.example/%20"} {
				w.post("/webhooks", f(`{"url":%q,"events":["Email.Bounced"]}`, url)).is(201, f(`{"url":%q,"…":0}`, url))
			}
			for _, url := range []string{"", "shop.example/hook", "/hook", "ftp://shop.example/", "http://", "https:///path", "mailto:a@b.example", "http://a b/"} {
				w.post("/webhooks", f(`{"url":%q,"events":["Email.Bounced"]}`, url)).problem(422, "value_error", "body.url")
			}
		}},
		{"the events", "resources/webhook/events", func(w *world) {
			w.post("/webhooks", f(`{"url":"https://shop.example/","events":%s}`, show(eventNames()))).is(201, f(`{"events":%s,"…":0}`, show(eventNames())))
			w.post("/webhooks", `{"url":"https://shop.example/","events":["Email.Bounced","Email.Burned"]}`).problem(422, "value_error", "body.events.1")
			w.post("/webhooks", `{"url":"https://shop.example/","events":[]}`).problem(422, "value_error", "body.events")
		}},
		{"the rate limit", "resources/webhook/rate_limit resources/webhook/rate_limit_period decision/20/fields", func(w *world) {
			body := `{"url":"https://shop.example/","events":["Email.Bounced"],"rate_limit":%s,"rate_limit_period":%q}`
			for _, period := range []string{"second", "minute", "hour", "day"} {
				w.post("/webhooks", f(body, "10", period)).is(201, f(`{"rate_limit":10,"rate_limit_period":%q,"…":0}`, period))
			}
			w.post("/webhooks", f(body, "10", "week")).problem(422, "value_error", "body.rate_limit_period")
			w.post("/webhooks", f(body, "0", "hour")).problem(422, "value_error", "body.rate_limit")
			w.post("/webhooks", f(body, "-1", "hour")).problem(422, "value_error", "body.rate_limit")
		}},
		{"archive and unarchive", "resources/webhook/archive endpoints/webhooks/archive states/webhook/archive states/webhook/unarchive decision/20/status decision/20/unarchive decision/20/archive-twice", func(w *world) {
			path := "/webhooks/" + w.listen()
			for _, step := range []struct{ action, status string }{
				{"archive", "archived"}, {"archive", "archived"}, {"unarchive", "active"}, {"unarchive", "active"}, {"archive", "archived"},
			} {
				w.post(path+"/"+step.action, "").is(204, "")
				w.get(path).is(200, f(`{"status":%q,"…":0}`, step.status))
			}
		}},
		{"never deleted", "resources/webhook/not-deleted limits/webhook-removal", func(w *world) {
			path := "/webhooks/" + w.listen()
			res := w.delete(path).is(405, `{"detail":"<array>"}`)
			want(w, "Allow has DELETE", strings.Contains(res.header.Get("Allow"), "DELETE"), false)
			w.get(path).is(200, `{"…":0}`)
		}},
	})
	t.Run("another hash function", func(t *testing.T) {
		covers(t, "decision/21 authentication/hash_function resources/webhook/hash_function")
		inBubble(t, func(w *world) {
			w.receiver.useSHA512() // the receiver fails on another signature
			w.get("/webhooks/"+w.listen("SuppressedEmail.Added")).is(200, `{"hash_function":"sha512","…":0}`)
			w.post("/suppressed-emails", f(`{"email":%q}`, ada)).ok()
			w.fires("SuppressedEmail.Added")
		}, func(c *mockserver.Config) { c.HashFunction = webhook.SHA512 })
	})
}

// suppress fires SuppressedEmail.Added for n addresses.
func (w *world) suppress(n int) {
	w.Helper()
	for range n {
		w.suppressed++
		w.post("/suppressed-emails", f(`{"email":"no%d@example.org"}`, w.suppressed)).ok()
	}
}

// arrivals waits a week and returns when deliveries arrived, counted from now.
func (w *world) arrivals(act func()) (after []time.Duration, got []delivery) {
	w.Helper()
	start := time.Now()
	act()
	time.Sleep(7 * 24 * time.Hour)
	got = w.deliveries()
	for _, d := range got {
		after = append(after, d.at.Sub(start))
	}
	return after, got
}

func TestConformanceDelivery(t *testing.T) {
	schedule := []time.Duration{0, time.Second, 6 * time.Second, 36 * time.Second, 156 * time.Second, 756 * time.Second, 4356 * time.Second, 25956 * time.Second}
	failing := func(status int) func(http.ResponseWriter, *http.Request, int) {
		return func(res http.ResponseWriter, _ *http.Request, _ int) { res.WriteHeader(status) }
	}
	rules := []rule{
		{"at once, as a signed POST", "service/webhooks-push service/webhooks-signed delivery/post authentication/signature authentication/sha256 resources/webhook/secret-signs decision/34/post", func(w *world) {
			w.listen("SuppressedEmail.Added") // the receiver checks the method, the content type and the signature
			start := time.Now()
			w.suppress(1)
			d := w.fires("SuppressedEmail.Added")[0]
			want(w, "after", d.at.Sub(start), 0)
			want(w, "the signature is there", d.header.Get("X-Service-Signature") != "", true)
			want(w, "path", d.path, "/1")
		}},
		{"to those who subscribed", "delivery/post resources/webhook/events", func(w *world) {
			w.listen("SuppressedEmail.Added")
			w.listen("Email.Bounced", "SuppressedEmail.Added")
			w.listen("Email.Bounced")
			w.as(stranger).listen()
			w.suppress(1)
			var paths []string
			for _, d := range w.fires("SuppressedEmail.Added", "SuppressedEmail.Added") {
				paths = append(paths, d.path)
			}
			slices.Sort(paths)
			want(w, "paths", strings.Join(paths, " "), "/1 /2")
		}},
		{"with an id of its own", "envelope/id envelope/event envelope/created_on envelope/ip envelope/account_lineage envelope/data", func(w *world) {
			w.listen("SuppressedEmail.Added")
			w.suppress(2)
			ids := map[any]bool{}
			for _, d := range w.fires("SuppressedEmail.Added", "SuppressedEmail.Added") {
				ids[d.body["id"]] = true
				w.envelope(d, `{"id":"<uuid>","event":"SuppressedEmail.Added","account_id":1204,"account_lineage":null,"ip":"<string>","user":"<any>","created_on":"<unix>","data":"<any>"}`)
			}
			want(w, "ids", len(ids), 2)
		}},
		{"tried again on the schedule", "decision/34/schedule decision/34/at-least-once decision/34/same-bytes", func(w *world) {
			w.listen("SuppressedEmail.Added")
			w.receiver.respond(failing(500))
			after, got := w.arrivals(func() { w.suppress(1) })
			want(w, "arrivals", f("%v", after), f("%v", schedule))
			for _, d := range got {
				want(w, "bytes and signature", string(d.raw)+d.header.Get("X-Service-Signature"), string(got[0].raw)+got[0].header.Get("X-Service-Signature"))
			}
		}},
		{"until one succeeds", "decision/34/at-least-once decision/34/schedule", func(w *world) {
			w.listen("SuppressedEmail.Added")
			w.receiver.respond(func(res http.ResponseWriter, _ *http.Request, n int) {
				if n < 3 {
					res.WriteHeader(503)
				}
			})
			after, _ := w.arrivals(func() { w.suppress(1) })
			want(w, "arrivals", f("%v", after), f("%v", schedule[:3]))
		}},
		{"redirects are not followed", "decision/34/redirects", func(w *world) {
			w.listen("SuppressedEmail.Added")
			w.receiver.respond(func(res http.ResponseWriter, req *http.Request, n int) {
				if n == 1 {
					http.Redirect(res, req, "http://hook.test/elsewhere", http.StatusTemporaryRedirect)
				}
			})
			_, got := w.arrivals(func() { w.suppress(1) })
			for _, d := range got {
				want(w, "path", d.path, "/1")
			}
			want(w, "attempts", len(got), 2)
		}},
		{"10 seconds", "decision/34/timeout", func(w *world) {
			w.listen("SuppressedEmail.Added")
			gaveUp := make(chan time.Duration, 1)
			w.receiver.respond(func(_ http.ResponseWriter, req *http.Request, n int) {
				if start := time.Now(); n == 1 {
					<-req.Context().Done()
					gaveUp <- time.Since(start)
				}
			})
			after, _ := w.arrivals(func() { w.suppress(1) })
			want(w, "gave up after", <-gaveUp, 10*time.Second)
			want(w, "arrivals", f("%v", after), "[0s 11s]")
		}},
		{"an answer just in time", "decision/34/timeout decision/34/success", func(w *world) {
			w.listen("SuppressedEmail.Added")
			w.receiver.respond(func(http.ResponseWriter, *http.Request, int) { time.Sleep(9 * time.Second) })
			after, _ := w.arrivals(func() { w.suppress(1) })
			want(w, "arrivals", f("%v", after), "[0s]")
		}},
		{"nothing to an archived webhook", "decision/34/archived resources/webhook/archive states/webhook/archive", func(w *world) {
			hook := w.listen("SuppressedEmail.Added")
			w.post("/webhooks/"+hook+"/archive", "").ok()
			w.suppress(2)
			w.fires()
			w.listen("SuppressedEmail.Added") // another one, which is not archived
			w.suppress(1)
			want(w, "path", w.fires("SuppressedEmail.Added")[0].path, "/2")
			w.post("/webhooks/"+hook+"/unarchive", "").ok()
			w.fires()
			w.suppress(1)
			w.fires("SuppressedEmail.Added", "SuppressedEmail.Added")
		}},
		{"what was queued waits for unarchive", "decision/34/unarchived states/webhook/unarchive", func(w *world) {
			hook := w.listenWith(`,"rate_limit":1,"rate_limit_period":"minute"`, "SuppressedEmail.Added")
			w.suppress(3)
			w.fires("SuppressedEmail.Added")
			w.post("/webhooks/"+hook+"/archive", "").ok()
			time.Sleep(24 * time.Hour)
			w.fires()
			w.post("/webhooks/"+hook+"/unarchive", "").ok()
			w.fires("SuppressedEmail.Added")
			time.Sleep(time.Minute)
			w.fires("SuppressedEmail.Added")
		}},
		{"a retry waits for unarchive", "decision/34/unarchived", func(w *world) {
			hook := w.listen("SuppressedEmail.Added")
			w.receiver.respond(func(res http.ResponseWriter, _ *http.Request, n int) {
				if n == 1 {
					res.WriteHeader(500)
				}
			})
			w.suppress(1)
			first := w.fires("SuppressedEmail.Added")[0]
			w.post("/webhooks/"+hook+"/archive", "").ok()
			time.Sleep(time.Hour)
			w.fires()
			w.post("/webhooks/"+hook+"/unarchive", "").ok()
			want(w, "bytes", string(w.fires("SuppressedEmail.Added")[0].raw), string(first.raw))
		}},
		{"the rate limit drops nothing", "decision/34/rate-limit limits/webhook-rate", func(w *world) {
			w.listenWith(`,"rate_limit":3,"rate_limit_period":"hour"`, "SuppressedEmail.Added")
			_, got := w.arrivals(func() { w.suppress(50) })
			seen := map[any]bool{}
			for i, d := range got {
				want(w, "in order", d.body["data"].(map[string]any)["suppressedEmail"].(map[string]any)["email"], any(f("no%d@example.org", i+1)))
				seen[d.body["id"]] = true
			}
			want(w, "events", len(seen), 50)
		}},
		{"only what the list of events names", "delivery/next-gen-only limits/event-source versioning/next-gen service/compliance-events", func(w *world) {
			w.listen()
			everythingHappens(w)
			w.deliveries()
			var heard []string
			for _, d := range w.srv.Deliveries() {
				heard = append(heard, d.Event)
			}
			same(w.T, "the events that fire when everything happens", heard, eventNames())
		}},
	}
	for _, status := range []int{200, 201, 202, 204, 299} {
		rules = append(rules, rule{f("%d is success", status), "decision/34/success", func(w *world) {
			w.listen("SuppressedEmail.Added")
			w.receiver.respond(failing(status))
			after, _ := w.arrivals(func() { w.suppress(1) })
			want(w, "arrivals", f("%v", after), "[0s]")
		}})
	}
	for _, status := range []int{300, 302, 304, 400, 401, 404, 410, 429, 500, 503} {
		rules = append(rules, rule{f("%d is tried again", status), "decision/34/success decision/34/schedule", func(w *world) {
			w.listen("SuppressedEmail.Added")
			w.receiver.respond(func(res http.ResponseWriter, _ *http.Request, n int) {
				if n == 1 {
					res.WriteHeader(status)
				}
			})
			after, _ := w.arrivals(func() { w.suppress(1) })
			want(w, "arrivals", f("%v", after), "[0s 1s]")
		}})
	}
	for period, d := range map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour} {
		rules = append(rules, rule{"two per " + period, "limits/webhook-rate decision/34/rate-limit resources/webhook/rate_limit resources/webhook/rate_limit_period", func(w *world) {
			w.listenWith(f(`,"rate_limit":2,"rate_limit_period":%q`, period), "SuppressedEmail.Added")
			after, _ := w.arrivals(func() { w.suppress(5) })
			want(w, "arrivals", f("%v", after), f("%v", []time.Duration{0, 0, d, d, 2 * d}))
		}})
	}
	conform(t, rules)
}

// everythingHappens fires every event at least once.
func everythingHappens(w *world) {
	w.Helper()
	for _, sending := range sendings {
		s := sending.send(w)
		w.open(s.id)
		w.click(s.id, "https://shop.example/")
		w.bounce(s.id, "bounce_sb")
		if sending.name != "transactional" {
			w.unsubscribe(s.id)
		}
		w.globalUnsubscribe(s.id)
		w.complain(s.id)
		w.delete("/suppressed-emails/" + ada).ok()
	}
	w.submit("error@mock.test", "").ok()
	w.suppress(1)
	w.submit("no1@example.org", "").ok()
}

func TestConformanceRepeating(t *testing.T) {
	var rules []rule
	for _, test := range []struct {
		name string
		make func(w *world) (path, body string)
		look func(w *world, path string) string // what must not change
	}{
		{"unsubscribe", func(w *world) (string, string) {
			list := w.list()
			return f("/lists/%d/contacts/%d/unsubscribe", list, w.contact(list, ada)), ""
		}, func(w *world, path string) string { return string(w.get(strings.TrimSuffix(path, "/unsubscribe")).raw) }},
		{
			"archive", func(w *world) (string, string) { return "/webhooks/" + w.listen("Email.Error") + "/archive", "" },
			func(w *world, path string) string { return string(w.get(strings.TrimSuffix(path, "/archive")).raw) },
		},
		{
			"accept the policy", func(w *world) (string, string) { return f("/lists/%d/accept-policy", w.closedList()), "" },
			func(w *world, path string) string {
				return string(w.get(strings.TrimSuffix(path, "/accept-policy")).raw)
			},
		},
		{"tag", func(w *world) (string, string) {
			list := w.list()
			return f("/lists/%d/contacts/tag", list), f(`{"contact_ids":[%d],"tags":["vip"]}`, w.contact(list, ada))
		}, func(w *world, path string) string {
			return string(w.get(strings.TrimSuffix(path, "/tag")).raw) + string(w.get("/tags").raw)
		}},
		{
			"activate", func(w *world) (string, string) { return f("/workflows/%d/activate", w.workflow(w.list())), "" },
			func(w *world, path string) string { return string(w.get(strings.TrimSuffix(path, "/activate")).raw) },
		},
		{
			"suppress", func(*world) (string, string) { return "/suppressed-emails", f(`{"email":%q}`, ada) },
			func(w *world, path string) string { return string(w.get(path).raw) },
		},
	} {
		rules = append(rules, rule{test.name, "decision/36/nothing", func(w *world) {
			path, body := test.make(w)
			first := w.post(path, body).ok()
			before := test.look(w, path)
			w.deliveries()
			w.listen()
			time.Sleep(time.Minute)
			for range 3 {
				again := w.post(path, body).ok()
				want(w, "the answer", f("%d %s", again.status, again.raw), f("%d %s", first.status, first.raw))
			}
			w.fires()
			want(w, "the state", test.look(w, path), before)
		}})
	}
	conform(t, append(rules, rule{"the same address in another case", "decision/36/nothing", func(w *world) {
		w.post("/suppressed-emails", f(`{"email":%q}`, ada)).ok()
		w.listen()
		w.post("/suppressed-emails", `{"email":"ADA@example.org"}`).ok()
		w.fires()
	}}))
}
