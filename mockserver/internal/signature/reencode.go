package signature

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"unicode"
	"unicode/utf16"
)

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

// write encodes a JSON string again, with the encoder's escapes.
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
