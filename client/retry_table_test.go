package client

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// promisedRow is the row of the retry table that requires Unprocessed503WithRetryAfter.
const promisedRow = "503 as promised, below"

// ends maps each row of the retry table in doc.go to outcomes of an attempt.
var ends = map[string][]*Error{
	"no connection":                  {{result: notSent}},
	"rejected unprocessed by HTTP/2": {{result: unprocessed}}, // see TestNoResendOverHTTP2
	"429":                            {{StatusCode: 429, result: errorStatus}, {StatusCode: 429, result: postponed, RetryAfter: time.Second}},
	promisedRow:                      {{StatusCode: 503, result: postponed}},
	"408, 500, 502–504 or 520–530": {
		{StatusCode: 408, result: errorStatus},
		{StatusCode: 500, result: errorStatus},
		{StatusCode: 502, result: errorStatus},
		{StatusCode: 503, result: errorStatus},
		{StatusCode: 504, result: errorStatus},
		{StatusCode: 520, result: errorStatus},
		{StatusCode: 525, result: errorStatus},
		{StatusCode: 530, result: postponed},
		{StatusCode: 408, result: postponed},
		{StatusCode: 500, result: postponed},
		{StatusCode: 503, result: postponed},
	},
	"connection lost, or no response": {{result: responseLost}},
	"invalid response": {
		{StatusCode: 200, result: unreadable},
		{StatusCode: 201, result: unreadable},
		{StatusCode: 301, result: unreadable},
		{StatusCode: 307, result: unreadable},
		{StatusCode: 101, result: unreadable},
		{StatusCode: 200, result: mismatched},
	},
	"no result of an import": {{StatusCode: 202, result: unreported}},
	"another 5xx":            {{StatusCode: 501, result: errorStatus}, {StatusCode: 505, result: errorStatus}, {StatusCode: 519, result: errorStatus}, {StatusCode: 531, result: errorStatus}, {StatusCode: 599, result: errorStatus}, {StatusCode: 600, result: errorStatus}},
	"401":                    {{StatusCode: 401, result: errorStatus}}, // withToken has already requested another token; see layer_token_test.go
	"another 4xx":            {{StatusCode: 400, result: errorStatus}, {StatusCode: 404, result: errorStatus}, {StatusCode: 409, result: errorStatus}, {StatusCode: 422, result: errorStatus}},
}

// TestRetryTable: the table in doc.go is retryTable, and classify follows it.
func TestRetryTable(t *testing.T) {
	src, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(src), "Not repeatable\n")
	table, _, _ = strings.Cut(table, "//\n//")
	rules := RetryConfig{}.retryTable(&Error{})
	for i, line := range slices.Collect(strings.Lines(table)) {
		cells := regexp.MustCompile(`\s{2,}`).Split(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//")), -1)
		require.Less(t, i, len(rules), "doc.go has another row: %s", line)
		rule := rules[i]
		assert.Equal(t, []string{rule.outcome, string(rule.repeatable), string(rule.notRepeatable)}, cells)
		assert.NotEmpty(t, ends[rule.outcome], "the test has no case for %q", rule.outcome)
		for _, e := range ends[rule.outcome] {
			r := RetryConfig{Unprocessed503WithRetryAfter: rule.outcome == promisedRow}
			assert.Equal(t, rule.repeatable, r.classify(true, e), "%s: %+v", rule.outcome, *e)
			assert.Equal(t, rule.notRepeatable, r.classify(false, e), "%s: %+v", rule.outcome, *e)
		}
	}
	assert.Len(t, rules, len(ends))
	assert.Equal(t, len(rules), strings.Count(table, "\n"), "rows in doc.go")
}
