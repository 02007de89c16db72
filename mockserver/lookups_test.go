package mockserver_test

import (
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver"
)

func TestLookupLimit(t *testing.T) {
	tokens := []mockserver.Token{
		{Token: "one"},
		{Token: "same"},
		{Token: "user", UserID: 2},
		{Token: "account", AccountID: 2},
	}
	for _, row := range []struct {
		name  string
		limit mockserver.LookupLimit
		gaps  []time.Duration
		want  []int
	}{
		{
			name:  "min_interval",
			limit: mockserver.LookupMinInterval,
			gaps: []time.Duration{
				0, 0, 999 * time.Millisecond, time.Millisecond, 1500 * time.Millisecond, 500 * time.Millisecond,
			},
			want: []int{200, 429, 429, 200, 200, 429},
		},
		{
			name:  "token_bucket",
			limit: mockserver.LookupTokenBucket,
			gaps:  []time.Duration{0, 0, 0, 500 * time.Millisecond, 500 * time.Millisecond, time.Hour, 0, 0},
			want:  []int{200, 200, 429, 429, 200, 200, 200, 429},
		},
		{
			name:  "fixed_window",
			limit: mockserver.LookupFixedWindow,
			gaps: []time.Duration{
				900 * time.Millisecond, 100 * time.Millisecond, 900 * time.Millisecond, 100 * time.Millisecond,
			},
			want: []int{200, 200, 429, 200},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProbe(t, mockserver.Config{Lookups: row.limit, Tokens: tokens})
				path := "/v2/emails/" + p.email("ada@example.org")
				for i, gap := range row.gaps {
					time.Sleep(gap)
					a := p.do("GET", path, nil)
					if a.status != row.want[i] {
						t.Errorf("lookup %d: %d, want %d", i, a.status, row.want[i])
					}
					if a.status == 429 && a.header.Get("Retry-After") != "1" {
						t.Error("no Retry-After")
					}
				}
			})
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
