package client

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/emailplatform/events"
)

// CSVOptions configures [ContactsFromCSV]. The zero value is a good default.
type CSVOptions struct {
	// Comma separates fields. The default is ',', unless the first line specifies
	// another character, for example with "sep=;".
	Comma rune

	// OnComma, if not nil, makes the source detect the separators ';', tab and '|'. If the
	// source detects one of them, it calls OnComma with this separator. If OnComma is nil,
	// a file with such a separator is an error.
	//
	// To detect the separator, the source splits the header row four times: at ',',
	// ';', tab and '|'. If the result of only one split contains the header of the address
	// column, the character of this split is the separator. Otherwise, the separator is
	// ','. If Comma is set, or the file begins with a line such as "sep=;", the source does
	// not detect the separator.
	OnComma func(comma rune)

	// Email, Tags, Interests and Status are the headers of the columns with the
	// address, the tags, the interests and the status. The defaults are "email",
	// "tags", "interests" and "status". Letter case and surrounding spaces in
	// headers are ignored. If Status is "-", no column contains the status.
	Email, Tags, Interests, Status string

	// Ignore contains the headers of columns that are not imported. It does not apply to the
	// columns Email and Status. The default is "subscribed_on", a column of exported lists;
	// see [CSVRow]. An empty slice that is not nil ignores no column.
	Ignore []string

	// Separator separates the tags, or the interests, within one field. The default is
	// ";". A tag in quotation marks can contain the separator. After such a tag, a comma
	// is also a separator, as in "vip","new".
	Separator string

	// OnBadRow, if not nil, is called for each row with an invalid value or too many
	// fields, and for each row whose status is not active ([ErrNotActive]). If OnBadRow
	// returns nil, the source skips the row. If OnBadRow returns an error, the source
	// yields this error and stops. Without OnBadRow, the source stops at the first such
	// row. If a row has a misplaced quote or exceeds 1 MiB, the source always stops,
	// because it cannot find the next row.
	OnBadRow func(*CSVError) error
}

// ErrNotActive means that a row contains a contact with a status other than
// active, for example deleted. [Contacts.Import] would activate this contact.
var ErrNotActive = errors.New("must be active")

// CSVError describes an invalid row.
type CSVError struct {
	Line   int    // number of the row's first line, from 1
	Column string // header of the column; empty if the whole row is invalid
	Err    error
}

// Error returns one line, for example "line 7: email: must not be empty".
func (e *CSVError) Error() string {
	if e.Column != "" {
		return escapeControls(fmt.Sprintf("line %d: %s: %v", e.Line, e.Column, e.Err))
	}
	return escapeControls(fmt.Sprintf("line %d: %v", e.Line, e.Err))
}

// Unwrap returns Err.
func (e *CSVError) Unwrap() error { return e.Err }

// ContactsFromCSV returns the rows of a CSV file (RFC 4180) as a source for
// [Contacts.Import]. The file must have this form:
//
//   - It is UTF-8, or UTF-16 with a byte order mark. Lines end in LF or CR LF, and a row
//     has at most 1 MiB.
//   - The first row contains the headers of at most 16,384 columns.
//   - One column contains the address, and others may contain tags, interests and a
//     status; see [CSVOptions].
//   - Each remaining column contains a custom attribute, whose name is the header. A
//     field that is empty, or contains only spaces and invisible characters, adds no
//     attribute.
//   - A row may omit fields at its end, and may have additional empty fields.
//
// Columns without a header, blank lines and rows with only empty fields are ignored.
//
// The source removes spaces and invisible characters around an address, a tag or a header.
// An address with invisible characters inside is invalid. [CSVRow] writes an apostrophe
// before a field such as "=1+2", so that no spreadsheet program runs the field as a formula.
// The source removes this apostrophe.
//
// The Line field of each contact is the number of the first line of its row. Every error
// from the source is a [*CSVError], except errors from OnBadRow. You can iterate over the
// source only once, because it cannot go back to the beginning of the file. The source uses
// at most 64 MiB of memory.
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

