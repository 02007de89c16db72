package client

import (
	"flag"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"testing"

	"example.com/emailplatform/internal/respell"
)

// respelling is the variable of the environment that has all tests of this
// package run against answers in the other spelling.
const respelling = "EMAILPLATFORM_TEST_RESPELL"

// TestMain starts the tests of the other spelling, if they are to run, so that
// they run beside those of the first.
func TestMain(m *testing.M) {
	flag.Parse()
	asked := func(name string) string { return flag.Lookup("test." + name).Value.String() }
	runs := asked("list") == "" && asked("fuzz") == "" && regexp.MustCompile(asked("run")).MatchString("TestOtherSpelling")
	if runs && os.Getenv(respelling) == "" {
		go func() { _, _ = otherSpelling() }() // TestOtherSpelling asks for what came of it
	}
	os.Exit(m.Run())
}

// otherSpelling runs all tests of this package once more, in a process of its own.
var otherSpelling = sync.OnceValues(func() ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-test.short", "-test.failfast", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), respelling+"=1")
	return cmd.CombinedOutput()
})

// TestOtherSpelling runs all tests once more, against a platform that spells its
// answers in the other known way.
func TestOtherSpelling(t *testing.T) {
	if os.Getenv(respelling) != "" {
		t.Skip("this is the other spelling")
	}
	t.Parallel()
	if out, err := otherSpelling(); err != nil {
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
