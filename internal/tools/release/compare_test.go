package main

import (
	"slices"
	"strings"
	"testing"
)

// As gorelease prints it.
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
	if got := incompatible(report); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBreakingChangesAreListed(t *testing.T) {
	const find, timeout, pkg = "- `client.Contacts.Find` is no more.\n", "- `client.Config.Timeout`\n", "- webhook.package removed\n"
	for _, tt := range []struct {
		name, notes string
		want        []string // what is not told
	}{
		{"nothing", "", []string{"Find", "Timeout", "webhook"}},
		{"all", "### Added\n\n- More.\n\n### Breaking\n\n" + find + timeout + pkg, nil},
		{"first", "### Breaking\n\n" + find + timeout + pkg + "\n### Added\n", nil},
		{"one", "### Breaking\n\n" + find, []string{"Timeout", "webhook"}},
		{"elsewhere", "### Breaking\n\n" + timeout + pkg + "\n### Removed\n\n" + find, []string{"Find"}},
		{"a member of it", "### Breaking\n\n- `client.Contacts.Find.Deep`, `client.Config.Timeout`.\n" + pkg, []string{"Find"}},
		{"a longer name", "### Breaking\n\n- `client.Contacts.Finder`\n" + timeout + pkg, []string{"Find"}},
	} {
		err := told(report, tt.notes)
		var lines []string
		if err != nil {
			lines = strings.Split(err.Error(), "\n")
		}
		if len(lines) != len(tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(lines[i], want) {
				t.Errorf("%s: %s, want %s", tt.name, lines[i], want)
			}
		}
	}
}
