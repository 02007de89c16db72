package client

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// CSVOptions configures [ContactsFromCSV]. The zero value is a good default.
type CSVOptions struct {
	// Comma separates fields. The default is ',', unless the first line specifies
	// another character, for example with "sep=;".
	Comma rune

	// Email, Tags and Interests are the headers of the columns with the address,
	// the tags and the interests. The defaults are "email", "tags" and
	// "interests". Letter case and surrounding spaces in headers are ignored.
	Email, Tags, Interests string

	// Separator separates the tags and the interests in one field. The default
	// is ";".
	Separator string

	// OnBadRow, if not nil, is called for each row with an invalid value or a wrong
	// number of fields. If OnBadRow returns nil, the source skips the row. If
	// OnBadRow returns an error, the source yields this error and stops. By
	// default, the source stops at the first invalid row. The source always stops
	// at a row with a misplaced quote or more than 1 MiB, because it cannot find
	// the next row.
	OnBadRow func(*CSVError) error
}

// CSVError describes an invalid row.
type CSVError struct {
	Line   int    // number of the row's first line, from 1
	Column string // header of the column; empty if the whole row is invalid
	Err    error
}

// Error returns one line, for example "line 7: email: must not be empty".
func (e *CSVError) Error() string {
	if e.Column != "" {
		return visible(fmt.Sprintf("line %d: %s: %v", e.Line, e.Column, e.Err))
	}
	return visible(fmt.Sprintf("line %d: %v", e.Line, e.Err))
}

// Unwrap returns Err.
func (e *CSVError) Unwrap() error { return e.Err }

// ContactsFromCSV returns the rows of a CSV file (RFC 4180, UTF-8) as a source
// for [Contacts.Import]. The first row contains the headers. One column contains
// the address, and other columns may contain tags and interests. The remaining
// columns contain custom attributes, with the headers as names. An empty field
// adds no attribute. Columns without a header, blank lines and rows with only
// empty fields are ignored. The Line field of each contact is the number of its
// row's first line. Every error from the source is a [*CSVError], except errors
// from OnBadRow. The source reads the file during the iteration, so you can
// iterate over the source only once.
//
// Lines must end in LF or CR LF. A byte order mark is skipped. A UTF-16 file or
// a row longer than 1 MiB is an error.
func ContactsFromCSV(r io.Reader, opts CSVOptions) iter.Seq2[ImportContact, error] {
	return func(yield func(ImportContact, error) bool) {
		c := newCSVSource(r, opts)
		if err := c.readHeader(); err != nil {
			yield(ImportContact{}, err)
			return
		}
		for {
			row, err := c.row()
			if err == io.EOF { //nolint:errorlint // row returns it as it is
				return
			}
			if err != nil {
				yield(ImportContact{}, err)
				return
			}
			contact, bad := c.contact(row)
			if bad != nil {
				if err = bad; opts.OnBadRow != nil {
					err = opts.OnBadRow(bad)
				}
				if err == nil {
					continue
				}
			}
			if !yield(contact, err) || err != nil {
				return
			}
		}
	}
}

// csvSource reads the contacts in a file.
type csvSource struct {
	opts    CSVOptions
	in      *rowReader
	text    *bufio.Reader // csv reads from this reader without another buffer
	csv     *csv.Reader
	above   int // lines that csv did not read: a separator line and blank lines
	line    int // first line of the current row, from 1
	next    int // line after the current row
	headers []string
	email   int // index of the email column
}

func newCSVSource(r io.Reader, opts CSVOptions) *csvSource {
	opts.Email = orDefault(strings.TrimSpace(opts.Email), "email")
	opts.Tags = orDefault(strings.TrimSpace(opts.Tags), "tags")
	opts.Interests = orDefault(strings.TrimSpace(opts.Interests), "interests")
	opts.Separator = orDefault(opts.Separator, ";")
	in := &rowReader{r: r}
	return &csvSource{opts: opts, in: in, text: bufio.NewReader(in), line: 1, next: 1}
}

func (c *csvSource) readHeader() error {
	if err := c.readStart(); err != nil {
		return c.wrong("", err)
	}
	row, err := c.row()
	if err == io.EOF { //nolint:errorlint // row returns it as it is
		return c.wrong("", errors.New("the file is empty; it must have a header row"))
	}
	if err != nil {
		return err
	}
	c.headers, c.email = slices.Clone(row), -1
	known := make(map[string]bool, len(row))
	for i, h := range c.headers {
		h = strings.TrimSpace(h)
		c.headers[i] = h
		name := strings.ToLower(h)
		switch {
		case !utf8.ValidString(h):
			return c.wrong("", fmt.Errorf("the header of column %d must be valid UTF-8", i+1))
		case strings.Contains(h, "\r"):
			return c.wrong("", errLoneCR)
		case known[name] && h != "":
			return c.wrong(h, errors.New("more than one column has this header"))
		case strings.EqualFold(h, c.opts.Email):
			c.email = i
		}
		known[name] = true
	}
	if c.email < 0 {
		return c.wrong("", fmt.Errorf("no column has the header %q; the headers are %s", c.opts.Email, listed(c.headers)))
	}
	return nil
}

