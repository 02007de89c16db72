package client

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
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
			require.NotEmpty(t, c.Email, "%+v", c)
			require.Equal(t, trim(c.Email), c.Email, "%+v", c)
			require.Greater(t, c.Line, line, "%+v", c)
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

// TestContactsFromCSVRowLength: fields may be missing at the end of a row, and more empty fields may follow.
func TestContactsFromCSVRowLength(t *testing.T) {
	testCSV(t, map[string]csvTest{
		"short rows":             {"email,first,last,tags\na@x,Ada\nb@x\nc@x,C,D,vip\n", CSVOptions{}, "2:a@x{first=Ada}[] 3:b@x{}[] 4:c@x{first=Clast=D}[vip] "},
		"no address":             {"first,email\nAda\nBob,b@x\n", CSVOptions{OnBadRow: skipRow}, "3:b@x{first=Bob}[] "},
		"empty fields at end":    {"email,first\na@x,Ada,,,\nb@x,Bob, ,\"\"\n", CSVOptions{}, "2:a@x{first=Ada}[] 3:b@x{first=Bob}[] "},
		"filled field after end": {"email,first\na@x,Ada,,x\n", CSVOptions{}, "line 2: wrong number of fields"},
		"empty headers at end":   {"email,first,,\na@x,Ada\n", CSVOptions{}, "2:a@x{first=Ada}[] "},
		"too many columns":       {"email" + strings.Repeat(",", maxCSVColumns) + "\n", CSVOptions{}, "line 1: the file must have at most 16384 columns, got 16385"},
		"column limit":           {"email" + strings.Repeat(",", maxCSVColumns-1) + "\na@x\n", CSVOptions{}, "2:a@x{}[] "},
	})
}

func TestContactsFromCSVInvisibleCharacters(t *testing.T) {
	testCSV(t, map[string]csvTest{
		"byte order mark of a second file": {"email\n\ufeffa@x\n", CSVOptions{}, "2:a@x{}[] "},
		"around addresses":                 {"email\n\u200ba@x\u200e\nb@x\u00a0\n\u2060\u00adc@x\u3000\n", CSVOptions{}, "2:a@x{}[] 3:b@x{}[] 4:c@x{}[] "},
		"around headers and tags":          {"\ufeff\u200bemail,\u200btags\na@x,vip\u200b;\u00a0new\n", CSVOptions{}, "2:a@x{}[vip new] "},
		"inside an address":                {"email\na\u200b@x\n", CSVOptions{}, "line 2: email: must not contain the invisible character U+200B"},
		"line break in an address":         {"email\n\"a@x\nb@x\"\n", CSVOptions{}, "line 2: email: must not contain the invisible character U+000A"},
		"only invisible":                   {"email\n\u200b\ufeff\nb@x\n", CSVOptions{}, "3:b@x{}[] "},
		"space inside an address":          {"email\n\"a b\"@x\n", CSVOptions{OnBadRow: skipRow}, "line 2: extraneous or missing \" in quoted-field"},
		"attribute of spaces":              {"email,city,n\na@x,\"   \",\u00a0\u200b\nb@x,\t, 1 \n", CSVOptions{}, "2:a@x{}[] 3:b@x{n= 1 }[] "},
	})
}

func TestContactsFromCSVQuotedTags(t *testing.T) {
	testCSV(t, map[string]csvTest{
		"with the separator ,": {"email,tags\na@x,\"\"\"vip\"\",\"\"new\"\"\"\n", CSVOptions{Separator: ","}, "2:a@x{}[vip new] "},
		"with the separator ;": {"email,tags\na@x,\"\"\"vip\"\" , \"\"new\"\"\"\n", CSVOptions{}, "2:a@x{}[vip new] "},
		"separator in a tag":   {"email;tags\na@x;\"\"\"x;y\"\";z\"\n", CSVOptions{Comma: ';'}, "2:a@x{}[x;y z] "},
		"interests":            {"email,interests\na@x,\"\"\"a, b\"\",c,\"\n", CSVOptions{Separator: ","}, "2:a@x{}[][a, b c] "},
		"quotes inside":        {"email,tags\na@x,\"5\"\" disk;\"\"a\"\" b;\"\"c\"\n", CSVOptions{}, "2:a@x{}[5\" disk \"a\" b \"c] "},
		"a space separates":    {"email,tags\na@x,\"\"\"a b\"\" c\"\n", CSVOptions{Separator: " "}, "2:a@x{}[a b c] "},
	})
}

