package mockserver_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

func TestConformanceAuthentication(t *testing.T) {
	conform(t, []rule{
		{"every route wants a token", "endpoints/authorization authentication/bearer decision/7/401", func(w *world) {
			for _, r := range routes(w) {
				for _, header := range []string{"", "Bearer", "Bearer ", "Bearer nobody", "Basic " + owner, owner, "Bearer " + owner + "x"} {
					req := w.request(r.method, r.at("1"), r.example())
					req.Header.Set("Authorization", header)
					res := w.send(req).problem(401, "unauthorized", "header.authorization")
					want(w, r.String()+" WWW-Authenticate", res.header.Get("WWW-Authenticate"), "Bearer")
				}
			}
		}},
		{"a token that may only read", "decision/7/403", func(w *world) {
			for _, r := range routes(w) {
				if r.method == http.MethodGet {
					continue
				}
				w.as(reader).do(r.method, r.at("1"), r.example()).problem(403, "forbidden", "header.authorization")
			}
			w.as(reader).get("/lists").is(200, `{"data":[],"…":0}`)
		}},
		{"a token is of a user and an account", "decision/8", func(w *world) {
			list := w.list()
			w.as(colleague).get(f("/lists/%d", list)).is(200, `{"…":0}`)
			w.as(stranger).get(f("/lists/%d", list)).problem(404, "not_found", "path.list_id")
			contact := w.contact(list, ada)
			w.listen("Contact.Removed")
			w.as(colleague).delete(f("/lists/%d/contacts/%d", list, contact)).is(204, "")
			w.envelope(w.fires("Contact.Removed")[0],
				`{"account_id":1204,"user":{"id":32,"email":"dev@shop.example","account_id":1204},"…":0}`)
		}},
		{"nothing of one account is seen by another", "decision/7/404-account", func(w *world) {
			list := w.list()
			contact := w.contact(list, ada)
			template := w.post("/templates", `{"name":"A"}`).int("template_id")
			campaign, workflow := w.campaign(list), w.workflow(list)
			w.post("/suppressed-emails", `{"email":"no@example.org"}`).ok()
			hook, email := w.listen(), w.submitTo(list, ada)
			other := w.as(stranger)
			for _, path := range []string{
				f("/lists/%d", list), f("/lists/%d/contacts", list), f("/lists/%d/contacts/%d", list, contact),
				f("/templates/%d", template), f("/templates/%d/render", template), f("/campaigns/%d", campaign),
				f("/workflows/%d", workflow), "/webhooks/" + hook,
			} {
				want(w, path, other.get(path).status, 404)
			}
			w.Log("an id of another account in a body")
			other.post("/v2/emails", submission(ada, f(`,"list_id":%d`, list))).problem(404, "not_found", "body.list_id")
			other.post("/campaigns", f(`{"name":"A","list_id":%d}`, list)).problem(404, "not_found", "body.list_id")
			other.post("/campaigns", f(`{"name":"A","content":{"template_id":%d}}`, template)).problem(404, "not_found", "body.content.template_id")
			other.get("/v2/emails/"+email).problem(404, "not_found", "path.email_id")
			other.delete("/suppressed-emails/no@example.org").problem(404, "not_found", "path.email")
			for _, path := range []string{"/lists", "/templates", "/campaigns", "/workflows", "/webhooks", "/suppressed-emails", "/tags"} {
				other.get(path).is(200, `{"data":[],"pagination":{"page":1,"per_page":50}}`)
			}
			other.submit("no@example.org", "").is(201, `{"status":"queued","…":0}`)
		}},
	})
}

