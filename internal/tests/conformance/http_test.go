package conformance_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/internal/tests/probe"
)

func TestErrors(t *testing.T) {
	t.Run("malformed JSON", withFixture(func(f *fixture) {
		proves(f, "decision/7/400", "decision/6/format")
		for _, r := range routes(f) {
			if r.example() == "" {
				continue
			}
			for _, body := range []string{"{", `{"name":}`, "nonsense", `{} {}`, `{"a":1,}`} {
				f.Do(r.method, r.at("1"), body).Problem(400, "json_invalid", "body")
			}
		}
		empty := f.Request(http.MethodPost, "/lists", "")
		empty.Header.Set("Content-Type", "application/json")
		f.Send(empty).Problem(400, "json_invalid", "body")
	}))
	t.Run("text that is not Unicode", withFixture(func(f *fixture) {
		proves(f, "decision/7/unicode", "decision/7/nul")
		for _, r := range routes(f) {
			if r.example() == "" {
				continue
			}
			for _, text := range []string{"\xe9", `\ud800`, `\udc00\ud800`, `\u0000`} {
				f.Do(r.method, r.at("1"), `{"a":[{"b":"`+text+`"}]}`).Problem(400, "json_invalid", "body.a.0.b")
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
		create := func(contentType string) probe.Response {
			req := f.Request(http.MethodPost, "/lists", `{"name":"A"}`)
			req.Header.Set("Content-Type", contentType)
			return f.Send(req)
		}
		for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/jsonp"} {
			create(kind).Problem(415, "unsupported_media_type", "header.content-type")
		}
		create("Application/JSON; charset=utf-8").Is(201, `{"…":0}`)
	}))
	t.Run("a body over 10 MiB", withFixture(func(f *fixture) {
		proves(f, "decision/7/413")
		f.Post("/lists", `{"name":"`+strings.Repeat("x", 10<<20-10)+`"}`).Problem(413, "too_large", "body")
		f.Post("/lists", `{"name":"`+strings.Repeat("x", 10<<20-11)+`"}`).Is(201, `{"…":0}`)
	}))
	t.Run("another method", withFixture(func(f *fixture) {
		proves(f, "decision/7/405")
		allowed := map[string][]string{}
		for _, r := range routes(f) {
			allowed[r.at("1")] = append(allowed[r.at("1")], r.method)
		}
		for path, methods := range allowed {
			res := f.Do(http.MethodPut, path, "").Is(405, `{"detail":"<array>"}`)
			for _, method := range methods {
				assert.Contains(f, strings.Split(res.Header.Get("Allow"), ", "), method, "%s: Allow", path)
			}
		}
	}))
}

// unknownFields sends the example with an unknown parameter, and with an unknown field in each object of the body.
func (r route) unknownFields(f *fixture) {
	proves(f, "decision/7/unknown", "decision/7/others")
	ids := createResourcesFor(f, r)
	path, body := resolve(r.path, ids), r.exampleOf(ids)
	requests := map[string][2]string{"query.unknown": {path + "?unknown=1", body}}
	for at, start := range map[string]string{"body": "{", "body.sender": `"sender":{`, "body.content": `"content":{`} {
		if strings.Contains(body, start) {
			requests[at+".unknown"] = [2]string{path, strings.Replace(body, start, start+`"unknown":1,`, 1)}
		}
	}
	untouched := state(f)
	for at, request := range requests {
		if response := f.Do(r.method, request[0], strings.Replace(request[1], ",}", "}", 1)); r.operation.Extensions["x-reject-unknown"] == true {
			response.Problem(422, "value_error", at)
			assert.Equal(f, untouched, state(f), "the state after "+at)
		} else {
			assert.NotEqual(f, 422, response.Status, "%s %s: %s", r, at, response.Body)
		}
	}
}

func TestInvalidRequests(t *testing.T) {
	t.Run("an unknown id", withFixture(func(f *fixture) {
		proves(f, "decision/7/404")
		for _, r := range routes(f) {
			if r.hasParameter() {
				res := f.Do(r.method, r.at("999999"), r.example()).Is(404, `{"detail":"<array>"}`)
				assert.Contains(f, res.Body, `"not_found"`, r.String())
			}
		}
		f.Get("/nowhere").Is(404, `{"detail":"<array>"}`)
	}))
	t.Run("more errors than are listed", withFixture(func(f *fixture) {
		proves(f, "decision/6/first-hundred")
		ids := strings.TrimSuffix(strings.Repeat(`"x",`, 150), ",")
		res := f.Post("/lists/1/contacts/tag", `{"contact_ids":[`+ids+`],"tags":["vip"]}`).Problem(422, "value_error", "body.contact_ids.99")
		assert.Equal(f, 100, strings.Count(res.Body, `"loc"`), "errors")
	}))
	t.Run("each response has its id", withFixture(func(f *fixture) {
		proves(f, "decision/6/request-id")
		seen := map[string]bool{}
		for _, res := range []probe.Response{
			f.Get("/lists"), f.Post("/lists", "{"), f.Get("/nowhere"), f.As("").Get("/lists"), f.Delete("/lists"),
		} {
			id := res.Header.Get("X-Request-Id")
			assert.True(f, id != "" && !seen[id], "X-Request-Id is new")
			seen[id] = true
		}
	}))
}

// Paths are relative to the base URL.
func TestBaseURL(t *testing.T) {
	withFixture(func(f *fixture) {
		proves(f, "http/base-url", "versioning/no-prefix")
		mounted := http.StripPrefix("/tenant/7", f.Server)
		for path, status := range map[string]int{"/tenant/7/lists": 200, "/tenant/7/v2/lists": 404, "/lists": 404} {
			req := httptest.NewRequestWithContext(f.Context(), http.MethodGet, path, nil)
			req.Header.Set("Authorization", "Bearer "+owner)
			res := httptest.NewRecorder()
			mounted.ServeHTTP(res, req)
			assert.Equal(f, status, res.Code, path)
		}
		for _, r := range routes(f) {
			assert.Equal(f, strings.HasPrefix(r.path, "/v2/emails"), strings.HasPrefix(r.path, "/v2/"), r.path+" has a prefix")
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
				req := f.Request(r.method, r.at("1"), r.example())
				req.Header.Set("Authorization", header)
				res := f.Send(req).Problem(401, "unauthorized", "header.authorization")
				assert.Equal(f, "Bearer", res.Header.Get("WWW-Authenticate"), r.String()+" WWW-Authenticate")
			}
			if r.method != http.MethodGet {
				f.As(reader).Do(r.method, r.at("1"), r.example()).Problem(403, "forbidden", "header.authorization")
			}
		}
		f.As("").Get("/nowhere").Problem(401, "unauthorized", "header.authorization")
		f.As(reader).Get("/lists").Is(200, `{"data":[],"…":0}`)
	}))
	t.Run("the records of an account are invisible to other accounts", withFixture(func(f *fixture) {
		proves(f, "decision/7/404-account")
		ids := createResources(f)
		other := f.As(otherAccount)
		for _, r := range routes(f) {
			path := resolve(r.path, ids)
			switch {
			case r.hasParameter():
				assert.Equal(f, 404, other.Do(r.method, path, r.exampleOf(ids)).Status, path)
			case r.method == http.MethodGet:
				other.Get(path).Is(200, `{"data":[],"pagination":{"page":1,"per_page":50}}`)
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
				f.Post(at, fmt.Sprintf(body, i)).OK()
			}
			path := sent{list: list}.fill(path) + "?"
			page := func(query string) []any { return f.Get(path + query).JSON().(map[string]any)["data"].([]any) }
			for query, n := range map[string]int{
				"": 50, "page=1": 50, "page=2": 50, "page=3": 1, "page=4": 0, "page=51&per_page=2": 1,
				"per_page=100": 100, "page=2&per_page=100": 1, "page=9000000000000000000&per_page=100": 0,
			} {
				assert.Len(f, page(query), n, path+query)
			}
			first := f.Get(path+"per_page=2").Is(200, `{"data":["<any>","<any>"],"pagination":{"page":1,"per_page":2}}`)
			f.Get(path+"per_page=2&page=1").Is(200, first.Body)
			f.Get(path+"page=7&with_count=true").Is(200, `{"data":[],"pagination":{"page":7,"per_page":50,"count":101}}`)
			f.Get(path+"page=7&with_count=false").Is(200, `{"data":[],"pagination":{"page":7,"per_page":50}}`)
			whole := append(page("per_page=100"), page("per_page=100&page=2")...)
			assert.Equal(f, probe.Show(whole), probe.Show(append(append(page("page=1"), page("page=2")...), page("page=3")...)), "the pages together")
			for _, query := range []string{"per_page=101", "per_page=0", "page=0", "page=-1", "page=x", "page=1.5"} {
				field, _, _ := strings.Cut(query, "=")
				f.Get(path+query).Problem(422, "value_error", "query."+field)
			}
		}))
	}
}
