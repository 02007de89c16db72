package platform

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestRestoreRefuses names what is wrong with a snapshot, and takes what is at the
// edge of that.
func TestRestoreRefuses(t *testing.T) {
	state := func(lastID, account string, rest ...string) string {
		return `{"version":4,"last_id":` + lastID + `,"accounts":[{"account_id":1,` + account + `}]` + strings.Join(rest, "") + `}`
	}
	const list = `"lists":[{"list_id":1,"name":"L"}]`
	contacts := func(ids ...int) string {
		var all []string
		for i, id := range ids {
			all = append(all, fmt.Sprintf(`{"list_id":1,"id":%d,"email":"%c@example.org","status":"active"}`, id, 'a'+i))
		}
		return `,"contacts":[` + strings.Join(all, ",") + `]`
	}
	message := func(m string) string {
		const sent = `"account_id":1,"sent_by":"email_api","to":"a@example.org","status":"delivered"`
		return state("9", list, contacts(2), `,"contents":[{"subject":"S"}],"messages":[{`+m+`,`+sent+`}]`)
	}
	for text, want := range map[string]string{
		state("0", `"tags":[]`):                                                         "",
		state("9007199254740991", `"tags":[]`):                                          "",
		state("9007199254740992", `"tags":[]`):                                          "last_id must be 0 to 9007199254740991, got 9007199254740992",
		state("-1", `"tags":[]`):                                                        "last_id must be 0 to 9007199254740991, got -1",
		state("9", `"account_id":0`):                                                    "accounts[0]: account_id 0 must be unique, and not 0",
		state("2", list, contacts(2)):                                                   "",
		state("1", list, contacts(2)):                                                   "contacts[0]: id 2 must be unique, and at most last_id",
		state("9", `"lists":[{"list_id":0}]`):                                           "lists[0]: id 0 must be unique",
		state("9", `"lists":[{"list_id":-1}]`):                                          "lists[0]: id -1 must be unique",
		state("9", `"lists":[null]`):                                                    "lists[0]: id 0 must be unique",
		state("9", `"lists":[{"list_id":1},{"list_id":1}]`):                             "lists[1]: id 1 must be unique",
		state("9", list, contacts(3, 3)):                                                "contacts[1]: id 3 must be greater",
		state("9", list, contacts(3, 2)):                                                "contacts[1]: id 2 must be greater",
		state("9", `"tags":[]`, contacts(2)):                                            "contacts[0]: list_id 1 does not exist",
		state("9", `"campaigns":[{"campaign_id":3,"status":"incomplete"}]`):             "",
		state("9", `"campaigns":[{"campaign_id":3,"status":"incomplete","list_id":7}]`): "list_id 7 does not exist",
		state("9", `"campaigns":[{"campaign_id":3,"status":"scheduled"}]`):              "list_id 0 does not exist",
		state("9", `"campaigns":[{"campaign_id":3,"status":"delivering"}]`):             "list_id 0 does not exist",
		state("9", `"workflows":[{"workflow_id":3}]`):                                   "list_id 0 does not exist",
		state("9", list+`,"campaigns":[{"campaign_id":3,"status":"incomplete","list_id":1,"next":1}]`, contacts(2)):  "",
		state("9", list+`,"campaigns":[{"campaign_id":3,"status":"incomplete","list_id":1,"next":2}]`, contacts(2)):  "next must be 0 to 1, the contacts of the list, got 2",
		state("9", list+`,"campaigns":[{"campaign_id":3,"status":"incomplete","list_id":1,"next":-1}]`, contacts(2)): "next must be 0 to 1, the contacts of the list, got -1",
		state("9", `"suppressed_emails":[{"email":"a@example.org"}]`):                                                "",
		state("9", `"suppressed_emails":[null]`):                                                                     `suppressed_emails[0]: email "" must be an address`,
		state("9", `"suppressed_emails":[{"email":"a@x.org"},{"email":"A@x.org"}]`):                                  `suppressed_emails[1]: email "A@x.org" must be`,
		message(`"id":"m","content":0`):                            "",
		message(`"id":"","content":0`):                             `messages[0]: id "" must be unique`,
		message(`"id":"m","content":-1`):                           "messages[0]: content does not exist",
		message(`"id":"m","content":1`):                            "messages[0]: content does not exist",
		message(`"id":"m","content":0,"list_id":1,"contact_id":2`): "",
		message(`"id":"m","content":0,"list_id":1,"contact_id":3`): "messages[0]: contact_id 3 does not exist on list 1",
		message(`"id":"m","content":0,"list_id":7,"contact_id":2`): "messages[0]: contact_id 2 does not exist on list 7",
	} {
		p := restored(t, oneCampaign(time.Now().Add(time.Hour)))
		got := ""
		if err := p.Restore(strings.NewReader(text)); err != nil {
			got = err.Error()
		}
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s:\ngot %q, want %q", text, got, want)
		}
		if want != "" && len(p.Outbox()) != 1 {
			t.Errorf("%s: refused, but the records are gone", text)
		}
	}
}

// What a snapshot has of messages that never were sent is not in the outbox, and
// no recipient can act on it.
func TestNotSentIsNotInTheOutbox(t *testing.T) {
	for status, sent := range map[string]bool{
		messageQueued: true, messageDelivered: true, messageRejected: false, messageError: false,
	} {
		p := restored(t, strings.Replace(oneCampaign(time.Now().Add(time.Hour)), `"status":"delivered"}`, fmt.Sprintf(`"status":%q}`, status), 1))
		if got := len(p.Outbox()) == 1; got != sent {
			t.Errorf("%s: in the outbox: %v, want %v", status, got, sent)
		}
		if err := p.Open("m"); (err == nil) != sent {
			t.Errorf("%s: opened: %v", status, err)
		}
	}
}
