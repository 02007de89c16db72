package mockserver_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/emailplatform/mockserver"
)

var pathParameter = regexp.MustCompile(`\{\w+\}`)

// existing puts ids that furnish makes in the place of the document's.
var existing = strings.NewReplacer(`"list_id":81`, `"list_id":1`, `90210,90211`, `2`, `"template_id":4711`, `"template_id":3`)

// FuzzAPI sends anything to every route of a platform that has a resource of
// each kind. Every answer keeps to the document, and none is a 500.
func FuzzAPI(f *testing.F) {
	doc, err := openapi3.NewLoader().LoadFromFile("../openapi.yaml")
	if err != nil {
		f.Fatal(err)
	}
	var routes []string
	for _, path := range doc.Paths.InMatchingOrder() {
		for method, op := range doc.Paths.Value(path).Operations() {
			routes = append(routes, method+" "+path)
			n := uint8(len(routes) - 1)
			f.Add(n, "", "", "application/json", []byte("{}"))
			f.Add(n, "x", "page=2&per_page=3&with_count=true&sort=email:asc&filter=email:x", "", []byte(nil))
			if op.RequestBody == nil {
				continue
			}
			media := op.RequestBody.Value.Content.Get("application/json")
			examples := []any{media.Example}
			for _, example := range media.Examples {
				examples = append(examples, example.Value.Value)
			}
			for _, example := range examples {
				body, err := json.Marshal(example)
				if err != nil {
					f.Fatal(err)
				}
				f.Add(n, "", "send_double_opt_in=true", "application/json", []byte(existing.Replace(string(body))))
			}
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, parameter, query, contentType string, body []byte) {
		p := newPlatform(t, mockserver.Config{Targets: receiver()})
		w := furnish(p)
		method, path, _ := strings.Cut(routes[int(n)%len(routes)], " ")
		target := pathParameter.ReplaceAllStringFunc(path, func(name string) string {
			if parameter == "" {
				return w[strings.Trim(name, "{}")]
			}
			return url.PathEscape(parameter)
		})
		req, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1/", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if req.URL.Path, err = url.PathUnescape(target); err != nil {
			t.Fatal(err)
		}
		req.URL.RawPath, req.URL.RawQuery = target, query
		req.Header = http.Header{"Authorization": {"Bearer " + p.token}, "Content-Type": {contentType}}
		if a := p.send(req); a.status >= 500 {
			t.Errorf("%s %s?%s %s: %d %s", method, target, query, body, a.status, a.text)
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
