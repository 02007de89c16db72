package client

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// csvTest is a file, and what comes of it: contacts, then the error.
type csvTest struct {
	file string
	opts CSVOptions
	want string
}

func TestImportCSV(t *testing.T) {
	testCSV(t, map[string]csvTest{
		"plain":            {"email,first_name,tags\na@x,Ann,vip; new\nb@x,,\n", CSVOptions{}, "2:a@x{first_name=Ann}[vip new] 3:b@x{}[] "},
		"mark and spaces":  {"\ufeff Email ,City\r\n a@x ,Bonn\r\n", CSVOptions{}, "2:a@x{City=Bonn}[] "},
		"mark and quotes":  {"\ufeff\"email\",\"n\"\n\"a@x\",\"1\"\n", CSVOptions{}, "2:a@x{n=1}[] "},
		"mark alone":       {"\ufeff", CSVOptions{}, "line 1: the file is empty; want a row of headers"},
		"quotes and lines": {"email,note\n\"a@x\",\"two\nlines, \"\"quoted\"\"\"\nb@x,n\n", CSVOptions{}, "2:a@x{note=two\nlines, \"quoted\"}[] 4:b@x{note=n}[] "},
		"other names":      {"adresse;gruppe\na@x;k|l\n", CSVOptions{Comma: ';', Email: "Adresse", Tags: "gruppe", Separator: "|"}, "2:a@x{}[k l] "},
		"no end of line":   {"email\na@x", CSVOptions{}, "2:a@x{}[] "},
		"blank lines":      {"email\n\n\na@x\n", CSVOptions{}, "4:a@x{}[] "},
		"empty header":     {"email,\na@x,z\n", CSVOptions{}, "2:a@x{}[] "},
		"empty headers":    {"email,,\na@x,1,2\n", CSVOptions{}, "2:a@x{}[] "},
		"empty file":       {"", CSVOptions{}, "line 1: the file is empty; want a row of headers"},
		"no email column":  {"name\nAnn\n", CSVOptions{}, `line 1: no column has the header "email", but "name"`},
		"header twice":     {"email,Name,name\n", CSVOptions{}, "line 1: name: two columns have this header"},
		"no address":       {"email,n\na@x,1\n,2\n", CSVOptions{}, "2:a@x{n=1}[] line 3: email: is empty"},
		"too many fields":  {"email\na@x\nb@x,2\n", CSVOptions{}, "2:a@x{}[] line 3: wrong number of fields"},
		"bare quote":       {"email\na\"b@x\n", CSVOptions{}, `line 2: bare " in non-quoted-field`},
		"open quote":       {"email\n\"a@x\n", CSVOptions{}, `line 2: extraneous or missing " in quoted-field`},
		"bad after lines":  {"email,n,m\na@x,\"1\n2\",b\"c\nd@x,3,4\n", CSVOptions{BadRow: skipRow}, "4:d@x{n=3m=4}[] "},
		"quote over lines": {"email,n\na@x,1\nb@x,\"2\nc@x,3\nd@x,4\n", CSVOptions{BadRow: skipRow}, `2:a@x{n=1}[] line 3: extraneous or missing " in quoted-field; the quote takes in all up to line 5`},
		"not UTF-8":        {"email,n\na@x,\xe4\n", CSVOptions{}, "line 2: n: is not UTF-8"},
		"endless row":      {"email\n\"" + strings.Repeat("a\n", maxCSVRow), CSVOptions{BadRow: skipRow}, "line 2: the row is longer than 1048576 bytes; perhaps a quote is not closed"},
		"skipping":         {"email,n\n,2\na@x,1,7\nb\"@x,5\n\"c@x\",\xff\nd@x,3\n", CSVOptions{BadRow: skipRow}, "6:d@x{n=3}[] "},
		"bad comma":        {"email\n", CSVOptions{Comma: '"'}, "line 1: csv: invalid field or comment delimiter"},
	})
}

