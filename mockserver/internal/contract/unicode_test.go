package contract

import (
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckText(t *testing.T) {
	for body, want := range map[string]string{
		`{"name":"Jörg \u00e9 \ud83d\ude00 😀 \\ud800 \" \\\\","n":[1,{"":null}]}`: "",
		"{\"name\":\"Pr\xe9nom\"}":                        "name: must be UTF-8, got the byte 0xE9",
		"{\"a\":1,\"b\":[true,{\"c\":[\"x\",\"\xff\"]}]}": "b[1].c[1]: must be UTF-8, got the byte 0xFF",
		"{\"a\":{\"\xe9\":1}}":                            "a.\ufffd: must be UTF-8, got the byte 0xE9",
		"\"\xc3\"":                                        "must be UTF-8, got the byte 0xC3",
		"[\"\xed\xa0\x80\"]":                              "[0]: must be UTF-8, got the byte 0xED", // a surrogate
		`{"a":"\ud800"}`:                                  `a: must not contain half of a surrogate pair, got \ud800`,
		`{"a":"\ud800\ud800"}`:                            `a: must not contain half of a surrogate pair, got \ud800`,
		`{"a":"\uDe00\ud83d"}`:                            `a: must not contain half of a surrogate pair, got \uDe00`,
		`{"a":"\ud800\n"}`:                                `a: must not contain half of a surrogate pair, got \ud800`,
		`{"a":"x\u0000"}`:                                 "a: must not contain U+0000",
		`{"\u0000":"x"}`:                                  "\x00: must not contain U+0000",
		`{"a":"\\u0000","b":"\\\u00e9"}`:                  "",
	} {
		require.True(t, json.Valid([]byte(body)), body)
		err := CheckText([]byte(body), false)
		if want == "" {
			assert.NoError(t, err, body)
			continue
		}
		assert.EqualError(t, err, want, body)
	}
	assert.NoError(t, CheckText([]byte(`"\u0000"`), true))
}

// An incomplete or invalid escape sequence has an error with its position, even if a part of it has not been read yet.
func TestEscapeSequences(t *testing.T) {
	for body, want := range map[string]string{
		`["ab\uZZZZ"]`:          `byte 5: must have four hexadecimal digits after \u`,
		`{"a":"\u12"}`:          `byte 7: must have four hexadecimal digits after \u`,
		`{"\u+123":1}`:          `byte 3: must have four hexadecimal digits after \u`,
		`["\ud83d\ude0"]`:       `byte 3: must not contain half of a surrogate pair, got \ud83d`,
		`["\u12`:                `byte 3: must not end within an escape sequence`,
		`["é\`:                  `byte 5: must not end within an escape sequence`,
		`["\uABCD\uabcd \\uZ"]`: "",
	} {
		for _, r := range []io.Reader{strings.NewReader(body), iotest.OneByteReader(strings.NewReader(body))} {
			_, err := io.ReadAll(TextReader(r))
			if want == "" {
				assert.NoError(t, err, body)
			} else {
				assert.EqualError(t, err, want, body)
			}
		}
	}
}

func TestCheckURL(t *testing.T) {
	for target, want := range map[string]string{
		"/a%C3%A9?q=%C3%A9&%C3%A9=1": "",
		"/a%E9":                      "path",
		"/a%00":                      "path",
		"/?q=%E9":                    "query.q",
		"/?q=1&q=\xe9":               "query.q",
		"/?q=a%00b":                  "query.q",
		"/?%E9=1":                    "query.\xe9",
	} {
		u, err := url.Parse(target)
		require.NoError(t, err)
		if err := CheckURL(u); want == "" {
			assert.NoError(t, err, target)
		} else {
			assert.EqualError(t, err, want+": must be UTF-8 without U+0000", target)
		}
	}
}

// TestAppendUnescapedInvalid: text that is not JSON, or contains half of a surrogate pair, keeps its other characters.
func TestAppendUnescapedInvalid(t *testing.T) {
	for text, want := range map[string]string{
		`"\ud800 after"`: "\"\ufffd after\"", `\ud83d\ud83d\ude00`: "\ufffd\U0001f600", `\ude00é€`: "\ufffdé€", `\u00`: "u00", `C:\é`: "C:é", `a\`: "a",
	} {
		assert.Equal(t, want, string(AppendUnescaped(nil, []byte(text))), text)
	}
}

// FuzzText checks that a text in parts has the same errors as the whole text, and that package json changes no accepted
// text.
func FuzzText(f *testing.F) {
	for _, s := range []string{"é\\u00e9\\ud83d\\ude00😀", "\xe9", `\ud800`, `\ud83d\ud83d\ude00`, `\u0000`, "\ufffd", "\xf0\x9f\x98", `\\u`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		body := `["` + s + `"]`
		if !json.Valid([]byte(body)) {
			return
		}
		whole := CheckText([]byte(body), true)
		for _, r := range []io.Reader{
			strings.NewReader(body), iotest.OneByteReader(strings.NewReader(body)), iotest.DataErrReader(strings.NewReader(body)),
		} {
			read, err := io.ReadAll(TextReader(r))
			if _, wrong := errors.AsType[TextError](err); wrong != (whole != nil) || !strings.HasPrefix(body, string(read)) {
				t.Fatalf("%q: read %q, %v; CheckText = %v", body, read, err, whole)
			}
		}
		var decoded []string
		require.NoError(t, json.Unmarshal([]byte(body), &decoded))
		if text := strings.Join(decoded, `","`); whole == nil && !strings.ContainsAny(text, "\b\f\r\t") {
			assert.Equal(t, `["`+text+`"]`, string(AppendUnescaped(nil, []byte(body))))
		}
		replaced := strings.Count(strings.Join(decoded, ""), "\ufffd")
		written := strings.Count(body, "\ufffd") + strings.Count(strings.ToLower(body), `\ufffd`)
		if whole == nil && replaced > written || whole != nil && replaced == 0 {
			t.Fatalf("%q: decoded as %q; CheckText = %v", body, decoded, whole)
		}
	})
}
