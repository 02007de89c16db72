package probe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/probe"
)

func TestMismatches(t *testing.T) {
	for _, test := range []struct {
		got, pattern string
		want         int
	}{
		{`{"a":[1,"x",null,true]}`, `{"a":[1,"x",null,true]}`, 0},
		{`{"a":1}`, `{"a":2}`, 1},
		{`{"a":"1"}`, `{"a":1}`, 1},
		{`{"a":null}`, `{"a":{"…":0}}`, 1},
		{`{"a":1,"b":2}`, `{"a":1}`, 1},
		{`{"a":1,"b":2}`, `{"a":1,"…":0}`, 0},
		{`{"a":1}`, `{"a":1,"b":2,"…":0}`, 1},
		{`[1,2]`, `[1]`, 1},
		{`[1,1.5,"1",null]`, `["<integer>","<integer>","<integer>","<integer>"]`, 3},
		{`[1,"1999-01-01T00:00:00Z"]`, `["<unix>","<iso>"]`, 2},
		{`1`, `{`, 1},
	} {
		got, err := probe.Parse(test.got)
		require.NoError(t, err)
		if found := probe.Mismatches(got, test.pattern); len(found) != test.want {
			t.Errorf("%s with %s: found %d mismatches, want %d: %q", test.got, test.pattern, len(found), test.want, found)
		}
	}
}