// TestContactsFromCSVDetectsComma: the header row determines the separator, and commas have priority over other
// separators.
func TestContactsFromCSVDetectsComma(t *testing.T) {
	for name, tt := range map[string]struct {
		file string
		want rune // 0: not detected
	}{
		"semicolons":        {"email;first\na@x;Ada\n", ';'},
		"tabs":              {"email\tfirst\na@x\tAda\n", '\t'},
		"pipes":             {"first|email\nAda|a@x\n", '|'},
		"quotes":            {"\ufeff\n\"first\";\"email\"\nAda;a@x\n", ';'},
		"commas in a row":   {"email;first\na@x;Ada,email\n", ';'},
		"long header":       {strings.Repeat("x", 9000) + ";email\n;a@x\n", ';'},
		"commas":            {"email,first;last\na@x,Ada\n", 0},
		"specified by sep=": {"sep=;\nemail;first\na@x;Ada\n", 0},
		"one column":        {"email\na@x\n", 0},
	} {
		var got rune
		opts := CSVOptions{OnComma: func(comma rune) { got = comma }}
		var addresses []string
		for c, err := range ContactsFromCSV(iotest.OneByteReader(strings.NewReader(tt.file)), opts) {
			require.NoError(t, err, name)
			addresses = append(addresses, c.Email)
		}
		assert.Equal(t, []string{"a@x"}, addresses, name)
		assert.Equal(t, tt.want, got, name)
		opts.OnComma = nil
		for _, err := range ContactsFromCSV(strings.NewReader(tt.file), opts) {
			if tt.want != 0 {
				assert.ErrorContains(t, err, "the separator is probably '", name)
			} else {
				assert.NoError(t, err, name)
			}
		}
	}
	testCSV(t, map[string]csvTest{
		"several separators": {"a;\temail\t;b\n", CSVOptions{OnComma: func(rune) {}}, `line 1: no column has the header "email"; the headers are "a;\temail\t;b"`},
		"wrong comma":        {"email;n\n", CSVOptions{Comma: ','}, `line 1: no column has the header "email"; the headers are "email;n"`},
	})
}

func TestContactsFromCSVStatus(t *testing.T) {
	testCSV(t, map[string]csvTest{
		"active or empty":           {"email,status\na@x,Active\nb@x,\nc@x\n", CSVOptions{}, "2:a@x{}[] 3:b@x{}[] 4:c@x{}[] "},
		"others":                    {"email,Status\na@x,deleted\nb@x,unsubscribed\nc@x,pending\nd@x,spam\ne@x,bounced\nf@x,suppressed\ng@x,active\n", CSVOptions{OnBadRow: skipRow}, "8:g@x{}[] "},
		"deleted":                   {"email,status\na@x,deleted\n", CSVOptions{}, "line 2: status: must be active, got deleted"},
		"unknown":                   {"email,status\na@x,gold\n", CSVOptions{}, `line 2: status: must be the status of a contact, such as active, got "gold"; if the column is an attribute, set Status to "-"`},
		"an attribute":              {"email,status\na@x,gold\n", CSVOptions{Status: "-"}, "2:a@x{status=gold}[] "},
		"another header":            {"email,state\na@x,deleted\nb@x,active\n", CSVOptions{Status: "State", OnBadRow: skipRow}, "3:b@x{}[] "},
		"ignored":                   {"email,subscribed_on,id\na@x,2026,7\n", CSVOptions{}, "2:a@x{id=7}[] "},
		"other ignored":             {"email,subscribed_on,ID\na@x,2026,7\n", CSVOptions{Ignore: []string{"id"}}, "2:a@x{subscribed_on=2026}[] "},
		"tags ignored":              {"email,tags,Interests\na@x,a,b\n", CSVOptions{Ignore: []string{"tags", "interests"}}, "2:a@x{}[] "},
		"tags in an ignored column": {"email,subscribed_on\na@x,a\n", CSVOptions{Tags: "subscribed_on"}, "2:a@x{}[a] "},
		"nothing ignored":           {"email,subscribed_on\na@x,2026\n", CSVOptions{Ignore: []string{}}, "2:a@x{subscribed_on=2026}[] "},
	})
}
