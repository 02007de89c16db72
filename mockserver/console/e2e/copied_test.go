package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

// copiedCase is a request that is copied as a Go program.
type copiedCase struct{ method, target, body, contains string }

const (
	withSDK    = `"example.com/emailplatform/client"`
	withoutSDK = `http.NewRequest`
)

// copiedCases returns the first example of each operation. It also returns requests that the SDK cannot send or whose
// text could become code.
func copiedCases(p *page) []copiedCase {
	all := []copiedCase{
		{"GET", "/lists/7/contacts?page=2&per_page=3&with_count=true&sort=email%3Adesc&filter=tag%3A%60a%22%5C%0A%EF%BB%BF%E2%80%AE)", "", "Filter: \"tag:`a\\\"\\\\\\n\\ufeff\\u202e)\""},
		{"POST", "/lists/7/contacts?send_double_opt_in=true&resubscribe=false", `{"email":"ada@example.org"}`, "body.DoubleOptIn = true"},
		{"POST", "/lists/7/contacts", `{"email":"ada@example.org"}`, "body.Resubscribe = true"},
		{"POST", "/lists/7/contacts?resubscribe=1", `{"email":"ada@example.org"}`, withoutSDK},
		{"POST", "/campaigns/7/schedule", "", "Campaigns.Send(context.Background(), 7)"},
		{"POST", "/campaigns/7/schedule", `{"scheduled_for":1790000000}`, "time.Unix(1790000000, 0)"},
		{"POST", "/campaigns/7/schedule", `{"scheduled_for":"0,0);evil("}`, withoutSDK},
		{"POST", "/campaigns/7/schedule", `null`, withoutSDK},
		{"POST", "/templates", "{\"name\":\"`+evil()+`\u2028\ufeff\u202e\",\"content\":{\"html\":\"<p>\\u0060\\r\\n</p>\"}}", withSDK},
		{"POST", "/v2/emails", `{"email":"ada","sender":{"email":"shop@example.com"},"content":{"subject":"x","text":"x"}}`, withSDK},
		{"POST", "/v2/emails", `{"email":"ada@example.org","content":{"subject":5}}`, withoutSDK},
		{"POST", "/v2/emails", `{"email":`, withoutSDK},
		{"POST", "/lists", `{"name":"News","nam":"x"}`, withoutSDK},
		{"POST", "/lists", `{"name":""}`, withoutSDK},
		{"POST", "/lists", "", withoutSDK},
		{"POST", "/suppressed-emails", `{"email":"\ud800@example.org"}`, withoutSDK},
		{"DELETE", "/suppressed-emails/%22%2Bevil()%2B%22@example.org", "", `Remove(context.Background(), "\"+evil()+\"@example.org")`},
		{"GET", "/lists/7)%0Aos.RemoveAll(%22x%22)%0A_=(0?page=2", "", withoutSDK},
		{"GET", "/lists/99999999999999999999", "", withoutSDK},
		{"GET", "/lists/007", "", withoutSDK},
		{"DELETE", "/lists/%ff/contacts/-7", "", withoutSDK},
		{"DELETE", "/lists/8/contacts/-7", "", withoutSDK},
		{"DELETE", "/lists/8/contacts/7", "", "Delete(context.Background(), 8, 7)"},
		{"POST", "/v2/emails", `{"email":"ada@example.org","sender":{"email":"shop@example.com"},"content":{"subject":"x","template_id":9007199254740993},"custom_attributes":{"b":"2"}}`, withoutSDK},
		{"HEAD", "/lists", "", withoutSDK},
		{"BREW", "/coffee/../%22%60?a=%22%60\"", "", withoutSDK},
	}
	for _, query := range []string{"page=0", "page=1;x=2", "pag=2", "page=2&page=3", "page=%zz", "page=x", "with_count=1", "page"} {
		all = append(all, copiedCase{"GET", "/tags?" + query, "", withoutSDK})
	}
	for _, o := range eval[[]struct {
		Method, Path string
		Examples     []struct{ Value string }
	}](p, `fetch('operations.json').then(r => r.json())`) {
		path := strings.ReplaceAll(strings.ReplaceAll(o.Path, "{email}", "a%40b.example"), "{email_id}", "a%2Fb")
		for i := strings.Index(path, "{"); i >= 0; i = strings.Index(path, "{") {
			path = path[:i] + "7" + path[strings.Index(path, "}")+1:]
		}
		body := ""
		if len(o.Examples) > 0 {
			body = o.Examples[0].Value
		}
		all = append(all, copiedCase{o.Method, path, body, withSDK})
	}
	return all
}

