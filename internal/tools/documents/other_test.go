package documents

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// drawings are the blocks that no test can judge, by their first lines, with
// what they are.
func drawings() map[string]string {
	return map[string]string{
		"ARCHITECTURE.md: openapi.yaml":                                                      "a drawing; internal/tests/architecture tests the arrows",
		"ARCHITECTURE.md: tests in Go                tests in any ":                          "a drawing",
		"client/doc.go: Outcome of the attempt            Repeat":                            "a table, which TestRetryTable of client proves",
		"contrib/emailotel/README.md: POST                            server  ":              "a drawing of spans",
		"contrib/emailotel/doc.go: POST (server, otelhttp)              ema":                 "a drawing of spans",
		"contrib/riverjobs/doc.go: Result of Emails.Send                Job":                 "a table, which TestOutcomes proves",
		"contrib/emailotel/doc.go: emailplatform.client.call.duration      ":                 "a table",
		"docs/control-api.md: location /mock/ {":                                             "the configuration of another program; TestBehindProxy of the console has a proxy that does the same",
		"docs/containers.md: services:":                                                      "needs Docker; the gate builds the image and examples/python/compose.yaml without a daemon",
		"docs/containers.md: import {Mock} from '@example/emailplatfo":                       "needs Docker",
		"docs/containers.md: GenericContainer<?> mock = new GenericCo":                       "needs Docker and Java",
		"docs/containers.md: from testcontainers.core.container impor":                       "needs Docker",
		"docs/containers.md: jobs:":                                                          "needs GitHub",
		"docs/containers.md: - run: |":                                                       "needs GitHub",
		"npm/README.md: import {Mock} from '@example/emailplatfo":                            "npm/test/documents.test.ts holds them to tested files",
		"docs/production.md: your application                        ":                       "a drawing",
		"events/events.gen.go: Event                      Data":                              "a generated table",
		"examples/durable/README.md: platform ──POST──▶ receive ──one commit:":               "a drawing",
		"internal/tools/documents/doc.go: <!-- from examples/newsletter/newsletter":          "the comment that this package reads",
		"mcp/README.md: [mcp_servers.emailplatform]":                                         "TOML, for which there is no parser here; the JSON above it says the same",
		"mcp/doc.go: Tool      Operation  Required         Op":                               "a table",
		"mockserver/doc.go: The recipient          Its contact becom":                        "a table",
		"mockserver/internal/delivery/engine.go: Publish ─► queued ─► delivering ─► deliv":   "a drawing",
		"mockserver/internal/gateway/gateway.go: ServeHTTP       assigns an id and logs t":   "a table",
		"mockserver/internal/platform/platform.go: operations                        the ge": "a table",
		"mockserver/recipients.go: bounce@           hard bounce; bounce+hb":                 "a table",
		"webhook/doc.go: 204  the function returned nil, for this":                           "a table",
	}
}

// TestOtherBlocks: JSON is JSON; what is neither that nor Go nor shell stands
// on the list, which holds nothing else.
func TestOtherBlocks(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range blocks(t) {
		switch b.language {
		case "go", "sh":
		case "json":
			if !json.Valid([]byte(b.code)) {
				t.Errorf("%s: not JSON:\n%s", b.file, b.code)
			}
		default:
			name := fmt.Sprintf("%s: %.40s", b.file, b.first())
			seen[name] = true
			if drawings()[name] == "" {
				t.Errorf("no test, and no reason for that, of a block in %q (%s)", name, b.language)
			}
		}
	}
	for name, why := range drawings() {
		if file, _, _ := strings.Cut(name, ": "); !seen[name] && (*nested || moduleOf(file) == ".") {
			t.Errorf("there is no block %q, which is on the list as %s", name, why)
		}
	}
}
