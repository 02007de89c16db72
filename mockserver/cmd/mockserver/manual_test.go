package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/internal/platform"
)

// helpOf matches a flag in the output of -h, with its placeholder, its variable and its description.
var helpOf = regexp.MustCompile(`(?m)^  -(\S+)(?: (.+))?\n    \t(?:([A-Z_]+): )?(.*(?:\n    \t.*)*)`)

// TestManual compares the tables of docs/mockserver.md with the flags, the ready file and the test addresses. With the
// flag -update, it writes the tables instead.
func TestManual(t *testing.T) {
	var serve, others, file, addresses strings.Builder
	for _, command := range []string{"", "trigger", "verify", "health"} {
		var help strings.Builder
		if err := run(t.Context(), strings.Fields("help "+command), nil, &help); !errors.Is(err, flag.ErrHelp) {
			t.Fatal(err)
		}
		to := &others
		if command == "" {
			to = &serve
		}
		flags := helpOf.FindAllStringSubmatch(help.String(), -1)
		assert.Len(t, flags, strings.Count(help.String(), "\n  -"), "%q: a flag does not match", command)
		for _, m := range flags {
			name, variable := strings.TrimSpace(fmt.Sprintf("%s -%s %s", command, m[1], m[2])), m[3]
			if variable != "" {
				variable = "`" + variable + "`"
			}
			fmt.Fprintf(to, "| `%s` | %s | %s |\n", name, variable, strings.ReplaceAll(m[4], "\n    \t", " "))
		}
	}
	for field := range reflect.TypeFor[ready]().Fields() {
		fmt.Fprintf(&file, "| `%s` | %s |\n", field.Tag.Get("json"), field.Tag.Get("doc"))
	}
	for _, a := range platform.TestAddresses() {
		fmt.Fprintf(&addresses, "| `%s` | %s |\n", a.Address, a.Effect)
	}
	const name = "../../../docs/mockserver.md"
	page, err := os.ReadFile(name)
	require.NoError(t, err)
	got := string(page)
	for table, rows := range map[string]string{
		"flags":          "| flag | variable | description |\n|---|---|---|\n" + serve.String(),
		"other flags":    "| command and flag | variable | description |\n|---|---|---|\n" + others.String(),
		"ready file":     "| field | description |\n|---|---|\n" + file.String(),
		"test addresses": "| address | action |\n|---|---|\n" + addresses.String(),
	} {
		before, rest, ok := strings.Cut(got, "<!-- "+table+" -->\n")
		_, after, ends := strings.Cut(rest, "<!-- /"+table+" -->")
		require.True(t, ok && ends, table)
		got = before + "<!-- " + table + " -->\n" + rows + "<!-- /" + table + " -->" + after
	}
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(got), 0o644))
		return
	}
	assert.Equal(t, got, string(page), "run go test ./mockserver/cmd/mockserver -update")
}
