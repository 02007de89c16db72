package architecture

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// place is a file that repeats a fact, and a pattern whose group matches the fact's value. For the pattern, white space
// in the file is one space, and comment marks are ignored.
type place struct{ file, pattern string }

// facts contains the facts that handwritten code and documents repeat. Code repeats a fact that it cannot
// import. For example, the mock server does not import client. The first place of a fact is its home.
// Generated files are not places, because they follow from their sources.
var facts = map[string][]place{
	"the maximum size of a body": {
		{"openapi.yaml", `the body is larger than (\d+) bytes`},
		{"openapi.yaml", `The body is larger than (\d+ MiB)\.`},
		{"mockserver/internal/httpapi/body.go", `const MaxBody = (\d+ << \d+)`},
		{"mockserver/internal/control/manual.tmpl", `at most (\d+ MiB)`},
		{"docs/decisions.md", `413 body larger than (\d+ MiB)`},
		{"docs/how-do-i.md", `mock server does above (\d+ MiB)`},
	},
	"the maximum number of contacts in an import": {
		{"openapi.yaml", `maxItems: (\d+) description: The contacts`},
		{"openapi.yaml", `The contacts, at most ([\d,]+)\.`},
		{"openapi.yaml", `Adds or updates at most ([\d,]+) contacts`},
		{"mockserver/internal/api/api.go", `const MaxImport = (\d+)`},
		{"mockserver/console/src/import.js", `const batch = (\d+);`},
		{"client/import.go", `const maxImportBatch = (\d+)`},
		{"client/import.go", `contacts per request, from 1 to ([\d,]+), which`},
		{"client/import_batch.go", `ImportBatch imports up to ([\d,]+) contacts`},
		{"docs/decisions.md", `with more than ([\d,]+) entries`},
	},
	"the maximum size of a page": {
		{"openapi.yaml", `maximum: (\d+), default: 50}`},
		{"openapi.yaml", `The page size, from 1 to (\d+)\.`},
		{"mockserver/internal/api/api.go", `MaxPerPage = (\d+)`},
		{"client/page.go", `const maxPerPage = (\d+)`},
		{"mcp/page.go", `maxPerPage = (\d+)`},
		{"docs/decisions.md", `by default and at most (\d+)\.`},
		{"docs/how-do-i.md", `one page of at most (\d+) items`},
	},
	"the default size of a page": {
		{"openapi.yaml", `maximum: 100, default: (\d+)}`},
		{"openapi.yaml", `from 1 to 100\. The default is (\d+)\.`},
		{"mockserver/internal/api/api.go", `DefaultPerPage = (\d+)`},
		{"mcp/page.go", `defaultPerPage = (\d+)`},
		{"docs/decisions.md", "`per_page` is (\\d+) by default"},
	},
	"the maximum number of attempts of a call": {
		{"client/config.go", `cmp\.Or\(r\.MaxAttempts, (\d+)\)`},
		{"client/config.go", `number of attempts\. The default is (\d+); 1 disables`},
		{"docs/how-do-i.md", `number of attempts, (\d+) by default`},
	},
	"the maximum number of connections": {
		{"client/config.go", `const maxConns = (\d+)`},
		{"client/config.go", `opens up to (\d+) HTTP/1 connections`},
		{"docs/how-do-i.md", `at most (\d+) over HTTP/1`},
	},
	"the kilobytes of HTML that some email clients clip": {
		{"mockserver/internal/mail/checks.go", `const clipped = (\d+)_000`},
		{"mockserver/internal/mail/checks.go", `larger than (\d+) kB`},
		{"mockserver/internal/control/manual.tmpl", `HTML larger than (\d+) kB`},
		{"docs/how-do-i.md", `larger than about (\d+) kB`},
	},
	"the seconds for a call of an MCP tool": {
		{"mcp/server.go", `const callTimeout = (\d+) \* time\.Second`},
		{"mcp/doc.go", `a timeout of (\d+) seconds`},
		{"mcp/README.md", `Each call ends after at most (\d+) s\.`},
	},
	"the seconds for a delivery attempt": {
		{"mockserver/internal/delivery/webhookclient.go", `const DefaultTimeout = (\d+) \* time\.Second`},
		{"mockserver/config.go", `in real time\. The default is (\d+) s`},
		{"webhook/doc.go", `function has (\d+) seconds`},
		{"webhook/handler.go", `longer than (\d+) seconds, the platform closes`},
		{"docs/decisions.md", `a timeout of (\d+) s\.`},
		{"docs/production.md", `Respond within (\d+) seconds`},
		{"docs/how-do-i.md", `such as 204, within (\d+) seconds`},
	},
	"the delays before retries of a delivery": {
		{"docs/decisions.md", `retries the delivery after ([\w, ]+)\.`},
		{"mockserver/config.go", `retries of a delivery: ([\w, ]+)\.`},
	},
	"the hours to remember an event": {
		{"docs/production.md", `handled events for at least (\d+) hours`},
		{"client/webhooks.go", `has ended, wait (\d+) hours`},
		{"client/webhooks.go", `archive it (\d+) hours`},
		{"client/webhooks.go", `Wait (\d+) hours after Rotate`},
		{"mailroom/webhook.go", `archiveAfterMinutes = (\d+) \* 60`},
		{"mailroom/doc.go", `used the webhook for (\d+) hours`},
		{"webhook/once.go", `less than (\d+) hours`},
		{"contrib/pgstore/once.go", `least = (\d+) \* time\.Hour`},
		{"contrib/pgstore/once.go", `The minimum is (\d+) hours`},
		{"contrib/redisstore/once.go", `less than (\d+) hours`},
		{"examples/integrations/jetstream/README.md", `stream plus (\d+) hours`},
	},
	"the maximum size of a response": {
		{"client/config.go", `c\.MaxResponseBytes, (\d+<<\d+)\)`},
		{"client/config.go", `decompression\. The default is (\d+ MiB)`},
	},
	"the connections of the mock server that wait": {
		{"mockserver/slow.go", `maxWaiting = (\d+)`},
		{"mockserver/listen.go", `At most ([\d,]+) connections`},
		{"SECURITY.md", `At most ([\d,]+) connections`},
	},
	"the older release of Go": {
		{".ci/run", `older=go(\d+\.\d+)`},
		{"mcp/go.work", `go (\d+\.\d+)\.0`},
		{"Dockerfile", `golang:(\d+\.\d+) AS`},
		{".devcontainer/devcontainer.json", `devcontainers/go:(\d+\.\d+)`},
		{".github/workflows/ci.yml", `gate: .*?go-version: (\d+\.\d+)\.x`},
		{".github/workflows/ci.yml", `go: \[(\d+\.\d+)\.x,`},
		{".github/workflows/weekly.yml", `steps: runs-on: .*?go-version: (\d+\.\d+)\.x`},
		{"README.md", `Requirements: Go (\d+\.\d+) or`},
	},
	"the newer release of Go": {
		{".ci/run", `newer=go(\d+\.\d+)`},
		{".github/workflows/ci.yml", `go: \[\d+\.\d+\.x, (\d+\.\d+)\.x\]`},
		{".github/workflows/ci.yml", `-latest, go: (\d+\.\d+)\.x`},
		{".github/workflows/ci.yml", `(?:npm|fuzz): .*?go-version: (\d+\.\d+)\.x`},
		{".github/workflows/weekly.yml", `(?:release|console): .*?go-version: (\d+\.\d+)\.x`},
		{".github/workflows/release.yml", `go-version: (\d+\.\d+)\.x`},
		{".github/workflows/security.yml", `go-version: (\d+\.\d+)\.x`},
		{"README.md", `Requirements: Go \S+ or (\d+\.\d+)`},
	},
	"the version of goreleaser": {
		{".ci/release", `goreleaser=(v\S+)`},
		{".github/workflows/release.yml", `version: (v\S+) # as in \.ci/release`},
	},
	"the header with the signature": {
		{"openapi.yaml", `Signature: name: (\S+) in: header`},
		{"webhook/signature.go", `const DefaultSignatureHeader = "(.+?)"`},
		{"webhook/doc.go", `delivery has the header (\S+)`},
		{"npm/src/signature.ts", `Returns the header (\S+) of a body`},
		{"mockserver/console/src/signature.js", `signatureHeader = '(.+?)'`},
		{"internal/tools/codegen/templates/reference.tmpl", "and the header `(.+?)`"},
		{"docs/how-do-i.md", `Compare the header (\S+),`},
	},
}

