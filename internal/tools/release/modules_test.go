package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// releasable creates a repository with modules that require a version of the root, and an origin that records
// pushes.
func releasable(t *testing.T, requires string) (repo, pushes string) {
	t.Helper()
	needGit(t)
	dir := t.TempDir()
	repo, pushes = filepath.Join(dir, "repo"), filepath.Join(dir, "pushes")
	for _, m := range published() {
		text := "module own.test/mail/" + m.dir + "\n\nrequire own.test/mail " + requires + "\n"
		if m.dir == "." {
			text = "module own.test/mail\n"
		}
		write(filepath.Join(repo, m.dir), map[string]string{"go.mod": text})
	}
	t.Setenv("GOWORK", "off")
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"config", "user.name", "Release"},
		{"config", "user.email", "release@example.com"},
		{"add", "--all"},
		{"commit", "--quiet", "--message", "Release"},
		{"init", "--quiet", "--bare", filepath.Join(dir, "origin")},
		{"remote", "add", "origin", filepath.Join(dir, "origin")},
	} {
		command(t.Context(), repo, nil, "git", args...)
	}
	hook := "#!/bin/sh\nwhile read -r _ _ ref; do echo \"$ref\"; done >>'" + filepath.ToSlash(pushes) + "'\necho end >>'" + filepath.ToSlash(pushes) + "'\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "origin", "hooks", "post-receive"), []byte(hook), 0o700))
	return repo, pushes
}

// TestPush: each tag has its own push, and the root's tag is last. A second call changes nothing.
func TestPush(t *testing.T) {
	repo, pushes := releasable(t, "v0.2.0")
	for range 2 {
		require.NoError(t, push(t.Context(), repo, "v0.2.0"))
	}
	want := ""
	for _, dir := range []string{"mcp/", "contrib/redisstore/", "contrib/pgstore/", "contrib/riverjobs/", "contrib/emailotel/", ""} {
		want += "refs/tags/" + dir + "v0.2.0\nend\n"
	}
	got, err := os.ReadFile(pushes)
	if err != nil || string(got) != want {
		t.Errorf("pushed %v\n%s\nwant\n%s", err, got, want)
	}
}

// TestPushRequiresPreparedRelease: push creates no tag if the release is not prepared.
func TestPushRequiresPreparedRelease(t *testing.T) {
	repo, pushes := releasable(t, "v0.1.0")
	for name, want := range map[string]string{"v0.2.0": "mcp does not require v0.2.0", "0.1.0": "is not a version"} {
		if err := push(t.Context(), repo, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	write(repo, map[string]string{"more.txt": "more"})
	if err := push(t.Context(), repo, "v0.1.0"); err == nil || !strings.Contains(err.Error(), "not committed") {
		t.Errorf("a changed checkout: %v", err)
	}
	assert.Empty(t, command(t.Context(), repo, nil, "git", "tag"), "tags remain")
	if _, err := os.Stat(pushes); err == nil {
		t.Error("something was pushed")
	}
}

// needGit skips a test on a developer's machine without git. In CI the test fails.
func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("this test needs git")
	}
}

func TestUnknownModules(t *testing.T) {
	files := []string{"go.mod", "mcp/go.mod", "internal/benchmarks/go.mod", "examples/durable/go.mod", "mockserver/console/e2e/go.mod"}
	assert.NoError(t, unlisted(files))
	err := unlisted(append(files, "contrib/new/go.mod", "internals/go.mod"))
	if err == nil || !strings.Contains(err.Error(), "contrib/new is") || !strings.Contains(err.Error(), "internals is") {
		t.Errorf("two unlisted modules: %v", err)
	}
}
