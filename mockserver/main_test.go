package mockserver_test

import (
	"os"
	"strings"
	"testing"
	"time"
)

// offset is the UTC offset of the local time zone in all tests of this package. No real zone uses it, so a time
// with this offset must be a local time, which the server should not return.
const offset = "+04:37"

// TestMain sets the local time zone. So if the mock server returns a local time, a test fails on every machine,
// even if the machine uses UTC.
func TestMain(m *testing.M) {
	time.Local = time.FixedZone("local", 4*60*60+37*60)
	os.Exit(m.Run())
}

// local returns an excerpt that ends with a local time in RFC 3339 or email format, or "" if text contains none.
func local(text string) string {
	for _, offset := range []string{offset, strings.Replace(offset, ":", "", 1)} {
		if before, _, found := strings.Cut(text, offset); found {
			return before[max(0, len(before)-60):] + offset
		}
	}
	return ""
}
