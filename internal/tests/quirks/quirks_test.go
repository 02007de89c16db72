// Package quirks_test compares the results of package client between a mock server with quirks and one without them.
//
//	go test ./internal/tests/quirks -run TestQuirkCombinations -rapid.checks 1000
package quirks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// TestQuirk: the client has the same results with each quirk.
func TestQuirk(t *testing.T) {
	for _, name := range mockserver.Quirks() {
		for _, value := range []int{1, 7, 50, 1000} {
			quirk := strings.Replace(name, "=N", "="+strconv.Itoa(value), 1)
			t.Run(quirk, func(t *testing.T) { compare(t, []string{quirk}) })
			if quirk == name {
				break // it has no value
			}
		}
	}
}

// TestQuirkCombinations: the client has the same results with random combinations of quirks.
func TestQuirkCombinations(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var quirks []string
		for _, name := range mockserver.Quirks() {
			if rapid.IntRange(0, 2).Draw(r, name) == 0 {
				value := rapid.SampledFrom([]string{"=1", "=2", "=5", "=49", "=50", "=99", "=100"}).Draw(r, "value")
				quirks = append(quirks, strings.Replace(name, "=N", value, 1))
			}
		}
		compare(r, quirks)
	})
}

func compare(t rapid.TB, quirks []string) {
	t.Helper()
	want, got := results(nil, quirks), results(quirks, quirks)
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Fatalf("%v\nwith the quirks:\n%s\nwithout:\n%s", quirks, at(got, i), at(want, i))
		}
	}
}

func at(lines []string, i int) string {
	if i >= len(lines) {
		return "(nothing)"
	}
	return lines[i]
}

// session calls most operations of a client and stores the results of the calls.
type session struct {
	*client.Client

	srv         *mockserver.Server
	hidesErrors bool // the quirks hide which error it is
	consent     bool // an error as text can concern the parameter resubscribe or the consent of a contact, so the client must omit the parameter
	results     []string
}

// results returns the results of a new client with a new server. If a quirk in hide hides details of errors, the
// results omit these details.
func results(quirks, hide []string) []string {
	srv := mockserver.New(mockserver.Config{
		Quirks: quirks, Now: time.Unix(1_700_000_000, 0), FreezeClock: true, Logger: slog.New(slog.DiscardHandler),
		Targets: map[string]http.Handler{"app.test": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})},
	})
	defer srv.Close()
	c, err := client.New(client.Config{
		BaseURL: srv.URL(), Token: srv.Token(), HTTPClient: srv.HTTPClient(), Logger: slog.New(slog.DiscardHandler),
		LookupLimiter: client.NoLookupLimit{},
	})
	if err != nil {
		panic(err)
	}
	s := &session{Client: c, srv: srv, hidesErrors: slices.ContainsFunc(hide, func(quirk string) bool {
		return quirk == "errors-as-400" || quirk == "plain-errors" || quirk == "strict-parameters"
	})}
	s.consent = slices.Contains(hide, "strict-parameters") && slices.Contains(hide, "plain-errors")
	for _, part := range []func(s *session){templates, contacts, imports, emails, campaigns, webhooks} {
		part(s)
	}
	return s.results
}

// note adds the result of a call.
func (s *session) note(call string, value any, err error) {
	var decoded any
	text, wrong := json.Marshal(value)
	if wrong == nil {
		wrong = json.Unmarshal(text, &decoded)
	}
	strip(decoded)
	text, _ = json.Marshal(decoded)
	s.results = append(s.results, fmt.Sprintf("%s: %s %v %s", call, text, wrong, s.errorKinds(err)))
}

// strip removes the fields that the quirk extra-fields adds, because the client keeps them. It also removes lists that
// are null or empty.
func strip(value any) {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "x_unknown")
		for name, inner := range v {
			if list, ok := inner.([]any); inner == nil || ok && len(list) == 0 {
				delete(v, name)
			}
			strip(inner)
		}
	case []any:
		for _, inner := range v {
			strip(inner)
		}
	}
}

