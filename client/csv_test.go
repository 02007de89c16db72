package client

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// csvTest is a file with the expected contacts and error.
type csvTest struct {
	file string
	opts CSVOptions
	want string
}

func TestContactsFromCSV(t *testing.T) {
	testCSV(t, map[string]csvTest{
		"plain":             {"email,first_name,tags\na@x,Ann,vip; new\nb@x,,\n", CSVOptions{}, "2:a@x{first_name=Ann}[vip new] 3:b@x{}[] "},
		"interests":         {"email,interests\na@x,go; c\n", CSVOptions{}, "2:a@x{}[][go c] "},
		"mark and spaces":   {"\ufeff Email , City \r\n a@x ,Bonn\r\n", CSVOptions{}, "2:a@x{City=Bonn}[] "},
		"mark and quotes":   {"\ufeff\"email\",\"n\"\n\"a@x\",\"1\"\n", CSVOptions{}, "2:a@x{n=1}[] "},
		"mark alone":        {"\ufeff", CSVOptions{}, "line 1: the file is empty; it must have a header row"},
		"quotes and lines":  {"email,note\n\"a@x\",\"two\nlines, \"\"quoted\"\"\"\nb@x,n\n", CSVOptions{}, "2:a@x{note=two\nlines, \"quoted\"}[] 4:b@x{note=n}[] "},
		"other names":       {"adresse;gruppe;thema\na@x;k|l;m\n", CSVOptions{Comma: ';', Email: "Adresse", Tags: "gruppe", Interests: "thema", Separator: "|"}, "2:a@x{}[k l][m] "},
		"no end of line":    {"email\na@x", CSVOptions{}, "2:a@x{}[] "},
		"blank lines":       {"email\n\n\na@x\n", CSVOptions{}, "4:a@x{}[] "},
		"empty header":      {"email,\na@x,z\n", CSVOptions{}, "2:a@x{}[] "},
		"empty file":        {"", CSVOptions{}, "line 1: the file is empty; it must have a header row"},
		"no email column":   {"name\nAnn\n", CSVOptions{}, `line 1: no column has the header "email"; the headers are "name"`},
		"header twice":      {"email,Name,name\n", CSVOptions{}, "line 1: name: more than one column has this header"},
		"no address":        {"email,n\na@x,1\n,2\n", CSVOptions{}, "2:a@x{n=1}[] line 3: email: must not be empty"},
		"too many fields":   {"email\na@x\nb@x,2\n", CSVOptions{}, "2:a@x{}[] line 3: wrong number of fields"},
		"bare quote":        {"email\na\"b@x\n", CSVOptions{}, `line 2: bare " in non-quoted-field`},
		"open quote":        {"email\n\"a@x\n", CSVOptions{}, `line 2: extraneous or missing " in quoted-field`},
		"quote over lines":  {"email,n\na@x,1\nb@x,\"2\nc@x,3\nd@x,4\n", CSVOptions{OnBadRow: skipRow}, `2:a@x{n=1}[] line 3: extraneous or missing " in quoted-field`},
		"not UTF-8":         {"email,n\na@x,\xe4\n", CSVOptions{}, "line 2: n: must be valid UTF-8"},
		"NUL":               {"email,first_name,n\na@x,1,\nb@x,2,a\x00b\n", CSVOptions{}, "2:a@x{first_name=1}[] line 3: n: must not contain the character U+0000"},
		"NUL in a header":   {"email,first_name,last_name_and_more,n\x00m\na@x,1,2,3\n", CSVOptions{}, `line 1: n\x00m: must not contain the character U+0000`},
		"endless row":       {"email\n\"" + strings.Repeat("a\n", maxCSVRow), CSVOptions{OnBadRow: skipRow}, "line 2: the row is longer than 1048576 bytes; check for an unclosed quote"},
		"skipping":          {"email,n\n,2\na@x,1,7\n\"c@x\",\xff\nd@x,3\n", CSVOptions{OnBadRow: skipRow}, "5:d@x{n=3}[] "},
		"after blank lines": {"email\n\n\na\"b@x\n", CSVOptions{}, `line 4: bare " in non-quoted-field`},
		"bad comma":         {"email\n", CSVOptions{Comma: '"'}, "line 1: csv: invalid field or comment delimiter"},
	})
}

// TestContactsFromCSVSkipsWholeRows: a quoted field can contain line breaks, so an invalid row is skipped with all
// its lines. A misplaced quote ends the iteration.
func TestContactsFromCSVSkipsWholeRows(t *testing.T) {
	const bare, quote = `line 2: bare " in non-quoted-field`, `line 2: extraneous or missing " in quoted-field`
	testCSV(t, map[string]csvTest{
		"too many fields, lines": {"email,note\nb@x,1,\"two\nevil@x,2\"\nc@x,3\n", CSVOptions{OnBadRow: skipRow}, "4:c@x{note=3}[] "},
		"lines before bad field": {"email,n,m\na@x,\"1\n2\",\xff\nd@x,3,4\n", CSVOptions{OnBadRow: skipRow}, "4:d@x{n=3m=4}[] "},
		"bare quote, then lines": {"email,n,note\nb\"@x,1,\"two\nevil@x,2\nend\"\nc@x,3,4\n", CSVOptions{OnBadRow: skipRow}, bare},
		"space before a quote":   {"email,note\nb@x, \"two\nevil@x,2\nend\"\nc@x,3\n", CSVOptions{OnBadRow: skipRow}, bare},
		"quotes within quotes":   {"email,note\nb@x,\"a \"quoted\" word\nevil@x,1\nend\"\n", CSVOptions{OnBadRow: skipRow}, quote},
		"quotes over lines":      {"email,note\nb@x,\"two\nlines\" x\nevil@x,\"1\"\n", CSVOptions{OnBadRow: skipRow}, quote},
	})
}

