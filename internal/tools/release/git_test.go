package main

import (
	"os"
	"os/exec"
	"testing"
)

// needGit skips a test on a developer's machine without git. In CI the test fails.
func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("this test needs git")
	}
}
