package conformance_test

import (
	"bytes"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

var pathParameter = regexp.MustCompile(`\{\w+\}`)

// existing replaces ids in examples with ids of furnish.
var existing = strings.NewReplacer(`"list_id":81`, `"list_id":1`, `90210,90211`, `2`, `"template_id":4711`,
	`"template_id":3`)

// FuzzAPI sends random requests to every route, with and without validation. Every response must match openapi.yaml,
// and none may be a 500.
func FuzzAPI(f *testing.F) {
	routes := routes(f)
	for n, r := range routes {
		n := uint8(n)
		f.Add(n, true, "", "", "application/json", []byte("{}"))
		f.Add(n, false, "x", "page=2&per_page=3&with_count=true&sort=email:asc&filter=email:x", "", []byte(nil))
		for _, example := range r.examples() {
			body := []byte(existing.Replace(example))
			f.Add(n, false, "", "send_double_opt_in=true", "application/json", body)
			f.Add(n, true, "", "", "application/json", body)
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, unchecked bool, parameter, query, contentType string, body []byte) {
		l := newLab(t, func(c *mockserver.Config) { c.SkipValidation = unchecked })
		ids := furnish(l)
		r := routes[int(n)%len(routes)]
		target := pathParameter.ReplaceAllStringFunc(r.path, func(name string) string {
			if parameter == "" {
				return ids[strings.Trim(name, "{}")]
			}
			return url.PathEscape(parameter)
		})
		req, err := http.NewRequestWithContext(t.Context(), r.method, "http://127.0.0.1/", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if req.URL.Path, err = url.PathUnescape(target); err != nil {
			t.Fatal(err)
		}
		req.URL.RawPath, req.URL.RawQuery = target, query
		req.Header = http.Header{"Authorization": {"Bearer " + l.token}, "Content-Type": {contentType}}
		if a := l.send(req); a.status >= 500 {
			t.Errorf("%s %s?%s %s: %d %s", r.method, target, query, body, a.status, a.raw)
		}
		l.deliveries()
	})
}

// furnish creates a resource of each kind and returns the ids by path parameter.
func furnish(l *lab) map[string]string {
	const maria = "maria.silva@example.com" // of the document's examples
	list := l.list()
	contact := l.post(f("/lists/%d/contacts", list), f(`{"email":%q,"tags":["vip"]}`, maria)).int("id")
	ids := map[string]int64{
		"list_id":     list,
		"contact_id":  contact,
		"template_id": l.post("/templates", design).int("template_id"),
		"campaign_id": l.campaign(list),
		"workflow_id": l.workflow(list),
	}
	l.post("/suppressed-emails", `{"email":"no-more@example.com"}`).ok()
	out := map[string]string{
		"webhook_id": l.listen(),
		"email_id":   l.submitTo(list, maria),
		"email":      "no-more@example.com",
	}
	for name, id := range ids {
		out[name] = strconv.FormatInt(id, 10)
	}
	return out
}
