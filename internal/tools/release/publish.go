package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// lastRelease is the newest release that the checkout stands on; empty if there is none.
func lastRelease(ctx context.Context) (string, error) {
	out, err := command(ctx, ".", nil, "git", "tag", "--merged", "HEAD", "--sort=-version:refname", "--list", "v[0-9]*")
	if err != nil {
		return "", err
	}
	for tag := range strings.SplitSeq(out, "\n") {
		if version.MatchString(tag) {
			return tag, nil
		}
	}
	return "", nil
}

// version is one of a release.
var version = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`)

// following is the next minor version; the first is v0.1.0.
func following(last string) string {
	parts := version.FindStringSubmatch(last)
	if parts == nil {
		return "v0.1.0"
	}
	minor, _ := strconv.Atoi(parts[2])
	return fmt.Sprintf("v%s.%d.0", parts[1], minor+1)
}

// releaseLast repeats the last release, which this one is held against.
func (s *stage) releaseLast(ctx context.Context) error {
	if s.last == "" {
		return nil
	}
	archive := filepath.Join(s.dir, "last.tar")
	if _, err := command(ctx, ".", nil, "git", "archive", "--output", archive, s.last); err != nil {
		return err
	}
	if _, err := command(ctx, s.repo, nil, "tar", "-xf", archive); err != nil {
		return err
	}
	if err := s.commit(ctx, s.last); err != nil {
		return err
	}
	return s.publish(ctx, s.last)
}

// release publishes the work tree.
func (s *stage) release(ctx context.Context) error {
	if err := s.clear(); err != nil {
		return err
	}
	for _, f := range s.files {
		if err := copyFile(f, filepath.Join(s.repo, filepath.FromSlash(f))); err != nil {
			return err
		}
	}
	if err := prepare(ctx, s.repo, s.next); err != nil {
		return err
	}
	if err := s.commit(ctx, s.next); err != nil {
		return err
	}
	return s.publish(ctx, s.next)
}

// clear leaves nothing in the copy but its history.
func (s *stage) clear() error {
	entries, err := os.ReadDir(s.repo)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != ".git" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.repo, e.Name())))
		}
	}
	return err
}

func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode())
}

// commit gives the copy its path, and commits all of it.
func (s *stage) commit(ctx context.Context, message string) error {
	rename := []string{"run", filepath.Join(s.repo, "internal", "tools", "rename", "main.go"), root}
	if _, err := command(ctx, s.repo, nil, "go", rename...); err != nil {
		return err
	}
	return errors.Join(s.git(ctx, "add", "--all"), s.git(ctx, "commit", "--quiet", "--message", message))
}

// publish tags the modules that the copy has, and has the go command fetch them from there, straight from their tags:
// what it then has in its cache is what a proxy serves.
func (s *stage) publish(ctx context.Context, version string) error {
	download := []string{"mod", "download"}
	for _, m := range published() {
		if _, err := os.Stat(filepath.Join(s.repo, m.dir, "go.mod")); errors.Is(err, fs.ErrNotExist) {
			continue // it was not there yet
		}
		if err := s.git(ctx, "tag", m.tag(version)); err != nil {
			return err
		}
		download = append(download, m.path()+"@"+version)
	}
	env := append(s.alone(), "GOPROXY=direct", "GOSUMDB=off", "GOWORK=off", "GOFLAGS=-modcacherw",
		"GOMODCACHE="+filepath.Join(s.dir, "published"))
	if _, err := command(ctx, s.dir, env, "go", download...); err != nil {
		return err
	}
	fmt.Println(version, "of", len(download)-2, "modules is published")
	return nil
}

// tagged checks that the commit of the checkout in dir has the tags of a version for all modules.
func tagged(ctx context.Context, dir, version string) error {
	out, err := command(ctx, dir, nil, "git", "tag", "--points-at", "HEAD")
	if err != nil {
		return err
	}
	for _, m := range published() {
		if !slices.Contains(strings.Split(out, "\n"), m.tag(version)) {
			err = errors.Join(err, fmt.Errorf("the commit has no tag %s", m.tag(version)))
		}
	}
	return errors.Join(err, required(ctx, dir, version))
}

// required checks that all other modules require a version of the root.
func required(ctx context.Context, dir, version string) error {
	path, err := command(ctx, dir, nil, "go", "list", "-m")
	if err != nil {
		return err
	}
	for _, m := range published()[1:] {
		text, unread := os.ReadFile(filepath.Join(dir, m.dir, "go.mod"))
		if err = errors.Join(err, unread); unread == nil && !strings.Contains(string(text), path+" "+version+"\n") {
			err = errors.Join(err, fmt.Errorf("%s does not require %s of the root: go run ./internal/tools/release -prepare %s", m.dir, version, version))
		}
	}
	return err
}
