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
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"example.com/emailplatform/webhook"
)

// Diagnose explains why a signature or a secret is invalid. It returns the detected
// cause, or a text that states that no common cause was detected, or "" if the
// signature is valid. The text contains neither the secret nor a signature.
func Diagnose(secret webhook.Secret, body []byte, signature string) string {
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		return strings.TrimPrefix(err.Error(), "webhook: secret 1: ")
	}
	if verifier.Verify(body, signature) == nil {
		return ""
	}
	if len(signature) > maxSignature {
		return "The value is longer than any signature."
	}
	right, _ := webhook.Sign(secret, body) // the secret is valid
	if reason := misencoded(right, signature); reason != "" {
		return reason
	}
	raw, _ := hex.DecodeString(signature)
	unhexed := base64.StdEncoding.EncodeToString(raw)
	for m := range candidates(secret, body) {
		switch m.sign() {
		case signature:
			return m.reason
		case unhexed:
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

const (
	maxSignature = 300       // bytes; includes the name of the header
	maxReencoded = 256 << 10 // bytes of a body
	maxNesting   = 50        // because indented JSON grows with its nesting
)

// byteOrderMark is the byte order mark in UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// notDelivered detects a body that the platform cannot have sent, because the body of
// every delivery is a JSON object in UTF-8 with the field event.
func notDelivered(body []byte) string {
	const verify = " Verify the bytes of the request, before any code decodes them."
	var event struct{ Event json.RawMessage }
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return "The body is empty. A framework or middleware had probably read it already." + verify
	case bytes.HasPrefix(body, []byte(byteOrderMark)):
		return "The body begins with a byte order mark, which the platform does not send." + verify
	case fromUTF16(body) != nil:
		return "The body is UTF-16, but the platform sends UTF-8." + verify
	case !utf8.Valid(body):
		return "The body is not UTF-8. It was probably converted to another encoding, such as Latin-1." + verify
	case json.Unmarshal(body, &event) != nil || event.Event == nil:
		return "The body is not an event, which is a JSON object. It is probably the text of a decoded object, or incomplete." + verify
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

// fromLatin1 returns text that was converted to Latin-1, as UTF-8, or nil if the body
// is UTF-8.
func fromLatin1(body []byte) []byte {
	if utf8.Valid(body) {
		return nil
	}
	text := make([]rune, len(body))
	for i, b := range body {
		text[i] = rune(b)
	}
	return []byte(string(text))
}

// fromBase64 returns the text that was encoded as base64, or nil if the body is not base64.
func fromBase64(body []byte) []byte {
	decoded, err := base64.StdEncoding.AppendDecode(nil, body)
	if err != nil {
		return nil
	}
	return decoded
}

// misencoded detects a signature that is valid, but in another encoding or with additional
// characters around it. The argument right is the valid signature.
func misencoded(right, signature string) string {
	raw, _ := base64.StdEncoding.DecodeString(right)
	switch {
	case signature == "":
		return "The signature is missing."
	case strings.EqualFold(signature, hex.EncodeToString(raw)):
		return "The value is correct, but encoded as hexadecimal. Encode it as base64."
	case signature == base64.RawStdEncoding.EncodeToString(raw):
		return "The value is correct, but its padding (=) is missing."
	case signature == base64.URLEncoding.EncodeToString(raw), signature == base64.RawURLEncoding.EncodeToString(raw):
		return "The value is correct, but in URL-safe base64. Use standard base64."
	case signature == base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString(raw))):
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
	if inner == right {
		return reason
	}
	return misencoded(right, inner)
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

// candidates yields one candidate at a time, because a body can have many megabytes.
func candidates(secret webhook.Secret, body []byte) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		_ = eachKey(secret, body, yield) && eachBody(secret, body, yield)
	}
}

// eachKey yields candidates with the same body and another key or hash function. If
// yield returns false, eachKey stops and returns false.
func eachKey(secret webhook.Secret, body []byte, yield func(candidate) bool) bool {
	key, function, other := secret.Reveal(), secret.HashFunction(), webhook.SHA512
	if function == webhook.SHA512 {
		other = webhook.SHA256
	}
	wrongFunction := "The value was computed with " + string(other) + ", but the webhook's hash_function is " + string(function) + "."
	if !yield(candidate{key, other, body, wrongFunction}) ||
		!yield(candidate{key + "\n", function, body, "The secret has a trailing line feed."}) {
		return false
	}
	encodings := []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding}
	for _, encoding := range encodings {
		decoded, err := encoding.DecodeString(key)
		if err == nil && !yield(candidate{string(decoded), function, body, "The secret was decoded from base64. Use its characters unchanged."}) {
			return false
		}
	}
	decoded, err := hex.DecodeString(key)
	return err != nil || yield(candidate{string(decoded), function, body, "The secret was decoded from hexadecimal. Use its characters unchanged."})
}

