package client

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// notCSV returns an error if start, the beginning of a file, is not text or not CSV.
// The error names the format of the file and the way to get a CSV file.
func notCSV(start []byte) error {
	const spreadsheet, compressed = "open it in a spreadsheet program and save it as CSV UTF-8", "decompress it"
	for _, f := range []struct{ start, format, remedy string }{
		{"PK\x03\x04", "a ZIP archive such as .xlsx, .ods or .numbers", spreadsheet},
		{"\xd0\xcf\x11\xe0", "an old Office document such as .xls", spreadsheet},
		{"\x1f\x8b", "compressed with gzip", compressed},
		{"BZh91AY&SY", "compressed with bzip2", compressed},
		{"\xfd7zXZ", "compressed with xz", compressed},
		{"\x28\xb5\x2f\xfd", "compressed with zstd", compressed},
		{"%PDF-", "a PDF document", "export the contacts as CSV"},
		{"{\\rtf", "an RTF document", "save it as plain text"},
		{"BEGIN:VCARD", "a vCard file", "export the contacts as CSV"},
		{"<!DOCTYPE", "an HTML page", "export the contacts as CSV"},
		{"<!doctype", "an HTML page", "export the contacts as CSV"},
		{"<html", "an HTML page", "export the contacts as CSV"},
		{"<?xml", "an XML document", spreadsheet},
	} {
		if bytes.HasPrefix(start, []byte(f.start)) {
			return fmt.Errorf("the file is %s, not CSV; %s", f.format, f.remedy)
		}
	}
	if bytes.IndexByte(start, 0) >= 0 {
		return fmt.Errorf("the file is not UTF-8, or not text; %s", spreadsheet)
	}
	return nil
}

// markOf returns the byte order of a UTF-16 file that starts with a byte order
// mark, or nil for any other file.
func markOf(start []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(start, []byte("\xff\xfe")) && !bytes.HasPrefix(start, []byte("\xff\xfe\x00\x00")): // not UTF-32
		return binary.LittleEndian
	case bytes.HasPrefix(start, []byte("\xfe\xff")):
		return binary.BigEndian
	}
	return nil
}

// utf16Reader converts UTF-16 to UTF-8. It converts an unpaired surrogate or half a
// code unit to a byte that is not valid UTF-8, so the source reports the row as
// invalid.
type utf16Reader struct {
	in    *bufio.Reader
	order binary.ByteOrder
	rest  []byte // converted, but not read yet
	buf   [512]byte
}

// Read implements [io.Reader].
func (r *utf16Reader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// fill converts at least one character, and does not wait for more.
func (r *utf16Reader) fill() error {
	text := r.buf[:0]
	for len(text) == 0 || r.in.Buffered() >= 4 && len(text) <= len(r.buf)-utf8.UTFMax {
		c, err := r.next()
		switch {
		case err != nil:
			return err
		case c == unpaired:
			text = append(text, 0xff)
		default:
			text = utf8.AppendRune(text, c)
		}
	}
	r.rest = text
	return nil
}

const unpaired = -1

// next returns the next character, or the constant unpaired for an unpaired surrogate or half a
// code unit.
func (r *utf16Reader) next() (rune, error) {
	unit, err := r.in.Peek(2)
	if len(unit) == 1 && err == io.EOF { // as in package bufio
		_, _ = r.in.Discard(1)
		return unpaired, nil
	}
	if err != nil {
		return 0, err
	}
	c := rune(r.order.Uint16(unit))
	_, _ = r.in.Discard(2)
	if !utf16.IsSurrogate(c) {
		return c, nil
	}
	low, err := r.in.Peek(2)
	if len(low) < 2 {
		if err == io.EOF {
			err = nil
		}
		return unpaired, err
	}
	if c = utf16.DecodeRune(c, rune(r.order.Uint16(low))); c == utf8.RuneError {
		return unpaired, nil
	}
	_, _ = r.in.Discard(2)
	return c, nil
}