// maxCSVColumns is the maximum number of columns with headers, as in spreadsheets.
const maxCSVColumns = 16_384

// csvSource reads the contacts in a file.
type csvSource struct {
	*csvRows
	opts    CSVOptions
	headers []string
	kinds   []csvColumn
	email   int // index of the email column
}

// csvColumn is the meaning of a column.
type csvColumn int

const (
	csvAttribute csvColumn = iota
	csvIgnored
	csvEmail
	csvTags
	csvInterests
	csvStatus
)

func newCSVSource(r io.Reader, opts CSVOptions) *csvSource {
	opts.Email = cmp.Or(trim(opts.Email), "email")
	opts.Tags = cmp.Or(trim(opts.Tags), "tags")
	opts.Interests = cmp.Or(trim(opts.Interests), "interests")
	opts.Status = cmp.Or(trim(opts.Status), "status")
	opts.Separator = cmp.Or(opts.Separator, ";")
	return &csvSource{csvRows: newCSVRows(r), opts: opts, email: -1}
}

func (c *csvSource) readHeader() error {
	if c.in.r == nil {
		return c.wrong("", errors.New("the reader must not be nil"))
	}
	comma, err := c.start()
	if err != nil {
		return c.wrong("", err)
	}
	var other rune
	if comma = cmp.Or(c.opts.Comma, comma); comma == 0 {
		comma = ','
		other = c.otherComma(func(field string) bool { return c.kind(trim(field)) == csvEmail })
		if other != 0 && c.opts.OnComma != nil {
			c.opts.OnComma(other)
			comma = other
		}
	}
	c.parse(comma)
	row, err := c.row()
	switch {
	case err != nil && comma != other && other != 0:
		return c.wrong("", wrongComma(other))
	case err == io.EOF: //nolint:errorlint // row returns it as it is
		return c.wrong("", errors.New("the file is empty; it must have a header row"))
	case err != nil:
		return err
	}
	if bad := c.setHeaders(row); bad != nil {
		return bad
	}
	switch {
	case c.email < 0 && other != 0:
		return c.wrong("", wrongComma(other))
	case c.email < 0:
		return c.wrong("", fmt.Errorf("no column has the header %q; the headers are %s", c.opts.Email, listed(c.headers)))
	}
	return nil
}

func wrongComma(other rune) error {
	return fmt.Errorf("the separator is probably %q; set Comma or OnComma", other)
}

func (c *csvSource) setHeaders(row []string) *CSVError {
	if len(row) > maxCSVColumns {
		return c.wrong("", fmt.Errorf("the file must have at most %d columns, got %d", maxCSVColumns, len(row)))
	}
	c.headers, c.kinds = slices.Clone(row), make([]csvColumn, len(row))
	known := make(map[string]bool, len(row))
	for i, h := range c.headers {
		h = trim(h)
		c.headers[i], c.kinds[i] = h, c.kind(h)
		name := strings.ToLower(h)
		switch {
		case !utf8.ValidString(h):
			return c.wrong("", fmt.Errorf("the header of column %d must be valid UTF-8", i+1))
		case strings.Contains(h, "\r"):
			return c.wrong("", errLoneCR)
		case strings.Contains(h, "\x00"):
			return c.wrong(h, errNUL)
		case known[name] && h != "":
			return c.wrong(h, errors.New("more than one column has this header"))
		case c.kinds[i] == csvEmail:
			c.email = i
		}
		known[name] = true
	}
	return nil
}

