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

// elsewhere returns commands that are not part of Go or this repository. The value of a command names the test that
// runs it, or contains the reason why no test does.
func elsewhere() map[string]string {
	return map[string]string{
		"curl":           "mockserver's TestManualExamples runs the commands of manual.tmpl, the source of docs/control-api.md",
		"cd":             "",
		"mkdir":          "",
		"git":            ".ci/release makes the same commits and tags in its rehearsal",
		"node":           "the step npm of the gate runs the tests of examples/node",
		"npm":            "the step npm of the gate runs the same commands, and the rehearsal of a release installs the package",
		"python3":        "the gate runs the tests of examples/python",
		"docker compose": "the weekly step container builds and starts what the compose file says, without a daemon",
		"claude mcp add": "another program, which is not at hand",
		"nats-server":    "the tests of examples/integrations/jetstream start the server in their own process",
	}
}

// commands returns the programs of this repository by the names of their binaries.
func commands() map[string][]string {
	return map[string][]string{
		"mockserver":        {"go", "run", "./mockserver/cmd/mockserver"},
		"emailplatform-mcp": {"go", "run", "-C", "mcp", "./cmd/emailplatform-mcp"},
	}
}

// inlineCommand is a command in a sentence or in a table.
var inlineCommand = regexp.MustCompile("`(go (?:run|test) [^`…]*)`")

// TestCommands checks that the packages, programs, flags, tests and scripts in each line of shell exist.
func TestCommands(t *testing.T) {
	seen := map[string]bool{}
	lines := blocks(t)
	for _, name := range documents(t) {
		for _, m := range inlineCommand.FindAllStringSubmatch(read(t, name), -1) {
			lines = append(lines, block{file: name, language: "sh", code: m[1]})
		}
	}
	for _, b := range lines {
		if b.language != "sh" {
			continue
		}
		for text := range strings.Lines(strings.ReplaceAll(b.code, "\\\n", " ")) {
			text, _, _ = strings.Cut(text, " #")
			words := strings.Fields(text)
			for len(words) > 0 && isAssignment.MatchString(words[0]) {
				words = words[1:]
			}
			if key := fmt.Sprint(words, path.Dir(b.file)); len(words) > 0 && !seen[key] {
				seen[key] = true
				dirs := []string{".", path.Dir(b.file)}
				if b.file == "docs/tutorial.md" {
					dirs = append(dirs, tutorial) // the reader's folder
				}
				line{t, b.file, strings.Join(words, " ")}.check(dirs, words)
			}
		}
	}
	if len(seen) < 30 {
		t.Errorf("found %d commands, which are too few", len(seen))
	}
}

var isAssignment = regexp.MustCompile(`^[A-Z_]+=\S*$`)

// line is a line of shell in a document.
type line struct {
	*testing.T
	file, text string
}

func (l line) fail(why string) {
	l.Helper()
	l.Errorf("%s: %q: %s", l.file, l.text, why)
}

// check checks a command, which runs in one of the folders.
func (l line) check(dirs, words []string) {
	name := strings.TrimPrefix(words[0], "./")
	if run, ok := commands()[name]; ok {
		l.check([]string{"."}, append(slices.Clone(run), words[1:]...))
		return
	}
	if name == "bash" {
		words, name = words[1:], words[1]
	}
	switch {
	case strings.Contains(name, "/"): // a script
		if !exists(name) {
			l.fail("there is no such script")
		}
	case name == "go":
		l.goCommand(dirs, words[1:])
	case name == "make":
		if !strings.Contains(source(".", "Makefile"), "\n"+words[1]+": ## ") {
			l.fail("there is no such target")
		}
	default:
		for known := range elsewhere() {
			if strings.HasPrefix(l.text+" ", known+" ") {
				return
			}
		}
		l.fail("nothing checks it")
	}
}

func (l line) goCommand(dirs, words []string) {
	verb, words := words[0], words[1:]
	if len(words) > 1 && words[0] == "-C" {
		dirs, words = []string{path.Join(dirs[0], words[1]), path.Join(dirs[len(dirs)-1], words[1])}, words[2:]
	}
	switch verb {
	case "generate", "mod":
	case "tool":
		if !exists(strings.TrimPrefix(words[0], "-modfile=")) {
			l.fail("there is no such go.mod")
		}
	case "get", "install":
		packagePath, _, _ := strings.Cut(words[0], "@")
		if dir := strings.TrimPrefix(packagePath, "example.com/emailplatform"); dir != "" && source(dir, "*.go") == "" {
			l.fail("there is no such package")
		}
	case "build":
		words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "-o" || !strings.HasPrefix(w, ".") })
		l.program(dirs, words[0])
	case "run":
		l.flags(l.program(dirs, words[0]), dirs, words[1:])
	case "test":
		l.testFlags(dirs, words)
	default:
		l.fail("nothing checks it")
	}
}

var isMain = regexp.MustCompile(`(?m)^package main$`)

// program returns the source of a program.
func (l line) program(dirs []string, name string) string {
	for _, dir := range dirs {
		if text := source(path.Join(dir, name), "*.go"); isMain.MatchString(text) {
			return text
		}
	}
	l.fail("there is no such program")
	return ""
}

var flagName = regexp.MustCompile(`^--?([a-z][a-z-]*)`)

// flags checks that the source of a program has the flags among its arguments. Words after another go belong to a
// command that the program runs.
func (l line) flags(program string, dirs, words []string) {
	if i := slices.Index(words, "go"); i >= 0 {
		l.goCommand(dirs, words[i+1:])
		words = words[:i]
	}
	for _, w := range words {
		m := flagName.FindStringSubmatch(w)
		if m != nil && !regexp.MustCompile(`[( ]"`+m[1]+`",`).MatchString(program) {
			l.fail("there is no flag -" + m[1])
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

// testFlags checks that each flag is a flag of go test or of the tests, and that the folders and tests exist.
func (l line) testFlags(dirs, words []string) {
	own := []string{"bench", "benchtime", "count", "parallel", "race", "rapid", "run", "short", "tags", "timeout", "v"}
	kinds := map[string]string{"-run": "Test", "-bench": "Benchmark"}
	tests := ""
	for _, w := range append(slices.Clone(words), ".") {
		for _, dir := range dirs {
			tests += source(path.Join(dir, w), "*_test.go")
		}
		if strings.HasPrefix(w, "./") && !strings.HasSuffix(w, "...") && !exists(dirs[0], w) && !exists(dirs[len(dirs)-1], w) {
			l.fail("there is no folder " + w)
		}
	}
	for i, w := range words {
		m := flagName.FindStringSubmatch(w)
		if m != nil && !slices.Contains(own, m[1]) && !regexp.MustCompile(`flag\.\w+\("`+m[1]+`"`).MatchString(tests) {
			l.fail("no test has a flag -" + m[1])
		}
		if kind := kinds[w]; kind != "" && i+1 < len(words) {
			l.pattern(kind, words[i+1], tests)
		}
	}
}

// pattern checks that a pattern of -run or -bench matches a function whose name begins with kind.
func (l line) pattern(kind, pattern, tests string) {
	name, _, _ := strings.Cut(strings.Trim(pattern, "'^$"), "/")
	if !regexp.MustCompile(`func ` + kind + `\w*` + strings.TrimPrefix(name, kind)).MatchString(tests) {
		l.fail("no " + kind + " matches " + pattern)
	}
}
