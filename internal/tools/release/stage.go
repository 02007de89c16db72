package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/emailplatform/internal/tools/try"
)

// stage is the environment of a rehearsal.
type stage struct {
	dir, repo  string // all files; the repository with the copy
	goproxy    string // the module cache, then the usual GOPROXY
	exe        string // file name extension of programs, such as .exe
	last, next string // versions; the last is empty before the first release
}

func newStage(ctx context.Context, dir string) *stage {
	s := &stage{dir: dir, repo: filepath.Join(dir, "repo"), last: lastRelease(ctx)}
	s.next = following(s.last)
	env := func(name string) string { return command(ctx, ".", nil, "go", "env", name) }
	s.goproxy, s.exe = fileURL(env("GOMODCACHE"), "cache", "download")+","+env("GOPROXY"), env("GOEXE")
	write(s.repo, nil)
	// Git redirects the module path to the copy and allows no other remote.
	write(dir, map[string]string{"gitconfig": fmt.Sprintf("[user]\n\tname = Release\n\temail = release@example.com\n"+
		"[url %q]\n\tinsteadOf = https://%s\n[protocol]\n\tallow = never\n[protocol \"file\"]\n\tallow = always\n"+
		"[core]\n\tautocrlf = false\n[advice]\n\tdetachedHead = false\n", fileURL(s.repo), root)})
	s.git(ctx, "init", "--quiet", "--initial-branch=main")
	return s
}

func fileURL(elem ...string) string { return "file://" + filepath.ToSlash(filepath.Join(elem...)) }

// git runs git in the copy.
func (s *stage) git(ctx context.Context, args ...string) {
	command(ctx, s.repo, s.alone(), "git", args...)
}

// alone returns an environment with only the copy as a remote for git.
func (s *stage) alone() []string {
	return []string{"GIT_CONFIG_GLOBAL=" + filepath.Join(s.dir, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"}
}

// user returns the environment of a user of the modules: an empty module cache, and proxies.
func (s *stage) user() []string {
	return []string{
		"GOPROXY=" + fileURL(s.dir, "published", "cache", "download") + "," + s.goproxy,
		"GOMODCACHE=" + filepath.Join(s.dir, "modules"), "GOBIN=" + filepath.Join(s.dir, "bin"),
		"GOFLAGS=-modcacherw -trimpath", "GOWORK=off",
		"GOSUMDB=off", // it does not contain these versions
	}
}

// command runs a program with additional environment variables and returns its output. If the program fails, command panics with an error that contains the complete output.
func command(ctx context.Context, dir string, env []string, name string, args ...string) string {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // our own arguments
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		try.Failf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, &out, &errs)
	}
	return strings.TrimSpace(out.String())
}

// lastRelease returns the newest release that HEAD contains, or "" if there is none.
func lastRelease(ctx context.Context) string {
	tags := strings.Split(command(ctx, ".", nil, "git", "tag", "--merged", "HEAD", "--sort=-version:refname", "--list", "v[0-9]*"), "\n")
	if i := slices.IndexFunc(tags, version.MatchString); i >= 0 {
		return tags[i]
	}
	return ""
}

// version matches the version of a release.
var version = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`)

func checkVersion(text string) {
	if !version.MatchString(text) {
		try.Failf("%q is not a version like v0.2.0", text)
	}
}

// following returns the next minor version. The first version is v0.1.0.
func following(last string) string {
	parts := version.FindStringSubmatch(last)
	if parts == nil {
		return "v0.1.0"
	}
	minor, _ := strconv.Atoi(parts[2])
	return fmt.Sprintf("v%s.%d.0", parts[1], minor+1)
}

// release publishes a commit as a version. For HEAD, it publishes the work tree.
func (s *stage) release(ctx context.Context, commit, version string) {
	s.fill(ctx, commit)
	if commit == "HEAD" {
		try.OK(unlisted(goMods(ctx, s.repo)))
		try.OK(prepare(ctx, s.repo, version))
	}
	s.commit(ctx, version)
	s.publish(ctx, version)
}

// fill replaces the files of the copy with the files of a commit. For HEAD, it includes uncommitted changes.
func (s *stage) fill(ctx context.Context, commit string) {
	s.git(ctx, "rm", "-r", "--quiet", "--ignore-unmatch", ".")
	// Git writes the objects of changed files to the copy, not to the user's repository.
	objects := filepath.Join(s.dir, "objects")
	try.OK(os.MkdirAll(objects, 0o700))
	own := command(ctx, ".", nil, "git", "rev-parse", "--path-format=absolute", "--git-path", "objects")
	env := []string{
		"GIT_INDEX_FILE=" + filepath.Join(s.dir, "index"), "GIT_OBJECT_DIRECTORY=" + objects,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + own,
	}
	command(ctx, ".", env, "git", "read-tree", commit)
	if commit == "HEAD" {
		command(ctx, ".", env, "git", "add", "--all")
	}
	command(ctx, ".", env, "git", "checkout-index", "--all", "--prefix="+filepath.ToSlash(s.repo)+"/")
}

// commit renames the module path of the copy and commits all files.
func (s *stage) commit(ctx context.Context, message string) {
	command(ctx, s.repo, nil, "go", "run", filepath.Join(s.repo, "internal", "tools", "rename", "main.go"), root)
	s.git(ctx, "add", "--all")
	s.git(ctx, "commit", "--quiet", "--message", message)
}

// publish tags the modules in the copy. The go command downloads them directly from the tags into a module cache,
// which has the files that a proxy serves.
func (s *stage) publish(ctx context.Context, version string) {
	download := []string{"mod", "download"}
	for _, m := range published() {
		if _, err := os.Stat(filepath.Join(s.repo, m.dir, "go.mod")); errors.Is(err, fs.ErrNotExist) {
			continue // the module did not exist yet
		}
		s.git(ctx, "tag", m.tag(version))
		download = append(download, m.path()+"@"+version)
	}
	env := append(s.alone(), "GOPROXY=direct", "GOSUMDB=off", "GOWORK=off", "GOFLAGS=-modcacherw",
		"GOMODCACHE="+filepath.Join(s.dir, "published"))
	command(ctx, s.dir, env, "go", download...)
	fmt.Println(version, "of", len(download)-2, "modules is published")
}
