package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/examples/faulttest"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/mockserver"
)

// get requests an internal page. If the response was cut off, the result complete is false.
func get(t *testing.T, s *service, path string) (body []byte, complete bool) {
	t.Helper()
	srv := httptest.NewServer(s.internal())
	defer srv.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+path, nil)
	check(t, err)
	resp, err := srv.Client().Do(r)
	if err != nil {
		return nil, false
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return body, err == nil && resp.StatusCode == http.StatusOK
}

// TestRotation rotates the secret while the old webhook retries a delivery. If the old webhook is archived 8
// hours later, no event is lost.
func TestRotation(t *testing.T) {
	for wait, lost := range map[time.Duration]int{0: 1, 8 * time.Hour: 0} {
		inBubble(t, func(t *testing.T, s *service, platform *mockserver.Server) {
			bounce := func(address string) {
				email, err := s.platform.Emails.Send(t.Context(), client.EmailSubmission{
					To: address, Sender: s.sender, Content: client.EmailContent{Subject: "x", Text: "x"},
				})
				check(t, err)
				check(t, platform.Bounce(email.ID, mockserver.HardBounce))
				check(t, platform.Wait(t.Context()))
			}
			platform.SetTarget("shop.test", http.NotFoundHandler())
			bounce("before@example.org")
			platform.SetTarget("shop.test", s.public())
			hooks, err := s.platform.Webhooks.Active(t.Context(), "http://shop.test/hook")
			check(t, err)
			old, successor, err := s.platform.Webhooks.Rotate(t.Context(), hooks[0].ID)
			check(t, err)
			bounce("during@example.org") // both webhooks deliver it
			time.Sleep(wait)
			check(t, s.platform.Webhooks.Archive(t.Context(), old.ID))
			bounce("after@example.org")
			time.Sleep(12 * time.Hour)
			if got, want := fmt.Sprint(s.counts.Get("notice hard_bounce")), fmt.Sprint(3-lost); got != want {
				t.Errorf("archived after %v: %s of 3 bounces handled, want %s", wait, got, want)
			}
			all := platform.Deliveries()
			if last := all[len(all)-1]; last.WebhookID != successor.ID || last.State != mockserver.DeliveryDelivered {
				t.Errorf("the last delivery is %s by webhook %s, want delivered by %s", last.State, last.WebhookID, successor.ID)
			}
		})
	}
}

// addReaders adds reader0@example.org and so on to the list.
func addReaders(t *testing.T, s *service, n int) {
	t.Helper()
	readers := make([]client.ImportContact, n)
	for i := range readers {
		readers[i].Email = fmt.Sprintf("reader%d@example.org", i)
	}
	_, err := s.platform.Contacts.Import(t.Context(), s.listID, client.ContactsFromSlice(readers), client.ImportOptions{})
	check(t, err)
}

// TestExportIsComplete: the export contains each reader once, even if readers leave while it runs. If a page of a
// list cannot be read, the response is cut off, so the operator notices.
func TestExportIsComplete(t *testing.T) {
	platform := mockserver.New(mockserver.Config{})
	t.Cleanup(platform.Close)
	s := opened(t, platform)
	addReaders(t, s, 250)
	left := false
	ctx := client.WithResponseHook(t.Context(), func(r client.Response) {
		if left || r.Op != "listContacts" {
			return
		}
		left = true
		for i := range 40 { // contacts of the first page unsubscribe after the export has read it
			contact, err := s.platform.Contacts.Find(t.Context(), s.listID, fmt.Sprintf("reader%d@example.org", i))
			check(t, err)
			check(t, s.platform.Contacts.Unsubscribe(t.Context(), s.listID, contact.ID))
		}
	})
	var out strings.Builder
	check(t, s.export(ctx, &out))
	for i := range 250 {
		if n := strings.Count(out.String(), fmt.Sprintf("reader%d@", i)); n != 1 {
			t.Errorf("reader %d is exported %d times while others leave", i, n)
		}
	}
	if _, complete := get(t, s, "/contacts.csv"); !complete {
		t.Error("the export is incomplete")
	}
	faulttest.Inject(t, platform, // the first page succeeds, the others fail
		mockserver.Fault{Operation: "listContacts", Action: mockserver.FaultDelay, Delay: time.Millisecond, Nth: 1},
		mockserver.Fault{Operation: "listContacts", Action: mockserver.FaultStatus, Status: 403},
	)
	if _, complete := get(t, s, "/contacts.csv"); complete {
		t.Error("an incomplete export is reported as complete")
	}
}

