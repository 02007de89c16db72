package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// stage is where a release is rehearsed.
type stage struct {
	dir, repo  string   // everything; the copy, a repository of its own
	files      []string // of the work tree
	goproxy    string   // the ordinary one, behind the module cache
	last, next string   // versions; the last is empty before the first release
}

func newStage(ctx context.Context, dir string) (*stage, error) {
	s := &stage{dir: dir, repo: filepath.Join(dir, "repo")}
	var err error
	if s.files, err = tracked(ctx); err != nil {
		return nil, err
	}
	out, err := command(ctx, ".", nil, "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(out, "\n")
	s.goproxy = fileURL(lines[0], "cache", "download") + "," + lines[1]
	if err := os.Mkdir(s.repo, 0o750); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "gitconfig"), []byte(s.gitconfig()), 0o600); err != nil {
		return nil, err
	}
	if s.last, err = lastRelease(ctx); err != nil {
		return nil, err
	}
	s.next = following(s.last)
	return s, s.git(ctx, "init", "--quiet", "--initial-branch=main")
}

// gitconfig makes the copy what is found at its path, and nothing else of what lies elsewhere.
func (s *stage) gitconfig() string {
	return fmt.Sprintf("[user]\n\tname = Release\n\temail = release@example.com\n"+
		"[url %q]\n\tinsteadOf = https://%s\n[protocol]\n\tallow = never\n[protocol \"file\"]\n\tallow = always\n"+
		"[core]\n\tautocrlf = false\n[advice]\n\tdetachedHead = false\n", fileURL(s.repo), root)
}

func fileURL(elem ...string) string { return "file://" + filepath.ToSlash(filepath.Join(elem...)) }

// tracked are the files of the work tree that are not ignored.
func tracked(ctx context.Context) ([]string, error) {
	out, err := command(ctx, ".", nil, "git", "ls-files", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	var files []string
	for f := range strings.SplitSeq(out, "\n") {
		if _, err := os.Stat(f); !errors.Is(err, os.ErrNotExist) { // removed, but not yet from the index
			files = append(files, f)
		}
	}
	return files, nil
}

// git runs in the copy.
func (s *stage) git(ctx context.Context, args ...string) error {
	_, err := command(ctx, s.repo, s.alone(), "git", args...)
	return err
}

// alone returns an environment that lets git find only the copy.
func (s *stage) alone() []string {
	return []string{"GIT_CONFIG_GLOBAL=" + filepath.Join(s.dir, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"}
}

// user is the environment of one who has never seen this repository: an empty module cache, and proxies.
func (s *stage) user() []string {
	return []string{
		"GOPROXY=" + fileURL(s.dir, "published", "cache", "download") + "," + s.goproxy,
		"GOMODCACHE=" + filepath.Join(s.dir, "modules"), "GOBIN=" + filepath.Join(s.dir, "bin"),
		"GOFLAGS=-modcacherw -trimpath", "GOWORK=off",
		"GOSUMDB=off", // it has never heard of these versions
	}
}

// command runs a program and returns its output. env is added to the environment of
// this process. Errors contain the complete output.
func command(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // our own arguments
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var said, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &errs
	if err := cmd.Run(); err != nil {
		return said.String(), fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, &said, &errs)
	}
	return strings.TrimSpace(said.String()), nil
}
