package client

import (
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
	// another character, such as "sep=;".
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
	// at a row that has a misplaced quote or is larger than 1 MiB, because it
	// cannot find the start of the next row.
	OnBadRow func(*CSVError) error
}

// CSVError describes an invalid row.
type CSVError struct {
	Line   int    // number of the row's first line, from 1
	Column string // header of the column; empty if the whole row is invalid
	Err    error
}

// Error returns one line, for example "line 7: email: is empty".
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
// the address, and other columns may contain tags and interests. Each further
// column contains a custom attribute, whose name is the header. An empty field
// omits the attribute, and a column without a header is ignored. Blank lines and
// rows with only empty fields are skipped. The Line field of each contact is the
// number of its row's first line. Every error from the source is a [*CSVError],
// except errors from OnBadRow. The source reads the file during the iteration, so
// you can iterate over the source only once.
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

type csvSource struct {
	opts    CSVOptions
	file    io.Reader
	rows    *csvRows
	headers []string
	email   int // index of the email column
}

func newCSVSource(r io.Reader, opts CSVOptions) *csvSource {
	opts.Email = orDefault(strings.TrimSpace(opts.Email), "email")
	opts.Tags = orDefault(strings.TrimSpace(opts.Tags), "tags")
	opts.Interests = orDefault(strings.TrimSpace(opts.Interests), "interests")
	opts.Separator = orDefault(opts.Separator, ";")
	return &csvSource{opts: opts, file: r}
}

func (c *csvSource) readHeader() (err error) {
	if c.rows, err = newCSVRows(c.file, c.opts.Comma); err != nil {
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
			return c.wrong("", fmt.Errorf("the header of column %d is not UTF-8", i+1))
		case strings.Contains(h, "\r"):
			return c.wrong("", errLoneCR)
		case known[name] && h != "":
			return c.wrong(h, errors.New("several columns have this header"))
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

// listed returns up to ten headers as text for an error message.
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
	return &CSVError{Line: c.rows.line, Column: column, Err: err}
}

func (c *csvSource) contact(row []string) (ImportContact, *CSVError) {
	if len(row) != len(c.headers) {
		return ImportContact{}, c.wrong("", csv.ErrFieldCount)
	}
	contact := ImportContact{Line: c.rows.line}
	for i, field := range row {
		h := c.headers[i]
		switch {
		case !utf8.ValidString(field):
			return ImportContact{}, c.wrong(h, errors.New("is not UTF-8"))
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
		return ImportContact{}, c.wrong(c.headers[c.email], errors.New("is empty"))
	}
	return contact, nil
}

// errLoneCR is the error for a CR without LF. If all lines of a file end in
// CR, several rows look like one row.
var errLoneCR = errors.New("contains a CR without LF; lines must end in LF or CR LF")

// row returns the fields of the next row that contains text. The error is
// io.EOF or a *CSVError. The fields are valid until the next call.
func (c *csvSource) row() ([]string, error) {
	for {
		row, err := c.rows.read()
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
