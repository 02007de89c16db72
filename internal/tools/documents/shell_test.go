package documents

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// elsewhere are commands that are not Go's or of this repository, with what
// runs them, or why nothing does.
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

// commands are the programs of this repository by the names of their binaries.
func commands() map[string][]string {
	return map[string][]string{
		"mockserver":        {"go", "run", "./mockserver/cmd/mockserver"},
		"emailplatform-mcp": {"go", "run", "-C", "mcp", "./cmd/emailplatform-mcp"},
	}
}

// TestCommands holds each line of shell to what there is: packages, programs,
// flags, scripts.
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
			dirs := []string{".", path.Dir(b.file)} // where a document tells to be
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

// mainIn returns the folder of a program, or "" if its module is not
// checked.
func mainIn(t *testing.T, file, line string, dirs []string, name string) string {
	t.Helper()
	for _, dir := range dirs {
		if module := moduleOf(path.Join(dir, name) + "/x"); module != "." && !*nested {
			return ""
		}
		if isMain.MatchString(source(path.Join(dir, name), "*.go")) {
			return dir
		}
	}
	t.Errorf("%s: %q: there is no such program", file, line)
	return ""
}

var isMain = regexp.MustCompile(`(?m)^package main$`)

var flagName = regexp.MustCompile(`^--?([a-z][a-z-]*)`)

// checkFlags looks for the flags of the line in what a program prints with -h.
// To build all of them takes its time, so that without -nested it looks for
// them in their source. What follows another go is a command that the program
// runs.
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
	pattern, known := `[( ]"%s",`, source(path.Join(dir, words[0]), "*.go")
	if *nested {
		pattern, known = `(?m)^\s+--?%s\b`, help(t, dir, words[:i], known)
	}
	for _, w := range words[i:] {
		m := flagName.FindStringSubmatch(w)
		if m != nil && !regexp.MustCompile(strings.Replace(pattern, "%s", m[1], 1)).MatchString(known) {
			t.Errorf("%s: %q: there is no flag -%s", file, line, m[1])
		}
	}
}

// help returns what a program prints with -h. One that asks for something
// before it says what its flags are is taken by its source, in the same form.
func help(t *testing.T, dir string, words []string, source string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"run"}, words, []string{"-h"})...)
	cmd.Dir = filepath.Join(root, filepath.FromSlash(dir))
	out, _ := cmd.CombinedOutput() // -h is an error of some
	if strings.Contains(string(out), "POSTGRES_URL is not set") {
		return regexp.MustCompile(`[( ]"([a-z-]+)",`).ReplaceAllString(source, "\n -$1 ")
	}
	return string(out)
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
