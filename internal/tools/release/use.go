package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// golden is what comes with client, events and webhook.
const golden = "internal/tools/release/testdata/modules.txt"

// use builds a program outside of the repository for each module.
func (s *stage) use(ctx context.Context, update bool) error {
	for i, m := range published() {
		home := filepath.Join(s.dir, "programs", m.dir, "main")
		if err := s.program(ctx, home, m); err != nil {
			return fmt.Errorf("a program that uses %s: %w", m.path(), err)
		}
		fmt.Println("go get", m.path()+": a program builds")
		if i == 0 {
			if err := s.brings(ctx, home, update); err != nil {
				return err
			}
		}
	}
	return s.quickstart(ctx)
}

// program writes one into home that imports packages of a module, and builds it
// with what go get brings.
func (s *stage) program(ctx context.Context, home string, m module) error {
	var imports strings.Builder
	for _, i := range m.imports {
		fmt.Fprintf(&imports, "import _ %q\n", path.Join(m.path(), i))
	}
	if err := write(home, map[string]string{
		"go.mod": "module program.test\n\ngo 1.26.0\n", "main.go": "package main\n\n" + imports.String() + "\nfunc main() {}\n",
	}); err != nil {
		return err
	}
	return s.golang(ctx, home, []string{"get", m.path() + "@" + s.next}, []string{"mod", "tidy"}, []string{"build", "-o", os.DevNull, "."})
}

func write(home string, files map[string]string) error {
	if err := os.MkdirAll(home, 0o750); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// golang runs the go command as a user.
func (s *stage) golang(ctx context.Context, dir string, calls ...[]string) error {
	for _, args := range calls {
		if _, err := command(ctx, dir, s.user(), "go", args...); err != nil {
			return err
		}
	}
	return nil
}

// brings holds what a user gets into the module graph against what is known.
func (s *stage) brings(ctx context.Context, home string, update bool) error {
	out, err := command(ctx, home, s.user(), "go", "list", "-m", "all")
	if err != nil {
		return err
	}
	got := slices.DeleteFunc(strings.Split(out, "\n"), func(line string) bool {
		return line == "program.test" || line == root+" "+s.next
	})
	if update {
		return os.WriteFile(golden, []byte(strings.Join(got, "\n")+"\n"), 0o600)
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		return err
	}
	want := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")), "\n")
	if !slices.Equal(got, want) {
		return fmt.Errorf("with client, events and webhook come\n%s\nwant\n%s\nif that is meant: go run ./internal/tools/release -update",
			strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return nil
}

// quickstart runs that example outside of the repository: it uses all packages.
func (s *stage) quickstart(ctx context.Context) error {
	home := filepath.Join(s.dir, "programs", "quickstart")
	files := map[string]string{"go.mod": "module program.test\n\ngo 1.26.0\n"}
	names, err := filepath.Glob(filepath.Join(s.repo, "examples", "quickstart", "*.go"))
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files[filepath.Base(name)] = string(text)
	}
	if err := write(home, files); err != nil {
		return err
	}
	if err := s.golang(ctx, home, []string{"get", root + "@" + s.next}, []string{"mod", "tidy"}, []string{"vet", "."}); err != nil {
		return err
	}
	out, err := command(ctx, home, s.user(), "go", "run", ".")
	if err != nil {
		return err
	}
	fmt.Printf("the quickstart runs outside of the repository, %d lines of output\n", strings.Count(out, "\n")+1)
	return nil
}

// install has go install make the commands, which then say what they are.
func (s *stage) install(ctx context.Context) error {
	for _, m := range published() {
		if m.command == "" {
			continue
		}
		target := path.Join(m.path(), m.command) + "@" + s.next
		if err := s.golang(ctx, s.dir, []string{"install", target}); err != nil {
			return err
		}
		if err := s.says(ctx, filepath.Join(s.dir, "bin", path.Base(m.command)+executable())); err != nil {
			return fmt.Errorf("go install %s: %w", target, err)
		}
	}
	return nil
}

func executable() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// says holds what a command prints as its version against the release.
func (s *stage) says(ctx context.Context, program string) error {
	out, err := command(ctx, s.dir, nil, program, "-version")
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	if want := name + " " + s.next + ","; !strings.HasPrefix(out, want) || !strings.Contains(out, ", "+runtime.GOOS+"/"+runtime.GOARCH) {
		return fmt.Errorf("-version says %q, want %q first", out, want)
	}
	fmt.Println(name, "-version:", out)
	return nil
}
