package mockserver_test

import (
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

// The API is there for pages without a token, and leaves no trace.
func TestControlAsAccount(t *testing.T) {
	p := newProbe(t, mockserver.Config{Tokens: []mockserver.Token{
		{Token: "reader", UserID: 1, ReadOnly: true}, {Token: "owner", UserID: 2}, {Token: "other", UserID: 3, AccountID: 9},
	}})
	p = p.as("owner")
	list := p.list()
	logged := len(p.Requests())
	p.must("POST", "/_mock/faults", `{"action":"status"}`)
	p = p.as("")
	tests := []struct {
		name, method, path, body string
		status                   int
	}{
		{name: "reads", method: "GET", path: "/_mock/accounts/1/api/lists?page=1", status: 200},
		{
			name:   "writes as the one who may",
			method: "POST", path: "/_mock/accounts/1/api" + list + "/contacts",
			body: `{"email":"a@example.org"}`, status: 201,
		},
		{
			name:   "an address in a path",
			method: "DELETE", path: "/_mock/accounts/1/api/suppressed-emails/a%2Fb@example.org", status: 404,
		},
		{
			name:   "as the user who may only read",
			method: "POST", path: "/_mock/accounts/1/api/lists?user_id=1", body: `{"name":"x"}`, status: 403,
		},
		{name: "another account's list", method: "GET", path: "/_mock/accounts/9/api" + list, status: 404},
		{name: "an unknown account", method: "GET", path: "/_mock/accounts/8/api/lists", status: 404},
		{name: "an unknown path", method: "GET", path: "/_mock/accounts/1/api/nothing", status: 404},
		{name: "a wrong method", method: "DELETE", path: "/_mock/accounts/1/api/lists", status: 405},
		{name: "a mistake", method: "POST", path: "/_mock/accounts/1/api/lists", body: `{}`, status: 422},
		{name: "an unknown member", method: "POST", path: "/_mock/accounts/1/api/lists", body: `{"name":"x","colour":1}`, status: 422},
		{name: "an unknown parameter", method: "GET", path: "/_mock/accounts/1/api/lists?perpage=1", status: 422},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var body any
			if tt.body != "" {
				body = tt.body
			}
			if a := p.do(tt.method, tt.path, body); a.status != tt.status {
				t.Errorf("got %d %s, want %d", a.status, a.text, tt.status)
			}
		})
	}
	if n := len(p.Requests()); n != logged {
		t.Errorf("%d requests were logged, want none", n-logged)
	}
	if calls := p.Faults()[0].Calls; calls != 0 {
		t.Errorf("the fault counted %d, want 0 calls", calls)
	}
}

// A template that somebody opens here must not act on the routes around it.
func TestControlRendersInert(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	id := p.must("POST", "/templates",
		`{"name":"x","content":{"html":"<script>fetch('/_mock/state',{method:'DELETE'})</script>"}}`).id("template_id")
	a := p.must("GET", "/_mock/accounts/1/api/templates/"+id+"/render", nil)
	if !strings.Contains(a.text, "<script>") {
		t.Fatalf("rendered %s, want its script", a.text)
	}
	policy, sniff := a.header.Get("Content-Security-Policy"), a.header.Get("X-Content-Type-Options")
	if policy != "sandbox; default-src 'none'" || sniff != "nosniff" {
		t.Errorf("the policy is %q, and sniffing %q, want a sandbox and nosniff", policy, sniff)
	}
}
