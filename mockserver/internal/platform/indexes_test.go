package platform

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/delivery"
)

// TestIndexes compares each index with a search through all records, after random changes and restores.
func TestIndexes(t *testing.T) {
	p := restored(t, `{"version":4,"last_id":0}`)
	r := rand.New(rand.NewPCG(1, 2))
	ctx := WithCaller(t.Context(), &Caller{AccountID: 1})
	a := func() *account { p.mu.Lock(); defer p.mu.Unlock(); return p.accountLocked(1) }
	succeed(t)(p.CreateList(ctx, api.CreateListRequestObject{Body: &api.ListCreate{Name: "first"}}))
	for range 3000 {
		randomChange(ctx, p, a(), r)
	}
	checkIndexes(t, p, a())
	saved := written(t, p)
	require.NoError(t, p.Restore(strings.NewReader(saved)))
	checkIndexes(t, p, a())
	for range 100 {
		randomChange(ctx, p, a(), r)
	}
	require.NoError(t, p.RestoreAccount(1, strings.NewReader(saved)))
	checkIndexes(t, p, a())
	again := written(t, p)
	if again, saved = resources(again), resources(saved); again != saved {
		t.Errorf("the restored account differs:\n%s\nwant\n%s", again, saved)
	}
}

// resources returns the resources in a state. It omits the messages, which a restored account does not have, and the
// last id, which only grows.
func resources(state string) string {
	return state[strings.Index(state, `"accounts"`):strings.Index(state, `"messages"`)]
}

func written(t *testing.T, p *Platform) string {
	t.Helper()
	return textOf(t, p.Snapshot())
}

func textOf(t *testing.T, s *Snapshot) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, s.Write(&out))
	return out.String()
}

func succeed(t *testing.T) func(any, error) {
	return func(_ any, err error) {
		if t.Helper(); err != nil {
			t.Fatal(err)
		}
	}
}

