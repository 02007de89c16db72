package platform

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/work"
	"example.com/emailplatform/webhook"
)

const oneList = `"lists":[{"list_id":1,"name":"L"}]`

func stateText(lastID, account string, rest ...string) string {
	return `{"version":4,"last_id":` + lastID + `,"accounts":[{"account_id":1,` + account + `}]` + strings.Join(rest, "") + `}`
}

func contactsText(ids ...int) string {
	var all []string
	for i, id := range ids {
		all = append(all, fmt.Sprintf(`{"list_id":1,"id":%d,"email":"%c@example.org","status":"active"}`, id, 'a'+i))
	}
	return `,"contacts":[` + strings.Join(all, ",") + `]`
}

// checkRestores restores each text, and expects an error that contains the given value, or none if the value is "".
func checkRestores(t *testing.T, texts map[string]string) {
	t.Helper()
	for text, want := range texts {
		p := restored(t, oneCampaign(time.Now().Add(time.Hour)))
		got := ""
		if err := p.Restore(strings.NewReader(text)); err != nil {
			got = err.Error()
		}
		assert.Equal(t, got == "", want == "", text)
		assert.Contains(t, got, want, text)
		if want != "" && len(p.Outbox()) != 1 {
			t.Errorf("%s: rejected, but the records are gone", text)
		}
	}
}

func TestRestoreResources(t *testing.T) {
	checkRestores(t, map[string]string{
		stateText("0", `"tags":[]`):                                                         "",
		stateText("9007199254740991", `"tags":[]`):                                          "",
		stateText("9007199254740992", `"tags":[]`):                                          "last_id must be 0 to 9007199254740991, got 9007199254740992",
		stateText("0", `"tags":[]`) + "{":                                                   "must be one JSON object",
		stateText("-1", `"tags":[]`):                                                        "last_id must be 0 to 9007199254740991, got -1",
		stateText("9", `"account_id":0`):                                                    "accounts[0]: account_id 0 must be unique, and not 0",
		stateText("2", oneList, contactsText(2)):                                            "",
		stateText("1", oneList, contactsText(2)):                                            "contacts[0]: id 2 must be unique, and at most last_id",
		stateText("9", `"lists":[{"list_id":0}]`):                                           "lists[0]: id 0 must be unique",
		stateText("9", `"lists":[{"list_id":-1}]`):                                          "lists[0]: id -1 must be unique",
		stateText("9", `"lists":[null]`):                                                    "lists[0]: id 0 must be unique",
		stateText("9", `"lists":[{"list_id":1},{"list_id":1}]`):                             "lists[1]: id 1 must be unique",
		stateText("9", oneList, contactsText(3, 3)):                                         "contacts[1]: id 3 must be greater",
		stateText("9", oneList, contactsText(3, 2)):                                         "contacts[1]: id 2 must be greater",
		stateText("9", `"tags":[]`, contactsText(2)):                                        "contacts[0]: list_id 1 does not exist",
		stateText("9", `"campaigns":[{"campaign_id":3,"status":"incomplete"}]`):             "",
		stateText("9", `"campaigns":[{"campaign_id":3,"status":"incomplete","list_id":7}]`): "list_id 7 does not exist",
		stateText("9", `"campaigns":[{"campaign_id":3,"status":"scheduled"}]`):              "list_id 0 does not exist",
		stateText("9", `"campaigns":[{"campaign_id":3,"status":"delivering"}]`):             "list_id 0 does not exist",
		stateText("9", `"workflows":[{"workflow_id":3}]`):                                   "list_id 0 does not exist",
		stateText("9", oneList+`,"campaigns":[{"campaign_id":3,"status":"incomplete","list_id":1,"next":1}]`, contactsText(2)):  "",
		stateText("9", oneList+`,"campaigns":[{"campaign_id":3,"status":"incomplete","list_id":1,"next":2}]`, contactsText(2)):  "next must be between 0 and 1, the number of contacts on the list, got 2",
		stateText("9", oneList+`,"campaigns":[{"campaign_id":3,"status":"incomplete","list_id":1,"next":-1}]`, contactsText(2)): "next must be between 0 and 1, the number of contacts on the list, got -1",
		stateText("9", `"suppressed_emails":[{"email":"a@example.org"}]`):                                                       "",
		stateText("9", `"suppressed_emails":[null]`):                                                                            `suppressed_emails[0]: email "" must be a unique address`,
		stateText("9", `"suppressed_emails":[{"email":"a@x.org"},{"email":"A@x.org"}]`):                                         `suppressed_emails[1]: email "A@x.org" must be`,
		stateText("9", oneList, `,"contacts":[null]`):                                                                           "contacts[0]: list_id 0 does not exist",
		stateText("9", oneList, strings.Replace(contactsText(2, 3), "b@", "A@", 1)):                                             "contacts[1]: email A@example.org must be unique on the list",
	})
}

