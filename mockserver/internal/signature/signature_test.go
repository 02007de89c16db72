package signature

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"runtime"
	"slices"
	"strconv"
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

// A body that is not a JSON object in UTF-8 shows what happened to it, even if the signature belongs to another body.
func TestDiagnoseBody(t *testing.T) {
	secret := parsed("d2VzdA==", "")
	delivered := `{"event":"Email.Bounced","name":"José"}`
	utf16 := func(high, low int) string {
		var out strings.Builder
		for _, r := range delivered {
			out.Write([]byte{byte(r >> high), byte(r >> low)})
		}
		return out.String()
	}
	for name, tt := range map[string]struct{ body, signed, want string }{
		"empty":                       {"", delivered, "The body is empty"},
		"white space":                 {" \n", delivered, "The body is empty"},
		"JavaScript object":           {"[object Object]", delivered, "decoded object"},
		"JavaScript buffer":           {`{"type":"Buffer","data":[123,125]}`, delivered, "decoded object"},
		"PHP array":                   {"Array\n(\n    [event] => Email.Bounced\n)\n", delivered, "decoded object"},
		"Python dict":                 {"{'event': 'Email.Bounced'}", delivered, "decoded object"},
		"Python bytes":                {"b'" + delivered + "'", delivered, "decoded object"},
		"Ruby hash":                   {`{"event"=>"Email.Bounced"}`, delivered, "decoded object"},
		"Java map":                    {"{event=Email.Bounced}", delivered, "decoded object"},
		"C# object":                   {"System.Text.Json.JsonDocument", delivered, "decoded object"},
		"Go map":                      {"map[event:Email.Bounced]", delivered, "decoded object"},
		"the event of a function":     {`{"version":"2.0","body":"{}"}`, delivered, "not an event"},
		"a string":                    {strconv.Quote(delivered), delivered, "not an event"},
		"incomplete":                  {delivered[:20], delivered, "incomplete"},
		"base64":                      {base64.StdEncoding.EncodeToString([]byte(delivered)), delivered, "encoded as base64"},
		"base64, other body":          {base64.StdEncoding.EncodeToString([]byte(delivered)), "other", "not an event"},
		"JSON with an arrow":          {`{"event":"a","data":{"name":"a\"=> b"}}`, "other", "No common cause"},
		"byte order mark":             {byteOrderMark + delivered, delivered, "mark was added"},
		"byte order mark, other body": {byteOrderMark + delivered, "other", "begins with a byte order mark"},
		"Latin-1":                     {strings.Replace(delivered, "é", "\xe9", 1), delivered, "to Latin-1"},
		"Latin-1, other body":         {strings.Replace(delivered, "é", "\xe9", 1), "other", "such as Latin-1"},
		"UTF-16, little-endian":       {utf16(0, 8), delivered, "to UTF-16"},
		"UTF-16, big-endian":          {utf16(8, 0), delivered, "to UTF-16"},
		"UTF-16 with a mark":          {"\xff\xfe" + utf16(0, 8), delivered, "to UTF-16"},
		"UTF-16, other body":          {"\xff\xfe" + utf16(0, 8), "other", "The body is UTF-16"},
	} {
		assert.Contains(t, Diagnose(secret, []byte(tt.body), sign(secret, []byte(tt.signed))), tt.want, name)
	}
}

// Diagnose makes few copies of a large or deeply nested body, and ignores a long signature.
func TestDiagnoseLimits(t *testing.T) {
	secret := parsed("d2VzdA==", "")
	const depth = 5000
	large := `{"text":"` + strings.Repeat("x", 4<<20) + `"}`
	for name, tt := range map[string]struct {
		body, signature string
		limit           int // allocated bytes
	}{
		"nested": {strings.Repeat("[", depth) + strings.Repeat("]", depth), "x", 1 << 20},
		"large":  {large, "x", 8 * len(large)},
		"colons": {large, strings.Repeat(":", 1000), len(large)},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		assert.NotEmpty(t, Diagnose(secret, []byte(tt.body), tt.signature))
		runtime.ReadMemStats(&after)
		assert.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(tt.limit+64<<10), name)
	}
	assert.Equal(t, "The value is longer than any signature.", Diagnose(secret, []byte("{}"), strings.Repeat(":", maxSignature+1)))
}

func TestNesting(t *testing.T) {
	for text, want := range map[string]int{`1`: 0, `{"a":[]}`: 2, `["[[\"[[","\\",[]]`: 2} {
		assert.Equal(t, want, nesting([]byte(text)), text)
	}
}

func inHex(signature string) string {
	raw, _ := base64.StdEncoding.DecodeString(signature)
	return hex.EncodeToString(raw)
}

// Diagnose detects JSON encoders other than the platform's, which change the bytes of an event in different ways.
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
