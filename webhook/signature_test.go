package webhook

import (
	"crypto/fips140"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unique"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func mustSign(secret Secret, body []byte) string {
	signature, err := Sign(secret, body)
	if err != nil {
		panic(err)
	}
	return signature
}

var testSecret = secretOf("whsec_0123456789", SHA256)

// secretOf returns a secret that ParseSecret may reject.
func secretOf(text string, function HashFunction) Secret { return Secret{unique.Make(text), function} }

func newVerifier(t testing.TB, secrets ...Secret) *Verifier {
	t.Helper()
	v, err := NewVerifier(secrets...)
	require.NoError(t, err)
	return v
}

// TestVectors compares signatures with the output of openssl. See testdata/vectors.sh.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/vectors.json")
	require.NoError(t, err)
	var vectors []struct {
		Name    string
		Secrets []struct {
			Key  string
			Hash HashFunction
		}
		Text      string
		Times     int
		Signature string
	}
	require.NoError(t, json.Unmarshal(data, &vectors))
	if len(vectors) < 20 {
		t.Fatalf("%d vectors: the file is incomplete", len(vectors))
	}
	for _, vec := range vectors {
		t.Run(vec.Name, func(t *testing.T) {
			var secrets []Secret
			for _, s := range vec.Secrets {
				secrets = append(secrets, secretOf(s.Key, s.Hash))
			}
			if slices.ContainsFunc(secrets, tooShortFIPS) {
				t.Skip("FIPS 140-only mode forbids the key")
			}
			body := []byte(strings.Repeat(vec.Text, vec.Times))
			assert.NoError(t, newVerifier(t, secrets...).Verify(body, vec.Signature), "Verify")
			signers := 0
			for _, s := range secrets {
				if mustSign(s, body) == vec.Signature {
					signers++
				}
			}
			assert.Equal(t, 1, signers, "secrets create the signature of openssl")
		})
	}
}

func TestParseSecret(t *testing.T) {
	for name, tc := range map[string]struct {
		key, hash string
		want      Secret
	}{
		"no function":          {"whsec_for_tests", "", secretOf("whsec_for_tests", SHA256)},
		"a function":           {"whsec_for_tests", "sha512", secretOf("whsec_for_tests", SHA512)},
		"in capitals":          {"whsec_for_tests", "SHA512", secretOf("whsec_for_tests", SHA512)},
		"white space within":   {"whsec for tests", "sha256", secretOf("whsec for tests", SHA256)},
		"Windows' line's end":  {"whsec_for_tests\r\n", "sha256", Secret{}},
		"a space before":       {" whsec_for_tests", "sha256", Secret{}},
		"a space of no break":  {"whsec_for_tests\u00a0", "sha256", Secret{}},
		"nothing":              {"", "sha256", Secret{}},
		"blanks":               {" \n", "sha256", Secret{}},
		"a weak function":      {"whsec_for_tests", "md5", Secret{}},
		"a function and blank": {"whsec_for_tests", "sha256 ", Secret{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseSecret(tc.key, tc.hash)
			assert.Equal(t, tc.want, got)
			assert.Equal(t, tc.want != Secret{}, err == nil)
			if err != nil && strings.Contains(err.Error(), "whsec") {
				t.Errorf("the error contains the key: %v", err)
			}
		})
	}
}

// TestInvalidSignatures: only one text is the signature of a body, even if it contains characters that differ between
// the two alphabets of base64.
func TestInvalidSignatures(t *testing.T) {
	body := []byte(`{"event": "Email.Bounced", "id": "e1"}`)
	for !strings.ContainsAny(mustSign(testSecret, body), "+/") {
		body = append(body, ' ')
	}
	good := mustSign(testSecret, body)
	raw, err := base64.StdEncoding.DecodeString(good)
	require.NoError(t, err)
	for _, tt := range []struct{ name, signature string }{
		{"wrong secret", mustSign(secretOf("whsec_0123456788", SHA256), body)},
		{"another hash function", mustSign(secretOf(testSecret.Reveal(), SHA512), body)},
		{"another body", mustSign(testSecret, append([]byte{body[0] ^ 1}, body[1:]...))},
		{"longer body", mustSign(testSecret, append(slices.Clip(body), ' '))},
		{"empty key", emptyKey(body)},
		{"hex instead of base64", hex.EncodeToString(raw)},
		{"URL-safe base64", base64.URLEncoding.EncodeToString(raw)},
		{"no padding", strings.TrimRight(good, "=")},
		{"newline instead of the padding", strings.TrimRight(good, "=") + "\n"},
		{"newline inside", good[:20] + "\n" + good[20:]},
		{"carriage return at the end", good + "\r"},
		{"space in front", " " + good},
		{"other trailing bits", trailingBits(good)},
		{"prefix of the function", "sha256=" + good},
		{"two signatures", good + ", " + good},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, v := range []*Verifier{newVerifier(t, testSecret), newVerifier(t, secretOf("another_secret", SHA256), testSecret)} {
				if err := v.Verify(body, tt.signature); err != ErrInvalidSignature {
					t.Errorf("Verify = %v, want %v", err, ErrInvalidSignature)
				}
			}
		})
	}
	v := newVerifier(t, testSecret)
	assert.NoError(t, v.Verify(body, good), "the valid signature")
	assert.ErrorIs(t, v.Verify(body, ""), ErrMissingSignature, "without a signature")
}

