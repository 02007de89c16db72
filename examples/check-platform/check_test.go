package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/examples/faulttest"
	"example.com/emailplatform/mockserver"
)

// table runs the program against a mock server with faults. It returns the report, and all requests except GET
// requests.
func table(t *testing.T, write bool, faults ...mockserver.Fault) (report string, changes []string) {
	t.Helper()
	demo, p := newDemo(t, write, func(next http.RoundTripper) http.RoundTripper { return next })
	faulttest.Inject(t, demo, faults...)
	var out strings.Builder
	fatal(t, p.report(t.Context(), &out))
	return out.String(), changesOf(demo)
}

// changesOf returns all requests except GET requests and the email that fill sends.
func changesOf(demo *mockserver.Server) (changes []string) {
	for _, r := range demo.Requests()[1:] {
		if r.Method != http.MethodGet {
			changes = append(changes, r.Method+" "+r.Path)
		}
	}
	return changes
}

// newDemo returns a mock server and a platform for it. The client of the platform uses the transport that the
// function through returns.
func newDemo(t *testing.T, write bool, through func(http.RoundTripper) http.RoundTripper) (*mockserver.Server, *platform) {
	t.Helper()
	demo := mockserver.New(mockserver.Config{})
	t.Cleanup(demo.Close)
	email, err := fill(t.Context(), demo)
	fatal(t, err)
	p, err := newPlatform(options{demo.URL(), demo.Token(), email, write}, &http.Client{Transport: through(demo.Transport())})
	fatal(t, err)
	return demo, p
}

var fatal = faulttest.Check

// row returns the text after the rule in the rule's line of the report.
func row(t *testing.T, table, rule string) string {
	t.Helper()
	for line := range strings.Lines(table) {
		if _, rest, ok := strings.Cut(line, rule); ok {
			return strings.TrimSpace(rest)
		}
	}
	t.Fatalf("no row %q in\n%s", rule, table)
	return ""
}

func TestWithoutFlags(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, options{}); err != nil || !strings.Contains(out.String(), " match, 0 differ, 0 skipped") {
		t.Errorf("%v\n%s", err, &out)
	}
}

// TestReadsOnly: without -write only GET requests are sent.
func TestReadsOnly(t *testing.T) {
	out, changes := table(t, false)
	if changes != nil || strings.Count(out, "matches") < 20 || strings.Contains(out, "differs") || strings.Contains(out, "Not deleted") ||
		!strings.Contains(row(t, out, "deleting a contact is 204"), "skipped: -write is not set") {
		t.Errorf("sent %v\n%s", changes, out)
	}
}

// TestRemovesOwnRecords: all created records except the list are deleted, and no email is sent.
func TestRemovesOwnRecords(t *testing.T) {
	out, changes := table(t, true)
	if strings.Contains(out, "differs") || strings.Count(out, "Not deleted") != 1 || !strings.Contains(out, "Not deleted: list ") ||
		slices.Contains(changes, "POST /v2/emails") {
		t.Errorf("sent %v\n%s", changes, out)
	}
}

// TestReportsResponseFormat: the program reports responses in another format, and whether the client can read them.
func TestReportsResponseFormat(t *testing.T) {
	_, p := newDemo(t, true, func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(r)
			fatal(t, err)
			body, err := io.ReadAll(resp.Body)
			fatal(t, err)
			switch {
			case resp.StatusCode == http.StatusNoContent:
				resp.StatusCode, body = http.StatusOK, []byte("{}")
			case strings.HasPrefix(r.URL.Path, "/webhooks/"):
				body = []byte(`{"data":` + string(body) + `}`)
			default:
				body = bytes.ReplaceAll(body, []byte(`"created_on":1`), []byte(`"created_on":1.0e0,"x":1`))
			}
			resp.Body = io.NopCloser(bytes.NewReader(body))
			return resp, nil
		})
	})
	var report strings.Builder
	fatal(t, p.report(t.Context(), &report))
	out := report.String()
	for rule, want := range map[string]string{
		"a webhook is not wrapped in data and has webhook_id": `differs: wrapped in "data"; no "secret"; no "hash_function"; the client returns an error: getWebhook`,
		"a list is not wrapped in data and has list_id":       "differs: created_on is 1.0e0; the client can read it",
		"deleting a template is 204":                          "differs: 200 instead of 204; the client can read it",
		"deleting a deleted template is 404":                  "matches",
		"a page after the last one is empty":                  "matches",
	} {
		if got := row(t, out, rule); !strings.HasPrefix(got, want) {
			t.Errorf("%s\n got %s\nwant %s", rule, got, want)
		}
	}
}