func TestConformanceErrors(t *testing.T) {
	conform(t, []rule{
		{"malformed JSON", "decision/7/400 decision/6/format", func(w *world) {
			for _, r := range routes(w) {
				if r.example() == "" {
					continue
				}
				for _, body := range []string{"{", `{"name":}`, "nonsense", `{} {}`, `{"a":1,}`} {
					w.do(r.method, r.at("1"), body).problem(400, "json_invalid", "body")
				}
			}
		}},
		{"an empty body where one is required", "decision/7/400", func(w *world) {
			req := w.request(http.MethodPost, "/lists", "")
			req.Header.Set("Content-Type", "application/json")
			w.send(req).problem(400, "json_invalid", "body")
		}},
		{"not JSON by its content type", "decision/7/415", func(w *world) {
			for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/jsonp"} {
				req := w.request(http.MethodPost, "/lists", `{"name":"A"}`)
				req.Header.Set("Content-Type", kind)
				w.send(req).problem(415, "unsupported_media_type", "header.content-type")
			}
			req := w.request(http.MethodPost, "/lists", `{"name":"A"}`)
			req.Header.Set("Content-Type", "Application/JSON; charset=utf-8")
			w.send(req).is(201, `{"…":0}`)
		}},
		{"a body over 10 MiB", "decision/7/413", func(w *world) {
			body := `{"name":"` + strings.Repeat("x", 10<<20) + `"}`
			w.post("/lists", body).problem(413, "too_large", "body")
			w.post("/lists", `{"name":"`+strings.Repeat("x", 10<<20-11)+`"}`).is(201, `{"…":0}`)
			want(w, "lists", len(w.get("/lists").column("name")), 1)
		}},
		{"another method", "decision/7/405", func(w *world) {
			allowed := map[string][]string{}
			for _, r := range routes(w) {
				allowed[r.at("1")] = append(allowed[r.at("1")], r.method)
			}
			for path, methods := range allowed {
				res := w.do(http.MethodPut, path, "").is(405, `{"detail":"<array>"}`)
				for _, method := range methods {
					if !slices.Contains(strings.Split(res.header.Get("Allow"), ", "), method) {
						w.Errorf("%s: Allow is %q without %s", path, res.header.Get("Allow"), method)
					}
				}
			}
		}},
		{"an unknown id", "decision/7/404", func(w *world) {
			for _, r := range routes(w) {
				if r.hasParameter() {
					res := w.do(r.method, r.at("999999"), r.example()).is(404, `{"detail":"<array>"}`)
					want(w, r.String(), strings.Contains(string(res.raw), `"not_found"`), true)
				}
			}
			w.get("/nowhere").is(404, `{"detail":"<array>"}`)
		}},
		{"an id that is none", "decision/7/422", func(w *world) {
			w.get("/lists/abc").problem(422, "value_error", "path.list_id")
			w.get("/lists/1/contacts/1.5").problem(422, "value_error", "path.contact_id")
			w.get("/templates/99999999999999999999").problem(422, "value_error", "path.template_id")
		}},
		{"a missing member", "decision/7/422 decision/6/format", func(w *world) {
			w.post("/lists", `{}`).is(422, `{"detail":[{"loc":["body","name"],"msg":"<string>","type":"missing"}]}`)
			w.post("/v2/emails", f(`{"email":%q,"sender":{"name":"Shop"},"content":{}}`, ada)).
				problem(422, "missing", "body.sender.email").problem(422, "missing", "body.content.subject")
		}},
		{"a value of the wrong kind", "decision/7/422", func(w *world) {
			w.post("/lists", `{"name":7}`).problem(422, "value_error", "body.name")
			w.post("/lists", `[]`).problem(422, "value_error", "body")
			w.post("/lists", `null`).problem(422, "value_error", "body")
			w.post("/webhooks", `{"url":"http://hook.test","events":["Email.Bounced"],"rate_limit":"many"}`).
				problem(422, "value_error", "body.rate_limit")
			w.post(f("/lists/%d/contacts/tag", w.list()), `{"contact_ids":[1,"x"],"tags":["a"]}`).
				problem(422, "value_error", "body.contact_ids.1")
		}},
		{"states that conflict", "decision/7/409", func(w *world) {
			list := w.closedList()
			campaign := w.campaign(list)
			w.post(f("/campaigns/%d/schedule", campaign), "").problem(409, "policy_not_accepted", "path.campaign_id")
			w.contact(list, ada)
			w.post(f("/lists/%d/contacts", list), f(`{"email":%q}`, ada)).problem(409, "contact_exists", "body.email")
			empty := w.post("/campaigns", `{"name":"Empty"}`).int("campaign_id")
			w.post(f("/campaigns/%d/schedule", empty), "").problem(409, "invalid_state", "path.campaign_id")
		}},
		{"a platform that fails or is not available", "decision/7/5xx", func(w *world) {
			for _, status := range []int{500, 503} {
				w.must(w.srv.Inject(mockserver.Fault{Action: mockserver.FaultStatus, Status: status, RetryAfter: "3"}))
				res := w.post("/lists", `{"name":"A"}`).is(status, `{"detail":[{"loc":"<array>","msg":"<string>","type":"<string>"}]}`)
				want(w, "Retry-After", res.header.Get("Retry-After"), "3")
				w.srv.ClearFaults()
			}
			want(w, "lists", len(w.get("/lists").column("name")), 0)
		}},
		{"every response names itself", "decision/6/request-id", func(w *world) {
			seen := map[string]bool{}
			for _, res := range []reply{w.get("/lists"), w.post("/lists", "{"), w.get("/nowhere"), w.as("").get("/lists"), w.delete("/lists")} {
				id := res.header.Get("X-Request-Id")
				want(w, "X-Request-Id is new", id != "" && !seen[id], true)
				seen[id] = true
			}
		}},
	})
}

