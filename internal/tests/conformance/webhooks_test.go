package conformance_test

import (
	"crypto/sha512"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

func TestHashFunction(t *testing.T) {
	withFixture(func(f *fixture) {
		proves(f, "decision/21", "authentication/hash_function", "resources/webhook/hash_function")
		f.receiver.hash = sha512.New // the receiver checks signatures
		f.Get("/webhooks/"+f.listen("SuppressedEmail.Added")).Is(200, `{"hash_function":"sha512","…":0}`)
		f.suppress(1)
		f.fires("SuppressedEmail.Added")
	}, func(c *mockserver.Config) { c.HashFunction = webhook.SHA512 })(t)
}

// suppress causes n events SuppressedEmail.Added.
func (f *fixture) suppress(n int) {
	f.Helper()
	for range n {
		f.suppressed++
		f.Post("/suppressed-emails", fmt.Sprintf(`{"email":"no%d@example.org"}`, f.suppressed)).OK()
	}
}

// deliveryTimes calls act, waits a week and returns the deliveries. It also returns the time from the start of the call
// to each delivery.
func (f *fixture) deliveryTimes(act func()) (after []time.Duration, got []delivery) {
	f.Helper()
	start := time.Now()
	act()
	time.Sleep(7 * 24 * time.Hour)
	got = f.deliveries()
	for _, d := range got {
		after = append(after, d.at.Sub(start))
	}
	return after, got
}

// failFirst responds to the first n deliveries with a status, and to later ones with 200.
func failFirst(n, status int) func(http.ResponseWriter, *http.Request, int) {
	return func(res http.ResponseWriter, _ *http.Request, i int) {
		if i <= n {
			res.WriteHeader(status)
		}
	}
}

func TestDelivery(t *testing.T) {
	t.Run("a signed POST to each subscriber", withFixture(func(f *fixture) {
		proves(f, "service/webhooks-push", "service/webhooks-signed", "delivery/post", "authentication/signature", "authentication/sha256",
			"resources/webhook/secret-signs", "decision/34/post", "resources/webhook/events", "envelope/id", "envelope/event",
			"envelope/created_on", "envelope/ip", "envelope/account_lineage", "envelope/data")
		f.listen("SuppressedEmail.Added") // the receiver checks the method, the content type and the signature
		f.listen("Email.Bounced", "SuppressedEmail.Added")
		f.listen("Email.Bounced")
		other := *f
		other.Probe = f.As(otherAccount)
		other.listen()
		start, ids := time.Now(), map[any]bool{}
		for range 2 {
			f.suppress(1)
			got := f.fires("SuppressedEmail.Added", "SuppressedEmail.Added")
			paths := []string{got[0].path, got[1].path}
			slices.Sort(paths)
			assert.Equal(f, "/1 /2", strings.Join(paths, " "), "paths")
			assert.Equal(f, string(got[0].raw), string(got[1].raw), "the other subscriber's bytes")
			assert.NotEmpty(f, got[0].header.Get("X-Service-Signature"), "a signature")
			assert.Zero(f, got[0].at.Sub(start), "after")
			ids[got[0].body["id"]] = true
			f.matches(got[0].event, got[0].body, `{"id":"<uuid>","event":"SuppressedEmail.Added","account_id":1204,"account_lineage":null,
				"ip":"<string>","user":"<any>","created_on":"<unix>","data":"<any>"}`)
		}
		assert.Len(f, ids, 2, "ids")
	}))
	t.Run("only events in the list of events", withFixture(func(f *fixture) {
		proves(f, "delivery/next-gen-only", "limits/event-source", "versioning/next-gen", "service/compliance-events")
		sendAndReact(f)
		f.deliveries()
		require.NotEmpty(f, f.Events())
		for _, e := range f.Events() { // including events that no webhook can subscribe to
			assert.Contains(f, eventNames(), string(e.Event))
		}
	}, recordEvents))
}

func TestRetries(t *testing.T) {
	t.Run("on the schedule", withFixture(func(f *fixture) {
		proves(f, "decision/34/schedule", "decision/34/at-least-once", "decision/34/lost", "decision/34/same-bytes")
		f.listen("SuppressedEmail.Added")
		f.receiver.respond(failFirst(100, 500))
		after, got := f.deliveryTimes(func() { f.suppress(1) })
		assert.Equal(f, "[0s 1s 6s 36s 2m36s 12m36s 1h12m36s 7h12m36s]", fmt.Sprintf("%v", after), "arrivals")
		assert.Equal(f, mockserver.DeliveryFailed, f.Deliveries()[0].State, "state after the last retry")
		for _, d := range got {
			assert.Equal(f, string(got[0].raw), string(d.raw), "bytes")
			assert.Equal(f, got[0].header.Get("X-Service-Signature"), d.header.Get("X-Service-Signature"), "signature")
		}
	}))
	redirect := func(res http.ResponseWriter, req *http.Request, n int) {
		if n == 1 {
			http.Redirect(res, req, "http://hook.test/elsewhere", http.StatusTemporaryRedirect)
		}
	}
	late := func(_ http.ResponseWriter, req *http.Request, n int) {
		if n == 1 {
			<-req.Context().Done()
		}
	}
	type row struct {
		respond         func(http.ResponseWriter, *http.Request, int)
		arrivals, piece string
	}
	rows := map[string]row{
		"two failures":       {failFirst(2, 503), "[0s 1s 6s]", "decision/34/at-least-once"},
		"redirect":           {redirect, "[0s 1s]", "decision/34/redirects"},
		"no response":        {late, "[0s 11s]", "decision/34/timeout"},
		"response after 9 s": {func(http.ResponseWriter, *http.Request, int) { time.Sleep(9 * time.Second) }, "[0s]", "decision/34/timeout"},
	}
	for _, status := range []int{200, 201, 202, 204, 299, 300, 302, 304, 400, 401, 404, 410, 429, 500, 503} {
		arrivals := "[0s 1s]"
		if status < 300 {
			arrivals = "[0s]"
		}
		rows[fmt.Sprintf("status %d", status)] = row{failFirst(1, status), arrivals, "decision/34/success"}
	}
	for name, row := range rows {
		t.Run(name, withFixture(func(f *fixture) {
			proves(f, row.piece, "decision/34/schedule")
			f.listen("SuppressedEmail.Added")
			f.receiver.respond(row.respond)
			after, got := f.deliveryTimes(func() { f.suppress(1) })
			assert.Equal(f, row.arrivals, fmt.Sprintf("%v", after), "arrivals")
			assert.Equal(f, "/1", got[len(got)-1].path, "path")
		}))
	}
}

// While a webhook is archived, its queued deliveries and retries wait, and Drain does not wait for them.
func TestArchivedWebhook(t *testing.T) {
	withFixture(func(f *fixture) {
		proves(f, "decision/34/unarchived", "states/webhook/unarchive")
		hook := f.listenWith(`,"rate_limit":1,"rate_limit_period":"minute"`, "SuppressedEmail.Added")
		f.receiver.respond(failFirst(1, 500))
		f.suppress(2)
		first := f.fires("SuppressedEmail.Added")[0]
		f.Post("/webhooks/"+hook+"/archive", "").OK()
		require.NoError(f, f.Drain(f.Context()))
		time.Sleep(24 * time.Hour)
		f.fires()
		f.Post("/webhooks/"+hook+"/unarchive", "").OK()
		second := f.fires("SuppressedEmail.Added")[0]
		time.Sleep(time.Minute)
		third := f.fires("SuppressedEmail.Added")[0]
		assert.NotEqual(f, string(second.raw) == string(first.raw), string(third.raw) == string(first.raw), "one is the retry")
	})(t)
}

func TestSuppressedBeforeComplaint(t *testing.T) {
	for _, sending := range sendings {
		t.Run(sending.name, withFixture(func(f *fixture) {
			proves(f, "states/contact/complaint/suppressed-first")
			s := sending.send(f)
			f.listen("Email.ReportedAsSpam")
			suppressed := false
			f.receiver.respond(func(http.ResponseWriter, *http.Request, int) { suppressed = f.isSuppressed(ada) })
			f.complain(s.id)
			f.fires("Email.ReportedAsSpam")
			assert.True(f, suppressed, "suppressed when the event came")
		}))
	}
}

func TestRateLimit(t *testing.T) {
	for period, d := range map[string]time.Duration{
		"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour,
	} {
		t.Run("two per "+period, withFixture(func(f *fixture) {
			proves(f, "limits/webhook-rate", "decision/34/rate-limit", "resources/webhook/rate_limit",
				"resources/webhook/rate_limit_period")
			f.listenWith(fmt.Sprintf(`,"rate_limit":2,"rate_limit_period":%q`, period), "SuppressedEmail.Added")
			after, got := f.deliveryTimes(func() { f.suppress(5) })
			assert.Equal(f, fmt.Sprintf("%v", []time.Duration{0, 0, d, d, 2 * d}), fmt.Sprintf("%v", after), "arrivals")
			for i, d := range got { // in order, because no deliveries overlap
				f.matches(d.event, d.body["data"], fmt.Sprintf(`{"suppressedEmail":{"email":"no%d@example.org"}}`, i+1))
			}
		}, func(cfg *mockserver.Config) { cfg.DeliveryConcurrency = 1 }))
	}
	t.Run("counts attempts", withFixture(func(f *fixture) {
		proves(f, "decision/34/attempts")
		f.listenWith(`,"rate_limit":2,"rate_limit_period":"minute"`, "SuppressedEmail.Added")
		f.receiver.respond(func(res http.ResponseWriter, _ *http.Request, n int) {
			if n%2 == 1 { // each event needs two attempts
				res.WriteHeader(500)
			}
		})
		at, _ := f.deliveryTimes(func() {
			for range 6 {
				f.suppress(1)
				time.Sleep(7 * time.Second)
			}
		})
		assert.Len(f, at, 12, "attempts")
		for i := range at[2:] {
			if at[i+2]-at[i] < time.Minute {
				f.Errorf("three attempts within a minute: %v", at[i:i+3])
			}
		}
	}))
}

func TestConcurrentDeliveries(t *testing.T) {
	t.Run("within the rate limit", withFixture(func(f *fixture) {
		proves(f, "limits/webhook-rate")
		f.listenWith(`,"rate_limit":3,"rate_limit_period":"minute"`, "SuppressedEmail.Added")
		f.receiver.respond(func(http.ResponseWriter, *http.Request, int) { time.Sleep(5 * time.Second) })
		after, _ := f.deliveryTimes(func() { f.suppress(7) })
		assert.Equal(f, "[0s 0s 0s 1m0s 1m0s 1m0s 2m0s]", fmt.Sprintf("%v", after), "arrivals")
	}))
	t.Run("four per webhook", withFixture(func(f *fixture) {
		proves(f, "decision/34/independent", "decision/34/at-a-time")
		f.listen("SuppressedEmail.Added")
		f.listen("SuppressedEmail.Added")
		f.receiver.respond(func(_ http.ResponseWriter, req *http.Request, _ int) {
			if req.URL.Path == "/1" {
				<-req.Context().Done()
			}
		})
		start := time.Now()
		f.suppress(20)
		synctest.Wait()
		first := map[string]int{}
		for _, d := range f.receiver.drain() {
			first[d.path]++
			assert.Zero(f, d.at.Sub(start), "after")
		}
		assert.Equal(f, "4 20", fmt.Sprintf("%d %d", first["/1"], first["/2"]), "first attempts of either")
	}))
}

// sendAndReact sends an email of each sending type, and reacts to it in each way.
func sendAndReact(f *fixture) {
	f.Helper()
	for _, sending := range sendings {
		s := sending.send(f)
		f.open(s.id)
		f.click(s.id, "https://shop.example/")
		f.bounce(s.id, "bounce_sb")
		if sending.name != "transactional" {
			f.unsubscribe(s.id)
		}
		f.globalUnsubscribe(s.id)
		f.complain(s.id)
		f.Delete("/suppressed-emails/" + ada).OK()
	}
	f.submit("error@mock.test", "").OK()
	f.suppress(1)
	f.submit("no1@example.org", "").OK()
}