func TestRestoreRecords(t *testing.T) {
	message := func(m string) string {
		const sent = `"account_id":1,"sent_by":"email_api","to":"a@example.org","status":"delivered"`
		return stateText("9", oneList, contactsText(2), `,"contents":[{"subject":"S"}],"messages":[{`+m+`,`+sent+`}]`)
	}
	messages := func(all string) string {
		return stateText("9", oneList, contactsText(2), `,"contents":[{}],"messages":[`+all+`]`)
	}
	webhook := func(fields string) string {
		return stateText("9", `"webhooks":[{"id":7,"hash_function":"sha256","url":"http://app.test/","secret":"s","account_id":1`+fields+`}]`)
	}
	checkRestores(t, map[string]string{
		message(`"id":"m","content":0`):                            "",
		message(`"id":"","content":0`):                             `messages[0]: id "" must be unique`,
		message(`"id":"m","content":-1`):                           "messages[0]: content does not exist",
		message(`"id":"m","content":1`):                            "messages[0]: content does not exist",
		message(`"id":"m","content":0,"list_id":1,"contact_id":2`): "",
		message(`"id":"m","content":0,"list_id":1,"contact_id":3`): "messages[0]: contact_id 3 does not exist on list 1",
		message(`"id":"m","content":0,"list_id":7,"contact_id":2`): "messages[0]: contact_id 2 does not exist on list 7",
		``:                            "EOF",
		`[]`:                          "must be an object",
		`{"version":5}`:               "version must be 4, got 5",
		`{"version":5,"new":1}`:       "version must be 4, got 5",
		`{}`:                          "version must be 4, got 0",
		`{"version":4,"accounts":{}}`: "accounts: must be an array",
		`{"version":4,"accounts":[{"account_id":1},{"account_id":1}]}`: "accounts[1]: account_id 1 must be unique",
		webhook(``):                  "",
		webhook(`,"account_id":2`):   "webhooks[0]: account_id must be 1, got 2",
		webhook(`,"url":"app.test"`): "webhooks[0]: url must be an absolute",
		webhook(`,"secret":""`):      "webhooks[0]: secret must not be empty",
		webhook(`,"rate_limit":-1`):  "webhooks[0]: rate_limit must be 0 or more, got -1",
		messages(`{"id":"m","account_id":1,"sent_by":"email_api"},{"id":"m","account_id":1,"sent_by":"email_api"}`): `messages[1]: id "m" must be unique`,
		messages(`{"id":"m","account_id":9,"sent_by":"email_api"}`):                                                 "messages[0]: account_id 9 does not exist",
		messages(`{"id":"m","account_id":1,"sent_by":"email_api","status":"bounced"}`):                              "messages[0]: bounce is required",
		messages(`{"id":"m","account_id":1,"sent_by":"campaign","campaign_id":99}`):                                 "messages[0]: campaign_id 99 does not exist",
		messages(`{"id":"m","account_id":1,"sent_by":"workflow"}`):                                                  "messages[0]: contact_id 0 does not exist on list 0",
		messages(`{"id":"m","account_id":1,"sent_by":"pigeon"}`):                                                    `messages[0]: sent_by "pigeon" does not exist`,
	})
}

// A time outside the years 1970 to 9999 is an error, for example a time in milliseconds, because control routes could
// not return the record.
func TestRestoreTimes(t *testing.T) {
	const ms = "1790000000000"
	message := func(field string) string {
		return stateText("9", `"tags":[]`, `,"contents":[{}],"messages":[{"id":"m","account_id":1,"sent_by":"email_api",`+field+`}]`)
	}
	wrong := func(field string) string {
		return field + " must be 0 to 253402300799, in Unix seconds, got " + ms
	}
	checkRestores(t, map[string]string{
		stateText("9", `"templates":[{"template_id":3,"created_on":`+ms+`}]`):                                       "templates[0]: " + wrong("created_on"),
		stateText("9", `"templates":[{"template_id":3,"updated_on":`+ms+`}]`):                                       "templates[0]: " + wrong("updated_on"),
		stateText("9", `"lists":[{"list_id":3,"created_on":`+ms+`}]`):                                               "lists[0]: " + wrong("created_on"),
		stateText("9", `"campaigns":[{"campaign_id":3,"created_on":`+ms+`}]`):                                       "campaigns[0]: " + wrong("created_on"),
		stateText("9", `"campaigns":[{"campaign_id":3,"updated_on":`+ms+`}]`):                                       "campaigns[0]: " + wrong("updated_on"),
		stateText("9", `"campaigns":[{"campaign_id":3,"scheduled_for":`+ms+`}]`):                                    "campaigns[0]: " + wrong("scheduled_for"),
		stateText("9", oneList+`,"workflows":[{"workflow_id":3,"list_id":1,"created_on":`+ms+`}]`):                  "workflows[0]: " + wrong("created_on"),
		stateText("9", `"suppressed_emails":[{"email":"a@example.org","created_on":`+ms+`}]`):                       "suppressed_emails[0]: " + wrong("created_on"),
		stateText("9", oneList, strings.Replace(contactsText(2), `"status"`, `"subscribed_on":`+ms+`,"status"`, 1)): "contacts[0]: " + wrong("subscribed_on"),
		message(`"submitted_on":` + ms):                                                                             "messages[0]: " + wrong("submitted_on"),
		message(`"delivered_on":` + ms):                                                                             "messages[0]: " + wrong("delivered_on"),
		message(`"bounce":{"occurred_on":` + ms + `}`):                                                              "messages[0]: " + wrong("bounce.occurred_on"),
	})
}

