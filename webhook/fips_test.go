package webhook

import (
	"crypto/fips140"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func tooShortFIPS(s Secret) bool { return fips140.Enforced() && len(s.Reveal()) < 14 }

// TestShortKeys: in FIPS 140-only mode crypto/hmac panics for keys of less than 14 bytes. Functions that take a
// secret must return an error.
func TestShortKeys(t *testing.T) {
	mode := "any key"
	if fips140.Enforced() {
		mode = "FIPS 140-only"
	}
	t.Run(mode, func(t *testing.T) {
		const rule = "the secret must be at least 14 bytes long in FIPS 140-only mode"
		for _, key := range []string{"s", "0123456789abc", "0123456789abcd"} {
			for _, hash := range []HashFunction{SHA256, SHA512} {
				secret := secretOf(key, hash)
				_, verifying := NewVerifier(secret)
				_, parsing := ParseSecret(key, string(hash))
				_, signing := Sign(secret, nil)
				_, requesting := NewRequest(t.Context(), "http://127.0.0.1/", secret, nil)
				for function, err := range map[string]error{
					"NewVerifier": verifying, "ParseSecret": parsing, "Sign": signing, "NewRequest": requesting,
				} {
					if want := tooShortFIPS(secret); (err != nil) != want || want && !strings.HasSuffix(err.Error(), rule) {
						t.Errorf("%s with a key of %d bytes for %s: error %v, want one: %v", function, len(key), hash, err, want)
					}
				}
			}
		}
	})
}

// TestFIPSOnly runs the tests of the package in a process in FIPS 140-only mode.
func TestFIPSOnly(t *testing.T) {
	if fips140.Enforced() {
		t.Skip("this process is in that mode")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.failfast", "-test.skip=^TestFlood$")
	cmd.Env = append(os.Environ(), "GODEBUG=fips140=only")
	out, err := cmd.CombinedOutput()
	switch text := string(out); {
	case strings.Contains(text, "FIPS 140-3 mode is"): // not supported with purego, or on windows/386
		t.Skip(text)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case !strings.Contains(text, "--- PASS: TestShortKeys/FIPS_140-only"):
		t.Errorf("the mode was not on:\n%s", out)
	}
}
