// Package readme_test holds the README, and documents beside it, to what is in
// the repository: their Go code compiles, their commands exist, their links lead
// somewhere.
package readme_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// block is a piece of code between fences.
type block struct{ language, code string }

var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// documents are those whose code is for readers to take over.
func documents() []string { return []string{"README.md", "docs/errors.md", "docs/faq.md"} }

func blocks(t *testing.T) (all []block) {
	t.Helper()
	for _, name := range documents() {
		found := fence.FindAllStringSubmatch(read(t, name), -1)
		if len(found) == 0 {
			t.Fatalf("%s has no code", name)
		}
		for _, m := range found {
			all = append(all, block{m[1], m[2]})
		}
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// fragment makes a file of statements that use a client.
const fragment = `package fragment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"example.com/emailplatform/client"
)

var (
	_ = os.Open
	_ = errors.Is
	_ = fmt.Println
)

type fetch func(context.Context) (token string, expiry time.Time, err error)

func _(ctx context.Context, c *client.Client, listID int64, emailID string, fetchToken fetch) error {
%s}
`

func TestGoBlocksCompile(t *testing.T) {
	// The underscore keeps it from ./... and other patterns.
	dir, err := os.MkdirTemp(".", "_blocks") //nolint:usetesting // within the module, for its go.mod
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var packages []string
	for i, b := range blocks(t) {
		if b.language != "go" {
			continue
		}
		code, name := b.code, "main.go"
		if strings.Contains(code, "testing.T") {
			name = "main_test.go"
		}
		if !strings.HasPrefix(code, "package ") {
			code = fmt.Sprintf(fragment, code)
		}
		sub := filepath.Join(dir, fmt.Sprint("block", i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, name), []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		packages = append(packages, "./"+filepath.ToSlash(sub))
	}
	vet(t, ".", packages...)
}

// TestCommandsExist holds each command of a shell block to a program. Those of
// this module are compiled here; other modules, and what commands do, are for
// the continuous integration, which builds and runs them.
func TestCommandsExist(t *testing.T) {
	var here []string
	for _, b := range blocks(t) {
		if b.language != "sh" {
			continue
		}
		for line := range strings.Lines(b.code) {
			command, _, _ := strings.Cut(line, "#")
			words := strings.Fields(command)
			switch {
			case strings.HasPrefix(line, "go test ./..."):
			case strings.HasPrefix(line, "go run ./"):
				here = append(here, words[2])
			case strings.HasPrefix(line, "go build -C "), strings.HasPrefix(line, "go run -C "):
				list := exec.CommandContext(t.Context(), "go", "list", "-C", words[3], "-f", "{{.Name}}", words[len(words)-1])
				list.Dir = root
				if out, err := list.CombinedOutput(); err != nil || string(out) != "main\n" {
					t.Errorf("%s: got package %q, %v; want main", command, out, err)
				}
			default:
				t.Errorf("no test runs %q", line)
			}
		}
	}
	slices.Sort(here)
	vet(t, root, slices.Compact(here)...)
}

// vet compiles packages, seen from a folder.
func vet(t *testing.T, dir string, packages ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"vet"}, packages...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go vet %s: %v\n%s", strings.Join(packages, " "), err, out)
	}
}

func TestOtherBlocksAreWellFormed(t *testing.T) {
	for _, b := range blocks(t) {
		switch b.language {
		case "go", "sh":
		case "json":
			if !json.Valid([]byte(b.code)) {
				t.Errorf("not JSON:\n%s", b.code)
			}
		default:
			t.Errorf("no test for the language %q", b.language)
		}
	}
}

// TestLinksLead holds each relative link to a file.
func TestLinksLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	for _, name := range documents() {
		for _, m := range link.FindAllStringSubmatch(read(t, name), -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