func TestConformanceBodies(t *testing.T) {
	conform(t, []rule{
		{"paths are relative to the base URL", "http/base-url versioning/no-prefix", func(w *world) {
			mounted := http.StripPrefix("/tenant/7", w.srv)
			for path, status := range map[string]int{"/tenant/7/lists": 200, "/tenant/7/v2/lists": 404, "/lists": 404} {
				req := httptest.NewRequestWithContext(w.Context(), http.MethodGet, path, nil)
				req.Header.Set("Authorization", "Bearer "+owner)
				res := httptest.NewRecorder()
				mounted.ServeHTTP(res, req)
				want(w, path, res.Code, status)
			}
			for _, r := range routes(w) {
				want(w, r.path+" has a prefix", strings.HasPrefix(r.path, "/v2/"), strings.HasPrefix(r.path, "/v2/emails"))
			}
		}},
		{"bodies are JSON", "http/json-bodies decision/3/bare", func(w *world) {
			created := w.post("/lists", ` {"name" : "News"} `).is(201, `{"list_id":"<integer>","name":"News","…":0}`)
			w.get(f("/lists/%d", created.int("list_id"))).is(200, string(created.raw))
		}},
		{"a creation answers 201 with the resource", "decision/2/created decision/3/id-names", func(w *world) {
			list := w.list()
			for _, test := range []struct{ path, body, id string }{
				{"/templates", `{"name":"A"}`, "template_id"},
				{"/lists", `{"name":"A"}`, "list_id"},
				{f("/lists/%d/contacts", list), `{"email":"bob@example.org"}`, "id"},
				{"/campaigns", `{"name":"A"}`, "campaign_id"},
				{"/workflows", f(`{"name":"A","list_id":%d,"trigger":"subscribed","sender":%s,"content":%s}`, list, shop, greeting), "workflow_id"},
			} {
				w.post(test.path, test.body).is(201, f(`{"%s":"<integer>","…":0}`, test.id))
			}
			w.post("/webhooks", `{"url":"http://hook.test/","events":["Email.Bounced"]}`).is(201, `{"webhook_id":"<string>","…":0}`)
			w.post("/suppressed-emails", `{"email":"no@example.org"}`).is(201, `{"email":"no@example.org","…":0}`)
			w.submit(ada, "").is(201, `{"id":"<string>","…":0}`)
			w.post("/emails", submission(ada, "")).is(201, `{"id":"<string>"}`)
		}},
		{"a read, an update and an import answer 200", "decision/2/ok", func(w *world) {
			list := w.list()
			contact := w.contact(list, ada)
			w.get(f("/lists/%d/contacts/%d", list, contact)).is(200, `{"…":0}`)
			w.patch(f("/lists/%d/contacts/%d", list, contact), `{}`).is(200, `{"…":0}`)
			w.post(f("/lists/%d/contacts/import", list), `{"contacts":[]}`).is(200, `{"imported":0,"updated":0,"errors":[]}`)
			w.post(f("/campaigns/%d/schedule", w.campaign(list)), `{}`).is(200, `{"…":0}`)
		}},
		{"what answers nothing is a 204", "decision/2/no-content", func(w *world) {
			list := w.closedList()
			contact := w.contact(list, ada)
			w.post(f("/lists/%d/accept-policy", list), "").is(204, "")
			w.post(f("/lists/%d/contacts/tag", list), f(`{"contact_ids":[%d],"tags":["a"]}`, contact)).is(204, "")
			w.post(f("/lists/%d/contacts/%d/unsubscribe", list, contact), "").is(204, "")
			w.delete(f("/lists/%d/contacts/%d", list, contact)).is(204, "")
			w.delete(f("/templates/%d", w.post("/templates", `{"name":"A"}`).int("template_id"))).is(204, "")
			hook := w.listen()
			w.post("/webhooks/"+hook+"/archive", "").is(204, "")
			w.post("/webhooks/"+hook+"/unarchive", "").is(204, "")
		}},
		{"timestamps are Unix seconds", "decision/3/unix-seconds", func(w *world) {
			list := w.list()
			w.get(f("/lists/%d", list)).is(200, `{"created_on":"<unix>","…":0}`)
			w.get(f("/campaigns/%d", w.campaign(list))).is(200, `{"created_on":"<unix>","updated_on":"<unix>","…":0}`)
			w.get(f("/workflows/%d", w.workflow(list))).is(200, `{"created_on":"<unix>","…":0}`)
			w.post("/suppressed-emails", `{"email":"no@example.org"}`).is(201, `{"created_on":"<unix>","…":0}`)
		}},
	})
}