func listed(headers []string) string {
	const most, longest = 10, 40
	var names []string
	for _, h := range headers[:min(len(headers), most)] {
		names = append(names, fmt.Sprintf("%.*q", longest, h))
	}
	if more := len(headers) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

func (c *csvSource) wrong(column string, err error) *CSVError {
	return &CSVError{Line: c.line, Column: column, Err: err}
}

func (c *csvSource) contact(row []string) (ImportContact, *CSVError) {
	if len(row) != len(c.headers) {
		return ImportContact{}, c.wrong("", csv.ErrFieldCount)
	}
	contact := ImportContact{Line: c.line}
	for i, field := range row {
		h := c.headers[i]
		switch {
		case !utf8.ValidString(field):
			return ImportContact{}, c.wrong(h, errors.New("must be valid UTF-8"))
		case strings.Contains(field, "\r"):
			return ImportContact{}, c.wrong(h, errLoneCR)
		case i == c.email:
			contact.Email = strings.TrimSpace(field)
		case strings.EqualFold(h, c.opts.Tags):
			contact.Tags = c.split(field)
		case strings.EqualFold(h, c.opts.Interests):
			contact.Interests = c.split(field)
		case h != "" && field != "":
			contact.CustomAttributes = append(contact.CustomAttributes, CustomAttribute{Name: h, Value: field})
		}
	}
	if contact.Email == "" {
		return ImportContact{}, c.wrong(c.headers[c.email], errors.New("must not be empty"))
	}
	return contact, nil
}

// errLoneCR is the error for a CR without an LF. If the lines of a file end
// in CR alone, the parser reads several rows as one row.
var errLoneCR = errors.New("contains a CR without an LF; line endings must be LF or CRLF")

// row returns the fields of the next row that contains text. The error is
// io.EOF or a *CSVError. The fields are valid until the next call.
func (c *csvSource) row() ([]string, error) {
	for {
		row, err := c.read()
		switch {
		case err == io.EOF: //nolint:errorlint // read returns it as it is
			return nil, err
		case err != nil:
			return nil, c.wrong("", err)
		case slices.ContainsFunc(row, func(s string) bool { return strings.TrimSpace(s) != "" }):
			return row, nil
		}
	}
}

func (c *csvSource) split(field string) []string {
	var parts []string
	for p := range strings.SplitSeq(field, c.opts.Separator) {
		if p = strings.TrimSpace(p); p != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

// maxCSVRow is the maximum length of a row in bytes. Without a limit, an
// unclosed quote would cause the rest of the file to be read into memory.
const maxCSVRow = 1 << 20

// readStart reads the byte order mark and the line "sep=;", which spreadsheets
// write before the first row.
func (c *csvSource) readStart() error {
	start, _ := c.text.Peek(32)
	if slices.Contains(start, 0) || bytes.HasPrefix(start, []byte("\xff\xfe")) || bytes.HasPrefix(start, []byte("\xfe\xff")) {
		return errors.New("the file is UTF-16 or another wide encoding; save it as UTF-8")
	}
	text := bytes.TrimPrefix(start, []byte("\ufeff"))
	_, _ = c.text.Discard(len(start) - len(text))
	comma := c.opts.Comma
	if line, _, ok := bytes.Cut(text, []byte("\n")); ok {
		if named := separator(string(line)); named != 0 {
			_, _ = c.text.Discard(len(line) + 1)
			comma, c.above = orDefault(comma, named), 1
		}
	}
	c.csv = csv.NewReader(c.text)
	c.csv.Comma = orDefault(comma, ',')
	c.csv.FieldsPerRecord, c.csv.ReuseRecord = -1, true
	return nil
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
func (c *csvSource) read() ([]string, error) {
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
	if c.csv.InputOffset()-before > maxCSVRow {
		return nil, errLongRow
	}
	return fields, nil
}

// skipBlankLines skips blank lines, because encoding/csv would count them as
// part of the next row, which could then exceed the limit.
func (c *csvSource) skipBlankLines() {
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

// rowReader returns an error when a row is too long. Each later Read returns the
// same error, because encoding/csv would treat later data as the rest of the
// file.
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
