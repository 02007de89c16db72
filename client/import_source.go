package client

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// ImportSlice returns contacts as a source for [Contacts.Import].
func ImportSlice(contacts []ImportContact) iter.Seq2[ImportContact, error] {
	return func(yield func(ImportContact, error) bool) {
		for _, c := range contacts {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// ImportAddresses returns addresses as a source for [Contacts.Import].
func ImportAddresses(addresses iter.Seq[string]) iter.Seq2[ImportContact, error] {
	return func(yield func(ImportContact, error) bool) {
		for a := range addresses {
			if !yield(ImportContact{Email: a}, nil) {
				return
			}
		}
	}
}

// maxCSVRow is how long a row may be, in bytes, give or take what the reader
// reads ahead. A quote that is never closed makes the rest of a file one row.
const maxCSVRow = 1 << 20

// byteOrderMark is what some programs write in front of UTF-8.
const byteOrderMark = "\ufeff"

// CSVOptions says how [ImportCSV] reads a file. The zero value is a good
// default.
type CSVOptions struct {
	// Comma separates fields. Default ','.
	Comma rune

	// Email, Tags and Interests are the headers of the columns that hold the
	// address, the tags and the interests. Defaults "email", "tags" and
	// "interests". Letter case and space around a header do not matter.
	Email, Tags, Interests string

	// Separator stands between the tags and the interests in one field.
	// Default ";".
	Separator string

	// BadRow is called for a row that cannot be read. If it returns nil, the
	// row is left out; else its error ends the source. Default: the source
	// ends with the row's error. A quoted field of several lines that does
	// not end as it should ends the source in any case: it may have taken in rows.
	BadRow func(*CSVError) error
}

// CSVError says what is wrong with a row.
type CSVError struct {
	Line   int    // where the row begins, from 1
	Column string // the header of the column, if it is about one
	Err    error
}

// Error returns for example "line 7: email: is empty".
func (e *CSVError) Error() string {
	if e.Column != "" {
		return fmt.Sprintf("line %d: %s: %v", e.Line, e.Column, e.Err)
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

// Unwrap returns what is wrong.
func (e *CSVError) Unwrap() error { return e.Err }

// ImportCSV returns the rows of a CSV file (RFC 4180, UTF-8) as a source for
// [Contacts.Import]. The first row holds the headers: one column is the address,
// others may hold tags and interests, and each further one is a custom attribute
// of that name. An empty field is an attribute left out, and a column without a
// header is ignored. Contacts know their Line. Every error of the source is a
// [*CSVError]. The file is read as the source is; it can be used once.
func ImportCSV(r io.Reader, opts CSVOptions) iter.Seq2[ImportContact, error] {
	return func(yield func(ImportContact, error) bool) {
		c := newCSVSource(r, opts)
		if err := c.readHeader(); err != nil {
			yield(ImportContact{}, err)
			return
		}
		for {
			contact, err := c.next()
			var bad *CSVError
			switch {
			case err == io.EOF: //nolint:errorlint // next returns it as it is
				return
			case err == nil:
				if !yield(contact, nil) {
					return
				}
				continue
			case errors.As(err, &bad) && !c.failed && opts.BadRow != nil:
				if err = opts.BadRow(bad); err == nil {
					continue
				}
			}
			yield(ImportContact{}, err)
			return
		}
	}
}

// csvSource reads contacts from a file.
type csvSource struct {
	opts    CSVOptions
	rows    *rowLimiter
	csv     *csv.Reader
	headers []string
	email   int  // the place of the column
	line    int  // where the last row begins
	failed  bool // reading cannot go on
}

func newCSVSource(r io.Reader, opts CSVOptions) *csvSource {
	opts.Comma = orDefault(opts.Comma, ',')
	opts.Email = orDefault(strings.TrimSpace(opts.Email), "email")
	opts.Tags = orDefault(strings.TrimSpace(opts.Tags), "tags")
	opts.Interests = orDefault(strings.TrimSpace(opts.Interests), "interests")
	opts.Separator = orDefault(opts.Separator, ";")
	rows := &rowLimiter{r: r, left: maxCSVRow}
	text := bufio.NewReader(rows)
	if mark, _ := text.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = text.Discard(len(mark)) // before a quote it would make a bare one of it
	}
	c := &csvSource{opts: opts, rows: rows, csv: csv.NewReader(text)}
	c.csv.Comma = opts.Comma
	return c
}

func (c *csvSource) readHeader() error {
	record, err := c.record()
	if err == io.EOF { //nolint:errorlint // record returns it as it is
		return &CSVError{Line: 1, Err: errors.New("the file is empty; want a row of headers")}
	}
	if err != nil {
		return err
	}
	c.email = -1
	for i, h := range record {
		h = strings.TrimSpace(h)
		record[i] = h
		if h != "" && slices.ContainsFunc(record[:i], func(s string) bool { return strings.EqualFold(s, h) }) {
			return &CSVError{Line: c.line, Column: h, Err: errors.New("two columns have this header")}
		}
		if strings.EqualFold(h, c.opts.Email) {
			c.email = i
		}
	}
	if c.email < 0 {
		return &CSVError{Line: c.line, Err: fmt.Errorf("no column has the header %q", c.opts.Email)}
	}
	c.headers = record
	return nil
}

// next returns the next contact, io.EOF, or a *CSVError.
func (c *csvSource) next() (ImportContact, error) {
	record, err := c.record()
	if err != nil {
		return ImportContact{}, err
	}
	contact := ImportContact{Line: c.line}
	for i, field := range record {
		h := c.headers[i]
		switch {
		case !utf8.ValidString(field):
			return ImportContact{}, &CSVError{Line: c.line, Column: h, Err: errors.New("is not UTF-8")}
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
		return ImportContact{}, &CSVError{Line: c.line, Column: c.headers[c.email], Err: errors.New("is empty")}
	}
	return contact, nil
}

// record returns the fields of the next row, io.EOF, or a *CSVError.
func (c *csvSource) record() ([]string, error) {
	c.rows.left = maxCSVRow
	record, err := c.csv.Read()
	var parse *csv.ParseError
	switch {
	case err == nil:
		c.line, _ = c.csv.FieldPos(0)
		return record, nil
	case err == io.EOF:
		return nil, err
	case errors.As(err, &parse) && (parse.Line == parse.StartLine || !errors.Is(err, csv.ErrQuote)):
		return nil, &CSVError{Line: parse.StartLine, Err: parse.Err}
	case errors.As(err, &parse): // nobody knows where the next row begins
		c.failed = true
		return nil, &CSVError{Line: parse.StartLine, Err: fmt.Errorf("%w; the quote takes in all up to line %d", parse.Err, parse.Line)}
	}
	c.failed = true
	return nil, &CSVError{Line: c.line + 1, Err: err}
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

// rowLimiter fails when more than left bytes are read, which each row sets anew.
// An error lasts: what follows it would be taken for the rest of the file.
type rowLimiter struct {
	r    io.Reader
	left int
	err  error
}

func (l *rowLimiter) Read(p []byte) (n int, err error) {
	if l.left <= 0 && l.err == nil {
		l.err = fmt.Errorf("the row is longer than %d bytes; perhaps a quote is not closed", maxCSVRow)
	}
	if l.err != nil {
		return 0, l.err
	}
	n, l.err = l.r.Read(p)
	l.left -= n
	return n, l.err
}
