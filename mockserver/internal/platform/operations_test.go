package platform

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/changes"
)

// shop is a state with two accounts. Account 1 has messages of each sending type.
const shop = `{"version":4,"last_id":99,"accounts":[
	{"account_id":1,
		"templates":[{"template_id":10,"name":"T","content":{"html":"<p>{{name}}</p>","text":"T"}}],
		"lists":[{"list_id":1,"name":"L","policy_accepted":true},{"list_id":4,"name":"M"}],
		"campaigns":[
			{"campaign_id":3,"name":"C","status":"delivered","list_id":1},
			{"campaign_id":8,"name":"Later","status":"scheduled","scheduled_for":4102444800,"list_id":1}],
		"workflows":[{"workflow_id":5,"name":"W","status":"inactive","list_id":1}],
		"suppressed_emails":[{"email":"s@example.org"}]},
	{"account_id":2}],
	"contacts":[
		{"list_id":1,"id":2,"email":"a@example.org","status":"active"},
		{"list_id":4,"id":6,"email":"p@example.org","status":"pending"}],
	"contents":[{"subject":"Hello","text":"T"}],
	"messages":[
		{"id":"c","account_id":1,"sent_by":"campaign","campaign_id":3,"list_id":1,"contact_id":2,"to":"a@example.org","content":0,"status":"delivered","opens":2},
		{"id":"w","account_id":1,"sent_by":"workflow","workflow_id":5,"list_id":1,"contact_id":2,"to":"a@example.org","content":0,"status":"delivered","clicks":1},
		{"id":"t","account_id":1,"sent_by":"transactional","list_id":1,"contact_id":2,"to":"a@example.org","content":0,"status":"delivered"},
		{"id":"l","account_id":1,"sent_by":"email_api","list_id":1,"contact_id":2,"to":"a@example.org","content":0,"status":"delivered"},
		{"id":"e","account_id":1,"sent_by":"email_api","to":"x@example.org","content":0,"status":"bounced","bounce":{"category":"bounce_hard"}},
		{"id":"r","account_id":1,"sent_by":"email_api","to":"x@example.org","content":0,"status":"rejected"},
		{"id":"o","account_id":2,"sent_by":"email_api","to":"x@example.org","content":0,"status":"delivered"}]}`

// expect returns a function that checks the result of an operation and the events that the operation fires.
func expect(t *testing.T, p *Platform, want ...string) func(any, error) {
	before := len(p.Deliveries.NewestEvents())
	return func(result any, err error) {
		t.Helper()
		text := fmt.Sprint(err)
		if err == nil {
			body, err := json.Marshal(result)
			require.NoError(t, err)
			text = string(body)
		}
		newest := p.Deliveries.NewestEvents()
		for _, e := range newest[:len(newest)-before] {
			text += fmt.Sprintf("\n%s about %q: %s", e.Event, e.Subject, e.Body)
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("got %s\nwant %s in it", text, w)
			}
		}
	}
}

// TestContactAfterRecipientAction: a recipient action changes the contact's status unless the contact was deleted, left
// the list or reported spam.
func TestContactAfterRecipientAction(t *testing.T) {
	bounce := func(category events.BounceCategory) func(p *Platform) error {
		return func(p *Platform) error { return p.Bounce("c", category) }
	}
	for _, row := range []struct {
		before, after, record string
		act                   func(p *Platform) error
	}{
		{statusActive, statusBounced, `"bounces_count":1,`, bounce(events.BounceCategoryHard)},
		{statusActive, statusBounced, `"last_bounce_type":"hard"`, bounce(events.BounceCategoryHard)},
		{statusActive, statusActive, `"last_bounce_type":"soft"`, bounce(events.BounceCategoryMailboxFull)},
		{statusSpam, statusSpam, `"bounces_count":1,`, bounce(events.BounceCategoryHard)},
		{statusDeleted, statusDeleted, "", bounce(events.BounceCategoryHard)},
		{statusActive, statusUnsubscribed, "", func(p *Platform) error { return p.GlobalUnsubscribe("c") }},
		{statusDeleted, statusDeleted, "", func(p *Platform) error { return p.GlobalUnsubscribe("c") }},
	} {
		p := restored(t, strings.Replace(shop, `"status":"active"`, `"status":"`+row.before+`"`, 1))
		require.NoError(t, row.act(p))
		_, members, _ := p.NewestContacts(1)
		for m := range members {
			assert.Equal(t, row.after, m.Status, "%s: the status", row.before)
		}
		if row.record != "" {
			ctx := WithCaller(t.Context(), &Caller{AccountID: 1})
			expect(t, p, row.record)(p.GetContact(ctx, api.GetContactRequestObject{ListID: 1, ContactID: 2}))
		}
	}
}

