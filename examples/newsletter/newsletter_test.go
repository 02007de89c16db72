package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/examples/faulttest"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/mockserver"
)

// inBubble runs f with a service and a mock server of its own, without sockets
// and on virtual time.
func inBubble(t *testing.T, f func(t *testing.T, s *service, platform *mockserver.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		platform := mockserver.New(mockserver.Config{})
		t.Cleanup(platform.Close)
		s := opened(t, platform)
		time.Sleep(time.Second) // the Room creates its webhook in the background
		f(t, s, platform)
	})
}

func opened(t *testing.T, platform *mockserver.Server) *service {
	t.Helper()
	cfg := client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()}
	s, err := open(t.Context(), cfg, "http://shop.test/hook", mailroom.NewMemoryStore())
	check(t, err)
	t.Cleanup(func() { check(t, s.room.Close()) })
	platform.SetTarget("shop.test", s.public())
	return s
}

var check = faulttest.Check

// loseResponse makes the mock server process the next request of an operation, but lose the
// response.
func loseResponse(t *testing.T, platform *mockserver.Server, operation string) {
	t.Helper()
	_, err := platform.Inject(mockserver.Fault{
		Operation: operation, Action: mockserver.FaultReset, AfterProcessing: true, Times: 1,
	})
	check(t, err)
}

