package mockserver_test

import (
	"bytes"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

var pathParameter = regexp.MustCompile(`\{\w+\}`)

// existing puts ids that furnish makes in the place of the document's.
var existing = strings.NewReplacer(`"list_id":81`, `"list_id":1`, `90210,90211`, `2`, `"template_id":4711`, `"template_id":3`)

// FuzzAPI sends anything to every route of a platform that has a resource of
// each kind, with and without validation of requests. Every answer keeps to the
// document, and none is a 500.
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
		p := newPlatform(t, mockserver.Config{Targets: receiver(), SkipValidation: unchecked})
		w := furnish(p)
		r := routes[int(n)%len(routes)]
		target := pathParameter.ReplaceAllStringFunc(r.path, func(name string) string {
			if parameter == "" {
				return w[strings.Trim(name, "{}")]
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
		req.Header = http.Header{"Authorization": {"Bearer " + p.token}, "Content-Type": {contentType}}
		if a := p.send(req); a.status >= 500 {
			t.Errorf("%s %s?%s %s: %d %s", r.method, target, query, body, a.status, a.text)
		}
		p.fired()
	})
}

// furnish makes a resource of each kind and returns the ids by path parameter.
func furnish(p platform) map[string]string {
	list := p.list()
	w := map[string]string{
		"list_id":     strings.TrimPrefix(list, "/lists/"),
		"contact_id":  p.contact(list, "maria.silva@example.com"),
		"template_id": p.must("POST", "/templates", `{"name":"T","content":{"html":"<b>{{n}}</b>"}}`).id("template_id"),
		"webhook_id":  strings.TrimPrefix(p.webhook(everything...), "/webhooks/"),
		"email_id":    p.email("maria.silva@example.com"),
		"campaign_id": strings.TrimPrefix(p.campaign(list, `"subject":"S","text":"T"`), "/campaigns/"),
		"email":       "no-more@example.com",
	}
	p.must("POST", "/suppressed-emails", `{"email":"no-more@example.com"}`)
	w["workflow_id"] = p.must("POST", "/workflows", `{"name":"W","trigger":"subscribed","list_id":`+w["list_id"]+
		`,"sender":{"email":"s@example.com"},"content":{"subject":"S","text":"T"}}`).id("workflow_id")
	return w
}