// randomChange performs a random operation, which may fail.
func randomChange(ctx context.Context, p *Platform, a *account, r *rand.Rand) {
	lists, email := slices.Collect(a.Lists.all()), fmt.Sprintf("U%d@example.org", r.IntN(40))
	l := lists[r.IntN(len(lists))]
	about := r.Int64N(p.lastID + 1) // id of a record of any kind
	switch r.IntN(14) {
	case 0:
		if len(lists) == 5 {
			return // with few lists, the same addresses are removed and added again
		}
		_, _ = p.CreateList(ctx, api.CreateListRequestObject{Body: &api.ListCreate{Name: "L"}})
	case 1, 2, 3:
		_, _ = p.CreateContact(ctx, api.CreateContactRequestObject{ListID: l.ListID, Body: &api.ContactCreate{Email: email}})
	case 4:
		entry := fmt.Appendf(nil, `{"email":%q}`, strings.ToLower(email))
		_, _ = p.ImportContacts(ctx, api.ImportContactsRequestObject{ListID: l.ListID, Body: &api.ContactImport{Contacts: []json.RawMessage{entry}, Resubscribe: true}})
	case 5:
		if n := l.contacts.all.Len(); n > 0 {
			_, _ = p.DeleteContact(ctx, api.DeleteContactRequestObject{ListID: l.ListID, ContactID: l.contacts.all.At(r.IntN(n)).ID})
		}
	case 6:
		_, _ = p.CreateTemplate(ctx, api.CreateTemplateRequestObject{Body: &api.TemplateCreate{Name: "T"}})
	case 7:
		_, _ = p.DeleteTemplate(ctx, api.DeleteTemplateRequestObject{TemplateID: randomTemplate(a, r)})
	case 8:
		_, _ = p.CreateCampaign(ctx, api.CreateCampaignRequestObject{Body: &api.CampaignCreate{Name: "C", Content: api.MessageContent{TemplateID: randomTemplate(a, r)}}})
	case 9:
		content := api.MessageContentUpdate{TemplateID: new(randomTemplate(a, r))}
		if r.IntN(3) == 0 {
			content = api.MessageContentUpdate{HTML: new("<p>")}
		}
		if all := slices.Collect(a.Campaigns.all()); len(all) > 0 {
			_, _ = p.UpdateCampaign(ctx, api.UpdateCampaignRequestObject{CampaignID: all[r.IntN(len(all))].CampaignID, Body: &api.CampaignUpdate{Content: &content}})
		}
	case 10:
		in := api.WorkflowCreate{Name: "W", ListID: l.ListID, Trigger: api.WorkflowTriggerSubscribed, Sender: api.Sender{Email: "s@example.org"}}
		in.Content.TemplateID = randomTemplate(a, r)
		_, _ = p.AcceptListPolicy(ctx, api.AcceptListPolicyRequestObject{ListID: l.ListID})
		_, _ = p.CreateWorkflow(ctx, api.CreateWorkflowRequestObject{Body: &in})
	case 11:
		if all := slices.Collect(a.Workflows.all()); len(all) > 0 {
			id := all[r.IntN(len(all))].WorkflowID
			if about%2 == 0 {
				_, _ = p.ActivateWorkflow(ctx, api.ActivateWorkflowRequestObject{WorkflowID: id})
			} else {
				_, _ = p.DeactivateWorkflow(ctx, api.DeactivateWorkflowRequestObject{WorkflowID: id})
			}
		}
	case 12:
		_, _ = p.AddSuppressedEmail(ctx, api.AddSuppressedEmailRequestObject{Body: &api.SuppressedEmailCreate{Email: email}})
		_, _ = p.RemoveSuppressedEmail(ctx, api.RemoveSuppressedEmailRequestObject{Email: fmt.Sprintf("u%d@example.org", r.IntN(40))})
	case 13:
		in := api.WebhookCreate{URL: "http://receiver.example/", Events: []string{string(api.EventNameEmailOpened)}}
		if r.IntN(2) == 0 {
			in.Events = append(in.Events, string(api.EventNameEmailClicked))
		}
		_, _ = p.CreateWebhook(ctx, api.CreateWebhookRequestObject{Body: &in})
		name := slices.Collect(a.Webhooks.all())[r.IntN(a.Webhooks.len())].Name()
		_, _ = p.ArchiveWebhook(ctx, api.ArchiveWebhookRequestObject{WebhookID: name})
		if r.IntN(3) == 0 {
			_, _ = p.UnarchiveWebhook(ctx, api.UnarchiveWebhookRequestObject{WebhookID: name})
		}
	}
}

func randomTemplate(a *account, r *rand.Rand) int64 {
	if i := r.IntN(a.Templates.len() + 1); i > 0 {
		return a.Templates.inOrder[i-1].TemplateID
	}
	return 0
}

func checkIndexes(t *testing.T, p *Platform, a *account) {
	t.Helper()
	latest := map[string]*contact{}
	for l := range a.Lists.all() {
		for c := range l.contacts.all.All() {
			if last := latest[strings.ToLower(c.Email)]; last == nil || last.Added < c.Added {
				latest[strings.ToLower(c.Email)] = c
			}
		}
	}
	for address, want := range latest {
		l, c := a.contactAt(address)
		assert.Same(t, want, c, address)
		assert.Same(t, want, l.contacts.find(c.ID), address)
	}
	for _, event := range []events.Name{events.NameEmailOpened, events.NameEmailClicked, events.NameEmailBounced} {
		want := slices.ContainsFunc(slices.Collect(a.Webhooks.all()), func(h *delivery.Webhook) bool { return !h.Archived && slices.Contains(h.Events, string(event)) })
		assert.Equal(t, want, p.Deliveries.HasSubscriber(a.ID, event), "a webhook subscribes to %s", event)
	}
	if n := len(a.Suppression.inOrder); n != a.Suppression.len() || n == 0 {
		t.Errorf("%d suppressed addresses in order, %d by address", n, a.Suppression.len())
	}
	for e := range a.Suppression.all() {
		if a.Suppression.entry(e.Email) != e {
			t.Errorf("%s is not found", e.Email)
		}
	}
	if len(latest) < 30 {
		t.Errorf("%d addresses are too few for this test", len(latest))
	}
}

