package jsonscan

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// texts contains valid and invalid JSON texts.
var texts = []string{
	`null`, `true`, `false`, `0`, `-0`, `-1`, `12`, `1.5`, `1e3`, `1E+3`, `1.25e-2`, `9223372036854775807`, `1e999`,
	`""`, `"a"`, `"\"\\\/\b\f\n\r\t"`, `"\u0041\u00e9\u20AC"`, `"\u0000"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83d"`,
	`"\ud83d\u0041"`, `"\ud83dx"`,
	`"é€😀"`, "\"\xff\"", "\"a\xc3\"", "\"\\n\xff\"", `"` + strings.Repeat("long ", 20) + `"`,
	`"` + strings.Repeat("é", 20) + `\n"`, "\"\x7f\u2028\"",
	`[]`, `[1]`, `[1, 2 ,3]`, `[[],[[]]]`, ` [ ] `, `{}`, `{"a":1}`, ` { "a" : 1 , "b" : [ { } ] } `, `{"":0}`,
	`{"a":1,"a":2}`, `{"\u0061":1}`,
	`{"a":"}","b":1}`, `{"a}":"}","b":"}"}`, `{"a":"{","b":1}`, `{"a":"\"}","b":1}`, `{"a":"}\"","b":{"c":1}}`, `{"a":[{}]}`,
	"\t\r\n 1 \t\r\n",

	``, ` `, `nul`, `nulls`, `Null`, `truE`, `tru`, `fals`, `+1`, `-`, `01`, `-01`, `1.`, `.5`, `1.e3`, `1e`,
	`1e+`, "\xd1", `0x1`, `1_0`, `NaN`, `Infinity`, `--1`,
	`"`, `"a`, `"\"`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\u+123"`, `"\u"`, "\"a\nb\"", "\"\x00\"",
	"\"12345678\x1f\"", `'a'`, `"a"b"`,
	`[`, `]`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1 2]`, `[1}`, `{`, `}`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`,
	`{"a":1,}`, `{"a",1}`, `{a:1}`, `{1:1}`, `{"a":1 "b":2}`, `{"a":}`, `{,}`, `{"a":1]`,
	`1 2`, `{} {}`, `null,`, `//`, "\ufeff1", "\v1", "1\x00", "\xa01",
	strings.Repeat("[", 1000) + strings.Repeat("]", 1000), strings.Repeat("[", 10000) + strings.Repeat("]", 10000),
	strings.Repeat("[", 10001) + strings.Repeat("]", 10001),
	strings.Repeat(`{"a":`, 10001) + "1" + strings.Repeat("}", 10001),
}

// value reads any value like json.Unmarshal, except that numbers are [json.Number].
func value(c *Cursor) any {
	switch c.Peek() {
	case '{':
		m := map[string]any{}
		for name := range c.Object() {
			m[name] = value(c)
		}
		return m
	case '[':
		s := []any{}
		for range c.Array() {
			s = append(s, value(c))
		}
		return s
	case '"':
		return c.String()
	case 't', 'f':
		return c.Bool()
	case 'n':
		c.Null()
		return nil
	}
	return json.Number(c.Number())
}

// check compares the cursor with encoding/json. Both must accept the same texts and read the same values.
func check(t *testing.T, text string) {
	plain := strings.TrimPrefix(text, "\ufeff") // encoding/json does not ignore a byte order mark
	valid := json.Valid([]byte(plain))
	c, ahead := New(text), New(text)
	c.Skip()
	if ahead.SkipFast(); valid && ahead.Since(0) != c.Since(0) {
		t.Fatalf("leapt over %q, skipped %q", ahead.Since(0), c.Since(0))
	}
	if err := c.End(); (err == nil) != valid {
		t.Fatalf("Skip: %v, json.Valid: %v, in %.100q", err, valid, text)
	}
	c = New(text)
	got := value(c)
	err := c.End()
	if (err == nil) != valid {
		t.Fatalf("read: %v, json.Valid: %v, in %.100q", err, valid, text)
	}
	if err != nil {
		if !err.Syntax || err.Offset < 0 || err.Offset > len(text) || err.Want == "" {
			t.Fatalf("%+v in %.100q", err, text)
		}
		return
	}
	var want any
	d := json.NewDecoder(strings.NewReader(plain))
	d.UseNumber()
	require.NoError(t, d.Decode(&want))
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("read %#v, encoding/json %#v, in %.100q", got, want, text)
	}
}

func TestAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range texts {
		check(t, text)
		if len(text) < 1000 { // also as a part of other values
			for _, around := range []string{"[%]", `{"a":%}`, `[1,%,2]`, `{"a":%,"b":"c"}`, ` %`, "% "} {
				check(t, strings.Replace(around, "%", text, 1))
			}
		}
	}
}

