package events_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"example.com/emailplatform/events"
)

// shapes says what the data of each file in testdata is.
var shapes = map[string]events.Data{
	"campaign_bounce":                  &events.CampaignBounce{},
	"campaign_bounce_segment":          &events.CampaignBounce{},
	"campaign_complaint":               &events.CampaignComplaint{},
	"campaign_complaint_segment":       &events.CampaignComplaint{},
	"campaign_scheduled":               &events.CampaignScheduled{},
	"campaign_sent":                    &events.CampaignSent{},
	"contact_added":                    &events.ContactAdded{},
	"contact_removed_by_link":          &events.ContactRemoved{},
	"contact_removed_by_user":          &events.ContactRemoved{},
	"contact_removed_deleted":          &events.ContactRemoved{},
	"contact_unsubscribed":             &events.ContactUnsubscribed{},
	"email_api_bounce":                 &events.EmailAPIBounce{},
	"email_api_bounce_no_contact":      &events.EmailAPIBounce{},
	"email_api_complaint":              &events.EmailAPIComplaint{},
	"email_clicked":                    &events.EmailClicked{},
	"email_errored":                    &events.EmailErrored{},
	"email_globally_unsubscribed":      &events.EmailGloballyUnsubscribed{},
	"email_opened":                     &events.EmailOpened{},
	"email_opened_no_contact":          &events.EmailOpened{},
	"email_rejected":                   &events.EmailRejected{},
	"email_rejected_no_contact":        &events.EmailRejected{},
	"email_suppressed":                 &events.EmailSuppressed{},
	"email_unsubscribed":               &events.EmailUnsubscribed{},
	"email_unsubscribed_still_active":  &events.EmailUnsubscribed{},
	"transactional_bounce":             &events.TransactionalBounce{},
	"transactional_bounce_no_headers":  &events.TransactionalBounce{},
	"transactional_complaint":          &events.TransactionalComplaint{},
	"workflow_bounce_system_action":    &events.WorkflowBounce{},
	"workflow_bounce_trigger":          &events.WorkflowBounce{},
	"workflow_complaint_system_action": &events.WorkflowComplaint{},
	"workflow_complaint_trigger":       &events.WorkflowComplaint{},
}

// delivery returns the body in testdata/name.json.
func delivery(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func mustParse(t testing.TB, body []byte) *events.Event {
	t.Helper()
	ev, err := events.Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// sameJSON fails the test unless a and b are the same JSON value.
func sameJSON(t testing.TB, a, b []byte) {
	t.Helper()
	var va, vb any
	if err := json.Unmarshal(a, &va); err != nil {
		t.Fatalf("%v in %s", err, a)
	}
	if err := json.Unmarshal(b, &vb); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	if !reflect.DeepEqual(va, vb) {
		t.Errorf("not the same JSON value:\n%s\n%s", a, b)
	}
}

func TestParseShape(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) != len(shapes) {
		t.Fatalf("%d files in testdata for %d shapes, %v", len(files), len(shapes), err)
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			body := delivery(t, name)
			ev := mustParse(t, body)
			if got, want := reflect.TypeOf(ev.Data), reflect.TypeOf(shape); got != want {
				t.Fatalf("data is %v, want %v: %+v", got, want, ev.Data)
			}
			out, err := json.Marshal(ev)
			if err != nil {
				t.Fatal(err)
			}
			sameJSON(t, out, body)

			// The fields alone hold all of it too, without the body.
			data, err := json.Marshal(ev.Data)
			if err != nil {
				t.Fatal(err)
			}
			sameJSON(t, data, ev.RawData())
			built := events.Event{ID: ev.ID, Name: ev.Name, Time: ev.Time, AccountID: ev.AccountID, User: ev.User, IP: ev.IP, Data: ev.Data}
			out, err = json.Marshal(built)
			if err != nil {
				t.Fatal(err)
			}
			sameJSON(t, out, body)
		})
	}
}
