package conformance_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver"
)

// suppress causes n events SuppressedEmail.Added.
func (l *lab) suppress(n int) {
	l.Helper()
	for range n {
		l.suppressed++
		l.post("/suppressed-emails", f(`{"email":"no%d@example.org"}`, l.suppressed)).ok()
	}
}

// arrivals waits a week and returns the times of the deliveries.
func (l *lab) arrivals(act func()) (after []time.Duration, got []delivery) {
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

// schedule returns the times of all attempts of a delivery that always fails.
func schedule() []time.Duration {
	out := []time.Duration{0}
	for _, wait := range []time.Duration{
		time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour,
	} {
		out = append(out, out[len(out)-1]+wait)
	}
	return out
}

// answerFirst responds to the first n deliveries with a status, and to others with 200.
func answerFirst(n, status int) func(http.ResponseWriter, *http.Request, int) {
	return func(res http.ResponseWriter, _ *http.Request, i int) {
		if i <= n {
			res.WriteHeader(status)
		}
	}
}

func TestDelivery(t *testing.T) {
	t.Run("at once, as a signed POST", inLab(func(l *lab) {
		proves(l, "service/webhooks-push", "service/webhooks-signed", "delivery/post", "authentication/signature",
			"authentication/sha256", "resources/webhook/secret-signs", "decision/34/post")
		l.listen("SuppressedEmail.Added") // the receiver checks the method, the content type and the signature
		start := time.Now()
		l.suppress(1)
		d := l.fires("SuppressedEmail.Added")[0]
		want(l, "after", d.at.Sub(start), 0)
		want(l, "the signature is there", d.header.Get("X-Service-Signature") != "", true)
		want(l, "path", d.path, "/1")
	}))
	t.Run("to those who subscribed, each with a signature of its own", inLab(func(l *lab) {
		proves(l, "delivery/post", "resources/webhook/events")
		l.listen("SuppressedEmail.Added", "SuppressedEmail.Added")
		l.listen("Email.Bounced", "SuppressedEmail.Added")
		l.listen("Email.Bounced")
		l.as(stranger).listen()
		l.suppress(1)
		got := l.fires("SuppressedEmail.Added", "SuppressedEmail.Added")
		paths := []string{got[0].path, got[1].path}
		slices.Sort(paths)
		want(l, "paths", strings.Join(paths, " "), "/1 /2")
		want(l, "the other's bytes", string(got[1].raw), string(got[0].raw))
	}))
	t.Run("with an id of its own", inLab(func(l *lab) {
		proves(l, "envelope/id", "envelope/event", "envelope/created_on", "envelope/ip", "envelope/account_lineage",
			"envelope/data")
		l.listen("SuppressedEmail.Added")
		l.suppress(2)
		ids := map[any]bool{}
		for _, d := range l.fires("SuppressedEmail.Added", "SuppressedEmail.Added") {
			ids[d.body["id"]] = true
			l.envelope(d, `{"id":"<uuid>","event":"SuppressedEmail.Added","account_id":1204,"account_lineage":null,
				"ip":"<string>","user":"<any>","created_on":"<unix>","data":"<any>"}`)
		}
		want(l, "ids", len(ids), 2)
	}))
	t.Run("only what the list of events names", inLab(func(l *lab) {
		proves(l, "delivery/next-gen-only", "limits/event-source", "versioning/next-gen", "service/compliance-events")
		everythingHappens(l)
		l.deliveries()
		var fired []string
		for _, e := range l.srv.Events() { // including events that no webhook can subscribe to
			fired = append(fired, string(e.Event))
		}
		slices.Sort(fired)
		if fired, all := slices.Compact(fired), eventNames(); !slices.Equal(fired, all) {
			l.Errorf("the events that fired: got %q, want %q", fired, all)
		}
	}, recordEvents))
}

func TestRetries(t *testing.T) {
	t.Run("on the schedule", inLab(func(l *lab) {
		proves(l, "decision/34/schedule", "decision/34/at-least-once", "decision/34/same-bytes")
		l.listen("SuppressedEmail.Added")
		l.receiver.respond(answerFirst(100, 500))
		after, got := l.arrivals(func() { l.suppress(1) })
		want(l, "arrivals", f("%v", after), f("%v", schedule()))
		for _, d := range got {
			want(l, "bytes", string(d.raw), string(got[0].raw))
			want(l, "signature", d.header.Get("X-Service-Signature"), got[0].header.Get("X-Service-Signature"))
		}
	}))
	t.Run("until one succeeds", inLab(func(l *lab) {
		proves(l, "decision/34/at-least-once", "decision/34/schedule")
		l.listen("SuppressedEmail.Added")
		l.receiver.respond(answerFirst(2, 503))
		after, _ := l.arrivals(func() { l.suppress(1) })
		want(l, "arrivals", f("%v", after), f("%v", schedule()[:3]))
	}))
	t.Run("redirects are not followed", inLab(func(l *lab) {
		proves(l, "decision/34/redirects")
		l.listen("SuppressedEmail.Added")
		l.receiver.respond(func(res http.ResponseWriter, req *http.Request, n int) {
			if n == 1 {
				http.Redirect(res, req, "http://hook.test/elsewhere", http.StatusTemporaryRedirect)
			}
		})
		_, got := l.arrivals(func() { l.suppress(1) })
		for _, d := range got {
			want(l, "path", d.path, "/1")
		}
		want(l, "attempts", len(got), 2)
	}))
	t.Run("after 10 seconds", inLab(func(l *lab) {
		proves(l, "decision/34/timeout")
		l.listen("SuppressedEmail.Added")
		gaveUp := make(chan time.Duration, 1)
		l.receiver.respond(func(_ http.ResponseWriter, req *http.Request, n int) {
			if start := time.Now(); n == 1 {
				<-req.Context().Done()
				gaveUp <- time.Since(start)
			}
		})
		after, _ := l.arrivals(func() { l.suppress(1) })
		want(l, "gave up after", <-gaveUp, 10*time.Second)
		want(l, "arrivals", f("%v", after), "[0s 11s]")
	}))
	t.Run("not after an answer just in time", inLab(func(l *lab) {
		proves(l, "decision/34/timeout", "decision/34/success")
		l.listen("SuppressedEmail.Added")
		l.receiver.respond(func(http.ResponseWriter, *http.Request, int) { time.Sleep(9 * time.Second) })
		after, _ := l.arrivals(func() { l.suppress(1) })
		want(l, "arrivals", f("%v", after), "[0s]")
	}))
	for status, arrivals := range map[int]string{
		200: "[0s]", 201: "[0s]", 202: "[0s]", 204: "[0s]", 299: "[0s]",
		300: "[0s 1s]", 302: "[0s 1s]", 304: "[0s 1s]", 400: "[0s 1s]", 401: "[0s 1s]", 404: "[0s 1s]", 410: "[0s 1s]",
		429: "[0s 1s]", 500: "[0s 1s]", 503: "[0s 1s]",
	} {
		t.Run(f("after %d", status), inLab(func(l *lab) {
			proves(l, "decision/34/success", "decision/34/schedule")
			l.listen("SuppressedEmail.Added")
			l.receiver.respond(answerFirst(1, status))
			after, _ := l.arrivals(func() { l.suppress(1) })
			want(l, "arrivals", f("%v", after), arrivals)
		}))
	}
}

func TestArchived(t *testing.T) {
	t.Run("gets nothing", inLab(func(l *lab) {
		proves(l, "decision/34/archived", "resources/webhook/archive", "states/webhook/archive")
		hook := l.listen("SuppressedEmail.Added")
		l.post("/webhooks/"+hook+"/archive", "").ok()
		l.suppress(2)
		l.fires()
		l.listen("SuppressedEmail.Added") // another one, which is not archived
		l.suppress(1)
		want(l, "path", l.fires("SuppressedEmail.Added")[0].path, "/2")
		l.post("/webhooks/"+hook+"/unarchive", "").ok()
		l.fires()
		l.suppress(1)
		l.fires("SuppressedEmail.Added", "SuppressedEmail.Added")
	}))
	t.Run("what was queued waits", inLab(func(l *lab) {
		proves(l, "decision/34/unarchived", "states/webhook/unarchive")
		hook := l.listenWith(`,"rate_limit":1,"rate_limit_period":"minute"`, "SuppressedEmail.Added")
		l.suppress(3)
		l.fires("SuppressedEmail.Added")
		l.post("/webhooks/"+hook+"/archive", "").ok()
		time.Sleep(24 * time.Hour)
		l.fires()
		l.post("/webhooks/"+hook+"/unarchive", "").ok()
		l.fires("SuppressedEmail.Added")
		time.Sleep(time.Minute)
		l.fires("SuppressedEmail.Added")
	}))
	t.Run("a retry waits, and Drain does not wait for it", inLab(func(l *lab) {
		proves(l, "decision/34/unarchived")
		hook := l.listen("SuppressedEmail.Added")
		l.receiver.respond(answerFirst(1, 500))
		l.suppress(1)
		first := l.fires("SuppressedEmail.Added")[0]
		l.post("/webhooks/"+hook+"/archive", "").ok()
		l.must(l.srv.Drain(l.Context()))
		time.Sleep(time.Hour)
		l.fires()
		l.post("/webhooks/"+hook+"/unarchive", "").ok()
		want(l, "bytes", string(l.fires("SuppressedEmail.Added")[0].raw), string(first.raw))
	}))
}

func TestRateLimit(t *testing.T) {
	for period, d := range map[string]time.Duration{
		"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour,
	} {
		t.Run("two per "+period, inLab(func(l *lab) {
			proves(l, "limits/webhook-rate", "decision/34/rate-limit", "resources/webhook/rate_limit",
				"resources/webhook/rate_limit_period")
			l.listenWith(f(`,"rate_limit":2,"rate_limit_period":%q`, period), "SuppressedEmail.Added")
			after, _ := l.arrivals(func() { l.suppress(5) })
			want(l, "arrivals", f("%v", after), f("%v", []time.Duration{0, 0, d, d, 2 * d}))
		}))
	}
	t.Run("drops nothing, and keeps the order of what does not overlap", inLab(func(l *lab) {
		proves(l, "decision/34/rate-limit", "limits/webhook-rate")
		l.listenWith(`,"rate_limit":3,"rate_limit_period":"hour"`, "SuppressedEmail.Added")
		_, got := l.arrivals(func() { l.suppress(50) })
		ids := map[any]bool{}
		for i, d := range got {
			ids[d.body["id"]] = true
			l.data(d, f(`{"suppressedEmail":{"email":"no%d@example.org"}}`, i+1))
		}
		want(l, "events", len(ids), 50)
	}, oneAtATime))
	t.Run("counts attempts", inLab(func(l *lab) {
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

func oneAtATime(cfg *mockserver.Config) { cfg.DeliveryConcurrency = 1 }

func TestConcurrentDeliveries(t *testing.T) {
	t.Run("four at a time", inLab(func(l *lab) {
		proves(l, "decision/34/at-a-time")
		l.listen("SuppressedEmail.Added")
		goOn := make(chan struct{})
		l.receiver.respond(func(http.ResponseWriter, *http.Request, int) { <-goOn })
		l.suppress(6)
		synctest.Wait()
		want(l, "under way", len(l.receiver.drain()), 4)
		goOn <- struct{}{}
		synctest.Wait()
		want(l, "begun when one has ended", len(l.receiver.drain()), 1)
		close(goOn)
		want(l, "begun at last", len(l.deliveries()), 1)
	}))
	t.Run("within the rate limit", inLab(func(l *lab) {
		proves(l, "decision/34/at-a-time", "limits/webhook-rate")
		l.listenWith(`,"rate_limit":3,"rate_limit_period":"minute"`, "SuppressedEmail.Added")
		l.receiver.respond(func(http.ResponseWriter, *http.Request, int) { time.Sleep(5 * time.Second) })
		after, _ := l.arrivals(func() { l.suppress(7) })
		want(l, "arrivals", f("%v", after), "[0s 0s 0s 1m0s 1m0s 1m0s 2m0s]")
	}))
	t.Run("a receiver that never answers holds nobody else up", inLab(func(l *lab) {
		proves(l, "decision/34/independent")
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

// everythingHappens causes events of all kinds.
func everythingHappens(l *lab) {
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