// TestCopiedGo: the Go programs of logged requests compile, and send the same requests. The text in a request does not become
// code, even if an attacker sent the request.
func TestCopiedGo(t *testing.T) {
	f, p := start(t, "#/api")
	cases := copiedCases(p)
	if len(cases) < 70 {
		t.Fatalf("%d cases", len(cases))
	}
	dir, err := os.MkdirTemp(".", "copied-") //nolint:usetesting // in the module, to import the SDK
	p.check(err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	logged := make([]mockserver.Request, len(cases))
	var functions strings.Builder
	for i, c := range cases {
		logged[i] = f.raw(c)
		source := eval[string](p, fmt.Sprintf(`Promise.all([import('./src/programs.js'), fetch('requests/%s').then(r => r.json())]).then(([m, r]) => m.goOf(r))`, logged[i].ID))
		p.contains(source, c.contains)
		name := fmt.Sprintf("program%d", i)
		p.check(os.WriteFile(filepath.Join(dir, name+".go"), []byte(strings.Replace(source, "func main()", "func "+name+"()", 1)), 0o600))
		fmt.Fprintf(&functions, "%d: %s,\n", i, name)
	}
	p.check(os.WriteFile(filepath.Join(dir, "main.go"), []byte(`package main

import ("os"; "strconv")

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	map[int]func(){`+functions.String()+`}[n]()
}
`), 0o600))
	binary := filepath.Join(t.TempDir(), "copied")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./"+dir).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	for i, c := range cases {
		before := len(f.srv.Requests())
		run := exec.CommandContext(t.Context(), binary, fmt.Sprint(i))
		run.Env = append(os.Environ(), "TOKEN="+f.srv.Token())
		out, _ := run.CombinedOutput() // most programs report an error response
		if all := f.srv.Requests(); len(all) > before {
			sameRequest(test{t}, c, all[before], logged[i])
		} else {
			t.Errorf("%v: no request: %s", c, out)
		}
	}
}

// raw sends a request as it is, and returns its log entry.
func (f *fixture) raw(c copiedCase) mockserver.Request {
	f.Helper()
	target, query, _ := strings.Cut(c.target, "?")
	req, err := http.NewRequestWithContext(f.Context(), c.method, f.srv.URL()+target, strings.NewReader(c.body))
	f.check(err)
	req.URL.RawQuery = query
	req.Header.Set("Authorization", "Bearer "+f.srv.Token())
	if c.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	f.check(err)
	f.check(res.Body.Close())
	all := f.srv.Requests()
	return all[len(all)-1]
}

// sameRequest compares two requests. A request of the SDK can differ in its encoding.
func sameRequest(t test, c copiedCase, got, want mockserver.Request) {
	t.Helper()
	describe := func(r mockserver.Request) string {
		path, query, body := r.Path, r.Query, string(r.Body)
		if c.contains != withoutSDK {
			var value any
			t.check(json.Unmarshal([]byte(cmp.Or(body, "{}")), &value))
			values, err := url.ParseQuery(query)
			t.check(err)
			path, err = url.PathUnescape(path)
			t.check(err)
			query, body = values.Encode(), fmt.Sprint(value)
		}
		return fmt.Sprintf("%s %s ?%s %s", r.Method, path, query, body)
	}
	t.equal(describe(got), describe(want))
}

// TestCopiedText: the page copies the program of a request with hostile text, and the command for curl sends it unchanged.
func TestCopiedText(t *testing.T) {
	f, p := start(t, "#/requests")
	f.ask("GET", "/lists/7)%0Aos.RemoveAll(%22x%22)%0A_=(0?page=2", "")
	p.click("strong", "RemoveAll").actions = 0
	eval[bool](p, `(Object.defineProperty(navigator, 'clipboard', { value: { writeText: async s => { window.copied = s } } }), true)`)
	p.click("button", "Copy as Go").until(`window.copied`)
	p.contains(eval[string](p, `copied`), `/lists/7)%0Aos.RemoveAll(%22x%22)%0A_=(0?page=2"`)
	for call, want := range map[string]string{
		"'X`id`', 'http://x'":          "curl -i -X 'X`id`' 'http://x'",
		"'HEAD', 'http://x'":           "curl -i -I 'http://x'",
		"'GET', 'http://x/a?b=[1-9]'":  "curl -i -X GET -g 'http://x/a?b=[1-9]'",
		"'GET', 'http://x/a/../b?c=d'": "curl -i -X GET --path-as-is 'http://x/a/../b?c=d'",
		`'GET', "http://x/'$(id)"`:     `curl -i -X GET 'http://x/'\''$(id)'`,
	} {
		p.equal(eval[string](p, "import('./src/programs.js').then(m => m.curl("+call+", []))"), want)
	}
}
