// Package signature explains invalid signatures.
package signature

import (
	"bytes"
	"crypto/fips140"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"example.com/emailplatform/webhook"
)

// Diagnose explains an invalid signature. The returned text describes the
// detected cause, or states that no common cause was detected. If the signature
// is valid, Diagnose returns "". The returned text contains neither the secret
// nor a signature. Diagnose also describes an invalid secret.
func Diagnose(secret webhook.Secret, body []byte, signature string) string {
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		return strings.TrimPrefix(err.Error(), "webhook: secret 1: ")
	}
	if verifier.Verify(body, signature) == nil {
		return ""
	}
	if reason := misencoded(secret, body, signature); reason != "" {
		return reason
	}
	raw, _ := hex.DecodeString(signature)
	unhexed := base64.StdEncoding.EncodeToString(raw)
	for _, m := range candidates(secret, body) {
		switch {
		case m.sign() == signature:
			return m.reason
		case m.sign() == unhexed:
			return m.reason + " The value is also encoded as hexadecimal. Encode it as base64."
		}
	}
	sum := sha256.Sum256(body)
	if signature == hex.EncodeToString(sum[:]) || signature == base64.StdEncoding.EncodeToString(sum[:]) {
		return "The value is a plain hash of the body, without the secret. Compute an HMAC."
	}
	if reason := notDelivered(body); reason != "" {
		return reason
	}
	return "No common cause was found. Check that the secret belongs to this webhook and that the body consists of exactly the delivered bytes."
}

// byteOrderMark is the byte order mark in UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// printed matches objects as JavaScript, PHP, Python, Ruby and Go print them.
var printed = regexp.MustCompile(`^(\[object \w+\]|undefined|null|Array|map\[.*|\{(\s*'.*|\s*:\w+ *=>.*|.*"=>.*)\})\s*$`)

// notDelivered detects a body that the platform cannot have sent, because the
// body of every delivery is a JSON object in UTF-8.
func notDelivered(body []byte) string {
	const verify = " Verify the bytes of the request, before any code decodes them."
	switch {
	case len(body) == 0:
		return "The body is empty. A framework or middleware had probably read it already." + verify
	case printed.Match(body):
		return "The body is the text of a decoded object." + verify
	case bytes.HasPrefix(body, []byte(byteOrderMark)):
		return "The body begins with a byte order mark, which the platform does not send." + verify
	case fromUTF16(body) != nil:
		return "The body is UTF-16, but the platform sends UTF-8." + verify
	case !utf8.Valid(body):
		return "The body is not UTF-8. It was probably converted to another encoding, such as Latin-1." + verify
	}
	return ""
}

// fromUTF16 returns a JSON object that was converted to UTF-16, as UTF-8, or
// nil if the body is not UTF-16.
func fromUTF16(body []byte) []byte {
	body = bytes.TrimPrefix(bytes.TrimPrefix(body, []byte("\xff\xfe")), []byte("\xfe\xff"))
	if len(body) < 2 || len(body)%2 != 0 || (body[0] == 0) == (body[1] == 0) {
		return nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if body[0] == 0 {
		order = binary.BigEndian
	}
	units := make([]uint16, 0, len(body)/2)
	for unit := range slices.Chunk(body, 2) {
		units = append(units, order.Uint16(unit))
	}
	return []byte(string(utf16.Decode(units)))
}

// fromLatin1 returns text that was converted to Latin-1, as UTF-8.
func fromLatin1(body []byte) []byte {
	text := make([]rune, len(body))
	for i, b := range body {
		text[i] = rune(b)
	}
	return []byte(string(text))
}

// misencoded detects the valid signature in another encoding, or with
// additional characters around it.
func misencoded(secret webhook.Secret, body []byte, signature string) string {
	text, _ := webhook.Sign(secret, body) // Diagnose has checked the secret
	right, _ := base64.StdEncoding.DecodeString(text)
	switch {
	case signature == "":
		return "The signature is missing."
	case strings.EqualFold(signature, hex.EncodeToString(right)):
		return "The value is correct, but encoded as hexadecimal. Encode it as base64."
	case signature == base64.RawStdEncoding.EncodeToString(right):
		return "The value is correct, but its padding (=) is missing."
	case signature == base64.URLEncoding.EncodeToString(right), signature == base64.RawURLEncoding.EncodeToString(right):
		return "The value is correct, but in URL-safe base64. Use standard base64."
	case signature == base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString(right))):
		return "The value is base64 of the hexadecimal text. Encode the raw bytes as base64."
	}
	inner, reason := strings.TrimSpace(signature), "The value is correct, but surrounded by white space."
	if prefix, value, _ := strings.Cut(inner, "="); inner == signature && (prefix == "sha256" || prefix == "sha512") {
		inner, reason = value, "The value is correct, but has a prefix. The platform sends no prefix."
	} else if _, value, ok := strings.Cut(inner, ":"); inner == signature && ok {
		inner, reason = strings.TrimSpace(value), "The value is correct, but follows the header name."
	}
	if inner == signature {
		return ""
	}
	if inner == text {
		return reason
	}
	return misencoded(secret, body, inner)
}

