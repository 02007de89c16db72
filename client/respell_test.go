package client

import (
	"net/http"
	"os"
	"os/exec"
	"testing"

	"example.com/emailplatform/internal/respell"
)

// respelling is the variable of the environment that has all tests of this
// package run against answers in the other spelling.
const respelling = "EMAILPLATFORM_TEST_RESPELL"

// TestOtherSpelling runs all tests once more, against a platform that spells its
// answers in the other known way.
func TestOtherSpelling(t *testing.T) {
	if os.Getenv(respelling) != "" {
		t.Skip("this is the other spelling")
	}
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.short", "-test.failfast", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), respelling+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s=1: %v\n%s", respelling, err, out)
	}
}

// Spelled returns next, or if the tests run for the other spelling, a transport
// that respells its answers.
func Spelled(next http.RoundTripper) http.RoundTripper {
	if os.Getenv(respelling) == "" {
		return next
	}
	return respell.Transport(next)
}
