package client

import (
	"bytes"
	"encoding/csv"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
)

// inUTF16 returns text in UTF-16, little endian.
func inUTF16(text string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		b.WriteByte(byte(u))
		b.WriteByte(byte(u >> 8))
	}
	return b.String()
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

func TestContactsFromCSVEncodings(t *testing.T) {
	const notText = "line 1: the file is not UTF-8, or not text; open it in a spreadsheet program and save it as CSV UTF-8"
	testCSV(t, map[string]csvTest{
		"UTF-16":              {inUTF16("\ufeffemail\tn\r\na@x\tÄ😀\r\n"), CSVOptions{Comma: '\t'}, "2:a@x{n=Ä😀}[] "},
		"UTF-16, big endian":  {"\xfe\xff\x00e\x00m\x00a\x00i\x00l\x00\n\x00a\x00@\x00x", CSVOptions{}, "2:a@x{}[] "},
		"UTF-16, sep=":        {inUTF16("\ufeffsep=;\r\nemail;n\r\na@x;1\r\n"), CSVOptions{}, "3:a@x{n=1}[] "},
		"UTF-16, 1 MiB row":   {inUTF16("\ufeffemail,n\na@x," + strings.Repeat("n", 1<<20-5) + "\n"), CSVOptions{}, "2:a@x{n=" + strings.Repeat("n", 1<<20-5) + "}[] "},
		"UTF-16, half a unit": {inUTF16("\ufeffemail\na@x") + "x", CSVOptions{}, "line 2: email: must be valid UTF-8"},
		"UTF-16, surrogates":  {"\xff\xfe" + inUTF16("email\nb@x\n") + "a\x00\x00\xd8\n\x00" + inUTF16("c@x\n") + "\x3d\xd8", CSVOptions{OnBadRow: skipRow}, "2:b@x{}[] 4:c@x{}[] "},
		"UTF-16 without mark": {inUTF16("email\n"), CSVOptions{}, notText},
		"UTF-32":              {"\xff\xfe\x00\x00e\x00\x00\x00", CSVOptions{}, notText},
		"xlsx":                {"PK\x03\x04\x14\x00\x06\x00", CSVOptions{}, "line 1: the file is a ZIP archive such as .xlsx, .ods or .numbers, not CSV; open it in a spreadsheet program and save it as CSV UTF-8"},
		"xls":                 {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", CSVOptions{}, "line 1: the file is an old Office document such as .xls, not CSV; open it in a spreadsheet program and save it as CSV UTF-8"},
		"gzip":                {"\x1f\x8b\x08\x00", CSVOptions{}, "line 1: the file is compressed with gzip, not CSV; decompress it"},
		"PDF":                 {"%PDF-1.7\n", CSVOptions{}, "line 1: the file is a PDF document, not CSV; export the contacts as CSV"},
		"vCard":               {"BEGIN:VCARD\r\n", CSVOptions{}, "line 1: the file is a vCard file, not CSV; export the contacts as CSV"},
	})
}

// TestContactsFromCSVDetectsComma: the header row determines the separator, with commas first.
func TestContactsFromCSVDetectsComma(t *testing.T) {
	for name, tt := range map[string]struct {
		file string
		want rune // 0: not detected
	}{
		"semicolons":        {"email;first\na@x;Ada\n", ';'},
		"tabs":              {"email\tfirst\na@x\tAda\n", '\t'},
		"pipes":             {"first|email\nAda|a@x\n", '|'},
		"quotes":            {"\ufeff\n\"first\";\"email\"\nAda;a@x\n", ';'},
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
		"active or empty": {"email,status\na@x,Active\nb@x,\nc@x\n", CSVOptions{}, "2:a@x{}[] 3:b@x{}[] 4:c@x{}[] "},
		"others":          {"email,Status\na@x,deleted\nb@x,unsubscribed\nc@x,pending\nd@x,spam\ne@x,bounced\nf@x,suppressed\ng@x,active\n", CSVOptions{OnBadRow: skipRow}, "8:g@x{}[] "},
		"deleted":         {"email,status\na@x,deleted\n", CSVOptions{}, "line 2: status: must be active, got deleted"},
		"unknown":         {"email,status\na@x,gold\n", CSVOptions{}, `line 2: status: must be the status of a contact, such as active, got "gold"; if the column is an attribute, set Status to "-"`},
		"an attribute":    {"email,status\na@x,gold\n", CSVOptions{Status: "-"}, "2:a@x{status=gold}[] "},
		"another header":  {"email,state\na@x,deleted\nb@x,active\n", CSVOptions{Status: "State", OnBadRow: skipRow}, "3:b@x{}[] "},
		"ignored":         {"email,subscribed_on,id\na@x,2026,7\n", CSVOptions{}, "2:a@x{id=7}[] "},
		"other ignored":   {"email,subscribed_on,ID\na@x,2026,7\n", CSVOptions{Ignore: []string{"id"}}, "2:a@x{subscribed_on=2026}[] "},
		"nothing ignored": {"email,subscribed_on\na@x,2026\n", CSVOptions{Ignore: []string{}}, "2:a@x{subscribed_on=2026}[] "},
	})
}