// A row that is left out is left out whole, or the source ends.
func TestImportCSVLeavesOutWhole(t *testing.T) {
	testCSV(t, map[string]csvTest{
		"note of a bad row":      {"email,n,note\nb\"@x,1,\"two\nevil@x,2,3\nend\"\nc@x,3,4\n", CSVOptions{BadRow: skipRow}, "5:c@x{n=3note=4}[] "},
		"note behind a space":    {"email,note\nb@x, \"two\nevil@x,2\nend\"\nc@x,3\n", CSVOptions{BadRow: skipRow}, "5:c@x{note=3}[] "},
		"space behind a quote":   {"email,note\n\"b@x\" ,2\nc@x,3\n", CSVOptions{BadRow: skipRow}, "3:c@x{note=3}[] "},
		"quotes within quotes":   {"email,note\nb@x,\"a \"quoted\" word\"\nc@x,3\n", CSVOptions{BadRow: skipRow}, "3:c@x{note=3}[] "},
		"quotes, then lines":     {"email,note\nb@x,\"a \"quoted\" word\nevil@x,1\nend\"\n", CSVOptions{BadRow: skipRow}, `line 2: extraneous or missing " in quoted-field, and nobody can say where the row ends`},
		"inches, then lines":     {"email,note\nb@x,\"5\" pipe\nevil@x,1\nend\"\n", CSVOptions{BadRow: skipRow}, `line 2: extraneous or missing " in quoted-field, and nobody can say where the row ends`},
		"bad quotes over lines":  {"email,note\nb@x,\"two\nlines\" x\nevil@x,\"1\"\n", CSVOptions{BadRow: skipRow}, `line 2: extraneous or missing " in quoted-field, and nobody can say where the row ends`},
		"bad quotes, good ones":  {"email,note,n\nb@x,\"two\nlines\" x,\"z\"\nevil@x,1,2\n", CSVOptions{BadRow: skipRow}, `line 2: extraneous or missing " in quoted-field, and nobody can say where the row ends`},
		"inches, an open quote":  {"email,note,n\nb@x,\"5\"x,\"\nevil@x,1,2\nend\"\n", CSVOptions{BadRow: skipRow}, `line 2: extraneous or missing " in quoted-field, and nobody can say where the row ends`},
		"quote before a field":   {"email,note,n\nb@x,\"a \"quoted\",z\nc@x,3,4\n", CSVOptions{BadRow: skipRow}, "3:c@x{note=3n=4}[] "},
		"inches without quotes":  {"email,note\nb@x,5\" pipe\nc@x,3\n", CSVOptions{BadRow: skipRow}, "3:c@x{note=3}[] "},
		"too many fields, lines": {"email,note\nb@x,1,\"two\nevil@x,2\"\nc@x,3\n", CSVOptions{BadRow: skipRow}, "4:c@x{note=3}[] "},
	})
}

func TestImportCSVLines(t *testing.T) {
	testCSV(t, map[string]csvTest{
		"CR alone":            {"email,n\ra@x,1\r\rb@x,\"2\r3\"\rc@x,4", CSVOptions{}, "2:a@x{n=1}[] 4:b@x{n=2\n3}[] 6:c@x{n=4}[] "},
		"CR at the end":       {"email\r", CSVOptions{}, ""},
		"CR CR LF":            {"email\r\r\na@x\r\r\n", CSVOptions{}, "3:a@x{}[] "},
		"CR in an LF file":    {"email,n\na@x,1\revil@x,2\nc@x,3\n", CSVOptions{BadRow: skipRow}, "3:c@x{n=3}[] "},
		"CR before a field":   {"email,n\na@x,\r1\nc@x,3\n", CSVOptions{BadRow: skipRow}, "3:c@x{n=3}[] "},
		"LF before a field":   {"email,n\ra@x,\n1\rc@x,3\r", CSVOptions{BadRow: skipRow}, "3:c@x{n=3}[] "},
		"LF in a CR file":     {"email,n\ra@x,1\nevil@x,2\rc@x,3\r", CSVOptions{}, "line 2: an end of line of another kind than that of the first line"},
		"long lines with CR":  {"email,n\r" + strings.Repeat("a@x,"+strings.Repeat("n", 5000)+"\r\n", 2), CSVOptions{}, "2:a@x{n=" + strings.Repeat("n", 5000) + "}[] 3:a@x{n=" + strings.Repeat("n", 5000) + "}[] "},
		"2 MiB of nothing":    {"email\n" + strings.Repeat("\n", 2<<20) + "a@x\n", CSVOptions{}, "2097154:a@x{}[] "},
		"2 MiB of empty rows": {"email,n\n" + strings.Repeat(",\r\n", 1<<19) + "a@x,\n", CSVOptions{}, "524290:a@x{}[] "},
		"tail of empty rows":  {"email,n,m\na@x,1,2\n,,\n , ,\n\"\",,\n,\n", CSVOptions{}, "2:a@x{n=1m=2}[] "},
		"row of 1 MiB":        {"email,n\na@x," + strings.Repeat("n", 1<<20-4) + "\n", CSVOptions{BadRow: skipRow}, "2:a@x{n=" + strings.Repeat("n", 1<<20-4) + "}[] "},
		"longer row":          {"email,n\na@x," + strings.Repeat("n", 1<<20-3) + "\nb@x,\n", CSVOptions{BadRow: skipRow}, "line 2: the row is longer than 1048576 bytes; perhaps a quote is not closed"},
		"longer first row":    {"email," + strings.Repeat("n", 1<<20), CSVOptions{BadRow: skipRow}, "line 1: the row is longer than 1048576 bytes; perhaps a quote is not closed"},
	})
}