func TestContactsFromCSVLines(t *testing.T) {
	const lone = "contains a CR without an LF; line endings must be LF or CRLF"
	testCSV(t, map[string]csvTest{
		"CR alone":             {"email,n\ra@x,1\rb@x,2\r", CSVOptions{}, "line 1: " + lone},
		"CR in an LF file":     {"email,n\na@x,1\revil@x,2\nc@x,3\n", CSVOptions{}, "line 2: n: " + lone},
		"CR in a field":        {"email,n\na@x,1\r2\nc@x,3\n", CSVOptions{OnBadRow: skipRow}, "3:c@x{n=3}[] "},
		"2 MiB of empty rows":  {"email,n\n" + strings.Repeat(",\r\n", 1<<19) + "a@x,\n", CSVOptions{}, "524290:a@x{}[] "},
		"2 MiB of blank lines": {"email,n\na@x,\n" + strings.Repeat("\r\n", 1<<20) + "b@x,\"1\n2\"\n\nc@x,\xff\n", CSVOptions{}, "2:a@x{}[] 1048579:b@x{n=1\n2}[] line 1048582: n: must be valid UTF-8"},
		"tail of blank lines":  {"email\n\na@x\n" + strings.Repeat("\n", 2<<20) + "\r", CSVOptions{}, "3:a@x{}[] "},
		"tail of empty rows":   {"email,n,m\na@x,1,2\n,,\n , ,\n\"\",,\n,\n", CSVOptions{}, "2:a@x{n=1m=2}[] "},
		"row of 1 MiB":         {"email,n\na@x," + strings.Repeat("n", 1<<20-5) + "\n", CSVOptions{}, "2:a@x{n=" + strings.Repeat("n", 1<<20-5) + "}[] "},
		"longer row":           {"email,n\na@x," + strings.Repeat("n", 1<<20-4) + "\nb@x,\n", CSVOptions{OnBadRow: skipRow}, "line 2: the row is longer than 1048576 bytes; check for an unclosed quote"},
		"longer first row":     {"email," + strings.Repeat("n", 1<<20), CSVOptions{OnBadRow: skipRow}, "line 1: the row is longer than 1048576 bytes; check for an unclosed quote"},
	})
}

func TestContactsFromCSVSpreadsheets(t *testing.T) {
	testCSV(t, map[string]csvTest{
		"separator line":      {"sep=;\r\nemail;tags\r\na@x;b\r\n", CSVOptions{}, "3:a@x{}[b] "},
		"separator in quotes": {"\ufeff\"SEP=|\"\nemail|n\na@x|b\n", CSVOptions{}, "3:a@x{n=b}[] "},
		"another separator":   {"sep=;\nemail,n\na@x,b;c\n", CSVOptions{Comma: ','}, "3:a@x{n=b;c}[] "},
		"no separator line":   {"sep=ab,email\n1,a@x\n", CSVOptions{}, "2:a@x{sep=ab=1}[] "},
		"tabs":                {"email\tn\na@x\t\"b\"\n", CSVOptions{Comma: '\t'}, "2:a@x{n=b}[] "},
		"separator of bytes":  {"email§n\n\"a@x\"§b\n", CSVOptions{Comma: '§'}, "2:a@x{n=b}[] "},
		"ten other headers":   {"a,b,c,d,e,f,g,h,i,j\n", CSVOptions{}, `line 1: no column has the header "email"; the headers are "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"`},
		"many other headers":  {"a,b,c,d,e,f,g,h,i,j," + strings.Repeat("k", 99) + ",l\n", CSVOptions{}, `line 1: no column has the header "email"; the headers are "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", 2 more`},
		"long other header":   {strings.Repeat("k", 99) + "\n", CSVOptions{}, `line 1: no column has the header "email"; the headers are "` + strings.Repeat("k", 40) + `"`},
		"header not UTF-8":    {"email,Stra\xdfe\na@x,1\n", CSVOptions{}, "line 1: the header of column 2 must be valid UTF-8"},
		"header of two lines": {"email,\"a\nb\"\na@x,\xff\n", CSVOptions{}, `line 3: a\nb: must be valid UTF-8`},
	})
}