// spaces matches white space, and the start of a line of a comment.
var spaces = regexp.MustCompile(`\n\s*(?:(?://|#|\*)\s)?\s*|\s+`)

// TestFacts compares the places of each fact with its home.
func TestFacts(t *testing.T) {
	for fact, places := range facts {
		home := ""
		for _, p := range places {
			text := spaces.ReplaceAllString(read(t, p.file), " ")
			all := regexp.MustCompile(p.pattern).FindAllStringSubmatch(text, -1)
			if all == nil {
				t.Errorf("%s: %s has no text that matches %s", fact, p.file, p.pattern)
			}
			for _, found := range all {
				home = cmp.Or(home, normal(found[1]))
				assert.Equal(t, home, normal(found[1]), "%s: %s has %q, unlike %s", fact, p.file, found[0], places[0].file)
			}
		}
	}
}

// normal returns a number in decimal notation, without a unit of bytes. It returns other text unchanged.
func normal(text string) string {
	digits, shift, _ := strings.Cut(strings.Replace(strings.NewReplacer(",", "", " << ", "<<").Replace(text), " MiB", "<<20", 1), "<<")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return text
	}
	bits, _ := strconv.Atoi(shift)
	return strconv.FormatInt(n<<bits, 10)
}

// TestRetryDuration adds up the delays of the retries. Each event must be remembered until the last retry has ended.
func TestRetryDuration(t *testing.T) {
	value := func(file, pattern string) string {
		text := spaces.ReplaceAllString(read(t, file), " ")
		found := regexp.MustCompile(pattern).FindStringSubmatch(text)
		require.NotNil(t, found, "%s: %s", file, pattern)
		return found[1]
	}
	var total time.Duration
	for _, delay := range regexp.MustCompile(`(\d+) (s|m|h)`).FindAllStringSubmatch(value("docs/decisions.md", `retries the delivery after ([\w, ]+)\.`), -1) {
		d, err := time.ParseDuration(delay[1] + delay[2])
		require.NoError(t, err)
		total += d
	}
	minutes := int(math.Ceil(total.Minutes()))
	assert.Equal(t, fmt.Sprintf("%d hours and %d minutes", minutes/60, minutes%60), value("docs/production.md", `a delivery for ([\w ]+)\.`))
	hours, err := strconv.Atoi(value("docs/production.md", `handled events for at least (\d+) hours`))
	require.NoError(t, err)
	assert.Equal(t, hours, int(math.Ceil(total.Hours())))
}