// post signs up an address, and returns the status and text that a browser
// gets.
func post(t *testing.T, s *service, email string) (int, string) {
	t.Helper()
	body := strings.NewReader(url.Values{"email": {email}}.Encode())
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/signup", body)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.public().ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// active returns the addresses in the export.
func active(t *testing.T, s *service) (addresses []string) {
	t.Helper()
	var out strings.Builder
	check(t, s.export(t.Context(), &out))
	for line := range strings.Lines(out.String()) {
		if address, _, _ := strings.Cut(line, ","); address != "email" {
			addresses = append(addresses, address)
		}
	}
	slices.Sort(addresses)
	return addresses
}

// TestSignUp: an address is active once it is confirmed, and the response does
// not reveal whether it was known.
func TestSignUp(t *testing.T) {
	inBubble(t, func(t *testing.T, s *service, platform *mockserver.Server) {
		loseResponse(t, platform, "createContact")
		status, first := post(t, s, "ada@example.org")
		mail := platform.OutboxTo("ada@example.org")
		if status != http.StatusOK || len(mail) != 1 || !mail[0].Confirmation {
			t.Fatalf("got %d, %d emails", status, len(mail))
		}
		if got := active(t, s); got != nil {
			t.Errorf("active before the confirmation: %v", got)
		}
		check(t, platform.Confirm(mail[0].ID))
		if got := active(t, s); !slices.Equal(got, []string{"ada@example.org"}) {
			t.Errorf("active after the confirmation: %v", got)
		}
		check(t, s.room.Suppress(t.Context(), "Gone@example.org"))
		for _, email := range []string{"ada@example.org", "gone@example.org", "new@example.org"} {
			if status, text := post(t, s, email); status != http.StatusOK || text != first {
				t.Errorf("%s: got %d %q, want %q", email, status, text, first)
			}
		}
		if n := len(platform.Outbox()); n != 2 {
			t.Errorf("%d emails, want one to ada and one to new", n)
		}
		if status, _ := post(t, s, "nobody"); status != http.StatusUnprocessableEntity {
			t.Errorf("no address: %d", status)
		}
		faulttest.Inject(t, platform, mockserver.Fault{Action: mockserver.FaultStatus, Status: 500})
		if status, _ := post(t, s, "late@example.org"); status != http.StatusServiceUnavailable {
			t.Errorf("the platform is down: %d", status)
		}
	})
}

// TestImport: an operator can post a file again after a failure. Unsubscribed and suppressed contacts stay inactive.
func TestImport(t *testing.T) {
	inBubble(t, func(t *testing.T, s *service, platform *mockserver.Server) {
		check(t, s.room.Suppress(t.Context(), "*@example.net"))
		gone, err := s.platform.Contacts.Create(t.Context(), s.listID, client.ContactCreate{Email: "gone@example.org"})
		check(t, err)
		check(t, s.platform.Contacts.Unsubscribe(t.Context(), s.listID, gone.ID))
		post := func(file string, want int, addresses ...string) {
			t.Helper()
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/contacts.csv", strings.NewReader(file))
			s.internal().ServeHTTP(w, r)
			if got := active(t, s); w.Code != want || !slices.Equal(got, addresses) {
				t.Errorf("got %d %s, active %v; want %d, %v", w.Code, w.Body, got, want, addresses)
			}
		}
		const file = "email,tags\nada@example.org,vip\nbob@example.net\ngone@example.org\nnobody,\ncy@example.org,,x\n"
		faulttest.Inject(t, platform, mockserver.Fault{Operation: "importContacts", Action: mockserver.FaultStatus, Status: 403, Times: 1})
		post(file, http.StatusBadGateway)
		post(file, http.StatusOK, "ada@example.org")
		post("email,name\ncy@example.org,M\xfcller\n", http.StatusBadGateway, "ada@example.org") // every row is skipped
		post("email;tags\n'+dee@example.org;=x\n", http.StatusOK, "'+dee@example.org", "ada@example.org")
		var out strings.Builder
		check(t, s.export(t.Context(), &out))
		if !strings.HasPrefix(out.String(), "email,subscribed_on,tags\n") || !strings.Contains(out.String(), "\n'+dee@example.org,") || !strings.Contains(out.String(), ",'=x\n") {
			t.Errorf("a spreadsheet runs a field of the export:\n%s", &out)
		}
		post(out.String(), http.StatusOK, "'+dee@example.org", "ada@example.org")
	})
}

// TestOperatorsPort: a web page cannot import contacts. It cannot read contacts, even if its host name points to
// this address.
func TestOperatorsPort(t *testing.T) {
	inBubble(t, func(t *testing.T, s *service, _ *mockserver.Server) {
		for _, tt := range []struct {
			method, host, header, value string
			want                        int
		}{
			{http.MethodPost, "127.0.0.1:8081", "Sec-Fetch-Site", "cross-site", http.StatusForbidden},
			{http.MethodPost, "127.0.0.1:8081", "Origin", "https://evil.example", http.StatusForbidden},
			{http.MethodPost, "localhost", "Origin", "null", http.StatusForbidden},
			{http.MethodGet, "evil.example:8081", "Sec-Fetch-Site", "same-origin", http.StatusForbidden},
			{http.MethodGet, "localhost.evil.example", "", "", http.StatusForbidden},
			{http.MethodGet, "127.0.0.1.evil.example", "", "", http.StatusForbidden},
			{http.MethodGet, "", "", "", http.StatusForbidden},
			{http.MethodPost, "[::1]:8081", "Sec-Fetch-Site", "same-origin", http.StatusOK},
			{http.MethodPost, "10.0.0.5", "", "", http.StatusOK},
			{http.MethodGet, "localhost:8081", "Sec-Fetch-Site", "none", http.StatusOK},
		} {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), tt.method, "/contacts.csv", strings.NewReader("email\nattacker@evil.example\n"))
			r.Host = tt.host
			if tt.header != "" {
				r.Header.Set(tt.header, tt.value)
			}
			s.internal().ServeHTTP(w, r)
			if w.Code != tt.want || tt.want != http.StatusOK && strings.Contains(w.Body.String(), "@") {
				t.Errorf("%+v: got %d %s", tt, w.Code, w.Body)
			}
			if got := active(t, s); tt.want == http.StatusForbidden && got != nil {
				t.Errorf("%+v: active %v", tt, got)
			}
		}
	})
}

// TestPendingBuyer: a buyer who has not confirmed the newsletter yet gets the
// confirmation of an order.
func TestPendingBuyer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *service, platform *mockserver.Server) {
		check(t, s.signUp(t.Context(), "ada@example.org"))
		for range 2 {
			check(t, s.confirm(t.Context(), "A-1", "ada@example.org"))
			time.Sleep(time.Minute)
		}
		if n := len(platform.OutboxTo("ada@example.org")); n != 2 || s.counts.Get("notice sent").String() != "1" {
			t.Errorf("%d emails, want the opt-in and the order; notices: %s", n, &s.counts)
		}
	})
}