// TestCorruptedTexts truncates each text before each byte, and removes or replaces that byte.
func TestCorruptedTexts(t *testing.T) {
	const bytes = "\"\\{}[]:,0.e-ntu/ \n\x00\x1f\x7f\x80\xff"
	for _, text := range texts {
		if len(text) > 60 {
			continue
		}
		for i := range len(text) {
			check(t, text[:i])
			check(t, text[:i]+text[i+1:])
			for _, b := range []byte(bytes) {
				check(t, text[:i]+string([]byte{b})+text[i+1:])
			}
		}
	}
}

func FuzzCursor(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(check)
}

// TestSkipNameIfNext: the method reads a name if a value other than null follows without white space. Otherwise, the cursor does not move.
func TestSkipNameIfNext(t *testing.T) {
	for rest, want := range map[string]bool{
		`,"b":5}`: true, `,"b":"5"}`: true, `,"b":null}`: false, `,"b": 5}`: false, `, "b":5}`: false, `,"c":5}`: false,
		`,"b":`: false, `,"b"`: false, `}`: false, ``: false,
	} {
		c := New(`{"a":1` + rest)
		c.First()
		c.Skip()
		start := c.Offset()
		got := c.SkipNameIfNext(`,"b":`)
		if read := c.Since(start); got != want || got && read != `,"b":` || !got && read != "" {
			t.Errorf("%s: got %v after %q, want %v", rest, got, read, want)
		}
	}
}

func TestValues(t *testing.T) {
	ints := func(c *Cursor) any { return Slice(c, (*Cursor).Int) }
	pointer := func(c *Cursor) any { return Pointer(c, (*Cursor).String) }
	number := func(c *Cursor) any { return c.Number() }
	raw := func(c *Cursor) any { return string(c.Raw()) }
	id := func(c *Cursor) any { text, _ := c.ID(); return text }
	enum := func(c *Cursor) any { return Fold(c.String(), "hard", "soft") }
	for _, row := range []struct {
		text string
		read func(*Cursor) any
		want any
	}{
		{`[1,-2,9223372036854775807]`, ints, []int64{1, -2, math.MaxInt64}},
		{`[42.0,-7.000,4e1,1.5E+1,9223372036854775807.0,0.1e1,9.007199254740991e15]`, ints, []int64{42, -7, 40, 15, math.MaxInt64, 1, 1<<53 - 1}},
		{"\ufeff[1]", ints, []int64{1}},
		{`[]`, ints, []int64{}},
		{`[true,false]`, func(c *Cursor) any { return Slice(c, (*Cursor).Bool) }, []bool{true, false}},
		{` {"x" : 1} `, raw, `{"x" : 1}`},
		{`"p"`, pointer, new("p")},
		{`null`, ints, []int64(nil)},
		{`null`, pointer, (*string)(nil)},
		{`null`, raw, "null"},
		{`null`, number, ""},
		{`42.0`, number, "42.0"},
		{`null`, id, ""},
		{` 42`, id, "42"},
		{`42.0`, id, "42"},
		{`-4e1`, id, "-40"},
		{`-7`, id, "-7"},
		{`1.5`, id, "1.5"},
		{`9223372036854775808`, id, "9223372036854775808"},
		{`"42.0"`, id, "42.0"},
		{`"hard"`, enum, "hard"},
		{`"HARD"`, enum, "hard"},
		{`"Soft"`, enum, "soft"},
		{`"New"`, enum, "New"},
		{`null`, enum, ""},
		{`null`, func(c *Cursor) any { return c.String() }, ""},
		{`null`, func(c *Cursor) any { return c.Int() }, int64(0)},
		{`null`, func(c *Cursor) any { return c.Bool() }, false},
		{`null`, func(c *Cursor) any { return slices.Collect(c.Object()) }, []string(nil)},
	} {
		c := New(row.text)
		if got := row.read(c); !reflect.DeepEqual(got, row.want) || c.End() != nil {
			t.Errorf("%s: got %#v, %v; want %#v", row.text, got, c.End(), row.want)
		}
	}
}

// within reports whether s shares the memory of text.
func within(s, text string) bool {
	p, start := uintptr(unsafe.Pointer(unsafe.StringData(s))), uintptr(unsafe.Pointer(unsafe.StringData(text)))
	return start <= p && p < start+uintptr(len(text))
}

func TestClone(t *testing.T) {
	for _, clone := range []bool{false, true} {
		text := `{"name":["a string",12,"another"]}`
		c := New(text)
		c.Clone = clone
		for range c.Object() {
			for range c.Array() {
				var s string
				if c.Peek() == '"' {
					s = c.String()
				} else {
					s = c.Number()
				}
				if within(s, text) == clone {
					t.Errorf("Clone %v: %q is part of the text: %v", clone, s, within(s, text))
				}
			}
		}
	}
}

