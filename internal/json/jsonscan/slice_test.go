package jsonscan_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/emailplatform/internal/json/jsonscan"
)

// wide needs far more memory than an empty object has text.
type wide struct {
	id   int64
	tags []string
	_    [20]int64
}

func readWide(c *jsonscan.Cursor) (v wide) {
	for name := range c.Object() {
		switch name {
		case "id":
			v.id = c.Int()
		case "tags":
			v.tags = jsonscan.Slice(c, (*jsonscan.Cursor).String)
		default:
			c.Skip()
		}
	}
	return v
}

func readWides(c *jsonscan.Cursor) []wide { return jsonscan.Slice(c, readWide) }

func TestSliceLengths(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 10, 17, 63, 64, 65, 127, 128, 129, 130, 257, 10_000} {
		var items, tags strings.Builder
		for i := range n {
			fmt.Fprintf(&items, `, {"id" : %d,"text":"%s","tags":["%[1]d","x"]} `, i, strings.Repeat("long ", 6))
			fmt.Fprintf(&tags, `,"%d"`, i)
		}
		c := jsonscan.New("[" + strings.TrimPrefix(items.String(), ",") + "]")
		got := readWides(c)
		if err := c.End(); err != nil || len(got) != n || cap(got) > max(2*n, 1) || got == nil {
			t.Fatalf("%d large: %d with room for %d, %v", n, len(got), cap(got), err)
		}
		for i, v := range got {
			if v.id != int64(i) || !slices.Equal(v.tags, []string{fmt.Sprint(i), "x"}) {
				t.Fatalf("%d large: %+v at %d", n, v, i)
			}
		}
		c = jsonscan.New(`[{"tags":[` + strings.TrimPrefix(tags.String(), ",") + `]}]`)
		got = readWides(c)
		if err := c.End(); err != nil || len(got[0].tags) != n || cap(got[0].tags) > max(2*n, 1) || n > 0 && got[0].tags[n-1] != fmt.Sprint(n-1) {
			t.Fatalf("%d small: %d, %v", n, len(got[0].tags), err)
		}
	}
}

func TestSliceMemory(t *testing.T) {
	const size = 1 << 20
	for name, tc := range map[string]struct {
		head, again, tail string
		fits              bool
	}{
		"empty":             {`[`, `{},`, `{}]`, false},
		"null":              {`[`, `null,`, `null]`, false},
		"one after another": {`[{"tags":[`, `"",`, `""]}]`, true},
		"within":            {`[`, `{"tags":["","","","","","","","","","","","","","","","","",""]},`, `{}]`, true},
		"within, too much":  {`[`, `{"tags":[1]},`, `{}]`, false},
		"again and again":   {`[{`, `"tags":[""],`, `"id":1}]`, true},
		"a page, again":     {`[{`, `"tags":["","","","","","","","","","","","","","","","","",""],`, `"id":1}]`, true},
		"not closed":        {`[`, `{},`, ``, false},
		"not UTF-8":         {`[{"tags":["`, "\xff", `"]}]`, true},
		"escapes":           {`[{"tags":["`, `\n`, `"]}]`, true},
	} {
		t.Run(name, func(t *testing.T) {
			text := tc.head + strings.Repeat(tc.again, size/len(tc.again)) + tc.tail
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c := jsonscan.New(text)
			got := readWides(c)
			err := c.End()
			runtime.ReadMemStats(&after)
			if err != nil == tc.fits && (err.Syntax || tc.fits) {
				t.Errorf("%d elements, %v; want them to fit: %v", len(got), err, tc.fits)
			}
			if taken := after.TotalAlloc - before.TotalAlloc; taken > 8*uint64(len(text))+512<<10 {
				t.Errorf("%.1f bytes are allocated for each byte of the text", float64(taken)/float64(len(text)))
			}
		})
	}
}

func TestSliceOfFewEmpty(t *testing.T) {
	c := jsonscan.New("[" + strings.Repeat("{},", 300) + "{}]")
	if got := readWides(c); c.End() != nil || len(got) != 301 {
		t.Errorf("%d elements, %v", len(got), c.Err())
	}
}

// TestSliceLimit: elements need exactly eight times the memory of the text plus 256 KiB, and one byte more.
func TestSliceLimit(t *testing.T) {
	type item [6]int64 // 48 bytes
	const n = 40_000
	head, tail := `{"list":[`+strings.Repeat("null,", n-1), "null]}"
	exact := (48*n - 256<<10) / 8
	for length, path := range map[int]string{exact: "", exact - 1: "list[9]"} {
		c := jsonscan.New(head + tail + strings.Repeat(" ", length-len(head+tail)))
		for range c.Object() {
			jsonscan.Slice(c, func(c *jsonscan.Cursor) (v item) { c.Skip(); return v })
		}
		if err := c.End(); pathOf(err) != path || (err == nil) != (path == "") {
			t.Errorf("%d bytes of text: %v, want an error in %q", length, err, path)
		}
	}
}
