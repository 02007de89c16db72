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

// TestAddChecksums: the checksums contain each file once, even if the files were packed again.
func TestAddChecksums(t *testing.T) {
	dir := t.TempDir()
	list, file := filepath.Join(dir, "checksums.txt"), filepath.Join(dir, "mock-1.0.0.tgz")
	other := strings.Repeat("0", 64) + "  mockserver_1.0.0_linux_amd64.tar.gz\n"
	require.NoError(t, os.WriteFile(list, []byte(other), 0o600))
	for _, content := range []string{"old", "abc"} {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		addChecksums(list, []string{file})
	}
	got, err := os.ReadFile(list)
	require.NoError(t, err)
	assert.Equal(t, other+"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  mock-1.0.0.tgz\n", string(got))
	if path, err := exec.LookPath("sha256sum"); err == nil {
		cmd := exec.CommandContext(t.Context(), path, "--check", "--ignore-missing", list)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

// TestWorkflowsPublishAfterReview: the release workflow uploads the checksums of the npm packages, and does not push the image
// as latest. This tag follows the publication of the draft.
func TestWorkflowsPublishAfterReview(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("../../../.github/workflows/" + name)
		require.NoError(t, err)
		return string(text)
	}
	release, image := read("release.yml"), read("image.yml")
	packed, uploaded := strings.Index(release, "release -npm"), strings.Index(release, "--clobber dist/checksums.txt")
	assert.True(t, 0 < packed && packed < uploaded && uploaded < strings.Index(release, "subject-checksums: dist/checksums.txt"))
	assert.NotContains(t, release, ":latest")
	assert.Contains(t, image, "types: [published]")
	assert.Contains(t, image, ":latest")
}
