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

// CSVOptions says how [ImportCSV] reads a file. The zero value is a good
// default.
type CSVOptions struct {
	// Comma separates fields. Default ',', or what a first line "sep=;" names.
	Comma rune

	// Email, Tags and Interests are the headers of the columns that hold the
	// address, the tags and the interests. Defaults "email", "tags" and
	// "interests". Letter case and space around a header do not matter.
	Email, Tags, Interests string

	// Separator stands between the tags and the interests in one field.
	// Default ";".
	Separator string

	// BadRow is called for a row that cannot be read. If it returns nil, the
	// row is left out, with all lines of its quoted fields; else its error ends
	// the source. Default: the source ends with the row's error. A row of
	// which nobody can say where it ends, because a quoted field is not
	// closed as it should be, ends the source in any case: its lines might be
	// taken for rows, or rows for its lines.
	BadRow func(*CSVError) error
}

// CSVError says what is wrong with a row.
type CSVError struct {
	Line   int    // where the row begins, from 1
	Column string // the header of the column, if it is about one
	Err    error
}

// Error returns one line, for example "line 7: email: is empty".
func (e *CSVError) Error() string {
	if e.Column != "" {
		return visible(fmt.Sprintf("line %d: %s: %v", e.Line, e.Column, e.Err))
	}
	return visible(fmt.Sprintf("line %d: %v", e.Line, e.Err))
}

// Unwrap returns what is wrong.
func (e *CSVError) Unwrap() error { return e.Err }

// ImportCSV returns the rows of a CSV file (RFC 4180, UTF-8) as a source for
// [Contacts.Import]. The first row holds the headers: one column is the address,
// others may hold tags and interests, and each further one is a custom attribute
// of that name. An empty field is an attribute left out, and a column without a
// header is ignored. Rows of which all fields are empty are nobody. Contacts know
// their Line. Every error of the source is a [*CSVError], but one of BadRow. The
// file is read as the source is; it can be used once.
//
// Lines end in LF, CR LF, or CR if the first one does. A byte order mark is
// passed over. UTF-16 is refused, and so is a row longer than 1 MiB.
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
			case errors.As(err, &bad) && !c.rows.failed && opts.BadRow != nil:
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
	rows    *csvRows
	headers []string
	email   int // the place of the column
}

func newCSVSource(r io.Reader, opts CSVOptions) *csvSource {
	opts.Email = orDefault(strings.TrimSpace(opts.Email), "email")
	opts.Tags = orDefault(strings.TrimSpace(opts.Tags), "tags")
	opts.Interests = orDefault(strings.TrimSpace(opts.Interests), "interests")
	opts.Separator = orDefault(opts.Separator, ";")
	return &csvSource{opts: opts, rows: newCSVRows(r)}
}

func (c *csvSource) readHeader() error {
	if err := c.rows.begin(c.opts.Comma); err != nil {
		return &CSVError{Line: 1, Err: err}
	}
	row, err := c.row()
	if err == io.EOF { //nolint:errorlint // row returns it as it is
		return &CSVError{Line: 1, Err: errors.New("the file is empty; want a row of headers")}
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
			return &CSVError{Line: c.rows.from, Err: fmt.Errorf("the header of column %d is not UTF-8", i+1)}
		case known[name] && h != "":
			return &CSVError{Line: c.rows.from, Column: h, Err: errors.New("two columns have this header")}
		case strings.EqualFold(h, c.opts.Email):
			c.email = i
		}
		known[name] = true
	}
	if c.email < 0 {
		err := fmt.Errorf("no column has the header %q, but %s", c.opts.Email, listed(c.headers))
		return &CSVError{Line: c.rows.from, Err: err}
	}
	return nil
}

// listed names the first of the headers.
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

// next returns the next contact, io.EOF, or a *CSVError.
func (c *csvSource) next() (ImportContact, error) {
	row, err := c.row()
	if err != nil {
		return ImportContact{}, err
	}
	if len(row) != len(c.headers) {
		return ImportContact{}, &CSVError{Line: c.rows.from, Err: csv.ErrFieldCount}
	}
	contact := ImportContact{Line: c.rows.from}
	for i, field := range row {
		h := c.headers[i]
		switch {
		case !utf8.ValidString(field):
			return ImportContact{}, &CSVError{Line: c.rows.from, Column: h, Err: errors.New("is not UTF-8")}
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
		return ImportContact{}, &CSVError{Line: c.rows.from, Column: c.headers[c.email], Err: errors.New("is empty")}
	}
	return contact, nil
}

// row returns the fields of the next row that has any text, io.EOF, or a
// *CSVError. They are valid until the next call.
func (c *csvSource) row() ([]string, error) {
	for {
		row, err := c.rows.next()
		switch {
		case err == io.EOF: //nolint:errorlint // next returns it as it is
			return nil, err
		case err != nil:
			return nil, &CSVError{Line: c.rows.from, Err: err}
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
