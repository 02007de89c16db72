package mockserver_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver"
)

// Each mode of the limit counts by the clock of the mock server. A clock that is set back allows a lookup at once.
func TestLookupLimit(t *testing.T) {
	const ms = time.Millisecond
	for _, row := range []struct {
		limit mockserver.LookupLimit
		gaps  []time.Duration
		want  []int
	}{
		{mockserver.LookupMinInterval, []time.Duration{0, 0, 999 * ms, ms, 1500 * ms, 500 * ms}, []int{200, 429, 429, 200, 200, 429}},
		{
			mockserver.LookupTokenBucket,
			[]time.Duration{0, 0, 0, 500 * ms, 500 * ms, time.Hour, 0, 0},
			[]int{200, 200, 429, 429, 200, 200, 200, 429},
		},
		{mockserver.LookupFixedWindow, []time.Duration{900 * ms, 100 * ms, 900 * ms, 100 * ms}, []int{200, 200, 429, 200}},
	} {
		t.Run(fmt.Sprint(row.limit), func(t *testing.T) {
			p := newProbe(t, mockserver.Config{Lookups: row.limit, FreezeClock: true, Now: time.Unix(1_700_000_000, 0)})
			path := "/v2/emails/" + p.email("ada@example.org")
			for i, gap := range row.gaps {
				p.advance(gap)
				a := p.do("GET", path, nil)
				if a.status != row.want[i] || a.status == 429 && a.header.Get("Retry-After") != "1" {
					t.Errorf("lookup %d: %d, Retry-After %q; want %d", i, a.status, a.header.Get("Retry-After"), row.want[i])
				}
			}
			if err := p.SetNow(p.Now().AddDate(-1, 0, 0)); err != nil {
				t.Fatal(err)
			}
			if got := p.do("GET", path, nil).status; got != http.StatusOK {
				t.Errorf("a year earlier: %d, want 200", got)
			}
		})
	}
}

// What the console looks up is neither limited nor counted: the application's
// own next lookup is answered.
func TestLookupLimitOfTheConsole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, mockserver.Config{})
		path := "/v2/emails/" + p.email("a@example.org")
		for range 2 {
			if a := p.do("GET", "/_mock/accounts/1/api"+path, nil); a.status != 200 {
				t.Errorf("by the console: %d %s, want 200", a.status, a.text)
			}
		}
		for i, want := range []int{200, 429} {
			if a := p.do("GET", path, nil); a.status != want {
				t.Errorf("lookup %d by the application: %d %s, want %d", i+1, a.status, a.text, want)
			}
		}
	})
}
