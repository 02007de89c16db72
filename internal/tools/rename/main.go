// Command rename gives the module a path of its own:
//
//	go run ./internal/tools/rename github.com/acme/emailplatform
//
// In every text file below the current directory, it replaces the module path that go.mod
// declares with the new path. It also replaces the scope of the npm package. For example, the
// command above renames the package to @acme/emailplatform-mock. It changes nothing else. It is a Go program, so the same command
// works on Linux, macOS and Windows.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "Usage: go run ./internal/tools/rename NEW/MODULE/PATH") }
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	files, err := rename(".", flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
	fmt.Printf("%d files now say %s; check with: go test ./...\n", files, flag.Arg(0))
}

// rename replaces the module path of the tree at root and returns how many
// files it changed.
func rename(root, newPath string) (int, error) {
	if !regexp.MustCompile(`^[A-Za-z0-9][\w.~-]*(/[\w.~-]*[\w~-])+$`).MatchString(newPath) {
		return 0, fmt.Errorf("%q is not a module path like github.com/acme/emailplatform", newPath)
	}
	oldPath, err := modulePath(filepath.Join(root, "go.mod"))
	if err != nil {
		return 0, err
	}
	replacements := map[*regexp.Regexp]string{
		regexp.MustCompile(regexp.QuoteMeta(oldPath) + `\b`):             newPath,
		regexp.MustCompile(regexp.QuoteMeta(npmPackage(oldPath)) + `\b`): npmPackage(newPath),
	}
	files := 0
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "node_modules", "vendor"}, entry.Name()):
			return filepath.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		changed, err := rewrite(name, replacements)
		if changed {
			files++
		}
		return err
	})
	return files, err
}

func modulePath(goMod string) (string, error) {
	text, err := os.ReadFile(goMod)
	if err != nil {
		return "", fmt.Errorf("run it at the root of the module: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(path), nil
		}
	}
	return "", errors.New("go.mod has no module line")
}

// npmPackage returns the name of the npm package. Its scope is the owner in a path such as
// github.com/acme/emailplatform, and the name of the host in a path such as
// example.com/emailplatform.
func npmPackage(path string) string {
	parts := strings.Split(path, "/")
	scope, _, _ := strings.Cut(parts[0], ".")
	if len(parts) > 2 {
		scope = parts[1]
	}
	return "@" + strings.ToLower(scope) + "/emailplatform-mock"
}

// rewrite replaces names in one file and reports whether the file contained any of these
// names. It formats Go files again, because imports may sort differently with another path.
func rewrite(name string, replacements map[*regexp.Regexp]string) (bool, error) {
	before, err := os.ReadFile(name)
	if err != nil {
		return false, err
	}
	text := before
	for old, replacement := range replacements {
		text = old.ReplaceAllLiteral(text, []byte(replacement))
	}
	// A NUL byte distinguishes a picture or an archive from text.
	if bytes.Equal(text, before) || bytes.IndexByte(text, 0) >= 0 {
		return false, nil
	}
	if filepath.Ext(name) == ".go" {
		if text, err = format.Source(text); err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
	}
	info, err := os.Stat(name)
	if err != nil {
		return false, err
	}
	return true, os.WriteFile(name, text, info.Mode())
}
