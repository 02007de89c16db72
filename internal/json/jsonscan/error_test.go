package jsonscan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

type inner struct {
	n    int64
	tags []string
}

// readAll reads {"s":string,"b":bool,"in":[{"n":int,"tags":[string]}]}.
func readAll(c *Cursor) (s string, b bool, in []inner) {
	for name := range c.Object() {
		switch name {
		case "s":
			s = c.String()
		case "b":
			b = c.Bool()
		case "in":
			in = Slice(c, func(c *Cursor) (v inner) {
				for name := range c.Object() {
					switch name {
					case "n":
						v.n = c.Int()
					case "tags":
						v.tags = Slice(c, (*Cursor).String)
					default:
						c.Skip()
					}
				}
				return v
			})
		default:
			c.Skip()
		}
	}
	return s, b, in
}

func TestErrors(t *testing.T) {
	for _, row := range []struct {
		name, text, path, want string
		offset                 int
		syntax                 bool
	}{
		{name: "a number for a string", text: `{"s":1}`, path: "s", want: "a string", offset: 5},
		{name: "an object for a string", text: `{"s":{"x":1}}`, path: "s", want: "a string", offset: 5},
		{name: "a string for a boolean", text: `{"b":"true"}`, path: "b", want: "true or false", offset: 5},
		{name: "an array for an object", text: `[]`, want: "an object"},
		{name: "an object for an array", text: `{"in":{}}`, path: "in", want: "an array", offset: 6},
		{name: "in an element", text: `{"in":[{"n":1},{"n": "2"}]}`, path: "in[1].n", want: "a number", offset: 21},
		{name: "in an array in an element", text: `{"in":[{"tags":["a","b",3]}]}`, path: "in[0].tags[2]", want: "a string", offset: 24},
		{name: "a fraction", text: `{"in":[{"n":1.5}]}`, path: "in[0].n", want: "a 64-bit integer", offset: 12},
		{name: "a fraction with an exponent", text: `{"in":[{"n":15e-1}]}`, path: "in[0].n", want: "a 64-bit integer", offset: 12},
		{name: "a large exponent", text: `{"in":[{"n":9007199254740992e0}]}`, path: "in[0].n", want: "a 64-bit integer", offset: 12},
		{name: "too large", text: `{"in":[{"n":9223372036854775808}]}`, path: "in[0].n", want: "a 64-bit integer", offset: 12},
		{name: "the first of two", text: `{"s":1,"b":2}`, path: "s", want: "a string", offset: 5},
		{name: "not JSON comes first", text: `{"s":1,"b":tru}`, path: "b", want: "a value", offset: 11, syntax: true},
		{name: "nothing", want: "a value", syntax: true},
		{name: "cut off in a string", text: `{"s":"ab`, path: "s", want: "the rest of a string", offset: 8, syntax: true},
		{name: "cut off before a value", text: `{"s":`, path: "s", want: "a value", offset: 5, syntax: true},
		{name: "cut off in an object", text: `{"s":"a"`, want: "a comma or }", offset: 8, syntax: true},
		{name: "cut off in an array", text: `{"in":[`, path: "in[0]", want: "a value", offset: 7, syntax: true},
		{name: "no comma", text: `{"in":[{"n":1 "m":2}]}`, path: "in[0]", want: "a comma or }", offset: 14, syntax: true},
		{name: "no colon", text: `{"s" 1}`, want: "a colon", offset: 5, syntax: true},
		{name: "no name", text: `{"s":"a",}`, want: "a name", offset: 9, syntax: true},
		{name: "a bad escape", text: `{"x":{"y":"a\qb"}}`, path: "x.y", want: "an escape sequence", offset: 13, syntax: true},
		{name: "a bad code unit", text: `{"x":{"y":"a\u00g0"}}`, path: "x.y", want: "four hexadecimal digits", offset: 13, syntax: true},
		{name: "a bad number", text: `{"x":[01]}`, path: "x[0]", want: "a number", offset: 6, syntax: true},
		{name: "more text", text: `{} x`, want: "the end of the text", offset: 3, syntax: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := New(row.text)
			readAll(c)
			err := c.End()
			if err == nil {
				t.Fatal("no error")
			}
			if *err != (Error{Offset: row.offset, Path: row.path, Want: row.want, Syntax: row.syntax}) {
				t.Errorf("got %+v", *err)
			}
		})
	}
}

func TestMismatchKeepsOtherFields(t *testing.T) {
	c := New(`{"s":["x",{"y":null}],"in":[{"n":"1","tags":["a"]},{"n":7}],"b":true}`)
	s, b, in := readAll(c)
	if c.End() == nil {
		t.Error("no error")
	}
	if s != "" || !b || len(in) != 2 || in[0].n != 0 || len(in[0].tags) != 1 || in[1].n != 7 {
		t.Errorf("read %q, %v, %v", s, b, in)
	}
}