// TestChangesOnlyOwnRecords: even if creating records fails, no other record is changed. If a record may exist
// after a 500, the program reports it.
func TestChangesOnlyOwnRecords(t *testing.T) {
	failing := func(operation string) mockserver.Fault {
		return mockserver.Fault{Operation: operation, Action: mockserver.FaultStatus, Status: 500}
	}
	out, changes := table(t, true, failing("createList"), failing("createContact"), failing("createTemplate"))
	if !slices.Equal(changes, []string{"POST /lists", "POST /templates"}) {
		t.Errorf("sent %v", changes)
	}
	if !strings.Contains(row(t, out, "creating a list is 201 with the list"), "500 instead of 201") ||
		!strings.Contains(row(t, out, "deleting a template is 204"), "skipped") || strings.Count(out, "may exist") != 2 {
		t.Error(out)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestInterrupted: created records are deleted even if the program is interrupted.
func TestInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	demo, p := newDemo(t, true, func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPatch && strings.HasPrefix(r.URL.Path, "/templates/") {
				interrupt()
			}
			return next.RoundTrip(r)
		})
	})
	var out strings.Builder
	err := p.report(ctx, &out)
	removed := strings.Count(strings.Join(changesOf(demo), " "), http.MethodDelete)
	if !errors.Is(err, context.Canceled) || removed != 2 || strings.Count(out.String(), "Not deleted") != 1 {
		t.Errorf("%v, removed %d\n%s", err, removed, &out)
	}
}

// TestTerminal: control characters in the platform's text are replaced.
func TestTerminal(t *testing.T) {
	if got := (verdict{differs, "a\tb\n\x1b[2J\u202ec"}).String(); got != "differs: a\ufffdb\ufffd\ufffd[2J\ufffdc" {
		t.Errorf("%q", got)
	}
}

func TestInvalidResponses(t *testing.T) {
	out, _ := table(t, false,
		mockserver.Fault{Operation: "listTags", Action: mockserver.FaultNotJSON},
		mockserver.Fault{Operation: "renderTemplate", Action: mockserver.FaultNotJSON})
	if got := row(t, out, "GET /tags: each item has name"); !strings.Contains(got, "differs") || !strings.Contains(got, "the client returns an error") {
		t.Error(got)
	}
}

func TestInvalidOptions(t *testing.T) {
	demo := mockserver.Start(mockserver.Config{})
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

// TestUnderFaults: with -write, the report lists each kind of record that remains, and the program sends no email.
func TestUnderFaults(t *testing.T) {
	faulttest.UnderFaults(t, []string{
		"createList", "createContact", "createTemplate", "updateTemplate", "unsubscribeContact", "deleteContact", "deleteTemplate",
	}, func(t *testing.T, demo *mockserver.Server) func() {
		email, err := fill(t.Context(), demo)
		fatal(t, err)
		p, err := newPlatform(options{demo.URL(), demo.Token(), email, true}, demo.HTTPClient())
		fatal(t, err)
		before := records(t, p.c)
		return func() {
			var out strings.Builder
			fatal(t, p.report(t.Context(), &out))
			time.Sleep(10 * time.Minute) // for requests that the platform processes late
			_, remaining, _ := strings.Cut(out.String(), "Not deleted:")
			for kind, n := range records(t, p.c) {
				if n > before[kind] && !strings.Contains(remaining, kind) {
					t.Errorf("%d %s remain, but the report says %q", n-before[kind], kind, remaining)
				}
			}
			if n := len(demo.Outbox()); n != 1 { // fill sends one email
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
		fatal(t, err)
		all["list"]++
		for contact, err := range c.Contacts.All(t.Context(), list.ID, client.ListContactsParams{}) {
			fatal(t, err)
			if contact.Status != events.ContactStatusDeleted {
				all["contact"]++
			}
		}
	}
	for _, err := range c.Templates.All(t.Context(), client.ListTemplatesParams{}) {
		fatal(t, err)
		all["template"]++
	}
	return all
}
