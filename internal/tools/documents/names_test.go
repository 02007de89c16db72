package documents

import (
	"encoding/json"
	"fmt"
	"go/constant"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	qualified = regexp.MustCompile(`(?:^|[^\w./])(client|events|webhook|mockserver)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	member    = regexp.MustCompile(`(?:^|[^\w.])([A-Z]\w+)\.([A-Z]\w+)`)
	firstCell = regexp.MustCompile(`(?m)^\|[^|]*\|`)
)

// TestNames checks that names in documents, such as `client.Config` and `Emails.Send`, exist in the packages that
// applications import.
func TestNames(t *testing.T) {
	packages := map[string]*types.Package{}
	paths := []string{known()["client"], known()["events"], known()["webhook"], known()["mockserver"]}
	load := loader(t, ".", paths)
	for _, path := range paths {
		p, err := load.Import(path)
		must(t, err)
		packages[p.Name()] = p
	}
	seen := 0
	for _, name := range documents(t) {
		text := fence.ReplaceAllString(read(t, name), "")
		if name == "docs/coming-from.md" {
			text = firstCell.ReplaceAllString(text, "|") // names of other libraries
		}
		if name == "CHANGELOG.md" {
			continue // contains old names
		}
		for _, span := range codeSpan.FindAllString(text, -1) {
			span = strings.Trim(span, "`")
			for _, m := range qualified.FindAllStringSubmatch(span, -1) {
				seen++
				o := packages[m[1]].Scope().Lookup(m[2])
				if o == nil || m[3] != "" && !has(o, m[3]) {
					t.Errorf("%s: %q: package %s has no %s", name, span, m[1], strings.TrimPrefix(m[0], m[1]+"."))
				}
			}
			for _, m := range member.FindAllStringSubmatch(span, -1) {
				if found := named(packages, m[1]); len(found) > 0 && !isEvent(packages["events"], m[1]+"."+m[2]) {
					seen++
					if !slices.ContainsFunc(found, func(o types.Object) bool { return has(o, m[2]) }) {
						t.Errorf("%s: %q: no %s has a member %s", name, span, m[1], m[2])
					}
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d names: where are the others?", seen)
	}
}

// named returns the objects with a name in the packages.
func named(packages map[string]*types.Package, name string) (all []types.Object) {
	for _, p := range packages {
		if o := p.Scope().Lookup(name); o != nil {
			all = append(all, o)
		}
	}
	return all
}

// has reports whether a type has a field or a method.
func has(o types.Object, name string) bool {
	found, _, _ := types.LookupFieldOrMethod(o.Type(), true, o.Pkg(), name)
	return found != nil
}

// isEvent reports whether a text is the name of an event. Such names look like fields.
func isEvent(p *types.Package, text string) bool {
	for _, name := range p.Scope().Names() {
		if c, ok := p.Scope().Lookup(name).(*types.Const); ok && c.Val().Kind() == constant.String && constant.StringVal(c.Val()) == text {
			return true
		}
	}
	return false
}

// drawings returns the blocks that no test can check, by their first lines, with the reasons.
func drawings() map[string]string {
	return map[string]string{
		"ARCHITECTURE.md: openapi.yaml":                                                      "a drawing; internal/tests/architecture tests the arrows",
		"ARCHITECTURE.md: tests in Go                tests in any ":                          "a drawing",
		"client/doc.go: Outcome of the attempt            Repeat":                            "a table, which TestRetryTable of client proves",
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
		"examples/jetstream/README.md: platform ──POST──▶ receive ──event, with":             "a drawing",
		"internal/tools/documents/doc.go: <!-- from examples/newsletter/newsletter":          "the comment that this package reads",
		"mcp/README.md: [mcp_servers.emailplatform]":                                         "TOML, for which there is no parser here; the JSON above it says the same",
		"mockserver/doc.go: The recipient          Its contact becom":                        "a table",
		"mockserver/internal/delivery/engine.go: Publish ─► queued ─► delivering ─► deliv":   "a drawing",
		"mockserver/internal/gateway/gateway.go: ServeHTTP       assigns an id and logs t":   "a table",
		"mockserver/internal/platform/platform.go: operations                        the ge": "a table",
		"mockserver/recipients.go: bounce@           hard bounce; bounce+hb":                 "a table",
		"webhook/doc.go: 204  the function returned nil, for this":                           "a table",
	}
}

// TestOtherBlocks: JSON blocks are valid. The list of drawings contains all other blocks except Go and shell, and no
// further ones.
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
