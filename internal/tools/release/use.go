package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"example.com/emailplatform/internal/tools/try"
)

// use builds a program outside of the repository for each module. It runs the quickstart there, because the
// quickstart uses all packages.
func (s *stage) use(ctx context.Context) {
	for _, m := range published() {
		var imports strings.Builder
		for _, i := range m.imports {
			fmt.Fprintf(&imports, "import _ %q\n", path.Join(m.path(), i))
		}
		home := filepath.Join(s.dir, "programs", m.dir, "main")
		write(home, map[string]string{"main.go": "package main\n\n" + imports.String() + "\nfunc main() {}\n"})
		s.program(ctx, home, m.path())
		s.golang(ctx, home, "build", "-o", os.DevNull, ".")
		fmt.Println("go get", m.path()+": a program builds")
	}
	home := filepath.Join(s.dir, "programs", "quickstart")
	try.OK(os.CopyFS(home, os.DirFS(filepath.Join(s.repo, "examples", "quickstart"))))
	s.program(ctx, home, root)
	s.golang(ctx, home, "vet", ".")
	out := s.golang(ctx, home, "run", ".")
	fmt.Printf("the quickstart runs outside of the repository, %d lines of output\n", strings.Count(out, "\n")+1)
}

// program creates a module in home that uses another module.
func (s *stage) program(ctx context.Context, home, module string) {
	write(home, map[string]string{"go.mod": "module program.test\n\ngo 1.26.0\n"})
	s.golang(ctx, home, "get", module+"@"+s.next)
	s.golang(ctx, home, "mod", "tidy")
}

func write(home string, files map[string]string) {
	try.OK(os.MkdirAll(home, 0o750))
	for name, text := range files {
		try.OK(os.WriteFile(filepath.Join(home, name), []byte(text), 0o600))
	}
}

// golang runs the go command as a user.
func (s *stage) golang(ctx context.Context, dir string, args ...string) string {
	return command(ctx, dir, s.user(), "go", args...)
}

// install builds the commands with go install and checks their versions.
func (s *stage) install(ctx context.Context) {
	for _, m := range commands() {
		s.golang(ctx, s.dir, "install", path.Join(m.path(), m.command)+"@"+s.next)
		s.checkVersion(ctx, filepath.Join(s.dir, "bin", path.Base(m.command)+s.exe))
	}
}

// checkVersion compares the version that a command prints with the release.
func (s *stage) checkVersion(ctx context.Context, program string) {
	out := command(ctx, s.dir, nil, program, "-version")
	name := strings.TrimSuffix(filepath.Base(program), s.exe)
	if want := name + " " + s.next + ","; !strings.HasPrefix(out, want) || !strings.Contains(out, ", "+runtime.GOOS+"/"+runtime.GOARCH) {
		try.Failf("%s -version prints %q, want a text that begins with %q", program, out, want)
	}
	fmt.Println(name, "-version:", out)
}