// trailingBits sets unused bits in the last character, which a lenient decoder ignores.
func trailingBits(signature string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	last := strings.IndexByte(alphabet, signature[42])
	return signature[:42] + string(alphabet[last|1]) + signature[43:]
}

func emptyKey(body []byte) string {
	var mac hash.Hash
	fips140.WithoutEnforcement(func() { mac = hmac.New(sha256.New, nil) })
	mac.Write(body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func TestSecretHidesKey(t *testing.T) {
	const key = "whsec_never_shown"
	s := secretOf(key, SHA512)
	v := newVerifier(t, s)
	var logged strings.Builder
	for _, h := range []slog.Handler{slog.NewTextHandler(&logged, nil), slog.NewJSONHandler(&logged, nil)} {
		slog.New(h).Info("secret", "one", s, "pointer", &s, "inside", struct{ S Secret }{s}, "verifier", v)
	}
	marshaled, err := json.Marshal(map[string]any{"secret": s, "list": []*Secret{&s}})
	require.NoError(t, err)
	hidden := struct{ secret Secret }{s} // package fmt does not call methods of unexported fields
	asXML, err := xml.Marshal(s)
	require.NoError(t, err)
	shown := []string{logged.String(), string(marshaled), string(asXML), s.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p"} {
		shown = append(shown, fmt.Sprintf(verb, hidden), fmt.Sprintf(verb, &hidden))
		shown = append(shown, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, []Secret{s}),
			fmt.Sprintf(verb, v), fmt.Sprintf(verb, *v))
	}
	asBytes := strings.Trim(fmt.Sprintf("%d", []byte(key)), "[]")
	for _, text := range shown {
		for _, leak := range []string{key, fmt.Sprintf("%x", key), fmt.Sprintf("%X", key), asBytes} {
			assert.NotContains(t, text, leak, "the output contains the key")
		}
	}
}

func TestVerifyConcurrently(t *testing.T) {
	v := newVerifier(t, testSecret)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			body := []byte(strings.Repeat("x", i*100))
			signature := mustSign(testSecret, body)
			for range 200 {
				assert.NoError(t, v.Verify(body, signature), "genuine")
				assert.Error(t, v.Verify(append(body, 'y'), signature), "a forgery is accepted")
			}
		})
	}
	wg.Wait()
}

func FuzzVerify(f *testing.F) {
	body := []byte(`{"event":"Email.Bounced"}`)
	f.Add(body, mustSign(testSecret, body), "k", false)
	f.Add(body, strings.TrimRight(mustSign(testSecret, body), "="), "k", false)
	f.Add([]byte{}, "", "k", true)
	f.Add(body, "\n===", "another", true)
	f.Fuzz(func(t *testing.T, body []byte, signature, keyText string, long bool) {
		name, function := SHA256, sha256.New
		if long {
			name, function = SHA512, sha512.New
		}
		s, err := ParseSecret(keyText, string(name))
		if err != nil {
			if keyText != "" && strings.TrimSpace(keyText) == keyText && !tooShortFIPS(secretOf(keyText, name)) {
				t.Fatal(err)
			}
			return
		}
		v, err := NewVerifier(s)
		require.NoError(t, err)
		mac := hmac.New(function, []byte(keyText))
		mac.Write(body)
		want := base64.StdEncoding.EncodeToString(mac.Sum(nil))
		if got := v.Verify(body, signature) == nil; got != (signature == want) {
			t.Fatalf("Verify accepts: %v, the signature is valid: %v", got, signature == want)
		}
		require.NoError(t, v.Verify(body, want), "the valid signature is rejected")
	})
}

func TestNewRequest(t *testing.T) {
	req, err := NewRequest(t.Context(), "http://127.0.0.1/hook?a=b", testSecret, []byte("{}"))
	require.NoError(t, err)
	body, err := io.ReadAll(req.Body)
	require.NoError(t, err)
	assert.Equal(t, "{}", string(body))
	assert.EqualValues(t, 2, req.ContentLength)
	assert.Equal(t, http.MethodPost, req.Method)
	assert.Equal(t, "/hook", req.URL.Path)
	assert.Equal(t, "application/json", req.Header.Get("Content-Type"))
	assert.Equal(t, mustSign(testSecret, body), req.Header.Get(DefaultSignatureHeader), "signature")
	if _, err := NewRequest(t.Context(), "http://[::1", testSecret, nil); err == nil {
		t.Error("a malformed URL is accepted")
	}
}

// TestNoSecrets: NewVerifier requires a secret, and its error names the position of an invalid secret. The zero
// Verifier rejects all signatures.
func TestNoSecrets(t *testing.T) {
	if v, err := NewVerifier(); err == nil {
		t.Errorf("got %v without a secret, want an error", v)
	}
	_, err := NewVerifier(testSecret, Secret{})
	assert.ErrorContains(t, err, "secret 2:")
	assert.ErrorIs(t, new(Verifier).Verify(nil, emptyKey(nil)), ErrInvalidSignature, "Verify")
}