// paged are the endpoints that answer in pages, each with a way to add an item.
var paged = []struct {
	name, path string // with %d for a list
	add        func(w *world, list int64, i int)
}{
	{"templates", "/templates", func(w *world, _ int64, i int) { w.post("/templates", f(`{"name":"T%d"}`, i)).ok() }},
	{"lists", "/lists", func(w *world, _ int64, i int) { w.post("/lists", f(`{"name":"L%d"}`, i)).ok() }},
	{"contacts", "/lists/%d/contacts", func(w *world, list int64, i int) { w.contact(list, f("c%d@example.org", i)) }},
	{"tags", "/tags", func(w *world, list int64, i int) {
		w.post(f("/lists/%d/contacts", list), f(`{"email":"c%d@example.org","tags":["t%03d"]}`, i, i)).ok()
	}},
	{"campaigns", "/campaigns", func(w *world, list int64, _ int) { w.campaign(list) }},
	{"workflows", "/workflows", func(w *world, list int64, _ int) { w.workflow(list) }},
	{"suppressed emails", "/suppressed-emails", func(w *world, _ int64, i int) {
		w.post("/suppressed-emails", f(`{"email":"c%d@example.org"}`, i)).ok()
	}},
	{"webhooks", "/webhooks", func(w *world, _ int64, _ int) { w.listen() }},
}

func TestConformancePages(t *testing.T) {
	var rules []rule
	for _, p := range paged {
		setUp := func(w *world, n int) string {
			list := w.list()
			if p.name == "lists" {
				n-- // this list is one
			}
			for i := range n {
				p.add(w, list, i)
			}
			path := p.path
			if strings.Contains(path, "%d") {
				path = f(path, list)
			}
			return path + "?"
		}
		rules = append(rules,
			rule{p.name + " in pages", "decision/4/envelope decision/4/past-the-end", func(w *world) {
				path := setUp(w, 5)
				first := w.get(path+"per_page=2").is(200, `{"data":["<any>","<any>"],"pagination":{"page":1,"per_page":2}}`)
				w.get(path+"per_page=2&page=1").is(200, string(first.raw))
				w.get(path+"page=3&per_page=2").is(200, `{"data":["<any>"],"pagination":{"page":3,"per_page":2}}`)
				w.get(path+"page=4&per_page=2").is(200, `{"data":[],"pagination":{"page":4,"per_page":2}}`)
				w.get(path+"page=9000000000000000000&per_page=100").is(200, `{"data":[],"…":0}`)
				whole := w.get(path).json().(map[string]any)["data"].([]any)
				var pages []any
				for page := range 3 {
					pages = append(pages, w.get(f("%sper_page=2&page=%d", path, page+1)).json().(map[string]any)["data"].([]any)...)
				}
				want(w, "the pages together", show(pages), show(whole))
			}},
			rule{p.name + " counted", "decision/4/count", func(w *world) {
				path := setUp(w, 3)
				w.get(path+"per_page=1&with_count=true").is(200, `{"data":"<array>","pagination":{"page":1,"per_page":1,"count":3}}`)
				w.get(path+"page=7&with_count=true").is(200, `{"data":[],"pagination":{"page":7,"per_page":50,"count":3}}`)
				w.get(path+"with_count=false").is(200, `{"data":"<array>","pagination":{"page":1,"per_page":50}}`)
			}},
			rule{p.name + " by default and at most", "decision/4/per_page", func(w *world) {
				path := setUp(w, 101)
				for query, n := range map[string]int{"": 50, "page=1": 50, "page=2": 50, "page=3": 1, "per_page=100": 100, "page=2&per_page=100": 1} {
					page := w.get(path + query).json().(map[string]any)
					want(w, path+query, len(page["data"].([]any)), n)
				}
				w.get(path+"per_page=101").problem(422, "value_error", "query.per_page")
				w.get(path+"per_page=0").problem(422, "value_error", "query.per_page")
			}},
			rule{p.name + " start at page 1", "limits/pages", func(w *world) {
				path := setUp(w, 1)
				w.get(path+"page=1").is(200, `{"data":["<any>"],"…":0}`)
				for _, page := range []string{"0", "-1", "x", "1.5"} {
					w.get(path+"page="+page).problem(422, "value_error", "query.page")
				}
			}},
		)
	}
	conform(t, rules)
}
