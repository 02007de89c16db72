package signature

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/webhook"
)

func parsed(text string, function webhook.HashFunction) webhook.Secret {
	secret, err := webhook.ParseSecret(text, string(function))
	if err != nil {
		panic(err)
	}
	return secret
}

func sign(secret webhook.Secret, body []byte) string {
	signature, err := webhook.Sign(secret, body)
	if err != nil {
		panic(err)
	}
	return signature
}

func TestDiagnose(t *testing.T) {
	secret := parsed("d2VzdA==", webhook.SHA256)
	body := []byte(`{"z":1,"event":"Email.Bounced","text":"a, b: \"c\""}`)
	right := sign(secret, body)
	raw, _ := base64.StdEncoding.DecodeString(right)
	sum := sha256.Sum256(body)
	tests := []struct {
		name      string
		signature string
		want      string // expected in the reason
	}{
		{name: "right", signature: right},
		{name: "missing", want: "is missing"},
		{name: "hexadecimal", signature: inHex(right), want: "hexadecimal"},
		{name: "upper-case hexadecimal", signature: strings.ToUpper(inHex(right)), want: "hexadecimal"},
		{name: "no padding", signature: strings.TrimRight(right, "="), want: "padding"},
		{name: "URL alphabet", signature: base64.RawURLEncoding.EncodeToString(raw)},
		{name: "base64 of hexadecimal", signature: base64.StdEncoding.EncodeToString([]byte(inHex(right))), want: "base64 of the hexadecimal"},
		{name: "white space", signature: right + "\n", want: "white space"},
		{name: "prefix", signature: "sha256=" + right, want: "prefix"},
		{name: "prefix and hexadecimal", signature: "sha256=" + inHex(right), want: "hexadecimal"},
		{name: "other hash", signature: sign(parsed(secret.Reveal(), webhook.SHA512), body), want: "sha512"},
		{name: "secret with line feed", signature: candidate{key: secret.Reveal() + "\n", body: body}.sign(), want: "trailing line feed"},
		{name: "secret decoded from base64", signature: sign(parsed("west", ""), body), want: "decoded from base64"},
		{name: "empty body", signature: sign(secret, nil), want: "empty body"},
		{name: "body with line feed", signature: sign(secret, append(slices.Clip(body), '\n')), want: "a trailing line feed"},
		{name: "other hash in hexadecimal", signature: inHex(sign(parsed(secret.Reveal(), webhook.SHA512), body)), want: "sha512"},
		{name: "after the name of its header", signature: "X-Service-Signature: " + right, want: "header name"},
		{name: "plain hash", signature: base64.StdEncoding.EncodeToString(sum[:]), want: "without the secret"},
		{name: "other secret", signature: sign(parsed("east", ""), body), want: "No common cause"},
		{name: "garbage", signature: "garbage", want: "No common cause"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Diagnose(secret, body, tt.signature)
			if tt.name == "URL alphabet" && tt.signature != strings.TrimRight(right, "=") {
				tt.want = "URL-safe"
			}
			if !strings.Contains(got, tt.want) || (tt.signature == right) != (got == "") {
				t.Errorf("reason %q, want %q in it", got, tt.want)
			}
			if strings.Contains(got, secret.Reveal()) || strings.Contains(got, right) {
				t.Errorf("reason %q contains the secret or the signature", got)
			}
		})
	}
}

func inHex(signature string) string {
	raw, _ := base64.StdEncoding.DecodeString(signature)
	return hex.EncodeToString(raw)
}

// Other JSON encoders change the bytes of an event in different ways. Diagnose detects them.
func TestDiagnoseOtherEncoders(t *testing.T) {
	secret := parsed("s", "")
	body := []byte(`{"url":"https://x.example/?a=1\u0026b=2","name":"José 😀, \"Z\": x","n":[1,{}]}`)
	for name, again := range map[string]string{
		"JSON.stringify": `{"url":"https://x.example/?a=1&b=2","name":"José 😀, \"Z\": x","n":[1,{}]}`,
		"JSON.stringify, two spaces": "{\n  \"url\": \"https://x.example/?a=1&b=2\",\n" +
			"  \"name\": \"José 😀, \\\"Z\\\": x\",\n  \"n\": [\n    1,\n    {}\n  ]\n}",
		"json.dumps":                       `{"url": "https://x.example/?a=1&b=2", "name": "Jos\u00e9 \ud83d\ude00, \"Z\": x", "n": [1, {}]}`,
		"json.dumps, sorted":               `{"n": [1, {}], "name": "Jos\u00e9 \ud83d\ude00, \"Z\": x", "url": "https://x.example/?a=1&b=2"}`,
		"json_encode":                      `{"url":"https:\/\/x.example\/?a=1&b=2","name":"Jos\u00e9 \ud83d\ude00, \"Z\": x","n":[1,{}]}`,
		"json_encode, UNESCAPED_UNICODE":   `{"url":"https:\/\/x.example\/?a=1&b=2","name":"José 😀, \"Z\": x","n":[1,{}]}`,
		"json.Marshal of a map[string]any": `{"n":[1,{}],"name":"José 😀, \"Z\": x","url":"https://x.example/?a=1\u0026b=2"}`,
	} {
		assert.Contains(t, Diagnose(secret, body, sign(secret, []byte(again))), "re-encoded", name)
	}
}

func TestDiagnoseSignatureWithoutSecret(t *testing.T) {
	assert.Equal(t, "secret must not be empty", Diagnose(webhook.Secret{}, []byte("{}"), "x"), "reason")
}

func FuzzDiagnose(f *testing.F) {
	f.Add("key", `{"a":1}`, "x")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, key, body, signature string) {
		secret, _ := webhook.ParseSecret(key, "") // the zero Secret if the key is invalid
		verifier, err := webhook.NewVerifier(secret)
		right := err == nil && verifier.Verify([]byte(body), signature) == nil
		if got := Diagnose(secret, []byte(body), signature); (got == "") != right {
			t.Errorf("reason %q for a valid signature: %v", got, right)
		}
	})
}
