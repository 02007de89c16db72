package jsonscan_test

import (
	"strings"
	"testing"

	"example.com/emailplatform/internal/jsonscan"
)

type inner struct {
	n    int64
	tags []string
}

// readAll reads {"s":string,"b":bool,"in":[{"n":int,"tags":[string]}]}.
func readAll(c *jsonscan.Cursor) (s string, b bool, in []inner) {
	for name := range c.Object() {
		switch name {
		case "s":
			s = c.String()
		case "b":
			b = c.Bool()
		case "in":
			in = jsonscan.Slice(c, func(c *jsonscan.Cursor) (v inner) {
				for name := range c.Object() {
					switch name {
					case "n":
						v.n = c.Int()
					case "tags":
						v.tags = jsonscan.Slice(c, (*jsonscan.Cursor).String)
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
	long := strings.Repeat("x", 50)
	for _, row := range []struct {
		name, text, path, want string
		offset                 int
		syntax                 bool
	}{
		{"a number for a string", `{"s":1}`, "s", "a string", 5, false},
		{"an object for a string", `{"s":{"x":1}}`, "s", "a string", 5, false},
		{"a string for a boolean", `{"b":"true"}`, "b", "true or false", 5, false},
		{"an array for an object", `[]`, "", "an object", 0, false},
		{"an object for an array", `{"in":{}}`, "in", "an array", 6, false},
		{"in an element", `{"in":[{"n":1},{"n": "2"}]}`, "in[1].n", "a number", 21, false},
		{"in an array in an element", `{"in":[{"tags":["a","b",3]}]}`, "in[0].tags[2]", "a string", 24, false},
		{"a fraction", `{"in":[{"n":1.5}]}`, "in[0].n", "a 64-bit integer", 12, false},
		{"too large", `{"in":[{"n":9223372036854775808}]}`, "in[0].n", "a 64-bit integer", 12, false},
		{"the first of two", `{"s":1,"b":2}`, "s", "a string", 5, false},
		{"not JSON comes first", `{"s":1,"b":tru}`, "b", "a value", 11, true},
		{"nothing", ``, "", "a value", 0, true},
		{"cut off in a string", `{"s":"ab`, "s", "the rest of a string", 8, true},
		{"cut off before a value", `{"s":`, "s", "a value", 5, true},
		{"cut off in an object", `{"s":"a"`, "", "a comma or }", 8, true},
		{"cut off in an array", `{"in":[`, "in[0]", "a value", 7, true},
		{"no comma", `{"in":[{"n":1 "m":2}]}`, "in[0]", "a comma or }", 14, true},
		{"no colon", `{"s" 1}`, "", "a colon", 5, true},
		{"no name", `{"s":"a",}`, "", "a name", 9, true},
		{"a bad escape", `{"x":{"y":"a\qb"}}`, "x.y", "an escape sequence", 13, true},
		{"a bad code unit", `{"x":{"y":"a\u00g0"}}`, "x.y", "four hexadecimal digits", 13, true},
		{"a bad number", `{"x":[01]}`, "x[0]", "a number", 6, true},
		{"more text", `{} x`, "", "the end of the text", 3, true},
		{"a name that needs quotes", `{"a b":{"":[x]}}`, `["a b"][""][0]`, "a value", 12, true},
		{"a long name", `{"` + long + `":x}`, `["` + long[:40] + `"]`, "a value", 54, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := jsonscan.New(row.text)
			readAll(c)
			err := c.End()
			if err == nil {
				t.Fatal("no error")
			}
			if *err != (jsonscan.Error{Offset: row.offset, Path: row.path, Want: row.want, Syntax: row.syntax}) {
				t.Errorf("got %+v", *err)
			}
		})
	}
}

func TestMismatchLosesNothingElse(t *testing.T) {
	c := jsonscan.New(`{"s":["x",{"y":null}],"in":[{"n":"1","tags":["a"]},{"n":7}],"b":true}`)
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
		{"all well", `["a","b","c"]`, "", ""},
		{"in the value", `["a",1,"c"]`, "[1]", ""},
		{"before it", `[1,"b","c"]`, "", "[0]"},
		{"before and in it", `[1,2,"c"]`, "[1]", "[0]"},
		{"behind it", `["a",1,2]`, "[1]", "[2]"},
		{"not JSON", `["a",tru,"c"]`, "[1]", "[1]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := jsonscan.New(row.text)
			var isolated *jsonscan.Error
			i := 0
			for range c.Array() {
				if i == 1 {
					isolated = c.Isolate(func(c *jsonscan.Cursor) { _ = c.String() })
				} else {
					_ = c.String()
				}
				i++
			}
			if pathOf(isolated) != row.isolated || pathOf(c.End()) != row.whole {
				t.Errorf("isolated %v, whole %v", isolated, c.End())
			}
		})
	}
}

func pathOf(err *jsonscan.Error) string {
	if err == nil {
		return ""
	}
	return err.Path
}

func TestErrorText(t *testing.T) {
	c := jsonscan.New(`{"s":1}`)
	readAll(c)
	if got := c.End().Error(); got != "json: s: want a string at offset 5" {
		t.Error(got)
	}
	c = jsonscan.New(`x`)
	readAll(c)
	if got := c.End().Error(); got != "json: want a value at offset 0" {
		t.Error(got)
	}
}

// A path stays short, however deep its place is.
func TestDeepPath(t *testing.T) {
	c := jsonscan.New(strings.Repeat(`{"a":[`, 4000) + "x")
	c.Skip()
	err := c.End()
	if err == nil || !strings.HasPrefix(err.Path, "a[0].a[0]") || len(err.Path) > 220 {
		t.Errorf("%v", err)
	}
}
