package signature

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"example.com/emailplatform/webhook"
)

func TestDiagnose(t *testing.T) {
	secret := webhook.Secret{Key: "d2VzdA==", Hash: webhook.SHA256}
	body := []byte(`{"z":1,"event":"Email.Bounced","text":"a, b: \"c\""}`)
	right := webhook.Sign(secret, body)
	raw, _ := base64.StdEncoding.DecodeString(right)
	key := func(k string) webhook.Secret { return webhook.Secret{Key: k, Hash: secret.Hash} }
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatal(err)
	}
	sorted, _ := json.Marshal(value)
	tests := []struct {
		name      string
		signature string
		want      string // part of the reason
	}{
		{"right", right, ""},
		{"missing", "", "no signature"},
		{"hexadecimal", hex.EncodeToString(raw), "hexadecimal"},
		{"upper-case hexadecimal", strings.ToUpper(hex.EncodeToString(raw)), "hexadecimal"},
		{"no padding", strings.TrimRight(right, "="), "padding"},
		{"URL alphabet", base64.RawURLEncoding.EncodeToString(raw), ""},
		{"base64 of hexadecimal", base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString(raw))), "base64 of the hexadecimal"},
		{"white space", right + "\n", "white space"},
		{"prefix", "sha256=" + right, "prefix"},
		{"prefix and hexadecimal", "sha256=" + hex.EncodeToString(raw), "hexadecimal"},
		{"other hash", webhook.Sign(webhook.Secret{Key: secret.Key, Hash: webhook.SHA512}, body), "sha512"},
		{"secret with line feed", webhook.Sign(key(secret.Key+"\n"), body), "line feed at its end"},
		{"secret decoded from base64", webhook.Sign(key("west"), body), "decoded from base64"},
		{"empty body", webhook.Sign(secret, nil), "over nothing"},
		{"body with line feed", webhook.Sign(secret, append(slices.Clip(body), '\n')), "a line feed"},
		{"encoded again with sorted members", webhook.Sign(secret, sorted), "encoded again"},
		{"encoded again with spaces", webhook.Sign(secret, []byte(`{"z": 1, "event": "Email.Bounced", "text": "a, b: \"c\""}`)), "encoded again"},
		{"indented", webhook.Sign(secret, []byte("{\n  \"z\": 1,\n  \"event\": \"Email.Bounced\",\n  \"text\": \"a, b: \\\"c\\\"\"\n}")), "encoded again"},
		{"other hash in hexadecimal", inHex(webhook.Sign(webhook.Secret{Key: secret.Key, Hash: webhook.SHA512}, body)), "sha512"},
		{"behind its header", "X-Service-Signature: " + right, "name of its header"},
		{"plain hash", base64.StdEncoding.EncodeToString(plainSum(body)), "without the secret"},
		{"other secret", webhook.Sign(key("east"), body), "None of the usual"},
		{"garbage", "garbage", "None of the usual"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Diagnose(secret, body, tt.signature)
			if tt.name == "URL alphabet" && tt.signature != strings.TrimRight(right, "=") {
				tt.want = "URL alphabet"
			}
			if !strings.Contains(got, tt.want) || (tt.signature == right) != (got == "") {
				t.Errorf("reason %q, want %q in it", got, tt.want)
			}
			if strings.Contains(got, secret.Key) || strings.Contains(got, right) {
				t.Errorf("reason %q tells the secret or the signature", got)
			}
		})
	}
}

func inHex(signature string) string {
	raw, _ := base64.StdEncoding.DecodeString(signature)
	return hex.EncodeToString(raw)
}

// What encoders of other languages make of an event as this server writes it.
func TestDiagnoseOtherEncoders(t *testing.T) {
	secret := webhook.Secret{Key: "s"}
	body := []byte(`{"url":"https://x.example/?a=1\u0026b=2","name":"José 😀","n":[1,{}]}`)
	for name, again := range map[string]string{
		"JSON.stringify":                   `{"url":"https://x.example/?a=1&b=2","name":"José 😀","n":[1,{}]}`,
		"JSON.stringify, two spaces":       "{\n  \"url\": \"https://x.example/?a=1&b=2\",\n  \"name\": \"José 😀\",\n  \"n\": [\n    1,\n    {}\n  ]\n}",
		"json.dumps":                       `{"url": "https://x.example/?a=1&b=2", "name": "Jos\u00e9 \ud83d\ude00", "n": [1, {}]}`,
		"json.dumps, sorted":               `{"n": [1, {}], "name": "Jos\u00e9 \ud83d\ude00", "url": "https://x.example/?a=1&b=2"}`,
		"json_encode":                      `{"url":"https:\/\/x.example\/?a=1&b=2","name":"Jos\u00e9 \ud83d\ude00","n":[1,{}]}`,
		"json_encode, UNESCAPED_UNICODE":   `{"url":"https:\/\/x.example\/?a=1&b=2","name":"José 😀","n":[1,{}]}`,
		"json.Marshal of a map[string]any": `{"n":[1,{}],"name":"José 😀","url":"https://x.example/?a=1\u0026b=2"}`,
	} {
		if got := Diagnose(secret, body, webhook.Sign(secret, []byte(again))); !strings.Contains(got, "encoded again") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestDiagnoseSignatureWithoutSecret(t *testing.T) {
	for _, secret := range []webhook.Secret{{}, {Key: "x", Hash: "md5"}} {
		if got := Diagnose(secret, []byte("{}"), "x"); got == "" {
			t.Errorf("%v: no reason", secret)
		}
	}
}

func FuzzDiagnose(f *testing.F) {
	f.Add("key", `{"a":1}`, "x")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, key, body, signature string) {
		secret := webhook.Secret{Key: key}
		verifier, err := webhook.NewVerifier(secret)
		right := err == nil && verifier.Verify([]byte(body), signature) == nil
		if got := Diagnose(secret, []byte(body), signature); (got == "") != right {
			t.Errorf("reason %q for a signature that is right: %v", got, right)
		}
	})
}
