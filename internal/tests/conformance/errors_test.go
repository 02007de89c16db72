package conformance_test

import (
	"net/http"
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
