package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// use builds a program outside of the repository for each module.
func (s *stage) use(ctx context.Context) error {
	for _, m := range published() {
		home := filepath.Join(s.dir, "programs", m.dir, "main")
		if err := s.program(ctx, home, m); err != nil {
			return fmt.Errorf("a program that uses %s: %w", m.path(), err)
		}
		fmt.Println("go get", m.path()+": a program builds")
	}
	return s.quickstart(ctx)
}

// program writes one into home that imports packages of a module, and builds it with what go get brings.
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
