package client

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxCSVRow is the maximum length of a row in bytes. Without a limit, an
// unclosed quote would cause the rest of the file to be read into memory.
const maxCSVRow = 1 << 20

// csvRows reads the rows of a CSV file with encoding/csv.
type csvRows struct {
	in    *rowReader
	text  *bufio.Reader // csv reads from this reader without another buffer
	csv   *csv.Reader
	above int // lines that csv did not read: a separator line and blank lines
	line  int // first line of the current row, from 1
	next  int // line after the current row
}

// newCSVRows reads the byte order mark and the line "sep=;", which spreadsheets
// write before the first row.
func newCSVRows(r io.Reader, comma rune) (*csvRows, error) {
	rows := &csvRows{in: &rowReader{r: r}, line: 1, next: 1}
	in := bufio.NewReader(rows.in)
	start, _ := in.Peek(32)
	if slices.Contains(start, 0) || bytes.HasPrefix(start, []byte("\xff\xfe")) || bytes.HasPrefix(start, []byte("\xfe\xff")) {
		return rows, errors.New("the file is UTF-16 or another wide encoding; save it as UTF-8")
	}
	text := bytes.TrimPrefix(start, []byte("\ufeff"))
	_, _ = in.Discard(len(start) - len(text))
	if line, _, ok := bytes.Cut(text, []byte("\n")); ok {
		if named := separator(string(line)); named != 0 {
			_, _ = in.Discard(len(line) + 1)
			comma, rows.above = orDefault(comma, named), 1
		}
	}
	rows.text, rows.csv = in, csv.NewReader(in)
	rows.csv.Comma = orDefault(comma, ',')
	rows.csv.FieldsPerRecord, rows.csv.ReuseRecord = -1, true
	return rows, nil
}

// separator returns the separator in a line such as "sep=;", or 0 if there is
// none.
func separator(line string) rune {
	line = strings.Trim(line, "\"\r")
	if len(line) < len("sep=;") || !strings.EqualFold(line[:4], "sep=") || utf8.RuneCountInString(line[4:]) != 1 {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(line[4:])
	return r
}

// read returns the fields of the next row, or io.EOF. The fields are valid until
// the next call. After an error other than io.EOF, the position in the file is
// unknown.
func (r *csvRows) read() ([]string, error) {
	r.skipBlankLines()
	r.line, r.in.row = r.next, 0
	before := r.csv.InputOffset()
	fields, err := r.csv.Read()
	if r.in.err != nil && err != nil {
		return nil, r.in.err // encoding/csv may have read a truncated row
	}
	if p, ok := errors.AsType[*csv.ParseError](err); ok {
		r.line = p.StartLine + r.above
		return nil, p.Err
	}
	if err != nil {
		return nil, err
	}
	line, _ := r.csv.FieldPos(0)
	r.line = line + r.above
	r.next = r.line + 1
	for _, f := range fields {
		r.next += strings.Count(f, "\n")
	}
	if r.csv.InputOffset()-before > maxCSVRow {
		return nil, errLongRow
	}
	return fields, nil
}

// skipBlankLines skips blank lines, because encoding/csv would count them as a
// part of the next row, which could become too long.
func (r *csvRows) skipBlankLines() {
	for {
		end, _ := r.text.Peek(1)
		if string(end) == "\r" {
			end, _ = r.text.Peek(2)
		}
		if string(end) != "\n" && string(end) != "\r\n" {
			return
		}
		_, _ = r.text.Discard(len(end))
		r.above++
		r.next++
		r.in.row = 0
	}
}

var errLongRow = fmt.Errorf("the row is longer than %d bytes; check for an unclosed quote", maxCSVRow)

// rowReader returns an error when a row is too long. Each later Read returns the
// first error again, because encoding/csv would treat later data as the rest of
// the file.
type rowReader struct {
	r   io.Reader
	row int   // bytes read since the start of the row
	err error // other than io.EOF
}

// Read implements [io.Reader].
func (r *rowReader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.row > maxCSVRow {
		r.err = errLongRow
		return 0, r.err
	}
	n, err := r.r.Read(p)
	r.row += n
	if err != io.EOF { // any other error that wraps io.EOF is a failure
		r.err = err
	}
	return n, err
}