// kind returns the meaning of the column with a header.
func (c *csvSource) kind(header string) csvColumn {
	switch is := func(name string) bool { return strings.EqualFold(header, name) }; {
	case is(c.opts.Email):
		return csvEmail
	case is(c.opts.Status) && c.opts.Status != "-":
		return csvStatus
	case header == "" || slices.ContainsFunc(c.opts.Ignore, is):
		return csvIgnored
	case is(c.opts.Tags):
		return csvTags
	case is(c.opts.Interests):
		return csvInterests
	case c.opts.Ignore == nil && is("subscribed_on"):
		return csvIgnored
	}
	return csvAttribute
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
	contact := ImportContact{Line: c.line}
	for i, field := range row {
		if i >= len(c.headers) {
			if !blank(field) {
				return ImportContact{}, c.wrong("", csv.ErrFieldCount)
			}
			continue
		}
		if err := c.set(&contact, c.kinds[i], c.headers[i], field); err != nil {
			return ImportContact{}, c.wrong(c.headers[i], err)
		}
	}
	if contact.Email == "" {
		return ImportContact{}, c.wrong(c.headers[c.email], errors.New("must not be empty"))
	}
	if c.size > 2*contact.size() { // its text would keep the whole row in memory
		contact = contact.clone()
	}
	return contact, nil
}

func (c ImportContact) clone() ImportContact {
	c.Email = strings.Clone(c.Email)
	for i, a := range c.CustomAttributes {
		c.CustomAttributes[i].Value = strings.Clone(a.Value)
	}
	for _, texts := range [][]string{c.Tags, c.Interests} {
		for i, text := range texts {
			texts[i] = strings.Clone(text)
		}
	}
	return c
}

// set sets the value of a column in a contact.
func (c *csvSource) set(contact *ImportContact, kind csvColumn, header, field string) error {
	switch {
	case !utf8.ValidString(field):
		return errors.New("must be valid UTF-8")
	case strings.Contains(field, "\r"):
		return errLoneCR
	case strings.Contains(field, "\x00"): // the platform would reject the whole batch
		return errNUL
	}
	field = unescapeFormula(field)
	switch kind {
	case csvEmail:
		contact.Email = trim(field)
		if i := strings.IndexFunc(contact.Email, func(r rune) bool { return r != ' ' && invisible(r) }); i >= 0 {
			r, _ := utf8.DecodeRuneInString(contact.Email[i:])
			return fmt.Errorf("must not contain the invisible character %U", r)
		}
	case csvTags:
		contact.Tags = splitTags(field, c.opts.Separator)
	case csvInterests:
		contact.Interests = splitTags(field, c.opts.Separator)
	case csvStatus:
		return checkStatus(trim(field))
	case csvAttribute:
		if !blank(field) {
			contact.CustomAttributes = append(contact.CustomAttributes, CustomAttribute{Name: header, Value: field})
		}
	}
	return nil
}

func checkStatus(status string) error {
	s := events.ContactStatus(strings.ToLower(status))
	if s == "" || s == events.ContactStatusActive {
		return nil
	}
	if slices.Contains(events.ContactStatuses(), s) {
		return fmt.Errorf("%w, got %s", ErrNotActive, s)
	}
	return fmt.Errorf("must be the status of a contact, such as active, got %.40q; if the column is an attribute, set Status to \"-\"", status)
}

// errLoneCR is the error for a CR without an LF. Without this error, a file whose lines
// end in CR alone would be read as one row.
var errLoneCR = errors.New("contains a CR without an LF; line endings must be LF or CRLF")

var errNUL = errors.New("must not contain the character U+0000")

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
		case slices.ContainsFunc(row, func(s string) bool { return !blank(s) }):
			return row, nil
		}
	}
}

// trim removes spaces and invisible characters around text.
func trim(text string) string { return strings.TrimFunc(text, invisible) }

// blank reports whether text contains only spaces and invisible characters. Most
// text contains a visible ASCII character, which is found fast.
func blank(text string) bool {
	for i := range len(text) {
		if c := text[i]; ' ' < c && c < '\x7f' {
			return false
		}
	}
	return trim(text) == ""
}

// invisible reports whether a character is not visible on a screen.
func invisible(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == '\x7f'
	}
	return r != utf8.RuneError && unicode.In(r,
		unicode.Z, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