// TestMetrics: calls, retries and deliveries are counted by status.
func TestMetrics(t *testing.T) {
	inBubble(t, func(t *testing.T, s *service, platform *mockserver.Server) {
		faulttest.Inject(t, platform, mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultStatus, Status: 429, Times: 1})
		check(t, s.confirm(t.Context(), "A-1", "open@mock.test"))
		time.Sleep(time.Minute)
		w := httptest.NewRecorder()
		s.internal().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/metrics", nil))
		var got map[string]int
		check(t, json.Unmarshal(w.Body.Bytes(), &got))
		for name, want := range map[string]int{"call submitEmail 201": 1, "retry submitEmail": 1, "delivery 204": 1, "call createWebhook 201": 1} {
			if got[name] != want {
				t.Errorf("%s: %d, want %d; all: %v", name, got[name], want, got)
			}
		}
	})
}

// held is a transport that blocks requests that create a contact until release is closed.
type held struct {
	http.RoundTripper
	arrived, release chan struct{}
}

func (h held) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost && r.URL.Path == "/lists/1/contacts" {
		h.arrived <- struct{}{}
		<-h.release
	}
	return h.RoundTripper.RoundTrip(r)
}

// closing is a listener that reports when it is closed.
type closing struct {
	net.Listener
	closed func()
}

func (c closing) Close() error {
	defer c.closed()
	return c.Listener.Close()
}

func listen(t *testing.T, closed func()) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	check(t, err)
	return closing{l, sync.OnceFunc(closed)}
}

// TestShutdown: a request in progress gets its response when the service shuts down, and run returns.
func TestShutdown(t *testing.T) {
	platform := mockserver.New(mockserver.Config{})
	defer platform.Close()
	slow := held{platform.Transport(), make(chan struct{}), make(chan struct{})}
	s, err := open(t.Context(), client.Config{
		BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: &http.Client{Transport: slow},
	}, "http://shop.test/hook", mailroom.NewMemoryStore())
	check(t, err)
	shut := make(chan struct{})
	public, internal := listen(t, func() { close(shut) }), listen(t, func() {})
	ctx, stop := context.WithCancel(t.Context())
	ended, statuses := make(chan error), make(chan string)
	go func() { ended <- s.run(ctx, public, internal) }()
	go func() {
		resp, err := http.PostForm("http://"+public.Addr().String()+"/signup", url.Values{"email": {"ada@example.org"}})
		if err != nil {
			statuses <- err.Error()
			return
		}
		_ = resp.Body.Close()
		statuses <- resp.Status
	}()
	<-slow.arrived
	stop()
	<-shut // the public listener is closed
	close(slow.release)
	if got := <-statuses; got != "200 OK" {
		t.Errorf("the request that had begun: %s", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestListenerFailureEndsRun: a listener that fails ends the service with its error.
func TestListenerFailureEndsRun(t *testing.T) {
	platform := mockserver.New(mockserver.Config{})
	t.Cleanup(platform.Close)
	s := opened(t, platform)
	broken := listen(t, func() {})
	check(t, broken.Close())
	if err := s.run(t.Context(), listen(t, func() {}), broken); err == nil {
		t.Error("no error")
	}
}

func TestDemonstrate(t *testing.T) { check(t, demonstrate(t.Context())) }
