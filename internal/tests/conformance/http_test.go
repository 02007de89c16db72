package conformance_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestErrors(t *testing.T) {
	t.Run("malformed JSON", withFixture(func(f *fixture) {
		proves(f, "decision/7/400", "decision/6/format")
		for _, r := range routes(f) {
			if r.example() == "" {
				continue
			}
			for _, body := range []string{"{", `{"name":}`, "nonsense", `{} {}`, `{"a":1,}`} {
				f.do(r.method, r.at("1"), body).problem(400, "json_invalid", "body")
			}
		}
		empty := f.request(http.MethodPost, "/lists", "")
		empty.Header.Set("Content-Type", "application/json")
		f.send(empty).problem(400, "json_invalid", "body")
	}))
	t.Run("text that is not Unicode", withFixture(func(f *fixture) {
		proves(f, "decision/7/unicode", "decision/7/nul")
		for _, r := range routes(f) {
			if r.example() == "" {
				continue
			}
			for _, text := range []string{"\xe9", `\ud800`, `\udc00\ud800`, `\u0000`} {
				f.do(r.method, r.at("1"), `{"a":[{"b":"`+text+`"}]}`).problem(400, "json_invalid", "body.a.0.b")
			}
		}
	}))
	t.Run("unknown fields and parameters", func(t *testing.T) {
		for _, r := range routes(t) {
			t.Run(r.operation.OperationID, withFixture(r.unknownFields, recordEvents))
		}
	})
	t.Run("content types", withFixture(func(f *fixture) {
		proves(f, "decision/7/415")
		create := func(contentType string) reply {
			req := f.request(http.MethodPost, "/lists", `{"name":"A"}`)
			req.Header.Set("Content-Type", contentType)
			return f.send(req)
		}
		for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/jsonp"} {
			create(kind).problem(415, "unsupported_media_type", "header.content-type")
		}
		create("Application/JSON; charset=utf-8").is(201, `{"…":0}`)
	}))
	t.Run("a body over 10 MiB", withFixture(func(f *fixture) {
		proves(f, "decision/7/413")
		f.post("/lists", `{"name":"`+strings.Repeat("x", 10<<20-10)+`"}`).problem(413, "too_large", "body")
		f.post("/lists", `{"name":"`+strings.Repeat("x", 10<<20-11)+`"}`).is(201, `{"…":0}`)
	}))
	t.Run("another method", withFixture(func(f *fixture) {
		proves(f, "decision/7/405")
		allowed := map[string][]string{}
		for _, r := range routes(f) {
			allowed[r.at("1")] = append(allowed[r.at("1")], r.method)
		}
		for path, methods := range allowed {
			res := f.do(http.MethodPut, path, "").is(405, `{"detail":"<array>"}`)
			for _, method := range methods {
				assert.Contains(f, strings.Split(res.header.Get("Allow"), ", "), method, "%s: Allow", path)
			}
		}
	}))
}

// unknownFields sends the example with an unknown parameter, and with an unknown field in each object of the body.
func (r route) unknownFields(f *fixture) {
	proves(f, "decision/7/unknown", "decision/7/others")
	ids := furnishFor(f, r)
	path, body := resolve(r.path, ids), r.exampleOf(ids)
	requests := map[string][2]string{"query.unknown": {path + "?unknown=1", body}}
	for at, start := range map[string]string{"body": "{", "body.sender": `"sender":{`, "body.content": `"content":{`} {
		if strings.Contains(body, start) {
			requests[at+".unknown"] = [2]string{path, strings.Replace(body, start, start+`"unknown":1,`, 1)}
		}
	}
	untouched := state(f)
	for at, request := range requests {
		if response := f.do(r.method, request[0], strings.Replace(request[1], ",}", "}", 1)); r.operation.Extensions["x-reject-unknown"] == true {
			response.problem(422, "value_error", at)
			want(f, "the state after "+at, state(f), untouched)
		} else {
			assert.NotEqual(f, 422, response.status, "%s %s: %s", r, at, response.raw)
		}
	}
}

func TestInvalidRequests(t *testing.T) {
	t.Run("an unknown id", withFixture(func(f *fixture) {
		proves(f, "decision/7/404")
		for _, r := range routes(f) {
			if r.hasParameter() {
				res := f.do(r.method, r.at("999999"), r.example()).is(404, `{"detail":"<array>"}`)
				want(f, r.String(), strings.Contains(string(res.raw), `"not_found"`), true)
			}
		}
		f.get("/nowhere").is(404, `{"detail":"<array>"}`)
	}))
	t.Run("more errors than are listed", withFixture(func(f *fixture) {
		proves(f, "decision/6/first-hundred")
		ids := strings.TrimSuffix(strings.Repeat(`"x",`, 150), ",")
		res := f.post("/lists/1/contacts/tag", `{"contact_ids":[`+ids+`],"tags":["vip"]}`).problem(422, "value_error", "body.contact_ids.99")
		want(f, "errors", strings.Count(string(res.raw), `"loc"`), 100)
	}))
	t.Run("each response has its id", withFixture(func(f *fixture) {
		proves(f, "decision/6/request-id")
		seen := map[string]bool{}
		for _, res := range []reply{
			f.get("/lists"), f.post("/lists", "{"), f.get("/nowhere"), f.as("").get("/lists"), f.delete("/lists"),
		} {
			id := res.header.Get("X-Request-Id")
			want(f, "X-Request-Id is new", id != "" && !seen[id], true)
			seen[id] = true
		}
	}))
}

