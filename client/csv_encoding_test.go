package client

import (
	"strings"
	"testing"
	"unicode/utf16"
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