// TestResult: the events of a campaign are counted, and recipients that bounced or complained are suppressed.
func TestResult(t *testing.T) {
	inBubble(t, func(t *testing.T, s *service, platform *mockserver.Server) {
		addresses := []string{"open@mock.test", "click@mock.test", "bounce+hb@mock.test", "complaint@mock.test"}
		for _, a := range addresses {
			_, err := s.platform.Contacts.Create(t.Context(), s.listID, client.ContactCreate{Email: a})
			check(t, err)
		}
		issue := client.CampaignCreate{Name: "May", Content: client.MessageContent{
			Subject: "News", HTML: `<a href="https://shop.example/may">May</a>`,
		}}
		campaign, err := s.publish(t.Context(), issue)
		check(t, err)
		check(t, platform.Drain(t.Context()))
		result, err := s.result(t.Context(), campaign.ID)
		check(t, err)
		for event, want := range map[string]string{
			"Email.Opened": "1", "Email.Clicked": "1", "Email.Bounced": "1", "Email.ReportedAsSpam": "1",
		} {
			if result[event] != want {
				t.Errorf("%s: %s, want %s", event, result[event], want)
			}
		}
		if n := len(platform.Outbox()); n != len(addresses) {
			t.Errorf("%d emails to %d readers", n, len(addresses))
		}
		for _, gone := range addresses[2:] {
			if reason, err := s.room.Suppression(t.Context(), gone); err != nil || reason == "" {
				t.Errorf("%s is not suppressed: %v", gone, err)
			}
		}
	})
}

// TestConcurrentPublish: several processes publish an issue at the same time, and each
// reader gets it once.
func TestConcurrentPublish(t *testing.T) {
	inBubble(t, func(t *testing.T, s *service, platform *mockserver.Server) {
		_, err := s.platform.Contacts.Create(t.Context(), s.listID, client.ContactCreate{Email: "ada@example.org"})
		check(t, err)
		for _, operation := range []string{"createCampaign", "scheduleCampaign"} {
			faulttest.Inject(t, platform, mockserver.Fault{Operation: operation, Action: mockserver.FaultDelay, Delay: time.Second})
		}
		issue := client.CampaignCreate{Name: "May", Content: client.MessageContent{Subject: "News", Text: "News"}}
		var ids [4]int64
		var all sync.WaitGroup
		for i := range ids {
			replica := opened(t, platform)
			all.Go(func() {
				campaign, err := replica.publish(t.Context(), issue)
				if ids[i] = campaign.ID; err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		check(t, platform.Wait(t.Context()))
		if n := len(platform.OutboxTo("ada@example.org")); n != 1 || slices.Max(ids[:]) != slices.Min(ids[:]) {
			t.Errorf("%d emails, campaigns %v", n, ids)
		}
	})
}

// TestPublishOtherDrafts: publish returns an error if a draft with the same name has another list or subject.
func TestPublishOtherDrafts(t *testing.T) {
	inBubble(t, func(t *testing.T, s *service, platform *mockserver.Server) {
		_, err := s.platform.Contacts.Create(t.Context(), s.listID, client.ContactCreate{Email: "ada@example.org"})
		check(t, err)
		list, err := s.platform.Lists.Create(t.Context(), client.ListCreate{Name: "Customers"})
		check(t, err)
		check(t, s.platform.Lists.AcceptPolicy(t.Context(), list.ID))
		for name, id := range map[string]int64{"May": list.ID, "June": s.listID} {
			_, err = s.platform.Campaigns.Create(t.Context(), client.CampaignCreate{
				Name: name, ListID: id, Sender: s.sender, Content: client.MessageContent{Subject: "Draft", Text: "Draft"},
			})
			check(t, err)
			_, err = s.publish(t.Context(), client.CampaignCreate{Name: name, Content: client.MessageContent{Subject: "News", Text: "News"}})
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		check(t, platform.Wait(t.Context()))
		if n := len(platform.Outbox()); n != 0 {
			t.Errorf("%d emails", n)
		}
	})
}
