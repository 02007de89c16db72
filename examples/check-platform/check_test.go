package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/altformat"
	"example.com/emailplatform/internal/tests/recipes"
	"example.com/emailplatform/mockserver"
)

// table returns the report about the mock server, changed by change.
func table(t *testing.T, write bool, change func(*mockserver.Server, http.RoundTripper) http.RoundTripper) (string, *mockserver.Server) {
	t.Helper()
	demo, email, err := startDemo(t.Context())
	fatal(t, err)
	t.Cleanup(demo.Close)
	transport := change(demo, demo.Transport())
	p, err := newPlatform(options{demo.URL(), demo.Token(), email, write}, &http.Client{Transport: transport})
	fatal(t, err)
	var out strings.Builder
	fatal(t, p.report(t.Context(), &out))
	return out.String(), demo
}

func asItIs(_ *mockserver.Server, next http.RoundTripper) http.RoundTripper { return next }

// row returns the line of the report with the text.
func row(t *testing.T, table, says string) string {
	t.Helper()
	for line := range strings.Lines(table) {
		if _, rest, ok := strings.Cut(line, says); ok {
			return strings.TrimSpace(rest)
		}
	}
	t.Fatalf("no row %q in\n%s", says, table)
	return ""
}

func TestWithoutFlags(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, options{}); err != nil || !strings.Contains(out.String(), " hold, 0 differ, 0 were not tried.") {
		t.Errorf("%v\n%s", err, &out)
	}
}

// TestReadsOnly: without -write only GET requests are sent.
func TestReadsOnly(t *testing.T) {
	var methods []string
	out, _ := table(t, false, func(_ *mockserver.Server, next http.RoundTripper) http.RoundTripper {
		return observed(func(r *http.Request) { methods = append(methods, r.Method) }, next)
	})
	if len(methods) < 20 || slices.ContainsFunc(methods, func(m string) bool { return m != http.MethodGet }) {
		t.Errorf("sent %v", methods)
	}
	if strings.Contains(out, "differs") || strings.Contains(out, "What stays") || !strings.Contains(row(t, out, "deleting a contact is 204"), "not tried: -write is not set") {
		t.Error(out)
	}
}

type observer struct {
	see  func(*http.Request)
	next http.RoundTripper
}

func observed(see func(*http.Request), next http.RoundTripper) http.RoundTripper {
	return observer{see, next}
}

func (o observer) RoundTrip(r *http.Request) (*http.Response, error) {
	o.see(r)
	return o.next.RoundTrip(r)
}

// TestRemovesOwnRecords: all created records except the list are deleted.
func TestRemovesOwnRecords(t *testing.T) {
	out, demo := table(t, true, asItIs)
	if strings.Contains(out, "differs") || strings.Count(out, "What stays") != 1 || !strings.Contains(out, "What stays: the list ") {
		t.Error(out)
	}
	if n := len(demo.Outbox()); n != 1 { // the demonstration's own
		t.Errorf("%d emails were sent", n)
	}
}

// TestReportsResponseFormat: the other response format is read, and each row reports its differences.
func TestReportsResponseFormat(t *testing.T) {
	out, _ := table(t, true, func(_ *mockserver.Server, next http.RoundTripper) http.RoundTripper { return altformat.Transport(next) })
	for says, want := range map[string]string{
		"creating a list is 201 with the list":         `differs: it is in "data", "id" in place of "list_id"; read all the same`,
		"a webhook is a bare object with webhook_id":   `differs: it is in "data", "id" in place of "webhook_id"; "secret" in "signature"; "hash_function" in "signature"; read all the same`,
		"the items of GET /tags have name":             `differs: "tag" in place of "name"; read all the same`,
		"a submitted email is a bare object with id":   `differs: "email_id" in place of "id"; "subject" in "content"; "submitted_on" in "submitted_time"; read all the same`,
		"deleting a template is 204":                   "differs: 200 in place of 204; read all the same",
		"deleting a template that is gone is 404":      "holds",
		"a page past the end is empty":                 "holds",
		"contacts of a list have id, email and status": "holds",
	} {
		if got := row(t, out, says); got != want {
			t.Errorf("%s\n got %s\nwant %s", says, got, want)
		}
	}
	if strings.Contains(out, "cannot use") {
		t.Error(out)
	}
}

// TestChangesOnlyOwnRecords: if creating records fails, no other record is changed. Records that may exist after a
// 500 are reported.
func TestChangesOnlyOwnRecords(t *testing.T) {
	var sent []string
	out, _ := table(t, true, func(srv *mockserver.Server, next http.RoundTripper) http.RoundTripper {
		for _, operation := range []string{"createList", "createContact", "createTemplate"} {
			if _, err := srv.Inject(mockserver.Fault{Operation: operation, Action: mockserver.FaultStatus, Status: 500}); err != nil {
				t.Fatal(err)
			}
		}
		return observed(func(r *http.Request) {
			if r.Method != http.MethodGet {
				sent = append(sent, r.Method+" "+r.URL.Path)
			}
		}, next)
	})
	if !slices.Equal(sent, []string{"POST /lists", "POST /templates"}) {
		t.Errorf("sent %v", sent)
	}
	if !strings.Contains(row(t, out, "creating a list is 201 with the list"), "500 in place of 201") ||
		!strings.Contains(row(t, out, "deleting a template is 204"), "not tried") || strings.Count(out, "What stays: perhaps a") != 2 {
		t.Error(out)
	}
}

