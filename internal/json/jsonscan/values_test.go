package jsonscan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestMembers(t *testing.T) {
	for text, want := range map[string]string{`{"a":1,"b":2}`: "a=1 b=2 ", `{}`: "", `null`: "", `[{"a":1}]`: "", `"a"`: "", `7`: ""} {
		c := New(text)
		got := ""
		for name := range c.Members() {
			got += fmt.Sprintf("%s=%s ", name, c.Raw())
		}
		if err := c.End(); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestEmptyArray(t *testing.T) {
	for text, want := range map[string]bool{`[]`: true, ` [ ] `: true, `[1]`: false, `[[]]`: false, `{}`: false, `"]"`: false, `null`: false} {
		if got := New(text).EmptyArray(); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
}

func TestMissing(t *testing.T) {
	c := New(`[{"a":1}, {"b":2}]`)
	for range c.Array() {
		start, found := c.Offset(), false
		for name := range c.Object() {
			found = found || name == "a"
			c.Skip()
		}
		if !found {
			c.Missing(start, "a")
		}
	}
	if err := c.End(); err == nil || err.Syntax || err.Error() != `json: [1]: expected an object with the field "a" at offset 10` {
		t.Error(err)
	}
}

// A value of type wide needs far more memory than its shortest JSON text, {}.
type wide struct {
	id   int64
	tags []string
	_    [20]int64
}

func readWide(c *Cursor) (v wide) {
	for name := range c.Object() {
		switch name {
		case "id":
			v.id = c.Int()
		case "tags":
			v.tags = Slice(c, (*Cursor).String)
		default:
			c.Skip()
		}
	}
	return v
}

func readWides(c *Cursor) []wide { return Slice(c, readWide) }

func TestSliceLengths(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 10, 17, 63, 64, 65, 127, 128, 129, 130, 257, 10_000} {
		var items, tags strings.Builder
		for i := range n {
			fmt.Fprintf(&items, `, {"id" : %d,"text":"%s","tags":["%[1]d","x"]} `, i, strings.Repeat("long ", 6))
			fmt.Fprintf(&tags, `,"%d"`, i)
		}
		c := New("[" + strings.TrimPrefix(items.String(), ",") + "]")
		got := readWides(c)
		if err := c.End(); err != nil || len(got) != n || cap(got) > max(2*n, 1) || got == nil {
			t.Fatalf("%d large elements: got %d with a capacity of %d, %v", n, len(got), cap(got), err)
		}
		for i, v := range got {
			if v.id != int64(i) || !slices.Equal(v.tags, []string{fmt.Sprint(i), "x"}) {
				t.Fatalf("%d large: %+v at %d", n, v, i)
			}
		}
		c = New(`[{"tags":[` + strings.TrimPrefix(tags.String(), ",") + `]}]`)
		got = readWides(c)
		if err := c.End(); err != nil || len(got[0].tags) != n || cap(got[0].tags) > max(2*n, 1) || n > 0 && got[0].tags[n-1] != fmt.Sprint(n-1) {
			t.Fatalf("%d small: %d, %v", n, len(got[0].tags), err)
		}
	}
}

// TestSliceLimit: elements may need up to 256 KiB plus eight times the size of the text. If the text is one byte
// shorter, the result is an error.
func TestSliceLimit(t *testing.T) {
	type item [6]int64 // 48 bytes
	const n = 40_000
	head, tail := `{"list":[`+strings.Repeat("null,", n-1), "null]}"
	exact := (48*n - 256<<10) / 8
	for length, path := range map[int]string{exact: "", exact - 1: "list[9]"} {
		c := New(head + tail + strings.Repeat(" ", length-len(head+tail)))
		for range c.Object() {
			Slice(c, func(c *Cursor) (v item) { c.Skip(); return v })
		}
		if err := c.End(); pathOf(err) != path || (err == nil) != (path == "") {
			t.Errorf("%d bytes of text: %v, want an error in %q", length, err, path)
		}
	}
}

// TestRoom: for large elements, room returns a fixed capacity for the first page. In all other cases, it counts the
// elements.
func TestRoom(t *testing.T) {
	text := strings.Repeat(",0", 10) + "]"
	for _, row := range []struct {
		name string
		room func(c *Cursor) int
		want int
	}{
		{"large, on the first page", func(c *Cursor) int { return cap(room[[64]byte](c, 127)) }, 128},
		{"large, after the first page", func(c *Cursor) int { return cap(room[[64]byte](c, 128)) }, 128 + 1 + 10},
		{"small", func(c *Cursor) int { return cap(room[[63]byte](c, 16)) }, 16 + 1 + 10},
	} {
		if got := row.room(New(text)); got != row.want {
			t.Errorf("%s: a capacity of %d elements, want %d", row.name, got, row.want)
		}
	}
}