func TestIsolate(t *testing.T) {
	for _, row := range []struct{ name, text, isolated, whole string }{
		{name: "no error", text: `["a","b","c"]`},
		{name: "in the value", text: `["a",1,"c"]`, isolated: "[1]"},
		{name: "before it", text: `[1,"b","c"]`, whole: "[0]"},
		{name: "before and in it", text: `[1,2,"c"]`, isolated: "[1]", whole: "[0]"},
		{name: "after it", text: `["a",1,2]`, isolated: "[1]", whole: "[2]"},
		{name: "not JSON", text: `["a",tru,"c"]`, isolated: "[1]", whole: "[1]"},
		{name: "not JSON after a mismatch", text: `[1,tru,"c"]`, isolated: "[1]", whole: "[1]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := New(row.text)
			var isolated []*Error
			i := 0
			for range c.Array() {
				if i == 1 {
					isolated = c.Isolate(func(c *Cursor) { _ = c.String() })
				} else {
					_ = c.String()
				}
				i++
			}
			if pathOf(isolated...) != row.isolated || pathOf(c.End()) != row.whole {
				t.Errorf("isolated %v, whole %v", isolated, c.End())
			}
		})
	}
}

func TestErrs(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       []string
	}{
		{name: "no error", text: `{"s":"a"}`},
		{name: "two mismatches", text: `{"s":1,"t":"a","u":[true]}`, want: []string{"s", "u"}},
		{name: "not JSON after mismatches", text: `{"s":1,"t":2,"u":tru}`, want: []string{"u"}},
		{name: "more than ten", text: `{"s":1` + strings.Repeat(`,"s":2`, 20) + `}`, want: slices.Repeat([]string{"s"}, maxMismatches)},
	} {
		c := New(row.text)
		for range c.Object() {
			_ = c.String()
		}
		var got []string
		for _, err := range c.Errs() {
			got = append(got, err.Path)
		}
		assert.Equal(t, row.want, got, row.name)
	}
}

func TestFirstSyntaxErrorIsReturned(t *testing.T) {
	for name, read := range map[string]func(*Cursor){
		"isolated": func(c *Cursor) { _ = c.Isolate(func(c *Cursor) { _ = c.String() }) },
		"tolerant": func(c *Cursor) { c.Tolerant = true; _ = c.String() },
	} {
		c := New(`tru`)
		c.Skip()
		read(c)
		if err := c.End(); err == nil || err.Offset != 0 || !err.Syntax {
			t.Errorf("%s: %v, want the error at offset 0", name, err)
		}
	}
}

// pathOf returns the path of the first error.
func pathOf(errs ...*Error) string {
	if len(errs) == 0 || errs[0] == nil {
		return ""
	}
	return errs[0].Path
}

func TestErrorText(t *testing.T) {
	for text, want := range map[string]string{
		`{"s":1}`: "json: s: expected a string at offset 5", `x`: "json: expected a value at offset 0",
	} {
		c := New(text)
		readAll(c)
		assert.Equal(t, want, c.End().Error(), text)
	}
}

// TestDeepPath: if a path is longer than 200 bytes, an ellipsis replaces its further elements.
func TestDeepPath(t *testing.T) {
	name := strings.Repeat("n", 39)
	deep := `{"m` + name + `":` + strings.Repeat(`{"`+name+`":`, 4)
	whole := "m" + name + strings.Repeat("."+name, 4) // 200 bytes
	for text, want := range map[string]string{
		strings.Repeat(`{"a":[`, 4000) + "x": "a[0]" + strings.Repeat(".a[0]", 39) + ".a…",
		strings.Repeat(`[`, 4000) + "x":      strings.Repeat("[0]", 67) + "…",
		deep + "x":                           whole,
		deep + `{"a":x`:                      whole + ".a",
		deep + `{"a":{"b":x`:                 whole + ".a…",
		deep + `[[x`:                         whole + "[0]…",
	} {
		c := New(text)
		c.Skip()
		assert.Equal(t, want, pathOf(c.End()), "%.100s: path", text)
	}
}

// TestNamesInPaths: names of at most 40 letters, digits, hyphens and underscores have no quotes.
func TestNamesInPaths(t *testing.T) {
	for name, plain := range map[string]bool{
		"azAZ09_-": true, "a": true, "z": true, "A": true, "Z": true, "0": true, "9": true, "_": true, "-": true,
		"/": false, ":": false, "@": false, "[": false, "`": false, "{": false, " ": false, "é": false, "": false, "~": false,
		strings.Repeat("x", 40): true, strings.Repeat("x", 41): false,
	} {
		c := New(`{"` + name + `":x}`)
		c.Skip()
		want := name
		if !plain {
			want = fmt.Sprintf("[%.40q]", name)
		}
		assert.Equal(t, want, pathOf(c.End()), "path")
	}
}