func TestImportCSVOfSpreadsheets(t *testing.T) {
	testCSV(t, map[string]csvTest{
		"separator line":      {"sep=;\r\nemail;tags\r\na@x;b\r\n", CSVOptions{}, "3:a@x{}[b] "},
		"separator in quotes": {"\ufeff\"SEP=|\"\nemail|n\na@x|b\n", CSVOptions{}, "3:a@x{n=b}[] "},
		"another separator":   {"sep=;\nemail,n\na@x,b;c\n", CSVOptions{Comma: ','}, "3:a@x{n=b;c}[] "},
		"no separator line":   {"sep=ab,email\n1,a@x\n", CSVOptions{}, "2:a@x{sep=ab=1}[] "},
		"tabs":                {"email\tn\na@x\t\"b\"\n", CSVOptions{Comma: '\t'}, "2:a@x{n=b}[] "},
		"separator of bytes":  {"email§n\n\"a@x\"§b\n", CSVOptions{Comma: '§'}, "2:a@x{n=b}[] "},
		"UTF-16":              {"\xff\xfee\x00m\x00", CSVOptions{}, "line 1: the file is UTF-16 or another wide encoding; save it as UTF-8"},
		"UTF-16, big endian":  {"\xfe\xff\x00e\x00m", CSVOptions{}, "line 1: the file is UTF-16 or another wide encoding; save it as UTF-8"},
		"UTF-16, no mark":     {"e\x00m\x00", CSVOptions{}, "line 1: the file is UTF-16 or another wide encoding; save it as UTF-8"},
		"UTF-16, NUL first":   {"\x00e\x00m", CSVOptions{}, "line 1: the file is UTF-16 or another wide encoding; save it as UTF-8"},
		"ten other headers":   {"a,b,c,d,e,f,g,h,i,j\n", CSVOptions{}, `line 1: no column has the header "email", but "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"`},
		"wrong separator":     {"email;name\na@x;n\n", CSVOptions{}, `line 1: no column has the header "email", but "email;name"`},
		"many other headers":  {"a,b,c,d,e,f,g,h,i,j," + strings.Repeat("k", 99) + ",l\n", CSVOptions{}, `line 1: no column has the header "email", but "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", 2 more`},
		"long other header":   {strings.Repeat("k", 99) + "\n", CSVOptions{}, `line 1: no column has the header "email", but "` + strings.Repeat("k", 40) + `"`},
		"header not UTF-8":    {"email,Stra\xdfe\na@x,1\n", CSVOptions{}, "line 1: the header of column 2 is not UTF-8"},
		"header of two lines": {"email,\"a\nb\"\na@x,\xff\n", CSVOptions{}, `line 3: a\nb: is not UTF-8`},
	})
}

func testCSV(t *testing.T, tests map[string]csvTest) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for c, err := range ImportCSV(strings.NewReader(tc.file), tc.opts) {
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
				fmt.Fprintf(&got, "}%v ", c.Tags)
			}
			if got.String() != tc.want {
				t.Errorf("got  %q\nwant %q", got.String(), tc.want)
			}
		})
	}
}

func skipRow(*CSVError) error { return nil }

func TestImportCSVReadFails(t *testing.T) {
	for name, broken := range map[string]error{
		"gone":        errors.New("the disk is gone"),
		"wraps EOF":   fmt.Errorf("truncated archive: %w", io.EOF),
		"no progress": io.ErrNoProgress,
	} {
		t.Run(name, func(t *testing.T) {
			for file, want := range map[string]string{"email\na@x\n": "line 3: ", "email\na@x\nb\"": "line 3: "} {
				r := io.MultiReader(strings.NewReader(file), iotestReader{broken})
				var n int
				var last error
				for _, err := range ImportCSV(r, CSVOptions{BadRow: skipRow}) {
					if n++; n > 2 {
						break
					}
					last = err
				}
				if n != 2 || !errors.Is(last, broken) || last.Error() != want+broken.Error() {
					t.Errorf("%q: %d items, then %v", file, n, last)
				}
			}
		})
	}
}