func testCSV(t *testing.T, tests map[string]csvTest) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for c, err := range ContactsFromCSV(strings.NewReader(tc.file), tc.opts) {
				if err != nil {
					if _, ok := errors.AsType[*CSVError](err); !ok {
						t.Errorf("%T is not a *CSVError", err)
					}
					got.WriteString(err.Error())
					continue
				}
				fmt.Fprintf(&got, "%d:%s{", c.Line, c.Email)
				for _, a := range c.CustomAttributes {
					fmt.Fprintf(&got, "%s=%s", a.Name, a.Value)
				}
				fmt.Fprintf(&got, "}%v", c.Tags)
				if c.Interests != nil {
					fmt.Fprint(&got, c.Interests)
				}
				got.WriteString(" ")
			}
			assert.Equal(t, tc.want, got.String())
		})
	}
}

func skipRow(*CSVError) error { return nil }

// TestContactsFromCSVReadFails: the iteration ends if the reader fails, or returns neither bytes nor an error.
func TestContactsFromCSVReadFails(t *testing.T) {
	for name, broken := range map[string]error{
		"gone":        errors.New("the disk is gone"),
		"wraps EOF":   fmt.Errorf("truncated archive: %w", io.EOF),
		"no progress": nil,
	} {
		for file, line := range map[string]string{"email\na@x\n": "line 3: ", "email\na@x\nb\"": "line 3: ", "email\na@x\n\n\n": "line 5: "} {
			if broken == nil && strings.HasSuffix(file, "\"") {
				continue // encoding/csv reports the quote first
			}
			want := cmp.Or(broken, io.ErrNoProgress)
			var n int
			var last error
			for _, err := range ContactsFromCSV(io.MultiReader(strings.NewReader(file), failingReader{broken}), CSVOptions{OnBadRow: skipRow}) {
				if n++; n > 2 {
					break
				}
				last = err
			}
			if n != 2 || !errors.Is(last, want) || last.Error() != line+want.Error() {
				t.Errorf("%s, %q: %d items, then %v", name, file, n, last)
			}
		}
	}
}

// counted is a reader of endless text, which counts the bytes that were read.
type counted int

func (c *counted) Read(p []byte) (int, error) {
	*c += counted(len(p))
	return copy(p, strings.Repeat("x", len(p))), nil
}

// TestContactsFromCSVEndlessLine: an endless row fails at the maximum size of a row.
func TestContactsFromCSVEndlessLine(t *testing.T) {
	for _, head := range []string{"", "email\n", "email\n\""} {
		var read counted
		var got error
		for _, err := range ContactsFromCSV(io.MultiReader(strings.NewReader(head), io.LimitReader(&read, 64<<20)), CSVOptions{}) {
			got = err
		}
		if got == nil || !strings.Contains(got.Error(), "longer than 1048576 bytes") || read > 4<<20 {
			t.Errorf("after %q: got %v after %d bytes", head, got, read)
		}
	}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

func FuzzImportCSV(f *testing.F) {
	f.Add("email,tags\na@x,b;c\n", true)
	f.Add("email\n\"a\n\"\",\n", false)
	f.Add("email;tags\n\ufeffa@x;\"\"\"b\"\",\"\"c\"\"\";;\n", true)
	f.Fuzz(func(t *testing.T, file string, skip bool) {
		opts := CSVOptions{OnComma: func(rune) {}}
		if skip {
			opts.OnBadRow = skipRow
		}
		line, failed := 0, false
		var read []ImportContact
		for c, err := range ContactsFromCSV(strings.NewReader(file), opts) {
			if failed {
				t.Fatal("the iterator continues after an error")
			}
			if failed = err != nil; failed {
				continue
			}
			if c.Email == "" || c.Email != trim(c.Email) || c.Line <= line {
				t.Fatalf("contact %+v after line %d", c, line)
			}
			line, read = c.Line, append(read, c)
		}
		if !utf8.ValidString(file) || strings.HasPrefix(file, "\ufeff") || notCSV([]byte(file[:min(len(file), 32)])) != nil || len(file) > 1<<16 {
			return // has no other encoding, or the limit of a row differs
		}
		var again []ImportContact
		for c, err := range ContactsFromCSV(strings.NewReader(inUTF16("\ufeff"+file)), opts) {
			if err == nil {
				again = append(again, c)
			}
		}
		assert.Equal(t, read, again, "as UTF-16")
	})
}

// TestCSVRowIsFreed: a contact does not keep the columns without a header in memory.
func TestCSVRowIsFreed(t *testing.T) {
	text := "email,note,tags,\n" + strings.Repeat("a@example.org,n,t;u,"+strings.Repeat("x", 1<<19)+"\n", 40)
	var kept []ImportContact
	for c, err := range ContactsFromCSV(strings.NewReader(text), CSVOptions{}) {
		require.NoError(t, err)
		kept = append(kept, c)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	first := kept[0]
	clear(kept)
	runtime.GC()
	runtime.ReadMemStats(&m)
	assert.Less(t, int64(before)-int64(m.HeapAlloc), int64(5<<20))
	assert.Equal(t, "a@example.org n t;u", first.Email+" "+first.CustomAttributes.Get("note")+" "+strings.Join(first.Tags, ";"))
}
