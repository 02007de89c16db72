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
	state := func(lastID, account string) string {
		return `{"version":2,"last_id":` + lastID + `,"accounts":[{"account_id":1,` + account + `}]}`
	}
	list := `"lists":[{"id":1,"name":"L","contacts":[{"id":2,"email":"a@example.org","status":"active"}]}]`
	message := func(m string) string {
		return `{"version":2,"last_id":9,"accounts":[{"account_id":1,` + list + `}],"contents":[{"subject":"S"}],"messages":[` + m + `]}`
	}
	const sent = `"account_id":1,"sent_by":"email_api","to":"a@example.org","status":"delivered"`
	for text, want := range map[string]string{
		state("0", `"tags":[]`):                   "",
		state("9007199254740991", `"tags":[]`):    "",
		state("9007199254740992", `"tags":[]`):    "last_id: want 0 to 9007199254740991",
		state("-1", `"tags":[]`):                  "last_id: want 0 to 9007199254740991",
		state("9", `"account_id":0`):              "accounts[0]: account_id: want one of its own",
		state("2", list):                          "",
		state("1", list):                          "id 2: want one of its own, up to last_id",
		state("9", `"lists":[{"id":0}]`):          "id 0: want one of its own, up to last_id",
		state("9", `"lists":[{"id":-1}]`):         "id -1: want one of its own, up to last_id",
		state("9", `"lists":[{"id":1},{"id":1}]`): "id 1: want one of its own, up to last_id",
		state("9", `"lists":[{"id":1,"contacts":[{"id":3,"email":"a"},{"id":3,"email":"b"}]}]`): "id: want them in order",
		state("9", `"lists":[{"id":1,"contacts":[{"id":3,"email":"a"},{"id":2,"email":"b"}]}]`): "id: want them in order",
		state("9", `"campaigns":[{"id":3,"status":"incomplete"}]`):                              "",
		state("9", `"campaigns":[{"id":3,"status":"incomplete","list_id":7}]`):                  "list_id 7: there is none such",
		state("9", `"campaigns":[{"id":3,"status":"scheduled"}]`):                               "list_id 0: there is none such",
		state("9", `"campaigns":[{"id":3,"status":"delivering"}]`):                              "list_id 0: there is none such",
		state("9", `"workflows":[{"id":3}]`):                                                    "list_id 0: there is none such",
		state("9", list+`,"campaigns":[{"id":3,"status":"incomplete","list_id":1,"next":1}]`):   "",
		state("9", list+`,"campaigns":[{"id":3,"status":"incomplete","list_id":1,"next":2}]`):   "next: want 0 to 1, the contacts of the list",
		state("9", list+`,"campaigns":[{"id":3,"status":"incomplete","list_id":1,"next":-1}]`):  "next: want 0 to 1, the contacts of the list",
		state("9", `"suppressed_emails":[{"email":"a@example.org"}]`):                           "",
		state("9", `"suppressed_emails":[null]`):                                                "suppressed_emails[0]: want an object",
		state("9", `"suppressed_emails":[{"email":"a@x.org"},{"email":"A@x.org"}]`):             "suppressed_emails[1]: want an object",
		message(`{"id":"m","content":0,` + sent + `}`):                                          "",
		message(`{"id":"","content":0,` + sent + `}`):                                           "messages[0]: id: want one of its own",
		message(`{"id":"m","content":-1,` + sent + `}`):                                         "messages[0]: content: there is none such",
		message(`{"id":"m","content":1,` + sent + `}`):                                          "messages[0]: content: there is none such",
		message(`{"id":"m","content":0,"list_id":1,"contact_id":2,` + sent + `}`):               "",
		message(`{"id":"m","content":0,"list_id":1,"contact_id":3,` + sent + `}`):               "messages[0]: contact_id: there is none such on the list",
		message(`{"id":"m","content":0,"list_id":7,"contact_id":2,` + sent + `}`):               "messages[0]: contact_id: there is none such on the list",
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
