package mockserver_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// offset is the UTC offset of the local time zone in all tests of this package.
// No real zone uses it, so a time with this offset is a local time.
const offset = "+04:37"

// TestMain sets the local time zone. A local time that the mock server returns
// then fails a test on every machine, including machines that use UTC.
func TestMain(m *testing.M) {
	time.Local = time.FixedZone("local", 4*60*60+37*60)
	os.Exit(m.Run())
}

// timestamp is a field of a snapshot whose value is a time in UTC.
var timestamp = regexp.MustCompile(`(": ")(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"`)

// local returns the start of a text that is a local time, as RFC 3339 or as an email's Date, or "".
func local(text string) string {
	for _, offset := range []string{offset, strings.Replace(offset, ":", "", 1)} {
		if before, _, found := strings.Cut(text, offset); found {
			return before[max(0, len(before)-60):] + offset
		}
	}
	return ""
}

// waiting is a platform whose clock was set to a local time. It has a delivery
// that waits for its retry, and a scheduled campaign.
func waiting(t *testing.T) probe {
	t.Helper()
	fails := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	p := populated(t, mockserver.Config{
		Targets: map[string]http.Handler{"app.test": receiver()["app.test"], "fails.test": fails},
	})
	p.FreezeClock()
	must(t, p.SetNow(time.Date(2026, 3, 4, 10, 0, 0, 0, time.Local)))
	p.must("POST", "/webhooks", map[string]any{"url": "http://fails.test/", "events": []events.Name{events.NameSuppressedEmailAdded}})
	p.must("POST", "/suppressed-emails", `{"email":"a@example.org"}`)
	list := p.list()
	p.must("POST", p.campaign(list, `"subject":"S","text":"T"`)+"/schedule",
		map[string]any{"scheduled_for": p.Now().Add(7 * time.Second).Unix()})
	must(t, p.Wait(t.Context()))
	return p
}

// wantUTC fails the test if a record of the server has a local time.
func (p probe) wantUTC(when string) {
	p.t.Helper()
	for name, records := range map[string]any{
		"Now": p.Now(), "Clock": p.Clock(), "Requests": p.Requests(), "Outbox": p.Outbox(), "Deliveries": p.Deliveries(), "Events": p.Events(),
	} {
		text := fmt.Sprintf("%+v", records)
		if strings.Contains(text, " local") {
			p.t.Errorf("%s: %s contains a local time, want UTC: %s", when, name, text)
		}
		if !strings.Contains(text, " UTC") {
			p.t.Errorf("%s: %s contains no time", when, name)
		}
	}
	if text := local(snapshotOf(p.t.(*testing.T), p.Server)); text != "" {
		p.t.Errorf("%s: the snapshot contains …%s, want UTC", when, text)
	}
}

// All times of the platform are in UTC, whatever the zone of the times that a program gives it.
func TestTimesAreUTC(t *testing.T) {
	p := waiting(t)
	p.wantUTC("waiting")
	for what := ""; !strings.HasPrefix(what, "campaign"); {
		what = p.Clock().What
		must(t, p.AdvanceToNext(t.Context()))
		p.wantUTC(what)
	}
	must(t, p.AdvanceTo(t.Context(), p.Now().Local().Add(time.Hour)))
	p.wantUTC("an hour later")
	for _, start := range []time.Time{time.Date(1900, 1, 1, 0, 0, 0, 0, time.Local), time.Date(2026, 3, 4, 0, 0, 0, 0, time.Local)} {
		srv := mockserver.New(mockserver.Config{Now: start, FreezeClock: true})
		if now := srv.Now(); now.Location() != time.UTC {
			t.Errorf("Config.Now %s: the clock shows %s, want UTC", start, now)
		}
		srv.Close()
	}
}

// A snapshot whose times have offsets is restored with times in UTC.
func TestRestoredTimesAreUTC(t *testing.T) {
	p := waiting(t)
	text := snapshotOf(t, p.Server)
	changed := timestamp.ReplaceAllStringFunc(text, func(field string) string {
		parts := timestamp.FindStringSubmatch(field)
		at, err := time.Parse(time.RFC3339Nano, parts[2])
		must(t, err)
		return parts[1] + at.Local().Format(time.RFC3339Nano) + `"`
	})
	if local(changed) == "" {
		t.Fatalf("the snapshot contains no time:\n%s", text)
	}
	q := newProbe(t, mockserver.Config{})
	must(t, q.Restore(strings.NewReader(changed)))
	_ = q.do("GET", "/lists", nil) // a request to log
	q.wantUTC("restored")
}
