package conformance_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

func TestErrors(t *testing.T) {
	t.Run("malformed JSON", inLab(func(l *lab) {
		proves(l, "decision/7/400", "decision/6/format")
		for _, r := range routes(l) {
			if r.example() == "" {
				continue
			}
			for _, body := range []string{"{", `{"name":}`, "nonsense", `{} {}`, `{"a":1,}`} {
				l.do(r.method, r.at("1"), body).problem(400, "json_invalid", "body")
			}
		}
	}))
	t.Run("an empty body where one is required", inLab(func(l *lab) {
		proves(l, "decision/7/400")
		req := l.request(http.MethodPost, "/lists", "")
		req.Header.Set("Content-Type", "application/json")
		l.send(req).problem(400, "json_invalid", "body")
	}))
	t.Run("not JSON by its content type", inLab(func(l *lab) {
		proves(l, "decision/7/415")
		for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/jsonp"} {
			req := l.request(http.MethodPost, "/lists", `{"name":"A"}`)
			req.Header.Set("Content-Type", kind)
			l.send(req).problem(415, "unsupported_media_type", "header.content-type")
		}
		req := l.request(http.MethodPost, "/lists", `{"name":"A"}`)
		req.Header.Set("Content-Type", "Application/JSON; charset=utf-8")
		l.send(req).is(201, `{"…":0}`)
	}))
	t.Run("a body over 10 MiB", inLab(func(l *lab) {
		proves(l, "decision/7/413")
		body := `{"name":"` + strings.Repeat("x", 10<<20) + `"}`
		l.post("/lists", body).problem(413, "too_large", "body")
		l.post("/lists", `{"name":"`+strings.Repeat("x", 10<<20-11)+`"}`).is(201, `{"…":0}`)
		want(l, "lists", len(l.get("/lists").column("name")), 1)
	}))
	t.Run("another method", inLab(func(l *lab) {
		proves(l, "decision/7/405")
		allowed := map[string][]string{}
		for _, r := range routes(l) {
			allowed[r.at("1")] = append(allowed[r.at("1")], r.method)
		}
		for path, methods := range allowed {
			res := l.do(http.MethodPut, path, "").is(405, `{"detail":"<array>"}`)
			for _, method := range methods {
				if !slices.Contains(strings.Split(res.header.Get("Allow"), ", "), method) {
					l.Errorf("%s: Allow is %q without %s", path, res.header.Get("Allow"), method)
				}
			}
		}
	}))
}

func TestInvalidRequests(t *testing.T) {
	t.Run("an unknown id", inLab(func(l *lab) {
		proves(l, "decision/7/404")
		for _, r := range routes(l) {
			if r.hasParameter() {
				res := l.do(r.method, r.at("999999"), r.example()).is(404, `{"detail":"<array>"}`)
				want(l, r.String(), strings.Contains(string(res.raw), `"not_found"`), true)
			}
		}
		l.get("/nowhere").is(404, `{"detail":"<array>"}`)
	}))
	t.Run("an id that is none", inLab(func(l *lab) {
		proves(l, "decision/7/422")
		l.get("/lists/abc").problem(422, "value_error", "path.list_id")
		l.get("/lists/1/contacts/1.5").problem(422, "value_error", "path.contact_id")
		l.get("/templates/99999999999999999999").problem(422, "value_error", "path.template_id")
	}))
	t.Run("a missing member", inLab(func(l *lab) {
		proves(l, "decision/7/422", "decision/6/format")
		l.post("/lists", `{}`).is(422, `{"detail":[{"loc":["body","name"],"msg":"<string>","type":"missing"}]}`)
		l.post("/v2/emails", f(`{"email":%q,"sender":{"name":"Shop"},"content":{}}`, ada)).
			problem(422, "missing", "body.sender.email").problem(422, "missing", "body.content.subject")
	}))
	t.Run("more errors than are listed", inLab(func(l *lab) {
		proves(l, "decision/6/first-hundred")
		ids := strings.TrimSuffix(strings.Repeat(`"x",`, 150), ",")
		res := l.post("/lists/1/contacts/tag", `{"contact_ids":[`+ids+`],"tags":["vip"]}`).problem(422, "value_error", "body.contact_ids.99")
		want(l, "errors", strings.Count(string(res.raw), `"loc"`), 100)
	}))
	t.Run("a value of the wrong kind", inLab(func(l *lab) {
		proves(l, "decision/7/422")
		l.post("/lists", `{"name":7}`).problem(422, "value_error", "body.name")
		l.post("/lists", `{"name":null}`).problem(422, "value_error", "body.name")
		l.post("/lists", `[]`).problem(422, "value_error", "body")
		l.post("/lists", `null`).problem(422, "value_error", "body")
		l.post("/webhooks", `{"url":"http://hook.test","events":["Email.Bounced"],"rate_limit":"many"}`).
			problem(422, "value_error", "body.rate_limit")
		l.post(f("/lists/%d/contacts/tag", l.list()), `{"contact_ids":[1,"x"],"tags":["a"]}`).
			problem(422, "value_error", "body.contact_ids.1")
	}))
	t.Run("states that conflict", inLab(func(l *lab) {
		proves(l, "decision/7/409")
		list := l.closedList()
		campaign := l.campaign(list)
		l.post(f("/campaigns/%d/schedule", campaign), "").problem(409, "policy_not_accepted", "path.campaign_id")
		l.contact(list, ada)
		l.post(f("/lists/%d/contacts", list), f(`{"email":%q}`, ada)).problem(409, "contact_exists", "body.email")
		empty := l.post("/campaigns", `{"name":"Empty"}`).int("campaign_id")
		l.post(f("/campaigns/%d/schedule", empty), "").problem(409, "invalid_state", "path.campaign_id")
	}))
	t.Run("a platform that fails or is not available", inLab(func(l *lab) {
		proves(l, "decision/7/5xx")
		for _, status := range []int{500, 503} {
			_, err := l.srv.Inject(mockserver.Fault{Action: mockserver.FaultStatus, Status: status, RetryAfter: "3"})
			l.must(err)
			res := l.post("/lists", `{"name":"A"}`).is(status,
				`{"detail":[{"loc":"<array>","msg":"<string>","type":"<string>"}]}`)
			want(l, "Retry-After", res.header.Get("Retry-After"), "3")
			l.srv.ClearFaults()
		}
		want(l, "lists", len(l.get("/lists").column("name")), 0)
	}))
	t.Run("every response names itself", inLab(func(l *lab) {
		proves(l, "decision/6/request-id")
		seen := map[string]bool{}
		for _, res := range []reply{
			l.get("/lists"), l.post("/lists", "{"), l.get("/nowhere"), l.as("").get("/lists"), l.delete("/lists"),
		} {
			id := res.header.Get("X-Request-Id")
			want(l, "X-Request-Id is new", id != "" && !seen[id], true)
			seen[id] = true
		}
	}))
}

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
}

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

