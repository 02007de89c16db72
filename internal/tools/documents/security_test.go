package documents

import (
	"go/constant"
	"go/types"
	"regexp"
	"strings"
	"testing"
)

// limits are the numbers of SECURITY.md, in its order, each with the code that sets or
// tests it.
var limits = []struct{ quote, file, code string }{
	{"response bodies (10 MiB by default)", "client/config.go", `cmp\.Or\(c\.MaxResponseBytes, (.+?)\)`},
	{"at most 1 MiB of body", "webhook/handler.go", `opts\.MaxBodyBytes = (.+)`},
	{"at most 12 times the length", "events/bad_test.go", `const maxFactor, free = (.+?),`},
	{"plus 256 KiB", "events/bad_test.go", `const maxFactor, free = .+?, (.+?) //`},
	{"at most 16 times the length", "client/decode_test.go", `const maxFactor = (.+)`},
	{"at most 100 details", "client/detail.go", `maxDetails      = (.+)`},
	{"at most 1 MiB. The nesting", "client/csv_rows.go", `const maxCSVRow = (.+)`},
	{"at most 64 HTTP requests", "mcp/limit.go", `defaultConcurrent = (\S+)`},
	{"with 503", "mcp/limit.go", `concurrent\), (http\.StatusServiceUnavailable)`},
	{"at most 64 KiB", "mcp/limit.go", `maxRequest        = (.+?)//`},
	{"at most 50 messages", "mcp/limit.go", `maxBatch          = (.+?)//`},
	{"at most 1 MiB. A rejected", "mcp/limit.go", `maxResults        = (.+?)//`},
	{"at most 8 MiB of memory", "mcp/limit_test.go", `if each > (.+?) \{`},
	{"at most 20 problems", "mcp/arguments.go", `const maxProblems = (.+)`},
	{"up to 1,000,000 ids", "webhook/once.go", `maxEntries: +(.+),`},
	{"for 7 days", "webhook/once.go", `maxAge: +(.+) \* 24 \* time\.Hour,`},
}

var (
	number = regexp.MustCompile(`(?:^|[ (])(\d[\d,]*)((?: [KM]iB)?)\b`)
	units  = map[string]string{"": "1", " KiB": "1<<10", " MiB": "1<<20"}
)

// TestSecurityNumbers: each number in SECURITY.md matches the code, and limits contains all of them.
func TestSecurityNumbers(t *testing.T) {
	text := strings.Join(strings.Fields(read(t, "SECURITY.md")), " ")
	text, _, _ = strings.Cut(text, " ## Supported versions")
	rest := text
	for _, l := range limits {
		_, after, found := strings.Cut(rest, l.quote)
		if !found {
			t.Errorf("SECURITY.md does not contain %q, or not in this order", l.quote)
			continue
		}
		rest = after
		got := number.FindStringSubmatch(l.quote)
		want := regexp.MustCompile(l.code).FindStringSubmatch(read(t, l.file))
		if want == nil {
			t.Errorf("%s does not contain %s", l.file, l.code)
			continue
		}
		code := strings.ReplaceAll(want[1], "http.StatusServiceUnavailable", "503")
		if documented := strings.ReplaceAll(got[1], ",", "") + "*(" + units[got[2]] + ")"; value(t, documented) != value(t, code) {
			t.Errorf("SECURITY.md says %q, and %s says %s", l.quote, l.file, want[1])
		}
	}
	if n := len(number.FindAllString(text, -1)); n != len(limits) {
		t.Errorf("SECURITY.md has %d numbers, and this test checks %d: %q", n, len(limits), number.FindAllString(text, -1))
	}
}

// value evaluates a constant expression.
func value(t *testing.T, code string) string {
	t.Helper()
	v, err := types.Eval(fset, nil, 0, code)
	if err != nil || v.Value == nil {
		t.Fatalf("%q is not a constant: %v", code, err)
	}
	return constant.ToInt(v.Value).ExactString()
}
