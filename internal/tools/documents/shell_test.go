package documents

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// elsewhere returns commands that are not part of Go or this repository, with the tests that run them or the reason
// for none.
func elsewhere() map[string]string {
	return map[string]string{
		"curl":           "mockserver's TestManual runs those of docs/control-api.md",
		"cd":             "",
		"git":            "internal/tools/release makes the same commits and tags in its rehearsal",
		"node":           "the step npm of the gate runs the tests of examples/node",
		"npm":            "the step npm of the gate runs the same commands, and the rehearsal of a release installs the package",
		"python3":        "the gate runs the tests of examples/python",
		"docker compose": "the gate builds and starts what the compose file says, without a daemon",
		"claude mcp add": "another program, which is not at hand",
		"nats-server":    "the tests of examples/jetstream start the server in their own process",
	}
}

// commands returns the programs of this repository by the names of their binaries.
func commands() map[string][]string {
	return map[string][]string{
		"mockserver":        {"go", "run", "./mockserver/cmd/mockserver"},
		"emailplatform-mcp": {"go", "run", "-C", "mcp", "./cmd/emailplatform-mcp"},
	}
}

// TestCommands checks that the packages, programs, flags and scripts in each line of shell exist.
func TestCommands(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range blocks(t) {
		if b.language != "sh" {
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(b.code, "\\\n", " ")) {
			line, _, _ = strings.Cut(line, " #")
			words := strings.Fields(line)
			for len(words) > 0 && isAssignment.MatchString(words[0]) {
				words = words[1:]
			}
			dirs := []string{".", path.Dir(b.file)} // possible working directories
			if key := fmt.Sprint(words, dirs); len(words) > 0 && !seen[key] {
				seen[key] = true
				checkCommand(t, b.file, dirs, words)
			}
		}
	}
	if len(seen) < 30 {
		t.Errorf("%d commands: where are the others?", len(seen))
	}
}

var isAssignment = regexp.MustCompile(`^[A-Z_]+=\S*$`)

func checkCommand(t *testing.T, file string, dirs, words []string) {
	t.Helper()
	line := strings.Join(words, " ")
	name := strings.TrimPrefix(words[0], "./")
	if run, ok := commands()[name]; ok {
		checkCommand(t, file, []string{"."}, append(slices.Clone(run), words[1:]...))
		return
	}
	if name == "bash" {
		words, name = words[1:], words[1]
	}
	switch {
	case strings.Contains(name, "/"): // a script
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err != nil {
			t.Errorf("%s: %q: %v", file, line, err)
		}
	case name == "go":
		checkGo(t, file, line, dirs, words[1:])
	default:
		for known := range elsewhere() {
			if line == known || strings.HasPrefix(line, known+" ") {
				return
			}
		}
		t.Errorf("%s: nothing checks %q", file, line)
	}
}

func checkGo(t *testing.T, file, line string, dirs, words []string) {
	t.Helper()
	verb, words := words[0], words[1:]
	if len(words) > 1 && words[0] == "-C" {
		dirs, words = []string{path.Join(dirs[0], words[1]), path.Join(dirs[len(dirs)-1], words[1])}, words[2:]
	}
	switch verb {
	case "generate", "mod":
	case "tool":
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(words[0], "-modfile=")))); err != nil {
			t.Errorf("%s: %q: %v", file, line, err)
		}
	case "get", "install":
		packagePath, _, _ := strings.Cut(words[0], "@")
		dir := strings.TrimPrefix(packagePath, "example.com/emailplatform")
		if matches, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go")); len(matches) == 0 && dir != "" {
			t.Errorf("%s: %q: there is no such package", file, line)
		}
	case "build":
		words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "-o" || !strings.HasPrefix(w, ".") })
		mainIn(t, file, line, dirs, words[0])
	case "run":
		if dir := mainIn(t, file, line, dirs, words[0]); dir != "" {
			checkFlags(t, file, line, dir, words)
		}
	case "test":
		checkTest(t, file, line, dirs, words)
	default:
		t.Errorf("%s: nothing checks %q", file, line)
	}
}

// mainIn returns the folder of a program, or "" if it does not exist.
func mainIn(t *testing.T, file, line string, dirs []string, name string) string {
	t.Helper()
	for _, dir := range dirs {
		if isMain.MatchString(source(path.Join(dir, name), "*.go")) {
			return dir
		}
	}
	t.Errorf("%s: %q: there is no such program", file, line)
	return ""
}

var isMain = regexp.MustCompile(`(?m)^package main$`)

var flagName = regexp.MustCompile(`^--?([a-z][a-z-]*)`)

// checkFlags checks that the source of a program has the flags in the line. Words after another go are a command that the
// program runs.
func checkFlags(t *testing.T, file, line, dir string, words []string) {
	t.Helper()
	if i := slices.Index(words, "go"); i > 0 {
		checkGo(t, file, line, []string{dir}, words[i+1:])
		words = words[:i]
	}
	i := slices.IndexFunc(words, flagName.MatchString)
	if i < 0 {
		return
	}
	program := source(path.Join(dir, words[0]), "*.go")
	for _, w := range words[i:] {
		m := flagName.FindStringSubmatch(w)
		if m != nil && !regexp.MustCompile(`[( ]"`+m[1]+`",`).MatchString(program) {
			t.Errorf("%s: %q: there is no flag -%s", file, line, m[1])
		}
	}
}

// source returns the text of the files of a folder.
func source(dir, pattern string) string {
	var all strings.Builder
	matches, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), pattern))
	for _, name := range matches {
		b, _ := os.ReadFile(name)
		all.Write(b)
	}
	return all.String()
}

// checkTest checks that each flag is a flag of go test or of the tests.
func checkTest(t *testing.T, file, line string, dirs, words []string) {
	t.Helper()
	own := []string{"bench", "benchtime", "count", "parallel", "race", "run", "short", "tags", "timeout", "v"}
	tests := ""
	for _, dir := range dirs {
		for _, w := range append(slices.Clone(words), ".") {
			tests += source(path.Join(dir, w), "*_test.go")
		}
	}
	for _, w := range words {
		m := flagName.FindStringSubmatch(w)
		if m != nil && !slices.Contains(own, m[1]) && !regexp.MustCompile(`flag\.\w+\("`+m[1]+`"`).MatchString(tests) {
			t.Errorf("%s: %q: no test has a flag -%s", file, line, m[1])
		}
	}
	for _, w := range words {
		if !strings.HasPrefix(w, "./") || strings.HasSuffix(w, "...") {
			continue
		}
		if !slices.ContainsFunc(dirs, func(dir string) bool {
			_, err := os.Stat(filepath.Join(root, filepath.FromSlash(path.Join(dir, w))))
			return err == nil
		}) {
			t.Errorf("%s: %q: there is no folder %s", file, line, w)
		}
	}
}
