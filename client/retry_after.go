package client

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfter returns the longest delay in the Retry-After headers. A header contains seconds
// or a date, or a list of both if a proxy has joined several headers. retryAfter compares a
// date with the Date header, because the clocks of the client and the server may differ. It
// ignores any other value, such as a negative number.
func retryAfter(h http.Header) (longest time.Duration, ok bool) {
	now, known := parseDate(h.Get("Date"))
	if !known {
		now = time.Now()
	}
	for _, value := range h.Values("Retry-After") {
		before := ""
		for element := range strings.SplitSeq(value, ",") {
			for _, text := range []string{element, before + "," + element} { // most dates contain a comma
				if d, valid := parseDelay(strings.TrimSpace(text), now); valid {
					longest, ok = max(longest, d), true
				}
			}
			before = element
		}
	}
	return longest, ok
}

// parseDelay parses a date, or a number of seconds that may have a fraction. Some platforms write the
// date as Unix seconds or milliseconds. parseDelay recognizes such a date because it is a large
// number. As a delay, this number would mean decades.
func parseDelay(text string, now time.Time) (d time.Duration, ok bool) {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		at, ok := parseDate(text)
		return max(at.Sub(now), 0), ok
	}
	switch {
	case 1e9 <= seconds && seconds < 1e10:
		return max(time.Unix(int64(seconds), 0).Sub(now), 0), true
	case 1e12 <= seconds && seconds < 1e13:
		return max(time.UnixMilli(int64(seconds)).Sub(now), 0), true
	case seconds >= math.MaxInt64/float64(time.Second):
		return math.MaxInt64, true
	}
	return time.Duration(seconds * float64(time.Second)), seconds >= 0
}

// parseDate parses the dates of RFC 9110, section 5.6.7, and other common forms.
func parseDate(text string) (at time.Time, ok bool) {
	if at, err := http.ParseTime(text); err == nil {
		return at, true
	}
	for _, layout := range []string{
		time.RFC3339, "Mon, 2 Jan 2006 15:04:05 GMT", "Mon, 2 Jan 2006 15:04:05 UTC", "Mon, 2 Jan 2006 15:04:05 -0700",
	} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
