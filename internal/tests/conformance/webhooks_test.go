package conformance_test

import (
	"crypto/sha512"
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

func TestWebhookStates(t *testing.T) {
	t.Run("another hash function", withFixture(func(l *fixture) {
		proves(l, "decision/21", "authentication/hash_function", "resources/webhook/hash_function")
		l.receiver.hash = sha512.New // the receiver checks signatures
		l.get("/webhooks/"+l.listen("SuppressedEmail.Added")).is(200, `{"hash_function":"sha512","…":0}`)
		l.suppress(1)
		l.fires("SuppressedEmail.Added")
	}, func(c *mockserver.Config) { c.HashFunction = webhook.SHA512 }))
}

// suppress causes n events SuppressedEmail.Added.
func (l *fixture) suppress(n int) {
	l.Helper()
	for range n {
		l.suppressed++
		l.post("/suppressed-emails", f(`{"email":"no%d@example.org"}`, l.suppressed)).ok()
	}
}

// arrivals calls act, waits a week and returns the deliveries with their times after the call.
func (l *fixture) arrivals(act func()) (after []time.Duration, got []delivery) {
	l.Helper()
	start := time.Now()
	act()
	time.Sleep(7 * 24 * time.Hour)
	got = l.deliveries()
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
	t.Run("a signed POST to each subscriber", withFixture(func(l *fixture) {
		proves(l, "service/webhooks-push", "service/webhooks-signed", "delivery/post", "authentication/signature", "authentication/sha256",
			"resources/webhook/secret-signs", "decision/34/post", "resources/webhook/events", "envelope/id", "envelope/event",
			"envelope/created_on", "envelope/ip", "envelope/account_lineage", "envelope/data")
		l.listen("SuppressedEmail.Added") // the receiver checks the method, the content type and the signature
		l.listen("Email.Bounced", "SuppressedEmail.Added")
		l.listen("Email.Bounced")
		l.as(otherAccount).listen()
		start, ids := time.Now(), map[any]bool{}
		for range 2 {
			l.suppress(1)
			got := l.fires("SuppressedEmail.Added", "SuppressedEmail.Added")
			paths := []string{got[0].path, got[1].path}
			slices.Sort(paths)
			want(l, "paths", strings.Join(paths, " "), "/1 /2")
			want(l, "the other subscriber's bytes", string(got[1].raw), string(got[0].raw))
			want(l, "a signature", got[0].header.Get("X-Service-Signature") != "", true)
			want(l, "after", got[0].at.Sub(start), 0)
			ids[got[0].body["id"]] = true
			l.matches(got[0].event, got[0].body, `{"id":"<uuid>","event":"SuppressedEmail.Added","account_id":1204,"account_lineage":null,
				"ip":"<string>","user":"<any>","created_on":"<unix>","data":"<any>"}`)
		}
		want(l, "ids", len(ids), 2)
	}))
	t.Run("only events in the list of events", withFixture(func(l *fixture) {
		proves(l, "delivery/next-gen-only", "limits/event-source", "versioning/next-gen", "service/compliance-events")
		everythingHappens(l)
		l.deliveries()
		require.NotEmpty(l, l.srv.Events())
		for _, e := range l.srv.Events() { // including events that no webhook can subscribe to
			assert.Contains(l, eventNames(), string(e.Event))
		}
	}, recordEvents))
}

func TestRetries(t *testing.T) {
	t.Run("on the schedule", withFixture(func(l *fixture) {
		proves(l, "decision/34/schedule", "decision/34/at-least-once", "decision/34/same-bytes")
		l.listen("SuppressedEmail.Added")
		l.receiver.respond(failFirst(100, 500))
		after, got := l.arrivals(func() { l.suppress(1) })
		want(l, "arrivals", f("%v", after), "[0s 1s 6s 36s 2m36s 12m36s 1h12m36s 7h12m36s]")
		for _, d := range got {
			want(l, "bytes", string(d.raw), string(got[0].raw))
			want(l, "signature", d.header.Get("X-Service-Signature"), got[0].header.Get("X-Service-Signature"))
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
		rows[f("status %d", status)] = row{failFirst(1, status), arrivals, "decision/34/success"}
	}
	for name, row := range rows {
		t.Run(name, withFixture(func(l *fixture) {
			proves(l, row.piece, "decision/34/schedule")
			l.listen("SuppressedEmail.Added")
			l.receiver.respond(row.respond)
			after, got := l.arrivals(func() { l.suppress(1) })
			want(l, "arrivals", f("%v", after), row.arrivals)
			want(l, "path", got[len(got)-1].path, "/1")
		}))
	}
}

func TestArchived(t *testing.T) {
	t.Run("queued deliveries and retries wait, and Drain does not wait for them", withFixture(func(l *fixture) {
		proves(l, "decision/34/unarchived", "states/webhook/unarchive")
		hook := l.listenWith(`,"rate_limit":1,"rate_limit_period":"minute"`, "SuppressedEmail.Added")
		l.receiver.respond(failFirst(1, 500))
		l.suppress(2)
		first := l.fires("SuppressedEmail.Added")[0]
		l.post("/webhooks/"+hook+"/archive", "").ok()
		l.must(l.srv.Drain(l.Context()))
		time.Sleep(24 * time.Hour)
		l.fires()
		l.post("/webhooks/"+hook+"/unarchive", "").ok()
		second := l.fires("SuppressedEmail.Added")[0]
		time.Sleep(time.Minute)
		third := l.fires("SuppressedEmail.Added")[0]
		want(l, "one is the retry", string(second.raw) == string(first.raw) != (string(third.raw) == string(first.raw)), true)
	}))
}

func TestSuppressedBeforeComplaint(t *testing.T) {
	for _, sending := range sendings {
		t.Run(sending.name, withFixture(func(l *fixture) {
			proves(l, "states/contact/complaint/suppressed-first")
			s := sending.send(l)
			l.listen("Email.ReportedAsSpam")
			suppressed := false
			l.receiver.respond(func(http.ResponseWriter, *http.Request, int) { suppressed = l.isSuppressed(ada) })
			l.complain(s.id)
			l.fires("Email.ReportedAsSpam")
			want(l, "suppressed when the event came", suppressed, true)
		}))
	}
}

func TestRateLimit(t *testing.T) {
	for period, d := range map[string]time.Duration{
		"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour,
	} {
		t.Run("two per "+period, withFixture(func(l *fixture) {
			proves(l, "limits/webhook-rate", "decision/34/rate-limit", "resources/webhook/rate_limit",
				"resources/webhook/rate_limit_period")
			l.listenWith(f(`,"rate_limit":2,"rate_limit_period":%q`, period), "SuppressedEmail.Added")
			after, got := l.arrivals(func() { l.suppress(5) })
			want(l, "arrivals", f("%v", after), f("%v", []time.Duration{0, 0, d, d, 2 * d}))
			for i, d := range got { // in order, because no deliveries overlap
				l.matches(d.event, d.body["data"], f(`{"suppressedEmail":{"email":"no%d@example.org"}}`, i+1))
			}
		}, func(cfg *mockserver.Config) { cfg.DeliveryConcurrency = 1 }))
	}
	t.Run("counts attempts", withFixture(func(l *fixture) {
		proves(l, "decision/34/attempts")
		l.listenWith(`,"rate_limit":2,"rate_limit_period":"minute"`, "SuppressedEmail.Added")
		l.receiver.respond(func(res http.ResponseWriter, _ *http.Request, n int) {
			if n%2 == 1 { // each event needs two attempts
				res.WriteHeader(500)
			}
		})
		at, _ := l.arrivals(func() {
			for range 6 {
				l.suppress(1)
				time.Sleep(7 * time.Second)
			}
		})
		want(l, "attempts", len(at), 12)
		for i := range at[2:] {
			if at[i+2]-at[i] < time.Minute {
				l.Errorf("three attempts within a minute: %v", at[i:i+3])
			}
		}
	}))
}

func TestConcurrentDeliveries(t *testing.T) {
	t.Run("within the rate limit", withFixture(func(l *fixture) {
		proves(l, "limits/webhook-rate")
		l.listenWith(`,"rate_limit":3,"rate_limit_period":"minute"`, "SuppressedEmail.Added")
		l.receiver.respond(func(http.ResponseWriter, *http.Request, int) { time.Sleep(5 * time.Second) })
		after, _ := l.arrivals(func() { l.suppress(7) })
		want(l, "arrivals", f("%v", after), "[0s 0s 0s 1m0s 1m0s 1m0s 2m0s]")
	}))
	t.Run("four per webhook", withFixture(func(l *fixture) {
		proves(l, "decision/34/independent", "decision/34/at-a-time")
		l.listen("SuppressedEmail.Added")
		l.listen("SuppressedEmail.Added")
		l.receiver.respond(func(_ http.ResponseWriter, req *http.Request, _ int) {
			if req.URL.Path == "/1" {
				<-req.Context().Done()
			}
		})
		start := time.Now()
		l.suppress(20)
		synctest.Wait()
		first := map[string]int{}
		for _, d := range l.receiver.drain() {
			first[d.path]++
			want(l, "after", d.at.Sub(start), 0)
		}
		want(l, "first attempts of either", f("%d %d", first["/1"], first["/2"]), "4 20")
	}))
}

// everythingHappens sends an email of each sending type, and reacts to it in each way.
func everythingHappens(l *fixture) {
	l.Helper()
	for _, sending := range sendings {
		s := sending.send(l)
		l.open(s.id)
		l.click(s.id, "https://shop.example/")
		l.bounce(s.id, "bounce_sb")
		if sending.name != "transactional" {
			l.unsubscribe(s.id)
		}
		l.globalUnsubscribe(s.id)
		l.complain(s.id)
		l.delete("/suppressed-emails/" + ada).ok()
	}
	l.submit("error@mock.test", "").ok()
	l.suppress(1)
	l.submit("no1@example.org", "").ok()
}