// TestSnapshotsNeverChange: the records of a snapshot do not change, whatever operations follow. This tests the rule of
// table.Table and collection for records of all kinds: only a record that edit returned may change.
func TestSnapshotsNeverChange(t *testing.T) {
	p := restored(t, `{"version":4,"last_id":0}`)
	r := rand.New(rand.NewPCG(3, 4))
	p.Deliveries.SetTarget("receiver.example", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength%3 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable) // so some deliveries wait for a retry
		}
	}))
	ctx := WithCaller(t.Context(), &Caller{AccountID: 1, Unlimited: true})
	a := func() *account { p.mu.Lock(); defer p.mu.Unlock(); return p.accountLocked(1) }
	succeed(t)(p.CreateList(ctx, api.CreateListRequestObject{Body: &api.ListCreate{Name: "first"}}))
	var snapshots []*Snapshot
	var texts []string
	for i := range 1200 {
		if r.IntN(2) == 0 {
			randomChange(ctx, p, a(), r)
		} else {
			randomMail(ctx, t, p, a(), r)
		}
		if i%40 == 39 {
			s := p.Snapshot()
			snapshots, texts = append(snapshots, s), append(texts, textOf(t, s))
		}
	}
	unchanged(t, snapshots, texts)
	want := []string{"campaigns", "contacts", "deliveries", "lists", "messages", "templates", "webhooks", "workflows"}
	for i, text := range texts[1:] {
		want = slices.DeleteFunc(want, func(kind string) bool { return changesKind(t, kind, texts[i], text) })
	}
	assert.Empty(t, want, "kinds of records that never changed")
}

// unchanged reports an error for each snapshot whose records differ from an earlier text of the snapshot.
func unchanged(t *testing.T, snapshots []*Snapshot, texts []string) {
	t.Helper()
	for i, s := range snapshots {
		if got, want := strings.Split(textOf(t, s), "\n"), strings.Split(texts[i], "\n"); !slices.Equal(got, want) {
			n := slices.IndexFunc(want, func(line string) bool { return !slices.Contains(got, line) })
			t.Errorf("the records of snapshot %d have changed, for example:\n%s", i, want[n])
		}
	}
}

// TestSnapshotsDuringCampaign: if the platform takes a snapshot after any step of a campaign, the records of the
// snapshot do not change.
func TestSnapshotsDuringCampaign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := restored(t, oneCampaign(time.Now().Add(time.Hour)))
		within(t, p, func(t *tx) error {
			for i := range campaignBatch { // with the contact of the state, one more than a batch
				t.newContact(t.account.Lists.get(1), fmt.Sprintf("u%d@example.org", i), statusActive)
			}
			return nil
		})
		var snapshots []*Snapshot
		var texts, steps []string
		for _, pause := range []time.Duration{0, time.Hour, campaignPause, campaignPause} {
			time.Sleep(pause)
			synctest.Wait()
			s := p.Snapshot()
			snapshots, texts = append(snapshots, s), append(texts, textOf(t, s))
			steps = append(steps, fmt.Sprintf("%s %d", s.accounts[0].campaigns[0].Status, s.accounts[0].campaigns[0].Next))
		}
		assert.Equal(t, []string{"scheduled 0", "delivering 0", "delivering 1000", "delivered 0"}, steps)
		unchanged(t, snapshots, texts)
	})
}

// changesKind reports whether a record of a kind differs in two states.
func changesKind(t *testing.T, kind, before, after string) bool {
	t.Helper()
	records := func(text string) map[any]any {
		var state struct {
			Accounts                       []map[string]any
			Contacts, Messages, Deliveries []any
		}
		require.NoError(t, json.Unmarshal([]byte(text), &state))
		all := map[string]any{"contacts": state.Contacts, "messages": state.Messages, "deliveries": state.Deliveries}
		maps.Copy(all, state.Accounts[0])
		found := map[any]any{}
		list, _ := all[kind].([]any)
		for _, record := range list {
			fields := record.(map[string]any)
			found[cmp.Or(fields["id"], fields[strings.TrimSuffix(kind, "s")+"_id"])] = record
		}
		return found
	}
	later := records(after)
	for id, record := range records(before) {
		if later[id] != nil && !reflect.DeepEqual(later[id], record) {
			return true
		}
	}
	return false
}

