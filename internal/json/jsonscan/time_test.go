package jsonscan

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTime(t *testing.T) {
	const noon = "2026-01-02T12:00:00Z"
	for text, want := range map[string]string{
		`1767355200`: noon, `1767355200.0`: noon, `1.7673552e9`: noon, `"1767355200"`: noon, `"1767355200.0"`: noon,
		`1767355200123`: "2026-01-02T12:00:00.123Z", `1767355200.25`: "2026-01-02T12:00:00.25Z",
		`"1767355200.123456"`: "2026-01-02T12:00:00.123456Z", `-1`: "1969-12-31T23:59:59Z",
		`253402300799`: "9999-12-31T23:59:59Z", `253402300800`: "1978-01-11T21:31:40.8Z", `-62167219200`: "0000-01-01T00:00:00Z",
		`"253402300799"`: "9999-12-31T23:59:59Z", `253402300799000`: "9999-12-31T23:59:59Z",
		`"9999-12-31T23:59:59Z"`: "9999-12-31T23:59:59Z", `"0000-01-01T00:00:00Z"`: "0000-01-01T00:00:00Z",
		`"2026-01-02T12:00:00Z"`: noon, `"2026-01-02 12:00:00"`: noon, `"2026-01-02T12:00:00"`: noon, `"2026-01-02T12:00Z"`: noon,
		`"20260102T120000Z"`: noon, `"2026-01-02t12:00:00z"`: noon, `"2026-01-02"`: "2026-01-02T00:00:00Z",
		`"2026-01-02T14:00:00+02"`: noon, `"2026-01-02T14:00:00+0200"`: noon, `"20260102T140000+02:00"`: noon,
		`"2026-01-02 12:00:00.5Z"`: "2026-01-02T12:00:00.5Z", ` "2026-01-02T12:00:00.5" `: "2026-01-02T12:00:00.5Z",
		`"2026-01-02 12:00:00.00000000000000000000"`: noon,
	} {
		c := New(text)
		got := c.Time()
		require.Nil(t, c.End(), text)
		assert.Equal(t, want, got.UTC().Format(time.RFC3339Nano), text)
		_, err := got.MarshalJSON()
		assert.NoError(t, err, text)
	}
}

func TestTimeIsZero(t *testing.T) {
	for text, valid := range map[string]bool{
		`null`: true, `0`: true, `0.0`: true, `-0`: true, `"0"`: true, `0.5`: true,
		`""`: false, `"soon"`: false, `true`: false, `[1]`: false, `{}`: false, `"NaN"`: false, `"0x1p9"`: false, `1e400`: false,
		`-62167219201`: false, `253402300799001`: false, `"2026-13-01T00:00:00Z"`: false, `"2026-01-02T12:00:00+24:00"`: false,
		`"0000-01-01T00:00:00+01:00"`: false, `"2026-01-02T12:00:00-24:00"`: false, `"2026-01-02 12:00:00.000000000000000000000"`: false,
	} {
		c := New(text)
		got := c.Time()
		assert.True(t, got.IsZero(), "%s: %s", text, got)
		if err := c.End(); valid {
			assert.Nil(t, err, text)
		} else {
			require.NotNil(t, err, text)
			assert.Equal(t, fmt.Sprint("a time in Unix seconds or as ISO 8601", " false"), fmt.Sprint(err.Want, " ", err.Syntax), text)
		}
	}
}
