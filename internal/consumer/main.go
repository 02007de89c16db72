// Command consumer proves that the modules of this repository can be used by one
// outside of it, as they would be published: without a replace line, from a proxy
// of modules that is made of the work tree.
//
//	go run ./internal/consumer
//
// It builds a program for each of them, and holds the modules that come with
// client, events and webhook against testdata/modules.txt; -update writes that.
// What else they need comes from the module cache, or from GOPROXY.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// golden is what comes with the core packages.
const golden = "internal/consumer/testdata/modules.txt"

// program is one that uses a module of ours.
type program struct {
	module  string   // its directory
	imports []string // from there
}

// The first is that of the core packages.
var programs = []program{
	{".", []string{"client", "events", "webhook"}},
	{"contrib/redisstore", []string{"."}},
	{"contrib/pgstore", []string{".", "sqlonce"}},
	{"contrib/emailotel", []string{"."}},
}

func main() {
	update := flag.Bool("update", false, "write "+golden)
	flag.Parse()
	if err := run(*update); err != nil {
		fmt.Fprintln(os.Stderr, "consumer:", err)
		os.Exit(1)
	}
}

func run(update bool) (err error) {
	dir, err := os.MkdirTemp("", "consumer-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	env, err := environment(dir)
	if err != nil {
		return err
	}
	root, err := publish(filepath.Join(dir, "proxy"), programs)
	if err != nil {
		return err
	}
	for i, p := range programs {
		home := filepath.Join(dir, fmt.Sprint("program", i))
		if err := p.build(home, root, env); err != nil {
			return fmt.Errorf("a program that uses %s: %w", p.module, err)
		}
		fmt.Println(p.module, "builds outside of the repository")
		if i == 0 {
			if err := compare(home, env, update); err != nil {
				return err
			}
		}
	}
	return nil
}

// environment has nothing of ours in the cache, and everybody else's from there.
func environment(dir string) ([]string, error) {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output() //nolint:noctx // it ends by itself
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(out), "\n")
	cached := "file://" + filepath.ToSlash(filepath.Join(lines[0], "cache", "download"))
	return append(os.Environ(),
		"GOPROXY=file://"+filepath.ToSlash(filepath.Join(dir, "proxy"))+","+cached+","+lines[1],
		"GOMODCACHE="+filepath.Join(dir, "modules"),
		"GOFLAGS=-mod=mod -modcacherw -trimpath", "GOWORK=off",
		"GOSUMDB=off", // go.sum of each module is held by its own build
	), nil
}

// build writes a program into home and compiles it.
func (p program) build(home, root string, env []string) error {
	if err := os.MkdirAll(home, 0o750); err != nil {
		return err
	}
	path := join(root, p.module)
	var imports strings.Builder
	for _, i := range p.imports {
		fmt.Fprintf(&imports, "import _ %q\n", join(path, i))
	}
	mod := fmt.Sprintf("module consumer.test\n\ngo 1.26.0\n\nrequire %s %s\n", path, version)
	for name, content := range map[string]string{"go.mod": mod, "main.go": "package main\n\n" + imports.String() + "\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"mod", "tidy"}, {"build", "-o", os.DevNull, "."}} {
		if _, err := golang(home, env, args...); err != nil {
			return err
		}
	}
	return nil
}

func golang(dir string, env []string, args ...string) (string, error) {
	cmd := exec.Command("go", args...) //nolint:gosec,noctx // our own arguments; it ends by itself
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// compare holds what a user gets into the module graph against what is known.
func compare(home string, env []string, update bool) error {
	out, err := golang(home, env, "list", "-m", "all")
	if err != nil {
		return err
	}
	got := strings.Split(strings.TrimSpace(out), "\n")[1:] // without the program itself
	if update {
		return os.WriteFile(golden, []byte(strings.Join(got, "\n")+"\n"), 0o600)
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		return err
	}
	want := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")), "\n")
	if !slices.Equal(got, want) {
		return fmt.Errorf("with client, events and webhook come\n%s\nwant\n%s\nif that is meant: go run ./internal/consumer -update",
			strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return nil
}