// written returns a CSV file that contains a contact.
func written(t *testing.T, contact Contact, headers ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	require.NoError(t, w.WriteAll([][]string{headers, CSVRow(contact, headers...)}))
	return b.String()
}

// TestCSVRowFormulas: no cell begins with a formula, whether the program splits the file at commas, semicolons or tabs.
func TestCSVRowFormulas(t *testing.T) {
	for _, text := range []string{`=HYPERLINK("http://evil.example/")`, "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "＝1", "'=1", "''+1", "a;=1", "a\n@b", "a\t-1", "x;\"=1;", "\"\"=1"} {
		contact := Contact{Email: "=a@x", Tags: []string{text, "=tag", "@tag"}, CustomAttributes: Attributes{{Name: "n", Value: text}}}
		file := written(t, contact, "email", "tags", "n")
		for _, end := range []string{",", ";", "\t", "\n", "\r"} {
			for cell := range strings.SplitSeq(file, end) {
				if cell = strings.TrimLeft(cell, `"`); strings.ContainsAny(cell[:min(1, len(cell))], "=+-@") || strings.HasPrefix(cell, "＝") {
					t.Errorf("%q: the cell %q is a formula in %q", text, cell, file)
				}
			}
		}
	}
}

func TestCSVRow(t *testing.T) {
	contact := Contact{
		Email: "a@x", Status: events.ContactStatusActive, SubscribedOn: time.Unix(1700000000, 0).UTC(),
		Tags: []string{"vip", "a;b", ` "c"`}, Interests: []string{"go"}, CustomAttributes: Attributes{{Name: "City", Value: "Bonn"}},
	}
	want := []string{"a@x", "active", "2023-11-14T22:13:20Z", `vip;"a;b";" ""c"""`, "go", "Bonn", ""}
	assert.Equal(t, want, CSVRow(contact, "email", "status", "subscribed_on", "tags", "interests", "City", "missing"))
	assert.Equal(t, []string{""}, CSVRow(Contact{}, "subscribed_on"))
}

// FuzzCSVRow: ContactsFromCSV reads what CSVRow writes.
func FuzzCSVRow(f *testing.F) {
	f.Add("vip", "=a;b", "''=1")
	f.Add(`"a", "b`, " ;\"", "a;'@b\n\t=c")
	f.Fuzz(func(t *testing.T, first, second, value string) {
		for _, text := range []string{first, second, value} {
			if strings.Contains(text, "\r") || strings.ToValidUTF8(text, "") != text || len(text) > 1000 || trim(text) == "" {
				t.Skip("is not read as it is")
			}
		}
		contact := Contact{Email: "+a@x", Tags: []string{first, second}, Interests: []string{second}, CustomAttributes: Attributes{{Name: "n", Value: value}}}
		file := written(t, contact, "email", "tags", "interests", "n")
		for got, err := range ContactsFromCSV(strings.NewReader(file), CSVOptions{}) {
			require.NoError(t, err)
			want := ImportContact{Email: contact.Email, Tags: contact.Tags, Interests: contact.Interests, CustomAttributes: contact.CustomAttributes, Line: 2}
			assert.Equal(t, want, got, file)
		}
	})
}

// TestContactsFromCSVMemory: the memory of the source depends neither on the number of rows nor on their contents.
func TestContactsFromCSVMemory(t *testing.T) {
	for name, row := range map[string]string{
		"text":         "a@x," + strings.Repeat("x", maxCSVRow-8),
		"empty fields": "a@x" + strings.Repeat(",", maxCSVRow-8),
		"tags":         "a@x," + strings.Repeat("t;", maxCSVRow/2-8),
		"quotes":       `a@x,"` + strings.Repeat(`""`, maxCSVRow/2-8) + `"`,
	} {
		file := []io.Reader{strings.NewReader("email,tags" + strings.Repeat(",", maxCSVColumns-2) + "\n")}
		for range 2 {
			file = append(file, strings.NewReader(row+"\n"))
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		most := uint64(0)
		for _, err := range ContactsFromCSV(io.MultiReader(file...), CSVOptions{}) {
			require.NoError(t, err, name)
			runtime.GC()
			runtime.ReadMemStats(&after)
			most = max(most, after.HeapAlloc-min(after.HeapAlloc, before.HeapAlloc))
		}
		t.Log(name, most>>20, "MiB")
		assert.Less(t, most, uint64(64<<20), name)
	}
}
