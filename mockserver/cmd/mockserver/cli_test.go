package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:generate go test -run ^(TestCommands|TestManual)$ -update

var update = flag.Bool("update", false, "write testdata/commands.txt and the tables in docs/mockserver.md")

// TestCommands runs the command lines in testdata/commands.txt and compares their output. Environment variables can precede
// a command. The quoted text after the character < is its standard input. If a command fails, its output is its error and its
// exit status.
func TestCommands(t *testing.T) {
	name := filepath.Join("testdata", "commands.txt")
	file, err := os.ReadFile(name)
	require.NoError(t, err)
	var got strings.Builder
	for _, part := range strings.SplitAfter("\n"+string(file), "\n$ ") {
		line, rest, _ := strings.Cut(part, "\n")
		if got.Len() == 0 {
			got.WriteString(strings.TrimPrefix(part, "\n"))
			continue
		}
		output := commandLine(t, line)
		fmt.Fprintf(&got, "%s\n%s", line, output)
		if strings.HasSuffix(rest, "\n$ ") {
			got.WriteString("\n$ ")
		}
		if want := strings.TrimSuffix(rest, "\n$ "); output != want && !*update {
			t.Errorf("%s\ngot\n%s\nwant\n%s", line, output, want)
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(got.String()), 0o644))
	}
}

func commandLine(t *testing.T, line string) string {
	t.Helper()
	variables, rest, ok := strings.Cut(line, "mockserver")
	if !ok {
		t.Fatalf("%q does not call mockserver", line)
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "MOCKSERVER_") || name == secretVariable {
			t.Setenv(name, "")
		}
	}
	for v := range strings.FieldsSeq(variables) {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, strings.ReplaceAll(value, "~", " "))
	}
	args, quoted, _ := strings.Cut(rest, " < ")
	input, _ := strconv.Unquote(quoted)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // ends the command if it starts a server
	var out strings.Builder
	if err := run(ctx, strings.Fields(args), strings.NewReader(input), &out); err != nil && !errors.Is(err, flag.ErrHelp) {
		return fmt.Sprintf("mockserver: %v\nexit status %d\n", err, exitCode(err))
	}
	return out.String()
}