// randomMail sends a random email, simulates a random recipient action, or changes a random record. The operations may
// fail.
func randomMail(ctx context.Context, t *testing.T, p *Platform, a *account, r *rand.Rand) {
	t.Helper()
	lists := slices.Collect(a.Lists.all())
	l, email, message, dlv := lists[r.IntN(len(lists))], fmt.Sprintf("u%d@example.org", r.IntN(40)), "", delivery.ID(1+r.IntN(50))
	if n := p.messages.Len(); n > 0 {
		message = p.messages.At(r.IntN(n)).ID
	}
	contactID := int64(0)
	if n := l.contacts.all.Len(); n > 0 {
		contactID = l.contacts.all.At(r.IntN(n)).ID
	}
	switch r.IntN(9) {
	case 0:
		_, _ = p.SubmitEmail(ctx, submission(email))
	case 1:
		addresses := TestAddresses()
		_, _ = p.SubmitEmail(ctx, submission(addresses[r.IntN(len(addresses))].Address))
	case 2:
		_ = p.Open(message)
		_ = p.Click(message, "https://example.org/")
	case 3:
		_ = []func() error{
			func() error { return p.Bounce(message, events.BounceCategoryHard) },
			func() error { return p.Complain(message, "") },
			func() error { return p.Unsubscribe(message) },
			func() error { return p.GlobalUnsubscribe(message) },
			func() error { return p.DeleteMessage(message) },
			func() error { return p.RestoreMessage(message) },
		}[r.IntN(6)]()
	case 4:
		in := api.TemplateUpdate{Content: &api.TemplateContentUpdate{HTML: &email}}
		_, _ = p.UpdateTemplate(ctx, api.UpdateTemplateRequestObject{TemplateID: randomTemplate(a, r), Body: &in})
	case 5:
		attributes := []api.CustomAttributeUpdate{{Name: "a", Value: &email}}
		_, _ = p.UpdateContact(ctx, api.UpdateContactRequestObject{ListID: l.ListID, ContactID: contactID, Body: &api.ContactUpdate{CustomAttributes: attributes}})
	case 6:
		_, _ = p.TagContacts(ctx, api.TagContactsRequestObject{ListID: l.ListID, Body: &api.ContactTagging{ContactIds: []int64{contactID}, Tags: []string{email}}})
		_, _ = p.UnsubscribeContact(ctx, api.UnsubscribeContactRequestObject{ListID: l.ListID, ContactID: contactID})
	case 7:
		_ = p.Deliveries.Redeliver(dlv)
	case 8:
		in := api.CampaignCreate{Name: "C", ListID: l.ListID, Sender: api.Sender{Email: "s@example.org"}, Content: api.MessageContent{Subject: "S", Text: "T"}}
		made, _ := p.CreateCampaign(ctx, api.CreateCampaignRequestObject{Body: &in})
		id := made.(api.CreateCampaign201JSONResponse).CampaignID
		_, _ = p.ScheduleCampaign(ctx, api.ScheduleCampaignRequestObject{CampaignID: id})
		_, err := p.Work.Wait(ctx, 1) // the other operations of this test read records without the lock
		require.NoError(t, err)
	}
}

