// Command rename gives the module a path of its own:
//
//	go run ./internal/tools/rename github.com/acme/emailplatform
//
// It replaces the path that go.mod declares in every text file below the
// current directory, and leaves everything else as it is. Because it is a Go
// program, the same command works on Linux, macOS and Windows.
package main

import (
	"bytes"
	"errors"
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
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/tools/rename NEW/MODULE/PATH")
		os.Exit(2)
	}
	files, err := rename(".", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
	fmt.Printf("%d files now say %s; check with: go test ./...\n", files, os.Args[1])
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
		changed, err := rewrite(name, oldPath, newPath)
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

// rewrite replaces oldPath in one file and reports whether it was there.
// Go files are formatted again, because another path may sort elsewhere.
func rewrite(name, oldPath, newPath string) (bool, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return false, err
	}
	old := regexp.MustCompile(regexp.QuoteMeta(oldPath) + `\b`)
	// A NUL byte distinguishes a picture or an archive from text.
	if !old.Match(text) || bytes.IndexByte(text, 0) >= 0 {
		return false, nil
	}
	text = old.ReplaceAllLiteral(text, []byte(newPath))
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