// Paths are relative to the base URL.
func TestBaseURL(t *testing.T) {
	withFixture(func(f *fixture) {
		proves(f, "http/base-url", "versioning/no-prefix")
		mounted := http.StripPrefix("/tenant/7", f.srv)
		for path, status := range map[string]int{"/tenant/7/lists": 200, "/tenant/7/v2/lists": 404, "/lists": 404} {
			req := httptest.NewRequestWithContext(f.Context(), http.MethodGet, path, nil)
			req.Header.Set("Authorization", "Bearer "+owner)
			res := httptest.NewRecorder()
			mounted.ServeHTTP(res, req)
			want(f, path, res.Code, status)
		}
		for _, r := range routes(f) {
			want(f, r.path+" has a prefix", strings.HasPrefix(r.path, "/v2/"), strings.HasPrefix(r.path, "/v2/emails"))
		}
	})(t)
}

func TestAuthentication(t *testing.T) {
	t.Run("every route requires a token", withFixture(func(f *fixture) {
		proves(f, "endpoints/authorization", "authentication/bearer", "decision/7/401", "decision/7/403")
		for _, r := range routes(f) {
			for _, header := range []string{
				"", "Bearer", "Bearer ", "Bearer unknown", "Basic " + owner, owner, "Bearer " + owner + "x",
			} {
				req := f.request(r.method, r.at("1"), r.example())
				req.Header.Set("Authorization", header)
				res := f.send(req).problem(401, "unauthorized", "header.authorization")
				want(f, r.String()+" WWW-Authenticate", res.header.Get("WWW-Authenticate"), "Bearer")
			}
			if r.method != http.MethodGet {
				f.as(reader).do(r.method, r.at("1"), r.example()).problem(403, "forbidden", "header.authorization")
			}
		}
		f.as("").get("/nowhere").problem(401, "unauthorized", "header.authorization")
		f.as(reader).get("/lists").is(200, `{"data":[],"…":0}`)
	}))
	t.Run("the records of an account are invisible to other accounts", withFixture(func(f *fixture) {
		proves(f, "decision/7/404-account")
		ids := furnish(f)
		other := f.as(otherAccount)
		for _, r := range routes(f) {
			path := resolve(r.path, ids)
			switch {
			case r.hasParameter():
				want(f, path, other.do(r.method, path, r.exampleOf(ids)).status, 404)
			case r.method == http.MethodGet:
				other.get(path).is(200, `{"data":[],"pagination":{"page":1,"per_page":50}}`)
			}
		}
	}))
}

func TestPages(t *testing.T) {
	for path, create := range map[string]string{ // the request that creates item %d
		"/templates":            `/templates {"name":"T%d"}`,
		"/lists":                `/lists {"name":"L%d"}`,
		"/lists/$list/contacts": `/lists/$list/contacts {"email":"c%d@example.org"}`,
		"/tags":                 `/lists/$list/contacts {"email":"c%d@example.org","tags":["t%03[1]d"]}`,
		"/campaigns":            `/campaigns {"name":"C%d"}`,
		"/workflows": `/workflows {"name":"W%d","list_id":$list,"trigger":"subscribed","sender":` + shop +
			`,"content":` + greeting + `}`,
		"/suppressed-emails": `/suppressed-emails {"email":"c%d@example.org"}`,
		"/webhooks":          `/webhooks {"url":"http://hook.test/%d","events":["Email.Bounced"]}`,
	} {
		t.Run(path, withFixture(func(f *fixture) {
			proves(f, "decision/4/envelope", "decision/4/past-the-end", "decision/4/count", "decision/4/per_page", "limits/pages")
			list := f.list()
			at, body, _ := strings.Cut(sent{list: list}.fill(create), " ")
			n := 101
			if path == "/lists" {
				n-- // f.list has created one
			}
			for i := range n {
				f.post(at, fmt.Sprintf(body, i)).ok()
			}
			path := sent{list: list}.fill(path) + "?"
			page := func(query string) []any { return f.get(path + query).json().(map[string]any)["data"].([]any) }
			for query, n := range map[string]int{
				"": 50, "page=1": 50, "page=2": 50, "page=3": 1, "page=4": 0, "page=51&per_page=2": 1,
				"per_page=100": 100, "page=2&per_page=100": 1, "page=9000000000000000000&per_page=100": 0,
			} {
				want(f, path+query, len(page(query)), n)
			}
			first := f.get(path+"per_page=2").is(200, `{"data":["<any>","<any>"],"pagination":{"page":1,"per_page":2}}`)
			f.get(path+"per_page=2&page=1").is(200, string(first.raw))
			f.get(path+"page=7&with_count=true").is(200, `{"data":[],"pagination":{"page":7,"per_page":50,"count":101}}`)
			f.get(path+"page=7&with_count=false").is(200, `{"data":[],"pagination":{"page":7,"per_page":50}}`)
			whole := append(page("per_page=100"), page("per_page=100&page=2")...)
			want(f, "the pages together", show(append(append(page("page=1"), page("page=2")...), page("page=3")...)), show(whole))
			for _, query := range []string{"per_page=101", "per_page=0", "page=0", "page=-1", "page=x", "page=1.5"} {
				field, _, _ := strings.Cut(query, "=")
				f.get(path+query).problem(422, "value_error", "query."+field)
			}
		}))
	}
}