// eachBody yields the candidates with another body.
func eachBody(secret webhook.Secret, body []byte, yield func(candidate) bool) bool {
	for _, change := range []struct {
		body   func([]byte) []byte // returns nil if the change does not apply
		reason string
	}{
		{func([]byte) []byte { return []byte{} }, "The value was computed over an empty body. The body had probably been read already."},
		{func(b []byte) []byte { return append(bytes.Clone(b), '\n') }, "The value was computed over the body and a trailing line feed."},
		{func(b []byte) []byte { return bytes.TrimRight(b, "\r\n") }, "The value was computed over the body without its trailing line feed, which may have been added to this copy."},
		{func(b []byte) []byte { return append([]byte(byteOrderMark), b...) }, "The value was computed over a byte order mark and the body."},
		{func(b []byte) []byte { return bytes.TrimPrefix(b, []byte(byteOrderMark)) }, "A byte order mark was added to the delivered body."},
		{fromBase64, "The delivered body was encoded as base64, as serverless platforms do. Decode it first."},
		{fromLatin1, "The delivered body was converted from UTF-8 to Latin-1."},
		{fromUTF16, "The delivered body was converted from UTF-8 to UTF-16."},
	} {
		changed := change.body(body)
		if changed != nil && !yield(candidate{secret.Reveal(), secret.HashFunction(), changed, change.reason}) {
			return false
		}
	}
	const reason = "The value was computed over JSON that was decoded and re-encoded. Use the delivered bytes."
	for again := range reencoded(body) {
		if !yield(candidate{secret.Reveal(), secret.HashFunction(), again, reason}) {
			return false
		}
	}
	return true
}

var (
	jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	jsonToken  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[,:]`)
)

// reencoded decodes a JSON body, and yields the JSON that common encoders would write
// for it. The results differ in their escapes, in their layout, and in the order of the
// fields, which is the original order or sorted by name.
func reencoded(body []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var value any
		var compact bytes.Buffer
		if len(body) > maxReencoded || nesting(body) > maxNesting || json.Unmarshal(body, &value) != nil || json.Compact(&compact, body) != nil {
			return
		}
		sorted, err := json.Marshal(value)
		if err != nil {
			return
		}
		for _, text := range [][]byte{compact.Bytes(), sorted} {
			if !layouts(text, yield) {
				return
			}
			for _, e := range []jsonEscapes{{}, {ascii: true}, {slashes: true}, {ascii: true, slashes: true}} {
				if !layouts(jsonString.ReplaceAllFunc(text, e.write), yield) {
					return
				}
			}
		}
	}
}

// nesting returns the maximum depth of arrays and objects in JSON.
func nesting(text []byte) (deepest int) {
	depth, quoted, escaped := 0, false, false
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}', c == ']':
			depth--
		}
	}
	return deepest
}

// escapes describes the characters that an encoder escapes. JavaScript escapes only the
// characters that JSON requires, Python also escapes non-ASCII characters, and PHP can
// also escape slashes.
type jsonEscapes struct{ ascii, slashes bool }

// write replaces the escapes in a JSON string with the escapes of the encoder.
func (e jsonEscapes) write(quoted []byte) []byte {
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

// layouts yields JSON in four layouts: compact, with the spaces that Python writes, and
// indented in two ways. If yield returns false, layouts stops and returns false.
func layouts(compact []byte, yield func([]byte) bool) bool {
	spaced := jsonToken.ReplaceAllFunc(compact, func(token []byte) []byte {
		if token[0] == '"' {
			return token
		}
		return append(token[:1:1], ' ')
	})
	if !yield(compact) || !yield(spaced) {
		return false
	}
	for _, indent := range []string{"  ", "    "} {
		var lines bytes.Buffer
		if json.Indent(&lines, compact, "", indent) == nil && !yield(lines.Bytes()) {
			return false
		}
	}
	return true
}