// TestImportCSVNeverReads has a reader that gives neither bytes nor an error.
func TestImportCSVNeverReads(t *testing.T) {
	var n int
	for _, err := range ImportCSV(io.MultiReader(strings.NewReader("email\na@x\n"), iotestReader{}), CSVOptions{BadRow: skipRow}) {
		if n++; n == 2 && !errors.Is(err, io.ErrNoProgress) || n > 2 {
			t.Fatalf("item %d: %v", n, err)
		}
	}
	if n != 2 {
		t.Errorf("%d items, want a contact and an error", n)
	}
}

// counted counts what is read of endless text.
type counted int

func (c *counted) Read(p []byte) (int, error) {
	*c += counted(len(p))
	return copy(p, strings.Repeat("x", len(p))), nil
}

// A row without an end is given up when it is too long, not when memory is.
func TestImportCSVEndlessLine(t *testing.T) {
	for _, head := range []string{"", "email\n", "email\r", "email\n\""} {
		var read counted
		var got error
		for _, err := range ImportCSV(io.MultiReader(strings.NewReader(head), io.LimitReader(&read, 64<<20)), CSVOptions{}) {
			got = err
		}
		if got == nil || !strings.Contains(got.Error(), "longer than 1048576 bytes") || read > 4<<20 {
			t.Errorf("behind %q: %v after %d bytes", head, got, read)
		}
	}
}

type iotestReader struct{ err error }

func (r iotestReader) Read([]byte) (int, error) { return 0, r.err }

func FuzzImportCSV(f *testing.F) {
	f.Add("email,tags\na@x,b;c\n", true)
	f.Add("email\n\"a\n\"\",\n", false)
	f.Fuzz(func(t *testing.T, file string, skip bool) {
		opts := CSVOptions{}
		if skip {
			opts.BadRow = skipRow
		}
		line, failed := 0, false
		for c, err := range ImportCSV(strings.NewReader(file), opts) {
			if failed {
				t.Fatal("goes on after an error")
			}
			if failed = err != nil; failed {
				continue
			}
			if c.Email == "" || c.Line <= line {
				t.Fatalf("contact %+v after line %d", c, line)
			}
			line = c.Line
		}
	})
}

// FuzzCSVRows holds the rows against those of encoding/csv, for files that it
// reads without an error.
func FuzzCSVRows(f *testing.F) {
	f.Add("a,b\n\"1\n2\",\"\"\"\"\n,\n\n3, 4\n")
	f.Add("a\r\n\"\r\n\"\r\n")
	f.Fuzz(func(t *testing.T, file string) {
		if strings.Contains(strings.ReplaceAll(file, "\r\n", ""), "\r") || strings.HasPrefix(file, "\ufeff") ||
			strings.Contains(file, "\x00") || strings.Contains(strings.ToLower(file), "sep=") {
			return
		}
		std := csv.NewReader(strings.NewReader(file))
		std.FieldsPerRecord = -1
		want, err := std.ReadAll()
		if err != nil {
			return
		}
		rows := newCSVRows(strings.NewReader(file))
		if err := rows.begin(0); err != nil {
			return
		}
		for i := 0; ; i++ {
			got, err := rows.next()
			if err == io.EOF {
				if i < len(want) {
					t.Fatalf("%d rows, want %d", i, len(want))
				}
				return
			}
			if err != nil || i == len(want) || !slices.Equal(got, want[i]) {
				t.Fatalf("row %d: %q, %v; want %q", i, got, err, want[min(i, len(want)-1)])
			}
		}
	})
}

// BenchmarkImportCSV stands beside encoding/csv, which only splits.
func BenchmarkImportCSV(b *testing.B) {
	file := "email,first_name,city,tags\n" + strings.Repeat("contact@example.com,Ann,\"Bonn, \"\"am\"\" Rhein\",vip;new\n", 10_000)
	b.Run("csv", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			if rows, err := csv.NewReader(strings.NewReader(file)).ReadAll(); err != nil || len(rows) != 10_001 {
				b.Fatal(err)
			}
		}
	})
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		b.ReportAllocs()
		for b.Loop() {
			for _, err := range ImportCSV(strings.NewReader(file), CSVOptions{}) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
