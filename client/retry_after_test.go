package client

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "1", "-1", "1e3", "Fri, 20 Nov 2026 10:00:05 GMT", "99999999999999999999"} {
		f.Add(s, "Fri, 20 Nov 2026 10:00:00 GMT")
	}
	f.Fuzz(func(t *testing.T, value, date string) {
		d, ok := retryAfter(http.Header{"Retry-After": {value}, "Date": {date}})
		if d < 0 || !ok && d != 0 {
			t.Errorf("retryAfter(%q, %q) = %v, %v", value, date, d, ok)
		}
	})
}

// TestRetryAfterAsTime: a platform can write the time as Unix seconds or milliseconds.
func TestRetryAfterAsTime(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"1795168805": 5 * time.Second, "1795168805000": 5 * time.Second, "1795168805.5": 5 * time.Second, "1795168000": 0,
		"999999999": 999999999 * time.Second, "10000000000": math.MaxInt64, "99999999999999": math.MaxInt64,
	} {
		d, ok := retryAfter(http.Header{"Retry-After": {value}, "Date": {"Fri, 20 Nov 2026 10:00:00 GMT"}})
		assert.Equal(t, want, d, value)
		assert.True(t, ok, value)
	}
}