// errorKinds returns the sentinel errors that an error matches.
func (s *session) errorKinds(err error) string {
	sentinels := []error{client.ErrNotQueued, client.ErrOutcomeUnknown, client.ErrInvalidResponse}
	if !s.hidesErrors {
		sentinels = append(sentinels, client.ErrNotFound, client.ErrConflict, client.ErrContactExists, client.ErrValidation)
	}
	var kinds []string
	for _, sentinel := range sentinels {
		if errors.Is(err, sentinel) {
			kinds = append(kinds, sentinel.Error())
		}
	}
	if err != nil && kinds == nil {
		return "an error"
	}
	return strings.Join(kinds, ", ")
}

// all collects the items of an iteration.
func all[T any](seq iter.Seq2[T, error]) (items []T, err error) {
	for item, wrong := range seq {
		if err = wrong; err == nil {
			items = append(items, item)
		}
	}
	return items, err
}

func templates(s *session) {
	ctx := context.Background()
	template, err := s.Templates.Create(ctx, client.TemplateCreate{Name: "Welcome", Content: client.TemplateContent{HTML: "<p>{{name}}</p>", Text: "x"}})
	s.note("create", template, err)
	name := "Hello"
	updated, err := s.Templates.Update(ctx, template.ID, client.TemplateUpdate{Name: &name})
	s.note("update", updated, err)
	found, err := s.Templates.Find(ctx, "Hello")
	s.note("find", found, err)
	_, err = s.Templates.Find(ctx, "Missing")
	s.note("find missing", nil, err)
	same, err := s.Templates.Ensure(ctx, client.TemplateCreate{Name: "Hello", Content: client.TemplateContent{HTML: "<p>{{name}}</p>", Text: "x"}})
	s.note("ensure", same, err)
	html, err := s.Templates.Render(ctx, template.ID)
	s.note("render", html, err)
	s.note("delete", nil, s.Templates.Delete(ctx, template.ID))
	s.note("delete again", nil, s.Templates.Delete(ctx, template.ID))
	rest, err := all(s.Templates.All(ctx, client.ListTemplatesParams{}))
	s.note("no templates", rest, err)
}

func contacts(s *session) {
	ctx := context.Background()
	for _, name := range []string{"News", "Offers", "News 2"} {
		list, err := s.Lists.Create(ctx, client.ListCreate{Name: name})
		s.note("list", list, err)
	}
	list, err := s.Lists.Ensure(ctx, client.ListCreate{Name: "Offers"})
	s.note("ensure", list, err)
	lists, err := all(s.Lists.All(ctx, client.ListListsParams{}))
	s.note("lists", lists, err)
	_, err = s.Lists.Get(ctx, 999)
	s.note("no list", nil, err)
	s.note("policy", nil, s.Lists.AcceptPolicy(ctx, list.ID))
	in := client.ContactCreate{Email: "ada@example.org", Tags: []string{"vip"}, Resubscribe: s.consent}
	ada, err := s.Contacts.Create(ctx, list.ID, in)
	s.note("contact", ada, err)
	_, err = s.Contacts.Create(ctx, list.ID, in)
	s.note("duplicate", nil, err)
	bob, err := s.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: "bob@example.org", Resubscribe: s.consent})
	s.note("contact", bob, err)
	ada, err = s.Contacts.Update(ctx, list.ID, ada.ID, client.ContactUpdate{CustomAttributes: []client.CustomAttributeUpdate{{Name: "city", Value: client.Value("Rome")}}})
	s.note("update", ada, err)
	s.note("tag", nil, s.Contacts.Tag(ctx, list.ID, client.ContactTagging{ContactIDs: []int64{ada.ID, bob.ID}, Tags: []string{"new"}}))
	s.note("unsubscribe", nil, s.Contacts.Unsubscribe(ctx, list.ID, bob.ID))
	s.note("delete", nil, s.Contacts.Delete(ctx, list.ID, bob.ID))
	found, err := s.Contacts.Find(ctx, list.ID, "ADA@example.org")
	s.note("find", found, err)
	got, err := s.Contacts.Get(ctx, list.ID, bob.ID)
	s.note("get", got, err)
	tags, err := all(s.Tags.All(ctx, client.ListTagsParams{}))
	s.note("tags", tags, err)
}