// Reading the outbox does not hold the lock of the platform. It returns each message once and in order. It requests
// the base URL only once.
func TestOutboxConcurrent(t *testing.T) {
	p := restored(t, oneCampaign(time.Now().Add(time.Hour)))
	ctx := WithCaller(t.Context(), &Caller{AccountID: 1})
	const more = 3*256 - 1 // plus the restored message
	for i := range more {
		succeed(t)(p.SubmitEmail(ctx, submission(fmt.Sprintf("u%d@example.org", i%5))))
	}
	n, newest := p.NewestInOutbox()
	var ids []string
	for m := range newest {
		ids = append(ids, m.Summary().ID)
		if err := p.Open(m.ID); err != nil { // acquires the lock
			t.Fatal(err)
		}
		if len(ids)%100 == 0 {
			succeed(t)(p.SubmitEmail(ctx, submission("later@example.org")))
		}
	}
	slices.Reverse(ids)
	calls, base := 0, p.BaseURL
	p.BaseURL = func() string {
		calls++
		_ = p.CurrentLookupLimit() // acquires the lock
		return base()
	}
	all := p.Outbox()
	if calls != 1 {
		t.Errorf("the outbox requested its base URL %d times", calls)
	}
	require.Equal(t, more+1, n)
	require.Len(t, ids, n)
	require.Len(t, all, n+n/100)
	for i, id := range ids {
		require.Equal(t, id, all[i].ID, "%+v", i)
		require.EqualValues(t, 1, all[i].Opens, "%+v", i)
	}
	assert.Equal(t, more/5, len(p.OutboxTo("U3@example.ORG")), "messages to one of five addresses")
}

func submission(to string) api.SubmitEmailRequestObject {
	return api.SubmitEmailRequestObject{Body: &api.EmailSubmission{
		Email: to, Sender: api.Sender{Email: "s@example.org"}, Content: api.EmailContent{Subject: "S", Text: "T"},
	}}
}

// If messages are deleted while the outbox is read, the reader still gets them, but later readers do not.
func TestDeleteMessageConcurrent(t *testing.T) {
	p := restored(t, oneCampaign(time.Now().Add(time.Hour)))
	ctx := WithCaller(t.Context(), &Caller{AccountID: 1})
	for range 500 {
		succeed(t)(p.SubmitEmail(ctx, submission("a@example.org")))
	}
	before, newest := p.NewestInOutbox()
	all := p.Outbox()
	seen := 0
	for range newest {
		if seen == 0 {
			for _, m := range all[:10] {
				require.NoError(t, p.DeleteMessage(m.ID))
			}
		}
		seen++
	}
	after, again := p.NewestInOutbox()
	left := 0
	for range again {
		left++
	}
	if seen != before || after != before-10 || left != after || len(p.Outbox()) != after || len(p.OutboxTo("A@example.org")) != after {
		t.Errorf("%d messages, %d of them read; after 10 deletions %d messages, %d of them read", before, seen, after, left)
	}
}

// Reading contacts does not hold the lock of the platform.
func TestContactsConcurrent(t *testing.T) {
	p := restored(t, oneCampaign(time.Now().Add(time.Hour)))
	l := &list{api.List{ListID: 900}, newContactTable()}
	p.accounts[1].Lists.add(l.ListID, l)
	for i := range int64(700 - 1) {
		l.contacts.add(&contact{Contact: api.Contact{ID: i + 2, Email: fmt.Sprintf("u%d@example.org", i)}})
	}
	n, newest, ok := p.NewestContacts(900)
	last, seen := int64(1<<62), 0
	for m := range newest {
		if m.ID >= last {
			t.Fatalf("contact %d follows contact %d", m.ID, last)
		}
		last = m.ID
		seen++
		_ = p.CurrentLookupLimit() // acquires the lock
	}
	require.True(t, ok)
	assert.Equal(t, 700-1, n)
	assert.Equal(t, n, seen)
	if _, _, ok := p.NewestContacts(901); ok {
		t.Error("NewestContacts accepts an unknown list")
	}
}

// TestOutboxMemory: the memory per listed message does not grow with the number of messages.
func TestOutboxMemory(t *testing.T) {
	p := restored(t, oneCampaign(time.Now().Add(time.Hour)))
	ctx := WithCaller(t.Context(), &Caller{AccountID: 1})
	email := submission("a@example.org")
	email.Body.Sender.Name = "Shop"
	perMessage := func(n int) uint64 {
		for i := len(p.Outbox()); i < n; i++ {
			succeed(t)(p.SubmitEmail(ctx, email))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p.Outbox()
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / uint64(n)
	}
	few, many := perMessage(100), perMessage(5000)
	if many > 2048 || many > few*5/4 {
		t.Errorf("%d bytes per message of 5,000 and %d of 100, want at most 2,048", many, few)
	}
}