// Restored messages that were never sent are not in the outbox, and recipients cannot act on them.
func TestUnsentMessagesNotInOutbox(t *testing.T) {
	for status, sent := range map[string]bool{
		messageQueued: true, messageDelivered: true, messageRejected: false, messageError: false,
	} {
		p := restored(t, strings.Replace(oneCampaign(time.Now().Add(time.Hour)), `"status":"delivered"}`, fmt.Sprintf(`"status":%q}`, status), 1))
		assert.Equal(t, sent, len(p.Outbox()) == 1, "%s: in the outbox", status)
		if err := p.Open("m"); (err == nil) != sent {
			t.Errorf("%s: opened: %v", status, err)
		}
	}
}

// oneCampaign returns a state with the scheduled campaign 3 and the sent message m.
func oneCampaign(scheduledFor time.Time) string {
	return fmt.Sprintf(`{"version":4,"last_id":9,"accounts":[{"account_id":1,
		"lists":[{"list_id":1,"name":"L","policy_accepted":true}],
		"campaigns":[{"campaign_id":3,"name":"C","list_id":1,"status":"scheduled","scheduled_for":%d,
			"content":{"subject":"S","text":"T"}}]}],
		"contacts":[{"list_id":1,"id":2,"email":"a@example.org","status":"active"}],
		"contents":[{"subject":"S","text":"T"}],
		"messages":[{"id":"m","account_id":1,"sent_by":"email_api","to":"a@example.org","content":0,"status":"delivered"}]}`,
		scheduledFor.Unix())
}

func restored(t *testing.T, state string) *Platform {
	t.Helper()
	changes, work := &changes.Feed{}, &work.Pending{}
	now := clock.New(clock.Options{Changes: changes, Work: work})
	faults := fault.New(1, slog.New(slog.DiscardHandler), changes)
	s := New(Options{
		Hash:       webhook.SHA256,
		BaseURL:    func() string { return "http://127.0.0.1" },
		Deliveries: delivery.New(delivery.Options{Faults: faults, Changes: changes, Clock: now, Work: work}),
		Faults:     faults,
		Changes:    changes,
		Clock:      now,
		Work:       work,
	})
	t.Cleanup(s.Close)
	require.NoError(t, s.Restore(strings.NewReader(state)))
	return s
}

// A restore stops a campaign in progress, and the restored campaign waits for its time.
func TestRestoreStopsCampaign(t *testing.T) {
	later := oneCampaign(time.Now().Add(time.Hour))
	check := func(t *testing.T, s *Platform) {
		t.Helper()
		assert.Equal(t, 1, len(s.Outbox()), "only the message in the snapshot")
		if c := s.accounts[1].Campaigns.get(3); c.Status != campaignScheduled {
			t.Errorf("the campaign is %s", c.Status)
		} else if c.start == nil || c.start.alarm == nil {
			t.Error("nothing starts the campaign")
		}
	}
	t.Run("about to start", func(t *testing.T) {
		s := restored(t, later)
		run := s.campaignRun(1, s.accounts[1].Campaigns.get(3))
		require.NoError(t, s.Restore(strings.NewReader(later)))
		run()
		check(t, s)
	})
	t.Run("in progress", func(t *testing.T) {
		s := restored(t, later)
		p := s
		run := p.campaignRun(1, p.accounts[1].Campaigns.get(3))
		ended, replaced := make(chan struct{}), make(chan error, 1)
		p.mu.Lock() // blocks the run in its first step
		go func() {
			defer close(ended)
			run()
		}()
		for p.snapshotLock.TryLock() {
			p.snapshotLock.Unlock()
			runtime.Gosched()
		}
		go func() { replaced <- s.Restore(strings.NewReader(later)) }()
		for p.snapshotLock.TryRLock() {
			p.snapshotLock.RUnlock()
			runtime.Gosched()
		}
		p.mu.Unlock() // the restore waits for this step, and the next step waits for the restore
		require.NoError(t, <-replaced)
		<-ended
		check(t, s)
	})
}