// candidate is an input that may have produced the invalid signature.
type candidate struct {
	key      string
	function webhook.HashFunction
	body     []byte
	reason   string
}

// sign computes the HMAC without package webhook, which rejects some keys.
func (m candidate) sign() string {
	function := sha256.New
	if m.function == webhook.SHA512 {
		function = sha512.New
	}
	var mac hash.Hash
	fips140.WithoutEnforcement(func() { mac = hmac.New(function, []byte(m.key)) }) // the key may be short
	mac.Write(m.body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func candidates(secret webhook.Secret, body []byte) []candidate {
	key, function, other := secret.Reveal(), secret.HashFunction(), webhook.SHA512
	if function == webhook.SHA512 {
		other = webhook.SHA256
	}
	trimmed := bytes.TrimRight(body, "\r\n")
	out := []candidate{
		{key, other, body, "The value was computed with " + string(other) + ", but the webhook's hash_function is " + string(function) + "."},
		{key + "\n", function, body, "The secret has a trailing line feed."},
		{key, function, nil, "The value was computed over an empty body. The body had probably been read already."},
		{key, function, append(bytes.Clone(body), '\n'), "The value was computed over the body and a trailing line feed."},
		{key, function, trimmed, "The value was computed over the body without its trailing line feed, which may have been added to this copy."},
		{key, function, append([]byte(byteOrderMark), body...), "The value was computed over a byte order mark and the body."},
		{key, function, bytes.TrimPrefix(body, []byte(byteOrderMark)), "A byte order mark was added to the delivered body."},
	}
	if !utf8.Valid(body) {
		out = append(out, candidate{key, function, fromLatin1(body), "The delivered body was converted from UTF-8 to Latin-1."})
	}
	if delivered := fromUTF16(body); delivered != nil {
		out = append(out, candidate{key, function, delivered, "The delivered body was converted from UTF-8 to UTF-16."})
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if decoded, err := encoding.DecodeString(key); err == nil {
			out = append(out, candidate{string(decoded), function, body, "The secret was decoded from base64. Use its characters unchanged."})
		}
	}
	if decoded, err := hex.DecodeString(key); err == nil {
		out = append(out, candidate{string(decoded), function, body, "The secret was decoded from hexadecimal. Use its characters unchanged."})
	}
	for _, again := range reencoded(body) {
		out = append(out, candidate{key, function, again, "The value was computed over JSON that was decoded and re-encoded. Use the delivered bytes."})
	}
	return out
}

var (
	jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	jsonToken  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[,:]`)
)

// reencoded returns the JSON that common encoders would write for a decoded JSON
// body. The results differ in their escapes and layout. The fields are either in
// the original order or sorted by name.
func reencoded(body []byte) (out [][]byte) {
	var value any
	var compact bytes.Buffer
	if json.Unmarshal(body, &value) != nil || json.Compact(&compact, body) != nil {
		return nil
	}
	sorted, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	for _, text := range [][]byte{compact.Bytes(), sorted} {
		out = append(out, layouts(text)...)
		for _, e := range []escapes{{}, {ascii: true}, {slashes: true}, {ascii: true, slashes: true}} {
			out = append(out, layouts(jsonString.ReplaceAllFunc(text, e.write))...)
		}
	}
	return out
}

// escapes describes the characters that an encoder escapes. JavaScript escapes
// only required characters. Python also escapes non-ASCII characters. PHP can
// also escape slashes.
type escapes struct{ ascii, slashes bool }

// write replaces the escapes in a JSON string with the escapes of the encoder.
func (e escapes) write(quoted []byte) []byte {
	var value string
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	if json.Unmarshal(quoted, &value) != nil || encoder.Encode(value) != nil {
		return quoted
	}
	var out []byte
	for _, r := range string(bytes.TrimSuffix(plain.Bytes(), []byte("\n"))) {
		switch {
		case e.slashes && r == '/':
			out = append(out, '\\', '/')
		case e.ascii && r > unicode.MaxASCII:
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		default:
			out = append(out, string(r)...)
		}
	}
	return out
}

// layouts returns compact JSON in three layouts: unchanged, with the spaces that
// Python writes, and indented.
func layouts(compact []byte) [][]byte {
	spaced := jsonToken.ReplaceAllFunc(compact, func(token []byte) []byte {
		if token[0] == '"' {
			return token
		}
		return append(token[:1:1], ' ')
	})
	out := [][]byte{compact, spaced}
	for _, indent := range []string{"  ", "    "} {
		var lines bytes.Buffer
		if json.Indent(&lines, compact, "", indent) == nil {
			out = append(out, lines.Bytes())
		}
	}
	return out
}
