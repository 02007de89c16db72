package webhook

import (
	"crypto/fips140"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func tooShortFIPS(s Secret) bool { return fips140.Enforced() && len(s.Reveal()) < 14 }

// TestUnusableKeys: in FIPS 140-only mode, crypto/hmac panics for keys of less than 14 bytes. Functions that take
// a secret must return an error instead, as they do for the zero Secret.
func TestUnusableKeys(t *testing.T) {
	mode, short := "any key", ""
	if fips140.Enforced() {
		mode, short = "FIPS 140-only", "the secret must be at least 14 bytes long in FIPS 140-only mode"
	}
	t.Run(mode, func(t *testing.T) {
		for _, tt := range []struct {
			secret Secret
			want   string // "" if there must be no error
		}{
			{Secret{}, "secret must not be empty"},
			{secretOf("s", SHA512), short},
			{secretOf("0123456789abc", SHA256), short},
			{secretOf("0123456789abcd", SHA256), ""},
		} {
			_, verifying := NewVerifier(tt.secret)
			_, parsing := ParseSecret(tt.secret.Reveal(), string(tt.secret.HashFunction()))
			_, signing := Sign(tt.secret, nil)
			_, requesting := NewRequest(t.Context(), "http://127.0.0.1/", tt.secret, nil)
			for i, err := range []error{verifying, parsing, signing, requesting} {
				if (err != nil) != (tt.want != "") || err != nil && !strings.HasSuffix(err.Error(), tt.want) {
					t.Errorf("key %q, function %d: error %v, want %q", tt.secret.Reveal(), i, err, tt.want)
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
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.failfast")
	cmd.Env = append(os.Environ(), "GODEBUG=fips140=only")
	out, err := cmd.CombinedOutput()
	switch text := string(out); {
	case strings.Contains(text, "FIPS 140-3 mode is"): // not supported with purego, or on windows/386
		t.Skip(text)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case !strings.Contains(text, "--- PASS: TestUnusableKeys/FIPS_140-only"):
		t.Errorf("FIPS mode was off:\n%s", out)
	}
}
