package platform

import (
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/webhook"
)

// oneCampaign is a state whose campaign 3 is scheduled for a time, and whose
// message m was sent.
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
	changes, work := &activity.Feed{}, &activity.Work{}
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
	if err := s.Restore(strings.NewReader(state)); err != nil {
		t.Fatal(err)
	}
	return s
}

// A campaign that was about to start, or was under way, ends with the records
// that it is of: the campaign with its id in other records waits for its time.
func TestCampaignEndsWithItsRecords(t *testing.T) {
	later := oneCampaign(time.Now().Add(time.Hour))
	check := func(t *testing.T, s *Platform) {
		t.Helper()
		if n := len(s.Outbox()); n != 1 {
			t.Errorf("%d messages, want that of the snapshot alone", n)
		}
		if c := s.accounts[1].Campaigns.get(3); c.Status != campaignScheduled {
			t.Errorf("the campaign is %s", c.Status)
		}
	}
	t.Run("about to start", func(t *testing.T) {
		s := restored(t, later)
		run := s.campaignRun(1, s.accounts[1].Campaigns.get(3))
		if err := s.Restore(strings.NewReader(later)); err != nil {
			t.Fatal(err)
		}
		run()
		check(t, s)
	})
	t.Run("under way", func(t *testing.T) {
		s := restored(t, later)
		p := s
		run := p.campaignRun(1, p.accounts[1].Campaigns.get(3))
		ended, replaced := make(chan struct{}), make(chan error, 1)
		p.mu.Lock() // holds the run in its first step
		go func() {
			defer close(ended)
			run()
		}()
		for p.whole.TryLock() {
			p.whole.Unlock()
			runtime.Gosched()
		}
		go func() { replaced <- s.Restore(strings.NewReader(later)) }()
		for p.whole.TryRLock() {
			p.whole.RUnlock()
			runtime.Gosched()
		}
		p.mu.Unlock() // the restore waits for this step, the next step for the restore
		if err := <-replaced; err != nil {
			t.Fatal(err)
		}
		<-ended
		check(t, s)
	})
}

// A campaign that a snapshot has in the middle of its list, and that is given
// another before it goes on, goes to all of that one.
func TestCampaignGoesOnWithAnotherList(t *testing.T) {
	at := time.Now().Add(time.Hour)
	s := restored(t, fmt.Sprintf(`{"version":4,"last_id":9,"accounts":[{"account_id":1,
		"lists":[
			{"list_id":1,"name":"Long","policy_accepted":true},{"list_id":4,"name":"Short","policy_accepted":true}],
		"campaigns":[{"campaign_id":6,"name":"C","list_id":1,"status":"scheduled","scheduled_for":%d,"next":2,
			"sender":{"email":"shop@example.org"},"content":{"subject":"S","text":"T"}}]}],
		"contacts":[
			{"list_id":1,"id":2,"email":"a@example.org","status":"active"},
			{"list_id":1,"id":3,"email":"b@example.org","status":"active"},
			{"list_id":4,"id":5,"email":"c@example.org","status":"active"}]}`, at.Unix()))
	_, err := s.UpdateCampaign(WithCaller(t.Context(), &Caller{AccountID: 1}), api.UpdateCampaignRequestObject{
		CampaignID: 6, Body: &api.CampaignUpdate{ListID: new(int64(4))},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.campaignRun(1, s.accounts[1].Campaigns.get(6))()
	if out := s.Outbox(); len(out) != 1 || out[0].To != "c@example.org" {
		t.Errorf("the campaign was sent to %v, want c@example.org alone", out)
	}
}

// A platform that was closed leaves no alarm behind, whatever it is asked.
func TestClosedSchedulesNothing(t *testing.T) {
	s := restored(t, oneCampaign(time.Now().Add(time.Hour)))
	c := s.accounts[1].Campaigns.get(3)
	s.Close()
	c.alarm, c.Status, c.Sender.Email = nil, campaignIncomplete, "shop@example.org"
	_, err := s.ScheduleCampaign(WithCaller(t.Context(), &Caller{AccountID: 1}), api.ScheduleCampaignRequestObject{
		CampaignID: 3, Body: &api.CampaignSchedule{ScheduledFor: time.Now().Add(time.Hour).Unix()},
	})
	if err != nil || c.alarm != nil {
		t.Errorf("got %v and the alarm %v, want neither", err, c.alarm)
	}
}