// TestInterrupted: created records are deleted even if the program is interrupted.
func TestInterrupted(t *testing.T) {
	demo, email, err := startDemo(t.Context())
	fatal(t, err)
	defer demo.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	var removed []string
	p, err := newPlatform(options{demo.URL(), demo.Token(), email, true}, &http.Client{Transport: observed(func(r *http.Request) {
		switch {
		case r.Method == http.MethodPatch && strings.HasPrefix(r.URL.Path, "/templates/"):
			interrupt()
		case r.Method == http.MethodDelete:
			removed = append(removed, r.URL.Path)
		}
	}, demo.Transport())})
	fatal(t, err)
	var out strings.Builder
	if err := p.report(ctx, &out); !errors.Is(err, context.Canceled) || len(removed) != 2 || strings.Count(out.String(), "What stays") != 1 {
		t.Errorf("%v, removed %v\n%s", err, removed, &out)
	}
}

// TestTerminal: control characters of the platform are replaced.
func TestTerminal(t *testing.T) {
	if got := (verdict{differs, "a\tb\n\x1b[2J\u202ec"}).String(); got != "differs: a\ufffdb\ufffd\ufffd[2J\ufffdc" {
		t.Errorf("%q", got)
	}
}

func TestInvalidResponses(t *testing.T) {
	out, _ := table(t, false, func(srv *mockserver.Server, next http.RoundTripper) http.RoundTripper {
		for _, operation := range []string{"listTags", "renderTemplate"} {
			if _, err := srv.Inject(mockserver.Fault{Operation: operation, Action: mockserver.FaultNotJSON}); err != nil {
				t.Fatal(err)
			}
		}
		return next
	})
	if got := row(t, out, "the items of GET /tags have name"); !strings.Contains(got, "differs") || !strings.Contains(got, "the client cannot use it") {
		t.Error(got)
	}
}

func TestInvalidOptions(t *testing.T) {
	demo, _, err := startDemo(t.Context())
	fatal(t, err)
	address, token := demo.URL(), demo.Token()
	for name, o := range map[string]options{
		"no token":    {baseURL: address},
		"wrong token": {baseURL: address, token: "wrong"},
		"plain http":  {baseURL: "http://platform.example", token: token},
	} {
		if err := run(t.Context(), new(strings.Builder), o); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", name, err)
		}
	}
	demo.Close()
	if err := run(t.Context(), new(strings.Builder), options{baseURL: address, token: token}); err == nil {
		t.Error("no error without a server")
	}
}

// fatal ends the test if there is an error.
func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestUnderFaults: with -write the program names everything that it could not remove,
// and sends nothing.
func TestUnderFaults(t *testing.T) {
	recipes.UnderFaults(t, []string{
		"createList", "createContact", "createTemplate", "updateTemplate", "unsubscribeContact", "deleteContact", "deleteTemplate",
	}, func(t *testing.T, demo *mockserver.Server) func() {
		email, err := fill(t.Context(), demo)
		if err != nil {
			t.Fatal(err)
		}
		p, err := newPlatform(options{demo.URL(), demo.Token(), email, true}, demo.HTTPClient())
		if err != nil {
			t.Fatal(err)
		}
		before := records(t, p.c)
		return func() {
			var out strings.Builder
			if err := p.report(t.Context(), &out); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Minute) // for requests that the platform processes late
			_, stays, _ := strings.Cut(out.String(), "What stays:")
			for kind, n := range records(t, p.c) {
				if n > before[kind] && !strings.Contains(stays, kind) {
					t.Errorf("%d %s left, and the report says %q", n-before[kind], kind, stays)
				}
			}
			if n := len(demo.Outbox()); n != 1 { // of the demonstration
				t.Errorf("%d emails were sent", n-1)
			}
		}
	})
}

// records returns the number of records of each kind that the program creates.
func records(t *testing.T, c *client.Client) map[string]int {
	t.Helper()
	all := map[string]int{}
	for list, err := range c.Lists.All(t.Context(), client.ListListsParams{}) {
		if err != nil {
			t.Fatal(err)
		}
		all["list"]++
		for contact, err := range c.Contacts.All(t.Context(), list.ID, client.ListContactsParams{}) {
			if err != nil {
				t.Fatal(err)
			}
			if contact.Status != events.ContactStatusDeleted {
				all["contact"]++
			}
		}
	}
	for _, err := range c.Templates.All(t.Context(), client.ListTemplatesParams{}) {
		if err != nil {
			t.Fatal(err)
		}
		all["template"]++
	}
	return all
}