// A campaign that is due counts as work in progress before it starts.
func TestDueCampaignIsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := restored(t, oneCampaign(time.Now().Add(time.Hour)))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		within(t, p, func(tx *tx) error {
			tx.after = append(tx.after, func() { // before the campaign starts
				if busy, _ := p.Work.Wait(ended, 1); !busy {
					t.Error("the campaign does not count as work")
				}
			})
			c := tx.account.Campaigns.edit(3)
			c.start.alarm.Stop()
			c.ScheduledFor = tx.now.Unix()
			tx.scheduleStart(c)
			return nil
		})
		time.Sleep(time.Second)
		within(t, p, func(tx *tx) error {
			assert.Equal(t, campaignDelivered, tx.account.Campaigns.get(3).Status, "the campaign")
			return nil
		})
	})
}

// A restore resumes a campaign that was being sent.
func TestRestoreContinuesCampaign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for next, want := range map[int]int{0: 2, 1: 1} { // messages, including the message of the state
			p := restored(t, strings.Replace(oneCampaign(time.Now()), `"status":"scheduled"`, fmt.Sprintf(`"status":"delivering","next":%d`, next), 1))
			time.Sleep(time.Second)
			n, c := len(p.Outbox()), p.accounts[1].Campaigns.get(3)
			assert.Equal(t, want, n, "from contact %d", next)
			assert.Equal(t, campaignDelivered, c.Status, "from contact %d", next)
		}
	})
}

// An interrupted campaign resumes after the last recipient. But if its list was changed, it is sent to the whole new
// list.
func TestResumedCampaign(t *testing.T) {
	for want, change := range map[string]api.CampaignUpdate{
		"b@example.org":               {Name: new("N")},
		"c@example.org d@example.org": {ListID: new(int64(4))},
	} {
		s := restored(t, fmt.Sprintf(`{"version":4,"last_id":9,"accounts":[{"account_id":1,
			"lists":[
				{"list_id":1,"name":"First","policy_accepted":true},{"list_id":4,"name":"Second","policy_accepted":true}],
			"campaigns":[{"campaign_id":6,"name":"C","list_id":1,"status":"scheduled","scheduled_for":%d,"next":1,
				"sender":{"email":"shop@example.org"},"content":{"subject":"S","text":"T"}}]}],
			"contacts":[
				{"list_id":1,"id":2,"email":"a@example.org","status":"active"},
				{"list_id":1,"id":3,"email":"b@example.org","status":"active"},
				{"list_id":4,"id":5,"email":"c@example.org","status":"active"},
				{"list_id":4,"id":7,"email":"d@example.org","status":"active"}]}`, time.Now().Add(time.Hour).Unix()))
		_, err := s.UpdateCampaign(WithCaller(t.Context(), &Caller{AccountID: 1}), api.UpdateCampaignRequestObject{CampaignID: 6, Body: &change})
		require.NoError(t, err)
		s.campaignRun(1, s.accounts[1].Campaigns.get(6))()
		var to []string
		for _, m := range s.Outbox() {
			to = append(to, m.To)
		}
		assert.Equal(t, want, strings.Join(to, " "), "recipients of the campaign")
	}
}

// A closed platform starts no campaign and creates no alarms.
func TestClosedPlatform(t *testing.T) {
	s := restored(t, oneCampaign(time.Now().Add(time.Hour)))
	c := s.accounts[1].Campaigns.get(3)
	run := s.campaignRun(1, c)
	s.Close()
	run()
	assert.Equal(t, 1, len(s.Outbox()), "only the message in the snapshot")
	c.start, c.Status, c.Sender.Email = nil, campaignIncomplete, "shop@example.org"
	_, err := s.ScheduleCampaign(WithCaller(t.Context(), &Caller{AccountID: 1}), api.ScheduleCampaignRequestObject{
		CampaignID: 3, Body: &api.CampaignSchedule{ScheduledFor: time.Now().Add(time.Hour).Unix()},
	})
	c = s.accounts[1].Campaigns.get(3)
	require.NoError(t, err)
	assert.Nil(t, c.start)
}

// A state that ends too early is an error that changes nothing. A changed byte never causes a panic.
func TestRestoreDamaged(t *testing.T) {
	text := strings.TrimSpace(shop)
	p := restored(t, text)
	want := written(t, p)
	for i := range text {
		require.Error(t, p.Restore(strings.NewReader(text[:i])), "the first %d bytes", i)
	}
	assert.Equal(t, want, written(t, p))
	for i := range text {
		for _, c := range []byte("\x00\"{9x") {
			damaged := []byte(text)
			damaged[i] = c
			_ = p.Restore(bytes.NewReader(damaged)) // in some places, the change is valid
		}
	}
}
