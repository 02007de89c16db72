package client

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxCSVRow is the maximum length of a row in bytes. Without a limit, an
// unclosed quote would cause the rest of the file to be read into memory.
const maxCSVRow = 1 << 20

// maxCSVStart is the maximum length in bytes of a header row whose separator the source
// can detect.
const maxCSVStart = 64 << 10

// csvRows reads the rows of a file.
type csvRows struct {
	in    *rowReader
	text  *bufio.Reader // csv reads from this reader without another buffer
	csv   *csv.Reader
	above int   // lines that csv did not read: a separator line and blank lines
	size  int64 // of the current row, in bytes
	line  int   // first line of the current row, from 1
	next  int   // line after the current row
}

func newCSVRows(r io.Reader) *csvRows {
	in := &rowReader{r: r}
	return &csvRows{in: in, text: bufio.NewReaderSize(in, maxCSVStart), line: 1, next: 1}
}

// start reads the byte order mark, and a line such as "sep=;", which spreadsheets write
// before the first row. It returns the separator in this line, or 0 if there is no such
// line.
func (c *csvRows) start() (comma rune, err error) {
	start, _ := c.text.Peek(32)
	if order := markOf(start); order != nil {
		buffered, _ := c.text.Peek(c.text.Buffered())
		rest := io.MultiReader(bytes.NewReader(bytes.Clone(buffered[2:])), c.in.r)
		c.in.r, c.in.row = &utf16Reader{in: bufio.NewReader(rest), order: order}, 0
		c.text.Reset(c.in)
		start, _ = c.text.Peek(32)
	}
	if err := notCSV(start); err != nil {
		return 0, err
	}
	text := bytes.TrimPrefix(start, []byte("\ufeff"))
	_, _ = c.text.Discard(len(start) - len(text))
	if line, _, ok := bytes.Cut(text, []byte("\n")); ok {
		if comma = separator(string(line)); comma != 0 {
			_, _ = c.text.Discard(len(line) + 1)
			c.above, c.next = 1, 2
		}
	}
	c.skipBlankLines()
	return comma, nil
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

// otherComma returns the separator of the first line if this separator is a tab, | or a
// semicolon. Otherwise, it returns 0. To find the separator, it splits the line four times: at
// commas, and at each of the three characters. A separator is possible if found() returns true
// for one of the resulting fields. If a comma is possible, or if several of the three
// characters are possible, otherComma returns 0.
func (c *csvRows) otherComma(found func(field string) bool) (comma rune) {
	line := c.firstLine()
	has := func(comma rune) bool {
		r := csv.NewReader(bytes.NewReader(line))
		r.Comma = comma
		fields, err := r.Read()
		for _, f := range fields {
			if err == nil && found(f) {
				return true
			}
		}
		return false
	}
	if has(',') {
		return 0
	}
	for _, other := range ";\t|" {
		if has(other) {
			if comma != 0 {
				return 0
			}
			comma = other
		}
	}
	return comma
}

// firstLine returns the next line, and does not advance the position in the file. If the
// line is longer than maxCSVStart, firstLine returns only the beginning of the line.
func (c *csvRows) firstLine() []byte {
	for seen := 0; ; {
		_, err := c.text.Peek(seen + 1)
		line, _ := c.text.Peek(c.text.Buffered())
		if i := bytes.IndexByte(line[seen:], '\n'); i >= 0 {
			return line[:seen+i]
		}
		if seen = len(line); err != nil || seen == maxCSVStart {
			return line
		}
	}
}

// parse starts the parser with a separator.
func (c *csvRows) parse(comma rune) {
	c.csv = csv.NewReader(c.text)
	c.csv.Comma = comma
	c.csv.FieldsPerRecord, c.csv.ReuseRecord = -1, true
}

// read returns the fields of the next row, or io.EOF. The fields are valid until
// the next call. After an error other than io.EOF, the position in the file is
// unknown.
func (c *csvRows) read() ([]string, error) {
	c.skipBlankLines()
	c.line, c.in.row = c.next, 0
	before := c.csv.InputOffset()
	fields, err := c.csv.Read()
	if c.in.err != nil && err != nil {
		return nil, c.in.err // encoding/csv may have read a truncated row
	}
	if p, ok := errors.AsType[*csv.ParseError](err); ok {
		c.line = p.StartLine + c.above
		return nil, p.Err
	}
	if err != nil {
		return nil, err
	}
	line, _ := c.csv.FieldPos(0)
	c.line = line + c.above
	c.next = c.line + 1
	for _, f := range fields {
		c.next += strings.Count(f, "\n")
	}
	if c.size = c.csv.InputOffset() - before; c.size > maxCSVRow {
		return nil, errLongRow
	}
	return fields, nil
}

// skipBlankLines skips blank lines, because encoding/csv would count them as
// part of the next row, which could then exceed the limit.
func (c *csvRows) skipBlankLines() {
	for {
		end, _ := c.text.Peek(1)
		if string(end) == "\r" {
			end, _ = c.text.Peek(2)
		}
		if string(end) != "\n" && string(end) != "\r\n" {
			return
		}
		_, _ = c.text.Discard(len(end))
		c.above++
		c.next++
		c.in.row = 0
	}
}

var errLongRow = fmt.Errorf("the row is longer than %d bytes; check for an unclosed quote", maxCSVRow)

// rowReader is an io.Reader that returns an error when a row is too long. Every later
// Read returns the same error, because encoding/csv would otherwise treat the next data
// as the rest of the file.
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