func imports(s *session) {
	ctx := context.Background()
	list, err := s.Lists.Find(ctx, "News")
	s.note("find", list, err)
	var in []client.ImportContact
	for i := range 120 {
		in = append(in, client.ImportContact{Email: fmt.Sprintf("c%d@example.org", i)})
	}
	in[7].Email = "invalid"
	report, err := s.Contacts.Import(ctx, list.ID, client.ContactsFromSlice(in), client.ImportOptions{BatchSize: 50})
	s.note("import", report.ImportCounts, err)
	for _, size := range []int64{0, 7, 100} {
		contacts, err := all(s.Contacts.All(ctx, list.ID, client.ListContactsParams{PerPage: size, Sort: "email:desc"}))
		s.note(fmt.Sprintf("contacts in pages of %d", size), contacts, err)
	}
	one, err := all(s.Contacts.All(ctx, list.ID, client.ListContactsParams{Filter: "email:c5@example.org"}))
	s.note("filtered", one, err)
	none, err := all(s.Contacts.All(ctx, list.ID, client.ListContactsParams{Filter: "status:spam"}))
	s.note("filtered", none, err)
}

func emails(s *session) {
	ctx := context.Background()
	in := client.EmailSubmission{To: "ada@example.org", Sender: client.Sender{Email: "shop@example.com"}, Content: client.EmailContent{Subject: "S", Text: "T"}}
	sent, err := s.Emails.Send(ctx, in)
	s.note("send", sent.Status, err)
	email, err := s.Emails.Get(ctx, sent.ID)
	email.ContactID, email.ListID = 0, 0
	s.note("same id", email.ID == sent.ID && sent.ID != "", nil)
	email.ID = ""
	s.note("get", email, err)
	in.To = "bob@example.org" // deleted
	sent, err = s.Emails.Send(ctx, in)
	s.note("rejected", sent.Status, err)
	legacy, err := s.Emails.SendLegacy(ctx, client.TransactionalSubmission{To: "eve@example.org", Sender: in.Sender, Content: client.MessageContent{Subject: "S", Text: "T"}}) //nolint:staticcheck // a platform may have only this endpoint
	s.note("legacy", legacy.ID != "", err)
	s.note("outbox", len(s.srv.Outbox()), nil)
}

func campaigns(s *session) {
	ctx := context.Background()
	list, err := s.Lists.Find(ctx, "Offers")
	s.note("find", list, err)
	sender, content := client.Sender{Email: "shop@example.com"}, client.MessageContent{Subject: "S", Text: "T"}
	campaign, err := s.Campaigns.Create(ctx, client.CampaignCreate{Name: "May", ListID: list.ID, Sender: sender, Content: content})
	s.note("create", campaign, err)
	campaign, err = s.Campaigns.Schedule(ctx, campaign.ID, time.Unix(1_800_000_000, 0))
	s.note("schedule", campaign, err)
	found, err := s.Campaigns.Find(ctx, "May")
	s.note("find", found, err)
	workflow, err := s.Workflows.Create(ctx, client.WorkflowCreate{Name: "W", ListID: list.ID, Trigger: "subscribed", Sender: sender, Content: content})
	s.note("workflow", workflow, err)
	s.note("activate", nil, s.Workflows.Activate(ctx, workflow.ID))
	workflows, err := all(s.Workflows.All(ctx, client.ListWorkflowsParams{}))
	s.note("workflows", workflows, err)
}

func webhooks(s *session) {
	ctx := context.Background()
	in := client.WebhookCreate{Events: []events.Name{"Email.Bounced"}}
	var first client.Webhook
	for i := range 3 {
		in.URL = fmt.Sprintf("http://app.test/%d", i)
		hook, err := s.Webhooks.Ensure(ctx, in)
		if hook.Secret.Reveal() == "" {
			err = errors.Join(err, errors.New("no secret"))
		}
		s.note("ensure", hook.URL, err)
		if i == 0 {
			first = hook
		}
	}
	again, err := s.Webhooks.Ensure(ctx, in)
	s.note("ensure again", again.URL, err)
	_, successor, err := s.Webhooks.Rotate(ctx, first.ID)
	s.note("rotate", successor.URL, err)
	s.note("archive", nil, s.Webhooks.Archive(ctx, first.ID))
	active, err := s.Webhooks.Active(ctx, "http://app.test/2")
	s.note("active", len(active), err)
	hooks, err := all(s.Webhooks.All(ctx, client.ListWebhooksParams{}))
	s.note("all", hooks, err)
}
