package signature

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
)

// spelling is how an encoder writes strings: JavaScript's, Python's, and PHP's,
// which has settings for both.
type spelling struct {
	ascii   bool // what is not ASCII is escaped
	slashes bool // slashes are escaped
}

// reencoded is a JSON body as the encoders of some languages write it again: in
// its order or sorted, with their escapes, and laid out in their ways.
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
		for _, s := range []spelling{{}, {ascii: true}, {slashes: true}, {ascii: true, slashes: true}} {
			out = append(out, layouts(s.respell(text))...)
		}
	}
	return out
}

// respell writes the strings of a compact text anew.
func (s spelling) respell(text []byte) []byte {
	var out []byte
	for len(text) > 0 {
		n := 1
		if text[0] != '"' {
			out = append(out, text[0])
		} else {
			n = stringLength(text)
			out = append(out, s.spell(text[:n])...)
		}
		text = text[n:]
	}
	return out
}

// stringLength returns how long the string is that text begins with.
func stringLength(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// spell writes a string anew.
func (s spelling) spell(quoted []byte) []byte {
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
		case s.slashes && r == '/':
			out = append(out, '\\', '/')
		case s.ascii && r > unicode.MaxASCII:
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		default:
			out = append(out, string(r)...)
		}
	}
	return out
}

// layouts is a compact text as it is, with spaces, and indented.
func layouts(compact []byte) [][]byte {
	out := [][]byte{compact, spaced(compact)}
	for _, indent := range []string{"  ", "    "} {
		var lines bytes.Buffer
		if json.Indent(&lines, compact, "", indent) == nil {
			out = append(out, lines.Bytes())
		}
	}
	return out
}

// spaced puts a space behind each comma and colon, as Python does.
func spaced(compact []byte) []byte {
	out := make([]byte, 0, len(compact)*5/4)
	for len(compact) > 0 {
		n := 1
		if compact[0] == '"' {
			n = stringLength(compact)
		}
		out = append(out, compact[:n]...)
		if compact[0] == ',' || compact[0] == ':' {
			out = append(out, ' ')
		}
		compact = compact[n:]
	}
	return out
}