// paged contains the endpoints with pagination, and a function that adds an item.
var paged = []struct {
	name, path string // with %d for a list
	add        func(l *lab, list int64, i int)
}{
	{
		name: "templates",
		path: "/templates",
		add:  func(l *lab, _ int64, i int) { l.post("/templates", f(`{"name":"T%d"}`, i)).ok() },
	},
	{name: "lists", path: "/lists", add: func(l *lab, _ int64, i int) { l.post("/lists", f(`{"name":"L%d"}`, i)).ok() }},
	{
		name: "contacts",
		path: "/lists/%d/contacts",
		add:  func(l *lab, list int64, i int) { l.contact(list, f("c%d@example.org", i)) },
	},
	{
		name: "tags",
		path: "/tags",
		add: func(l *lab, list int64, i int) {
			l.post(f("/lists/%d/contacts", list), f(`{"email":"c%d@example.org","tags":["t%03d"]}`, i, i)).ok()
		},
	},
	{name: "campaigns", path: "/campaigns", add: func(l *lab, list int64, _ int) { l.campaign(list) }},
	{name: "workflows", path: "/workflows", add: func(l *lab, list int64, _ int) { l.workflow(list) }},
	{
		name: "suppressed emails",
		path: "/suppressed-emails",
		add: func(l *lab, _ int64, i int) {
			l.post("/suppressed-emails", f(`{"email":"c%d@example.org"}`, i)).ok()
		},
	},
	{name: "webhooks", path: "/webhooks", add: func(l *lab, _ int64, _ int) { l.listen() }},
}

func TestPages(t *testing.T) {
	for _, p := range paged {
		setUp := func(l *lab, n int) string {
			list := l.list()
			if p.name == "lists" {
				n-- // this list is one
			}
			for i := range n {
				p.add(l, list, i)
			}
			path := p.path
			if strings.Contains(path, "%d") {
				path = f(path, list)
			}
			return path + "?"
		}
		t.Run(p.name+" in pages", inLab(func(l *lab) {
			proves(l, "decision/4/envelope", "decision/4/past-the-end")
			path := setUp(l, 5)
			first := l.get(path+"per_page=2").is(200, `{"data":["<any>","<any>"],"pagination":{"page":1,"per_page":2}}`)
			l.get(path+"per_page=2&page=1").is(200, string(first.raw))
			l.get(path+"page=3&per_page=2").is(200, `{"data":["<any>"],"pagination":{"page":3,"per_page":2}}`)
			l.get(path+"page=4&per_page=2").is(200, `{"data":[],"pagination":{"page":4,"per_page":2}}`)
			l.get(path+"page=9000000000000000000&per_page=100").is(200, `{"data":[],"…":0}`)
			whole := l.get(path).json().(map[string]any)["data"].([]any)
			var pages []any
			for page := range 3 {
				pages = append(pages, l.get(f("%sper_page=2&page=%d", path, page+1)).json().(map[string]any)["data"].([]any)...)
			}
			want(l, "the pages together", show(pages), show(whole))
		}))
		t.Run(p.name+" counted", inLab(func(l *lab) {
			proves(l, "decision/4/count")
			path := setUp(l, 3)
			l.get(path+"per_page=1&with_count=true").is(200, `{"data":"<array>","pagination":{"page":1,"per_page":1,"count":3}}`)
			l.get(path+"page=7&with_count=true").is(200, `{"data":[],"pagination":{"page":7,"per_page":50,"count":3}}`)
			l.get(path+"with_count=false").is(200, `{"data":"<array>","pagination":{"page":1,"per_page":50}}`)
		}))
		t.Run(p.name+" by default and at most", inLab(func(l *lab) {
			proves(l, "decision/4/per_page")
			path := setUp(l, 101)
			for query, n := range map[string]int{
				"": 50, "page=1": 50, "page=2": 50, "page=3": 1, "per_page=100": 100, "page=2&per_page=100": 1,
			} {
				page := l.get(path + query).json().(map[string]any)
				want(l, path+query, len(page["data"].([]any)), n)
			}
			l.get(path+"per_page=101").problem(422, "value_error", "query.per_page")
			l.get(path+"per_page=0").problem(422, "value_error", "query.per_page")
		}))
		t.Run(p.name+" start at page 1", inLab(func(l *lab) {
			proves(l, "limits/pages")
			path := setUp(l, 1)
			l.get(path+"page=1").is(200, `{"data":["<any>"],"…":0}`)
			for _, page := range []string{"0", "-1", "x", "1.5"} {
				l.get(path+"page="+page).problem(422, "value_error", "query.page")
			}
		}))
	}
}
