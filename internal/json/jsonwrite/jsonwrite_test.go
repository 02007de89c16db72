package jsonwrite

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// plainly returns the output of encoding/json without HTML escapes.
func plainly(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(v))
	return strings.TrimSuffix(b.String(), "\n")
}

// holds compares the output of write with encoding/json.
func holds(t *testing.T, v any, write func(w *Writer)) {
	t.Helper()
	var w Writer
	write(&w)
	if want := plainly(t, v); string(w.Bytes) != want || w.Err() != nil {
		t.Errorf("got %s and %v, want %s", w.Bytes, w.Err(), want)
	}
}

// TestCharacters writes characters at each offset of an 8-byte word.
func TestCharacters(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if r > 0x3000 && r < 0xfff0 || r > 0x10100 && r < 0x10ff00 || !utf8.ValidRune(r) {
			continue // these characters are encoded like their neighbors
		}
		text := "123 567" + string(r) + "1234 678"
		for i := range 8 {
			holds(t, text[i:], func(w *Writer) { w.String(text[i:]) })
		}
		if t.Failed() {
			t.Fatalf("got %U", r)
		}
	}
}

// object writes an object with string values. The arguments alternate between names and values.
func object(w *Writer, pairs ...string) {
	w.Open('{')
	for i := 0; i < len(pairs); i += 2 {
		w.Key(pairs[i])
		w.String(pairs[i+1])
	}
	w.Close('}')
}

func TestValueTypes(t *testing.T) {
	type named string
	type number int64
	for _, n := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		holds(t, n, func(w *Writer) { w.Int(n) })
		holds(t, []number{number(n), 2}, func(w *Writer) { Ints(w, []number{number(n), 2}) })
	}
	holds(t, true, func(w *Writer) { w.Bool(true) })
	holds(t, false, func(w *Writer) { w.Bool(false) })
	holds(t, nil, func(w *Writer) { w.Null() })
	holds(t, []named{}, func(w *Writer) { Strings(w, []named{}) })
	holds(t, []named{"<a>", "", "\n"}, func(w *Writer) { Strings(w, []named{"<a>", "", "\n"}) })
	holds(t, map[string]string{"\"": "é", "a": "", "b": "&"}, func(w *Writer) { object(w, "\"", "é", "a", "", "b", "&") })
	holds(t, struct {
		A int64    `json:"a"`
		B []string `json:"b"`
	}{1, []string{"c"}}, func(w *Writer) {
		w.Open('{')
		w.Name(`"a":`)
		w.Int(1)
		w.Name(`"b":`)
		Strings(w, []string{"c"})
		w.Close('}')
	})
}

// TestInvalidValues: the error names the path of the first invalid value.
func TestInvalidValues(t *testing.T) {
	const bad = "M\xfcller"
	for want, write := range map[string]func(w *Writer){
		"must be valid UTF-8":              func(w *Writer) { w.String(bad) },
		"is missing":                       func(w *Writer) { Ints[int64](w, nil) },
		"0: must be valid UTF-8":           func(w *Writer) { Strings(w, []string{bad, bad}) },
		"2: must be valid UTF-8":           func(w *Writer) { Strings(w, []string{"\ufffd", `\"[{`, bad}) },
		"a: must be valid UTF-8":           func(w *Writer) { object(w, "a", bad, "b", bad) },
		"M\ufffdller: must be valid UTF-8": func(w *Writer) { object(w, "A", "", bad, bad, "Z", "") },
		"b.1.c: is missing": func(w *Writer) {
			w.Open('{')
			w.Name(`"a":`)
			object(w, "b", "[", "c", "}")
			w.Name(`"b":`)
			Slice(w, []bool{true, false}, func(b *bool, w *Writer) {
				w.Open('{')
				w.Name(`"c":`)
				if *b {
					w.Int(1)
				} else {
					w.Missing()
				}
				w.Close('}')
			})
			w.Close('}')
		},
	} {
		var w Writer
		write(&w)
		if err := w.Err(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if !json.Valid(w.Bytes) && utf8.Valid(w.Bytes) {
			t.Errorf("%s: not JSON: %s", want, w.Bytes)
		}
		w.Reset()
		w.Int(1)
		if w.Err() != nil || string(w.Bytes) != "1" {
			t.Errorf("%s: after a reset: %s, %v", want, w.Bytes, w.Err())
		}
	}
}

func FuzzString(f *testing.F) {
	f.Add("12345678\x1f\u2028é\"\\<\xff")
	f.Fuzz(func(t *testing.T, s string) {
		if utf8.ValidString(s) {
			holds(t, s, func(w *Writer) { w.String(s) })
			return
		}
		var w Writer
		if w.String(s); w.Err() == nil {
			t.Errorf("%q is not an error", s)
		}
	})
}

// TestPlain: a text of any length is plain unless one of its bytes needs an escape or is not ASCII.
func TestPlain(t *testing.T) {
	for length := range 24 {
		text := strings.Repeat("a", length)
		if !plain(text) {
			t.Errorf("%d letters are not plain", length)
		}
		for at := range length {
			for b := range 256 {
				mixed := text[:at] + string([]byte{byte(b)}) + text[at+1:]
				want := b >= ' ' && b < 0x80 && b != '"' && b != '\\'
				if plain(mixed) != want {
					t.Fatalf("plain(%q) is %v, want %v", mixed, !want, want)
				}
			}
		}
	}
}
