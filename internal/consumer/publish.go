package main

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// version is the one that our modules require of one another.
const version = "v0.1.0"

// join makes the path of a package of a directory in a module.
func join(module, dir string) string { return path.Join(module, dir) }

// publish writes the modules as a proxy serves them, and returns the path of the
// one at the root.
func publish(proxy string, programs []program) (root string, err error) {
	files, err := tracked()
	if err != nil {
		return "", err
	}
	if root, err = modulePath("go.mod"); err != nil {
		return "", err
	}
	var nested []string // directories of modules in the one at the root
	for _, f := range files {
		if dir, name := path.Split(f); name == "go.mod" && dir != "" {
			nested = append(nested, dir)
		}
	}
	for _, p := range programs {
		if err := publishOne(proxy, join(root, p.module), p.module, belonging(files, p.module, nested)); err != nil {
			return "", fmt.Errorf("%s: %w", p.module, err)
		}
	}
	return root, nil
}

// tracked are the files of the work tree that are not ignored.
func tracked() ([]string, error) {
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard").Output() //nolint:noctx // it ends by itself
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	files := strings.Split(strings.TrimSpace(string(out)), "\n")
	return slices.DeleteFunc(files, func(f string) bool {
		_, err := os.Stat(f)
		return errors.Is(err, os.ErrNotExist) // removed, but not yet from the index
	}), nil
}

// belonging are the files of one module: what lies in a module below it is not.
func belonging(files []string, module string, nested []string) (own []string) {
	prefix := ""
	if module != "." {
		prefix = module + "/"
	}
	for _, f := range files {
		if !strings.HasPrefix(f, prefix) {
			continue
		}
		foreign := slices.ContainsFunc(nested, func(dir string) bool {
			return dir != prefix && strings.HasPrefix(dir, prefix) && strings.HasPrefix(f, dir)
		})
		if !foreign {
			own = append(own, f)
		}
	}
	return own
}

func modulePath(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("run it at the root of the repository: %w", err)
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	module, ok := strings.CutPrefix(first, "module ")
	if !ok {
		return "", fmt.Errorf("%s begins with %q", file, first)
	}
	return module, nil
}

// publishOne writes the three files that a proxy has for a version.
func publishOne(proxy, module, dir string, files []string) error {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	home := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(home, 0o750); err != nil {
		return err
	}
	info := fmt.Sprintf(`{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, version)
	for name, text := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": []byte(info), version + ".mod": mod} {
		if err := os.WriteFile(filepath.Join(home, name), text, 0o600); err != nil {
			return err
		}
	}
	return archive(filepath.Join(home, version+".zip"), module+"@"+version+"/", dir, files)
}

func archive(name, prefix, dir string, files []string) (err error) {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	z := zip.NewWriter(out)
	for _, f := range files {
		text, err := os.ReadFile(filepath.FromSlash(f))
		if err != nil {
			return err
		}
		inside := f
		if dir != "." {
			inside = strings.TrimPrefix(f, dir+"/")
		}
		w, err := z.Create(prefix + inside)
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return z.Close()
}