// TestBounceCategories: each category has a diagnostic, a test address and a constant of package mockserver.
func TestBounceCategories(t *testing.T) {
	ctx := WithCaller(t.Context(), &Caller{AccountID: 1})
	for _, category := range events.BounceCategories() {
		assert.NotEmpty(t, Diagnostic(category), "%s in Diagnostic (recipients.go)", category)
		p := restored(t, stateText("9", oneList))
		succeed(t)(p.SubmitEmail(ctx, submission(strings.Replace(string(category), "_", "+", 1)+"@"+TestDomain)))
		assert.Equal(t, category, p.Outbox()[0].BounceCategory)
	}
	names, err := os.ReadFile("../../../events/types.gen.go")
	require.NoError(t, err)
	constants, err := os.ReadFile("../../recipients.go")
	require.NoError(t, err)
	for _, name := range regexp.MustCompile(`BounceCategory\w+`).FindAllString(string(names), -1) {
		if !strings.Contains(string(constants), "= events."+name+"\n") {
			t.Errorf("mockserver/recipients.go has no constant for %s", name)
		}
	}
}

func TestOverview(t *testing.T) {
	p := restored(t, shop)
	for id, want := range map[int64]MessageCounts{
		0: {Sent: 6, Bounced: 1, Opened: 1, Clicked: 1},
		1: {Sent: 5, Bounced: 1, Opened: 1, Clicked: 1},
		2: {Sent: 1},
	} {
		if got := p.Overview(id, 0, 0).Messages; got != want {
			t.Errorf("account %d: %+v, want %+v", id, got, want)
		}
	}
	later := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	waiting := []activity.Waiting{
		{Why: "campaign", N: 1, Until: later, CampaignID: 8, Name: "Later"}, {Why: "confirmation", N: 1, ListID: 4, Name: "M"},
	}
	assert.Equal(t, waiting, p.Overview(0, 0, 0).Waiting, "waiting")
	c := p.Campaigns()
	assert.True(t, c[0].ScheduledFor.Equal(later), "campaigns")
	assert.True(t, c[1].ScheduledFor.IsZero(), "campaigns")
	assert.Equal(t, MessageCounts{Sent: 1, Opened: 1}, c[1].Counts, "campaigns")
	w := p.Workflows()[0]
	assert.Equal(t, MessageCounts{Sent: 1, Clicked: 1}, w.Counts, "workflow")
	assert.Equal(t, "L", w.ListName, "workflow")
}

// The counters of a restored state equal the counters that actions have changed.
func TestOutcomesAfterRestore(t *testing.T) {
	p := restored(t, strings.Replace(shop, `"list_id":4,"name":"M"`, `"list_id":4,"name":"M","policy_accepted":true`, 1))
	ctx := WithCaller(t.Context(), &Caller{AccountID: 1})
	for _, id := range []string{"c", "w", "l", "c"} { // the second c changes no count
		require.NoError(t, errors.Join(p.Open(id), p.Click(id, "https://shop.example/"), p.Bounce(id, events.BounceCategoryHard), p.Complain(id, "")))
		require.NoError(t, errors.Join(p.Unsubscribe(id), p.GlobalUnsubscribe(id)))
	}
	for range 3 {
		succeed(t)(p.SubmitEmail(ctx, submission("b@example.org")))
	}
	require.NoError(t, p.DeleteMessage("l"))
	require.NoError(t, p.Open("l")) // the recipient still has the message
	if want := (MessageCounts{Sent: 7, Bounced: 3, Opened: 2, Clicked: 2, Unsubscribed: 2, GlobalUnsubscribed: 2, ReportedAsSpam: 2}); p.Overview(1, 0, 0).Messages != want {
		t.Errorf("got %+v, want %+v", p.Overview(1, 0, 0).Messages, want)
	}
	other := restored(t, written(t, p))
	if got, want := other.Overview(0, 0, 0).Messages, p.Overview(0, 0, 0).Messages; got != want {
		t.Errorf("restored %+v, want %+v", got, want)
	}
	got, want := other.Campaigns()[1].Counts, p.Campaigns()[1].Counts
	assert.Equal(t, want, got)
	assert.EqualValues(t, 1, got.Clicked)
	require.NoError(t, p.ResetAccount(1))
	if got := p.Overview(1, 0, 0).Messages; got != (MessageCounts{}) {
		t.Errorf("after a reset: %+v, want none", got)
	}
}

// A reset of an account keeps the messages of other accounts.
func TestResetAccount(t *testing.T) {
	p := restored(t, shop)
	require.NoError(t, p.ResetAccount(1))
	require.NoError(t, p.ResetAccount(3))
	out := p.Outbox()
	require.Len(t, out, 1)
	assert.Equal(t, "o", out[0].ID)
}

// A transaction that changes many messages publishes only one change, because the queue of a subscriber is limited.
func TestPublishChanges(t *testing.T) {
	p := restored(t, shop)
	for n, want := range map[int]int{changes.MaxLag / 2: changes.MaxLag / 2, changes.MaxLag/2 + 1: 1} {
		changes, _ := p.Changes.Subscribe()
		within(t, p, func(t *tx) error {
			for range n {
				t.storeMessage(&message{ID: UUID(), Status: messageDelivered})
			}
			return nil
		})
		if len(changes) != want {
			t.Errorf("%d messages: %d changes, want %d", n, len(changes), want)
		}
		p.Changes.Unsubscribe(changes)
	}
}