// TestCloneShares: equal short strings share their memory, unless the text is too short.
func TestCloneShares(t *testing.T) {
	const table = 1 << 10
	for _, s := range []string{"", "a", "tag", "16 bytes of text", "é!", "\x00", "\x00x", "x\x00", "😀", "a string of more than sixteen bytes"} {
		one, err := json.Marshal(s)
		require.NoError(t, err)
		text := fmt.Sprintf("[%s, \"between\", %[1]s]", one)
		for length, shares := range map[int]bool{table - 1: false, table: true} {
			c := New(text + strings.Repeat(" ", length-len(text)))
			c.Clone = true
			got := Slice(c, (*Cursor).String)
			if err := c.End(); err != nil || !slices.Equal(got, []string{s, "between", s}) {
				t.Fatalf("%q: %q, %v", s, got, err)
			}
			if shared := unsafe.StringData(got[0]) == unsafe.StringData(got[2]); s != "" && shared != (shares && len(s) <= 16) {
				t.Errorf("%q in %d bytes: shared is %v", s, length, shared)
			}
		}
	}
}

func TestIncompleteText(t *testing.T) {
	c := New("")
	c.QuotedInts = true
	if n := c.Int(); n != 0 || c.End() == nil {
		t.Errorf("Int of an empty input returned %d, %v", n, c.End())
	}
	c = New("[null]")
	got := Slice(c, func(c *Cursor) []string { return Slice(c, (*Cursor).String) })
	if err := c.End(); err != nil || len(got) != 1 || got[0] != nil {
		t.Errorf("a list without a list: %v, %v", got, err)
	}
	if c = New("nul"); c.Null() || c.End() == nil {
		t.Errorf("nul is null, %v", c.End())
	}
}

// TestTolerant: a value of another type becomes the zero value, and the first one is reported. The other values are
// correct.
func TestTolerant(t *testing.T) {
	for name, tc := range map[string]struct {
		text    string
		want    []int64
		path    string
		rejects bool
	}{
		"all correct":  {`[1,2,3]`, []int64{1, 2, 3}, "", false},
		"a text":       {`[1,"x",3]`, []int64{1, 3}, "[1]", false},
		"two":          {`[{"a":[]},2,true]`, []int64{2}, "[0]", false},
		"a fraction":   {`[1.5,2,3]`, []int64{2, 3}, "[0]", false},
		"quoted":       {`["1.0",2,3]`, []int64{1, 2, 3}, "", false},
		"an object":    {`{"a":1}`, nil, "", false},
		"not JSON":     {`[1, "x",tru`, []int64{1}, "[2]", true},
		"null":         {`null`, nil, "", false},
		"null element": {`[null,2]`, []int64{0, 2}, "", false},
	} {
		c := New(tc.text)
		c.Tolerant, c.QuotedInts = true, true
		got := Slice(c, (*Cursor).Int)
		err := c.End()
		if !slices.Equal(got, tc.want) || pathOf(err) != tc.path || err != nil && err.Ignored == tc.rejects {
			t.Errorf("%s: %v, %+v", name, got, err)
		}
	}
	c := New(`{"a":"x"}`)
	c.Tolerant = true
	for range c.Object() {
		_ = c.Int()
	}
	c.Missing(0, "b")
	if err := c.End(); err == nil || err.Ignored {
		t.Errorf("%v, want the missing field", err)
	}
	for text, null := range map[string]bool{`[]`: true, `"x"`: true, `null`: true, `{"n":[]}`: false, `{}`: false} {
		c := New(text)
		c.Tolerant = true
		if got := Pointer(c, func(c *Cursor) (n int64) {
			for range c.Object() {
				n = c.Int()
			}
			return n
		}); (got == nil) != null {
			t.Errorf("Pointer of %s: %v", text, got)
		}
	}
}

// TestPlain: plain returns the index of the first byte that is not plain. It returns 0 if the complete 8-byte words of
// a text contain no such byte.
func TestPlain(t *testing.T) {
	for length := range 25 {
		text := strings.Repeat("a", length)
		assert.Equal(t, 0, plain(text), "plain(%q)", text)
		for at := range length / 8 * 8 {
			for b := range 256 {
				want := 0
				if b < ' ' || b >= 0x80 || b == '"' || b == '\\' {
					want = at
				}
				mixed := text[:at] + string([]byte{byte(b)}) + text[at+1:]
				require.Equal(t, want, plain(mixed), "plain(%q)", mixed)
			}
		}
	}
}
