package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const log = `# Changelog

## [Unreleased]

### Added

- More.

## [0.1.0] - 2026-01-02

- The first.
`

func TestAddHeading(t *testing.T) {
	got, err := headed(log, "v0.2.0", time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	want := strings.Replace(log, "## [Unreleased]\n", "## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n", 1)
	assert.Equal(t, want, got)
	for name, tt := range map[string]struct{ text, version, want string }{
		"released before": {log, "v0.1.0", "already has v0.1.0"},
		"no heading":      {"# Changelog\n", "v0.2.0", "no heading Unreleased"},
	} {
		if _, err := headed(tt.text, tt.version, time.Now()); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestSection(t *testing.T) {
	released, err := headed(log, "v0.2.0", time.Now())
	require.NoError(t, err)
	for version, want := range map[string]string{"v0.1.0": "- The first.", "v0.2.0": "### Added\n\n- More."} {
		if got, err := section(strings.ReplaceAll(released, "\n", "\r\n"), version); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", version, got, err, want)
		}
	}
	if got, err := section(released, "v0.3.0"); err == nil {
		t.Errorf("a missing version: got %q, want an error", got)
	}
	if got, err := section("## [0.2.0] - today\n\n## [0.1.0]\n\n- One.\n", "v0.2.0"); err == nil {
		t.Errorf("a version without changes: %q", got)
	}
}

func TestRequireEverywhere(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	const before = "module own.test/mail/mcp\n\nrequire own.test/mail v0.1.0\n\nrequire (\n\town.test/mail/contrib/x v0.1.0 // indirect\n" +
		"\town.test/mailbox v0.1.0\n)\n\nreplace own.test/mail => ..\n"
	const after = "module own.test/mail/mcp\n\nrequire own.test/mail v0.2.0\n\nrequire (\n\town.test/mail/contrib/x v0.2.0 // indirect\n" +
		"\town.test/mailbox v0.1.0\n)\n\nreplace own.test/mail => ..\n"
	write(dir, map[string]string{"go.mod": "module own.test/mail\n"})
	write(filepath.Join(dir, "mcp"), map[string]string{"go.mod": before})
	t.Setenv("GOWORK", "off")
	command(t.Context(), dir, nil, "git", "init", "--quiet")
	requireEverywhere(t.Context(), dir, "v0.2.0")
	got, err := os.ReadFile(filepath.Join(dir, "mcp", "go.mod"))
	if err != nil || string(got) != after {
		t.Errorf("%v\n%s\nwant\n%s", err, got, after)
	}
}

func TestPrepareInvalid(t *testing.T) {
	for _, v := range []string{"0.2.0", "v0.2", "v0.2.0-rc.1", "v00.1.0", "latest"} {
		if err := prepare(t.Context(), t.TempDir(), v); err == nil || !strings.Contains(err.Error(), "is not a version") {
			t.Errorf("%s: %v", v, err)
		}
	}
}

// TestNameInClient: nameInClient writes the released version into the client.
func TestNameInClient(t *testing.T) {
	text, err := os.ReadFile("../../../client/config.go")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "config.go")
	for next, good := range map[string]bool{string(text): true, "const other = 1\n": false} {
		require.NoError(t, os.WriteFile(file, []byte(next), 0o600))
		err := nameInClient(file, "v7.8.9")
		named, _ := os.ReadFile(file)
		if (err == nil) != good || strings.Contains(string(named), `const version = "7.8.9"`) != good {
			t.Errorf("%.40q: %v", next, err)
		}
	}
}

// Output of gorelease.
const report = `# github.com/acme/emailplatform/client
## incompatible changes
(*Contacts).Find: removed
Config.Timeout: changed from int to time.Duration
## compatible changes
Added: added

# github.com/acme/emailplatform/webhook
## incompatible changes
package removed

# summary
v0.2.0 is a valid semantic version for this release.`

func TestIncompatible(t *testing.T) {
	want := []string{
		"client.(*Contacts).Find: removed", "client.Config.Timeout: changed from int to time.Duration", "webhook.package removed",
	}
	assert.Equal(t, want, incompatible(report))
}

func TestBreakingChangesAreListed(t *testing.T) {
	const find, timeout, pkg = "- `client.Contacts.Find` is no more.\n", "- `client.Config.Timeout`\n", "- webhook.package removed\n"
	for _, tt := range []struct {
		name, notes string
		want        []string // changes that the notes do not name
	}{
		{"nothing", "", []string{"Find", "Timeout", "webhook"}},
		{"all", "### Added\n\n- More.\n\n### Breaking\n\n" + find + timeout + pkg, nil},
		{"first", "### Breaking\n\n" + find + timeout + pkg + "\n### Added\n", nil},
		{"one", "### Breaking\n\n" + find, []string{"Timeout", "webhook"}},
		{"elsewhere", "### Breaking\n\n" + timeout + pkg + "\n### Removed\n\n" + find, []string{"Find"}},
		{"a member of it", "### Breaking\n\n- `client.Contacts.Find.Deep`, `client.Config.Timeout`.\n" + pkg, []string{"Find"}},
		{"a longer name", "### Breaking\n\n- `client.Contacts.Finder`\n" + timeout + pkg, []string{"Find"}},
	} {
		err := unannounced(report, tt.notes)
		var lines []string
		if err != nil {
			lines = strings.Split(err.Error(), "\n")
		}
		if len(lines) != len(tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
			continue
		}
		for i, want := range tt.want {
			assert.Contains(t, lines[i], want, tt.name)
		}
	}
}

func TestNextVersion(t *testing.T) {
	for last, want := range map[string]string{"": "v0.1.0", "v0.1.0": "v0.2.0", "v0.9.4": "v0.10.0", "v1.2.3": "v1.3.0"} {
		assert.Equal(t, want, following(last), "%q", last)
	}
}
