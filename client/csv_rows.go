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

// maxCSVRow is how long a row may be, in bytes. A quote that is never closed
// makes the rest of a file one row.
const maxCSVRow = 1 << 20

// csvRows reads a CSV file row by row. Unlike encoding/csv, it reads a row with a
// mistake to its end, so that no line of a quoted field is taken for a row.
type csvRows struct {
	lines  csvLines
	comma  []byte
	ahead  bool // rest is a line of which nothing is used yet
	from   int  // where the row begins, from 1
	failed bool // nobody can say where the next row begins

	rest   []byte   // of the line, without its end
	size   int      // of the row so far
	text   []byte   // of all fields of the row
	ends   []int    // of the fields in text
	wrong  error    // the first mistake in the row
	fields []string // what next returned
}

func newCSVRows(r io.Reader) *csvRows {
	return &csvRows{lines: csvLines{in: bufio.NewReader(&lasting{r: r})}, comma: []byte{','}}
}

// begin reads what may stand before the first row: a byte order mark, and the
// line "sep=;" by which spreadsheets name the separator. An explicit comma wins.
func (r *csvRows) begin(comma rune) error {
	start, _ := r.lines.in.Peek(3)
	switch {
	case bytes.HasPrefix(start, []byte("\ufeff")): // before a quote it would make a bare one of it
		_, _ = r.lines.in.Discard(len(start))
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")),
		bytes.IndexByte(start, 0) >= 0:
		return errors.New("the file is UTF-16 or another wide encoding; save it as UTF-8")
	}
	switch err := r.fetch(); {
	case err == io.EOF: //nolint:errorlint // fetch returns it as it is
		return nil
	case err != nil:
		return err
	}
	named, n := utf8.DecodeRuneInString(separatorLine(string(r.rest)))
	if r.ahead = n == 0; !r.ahead && comma == 0 {
		comma = named
	}
	switch comma {
	case 0:
	case '"', '\r', '\n', utf8.RuneError:
		return errors.New("csv: invalid field or comment delimiter")
	default:
		r.comma = utf8.AppendRune(nil, comma)
	}
	return nil
}

// separatorLine returns what follows "sep=" in such a line, which is one
// character, or "".
func separatorLine(line string) string {
	line = strings.Trim(line, `"`)
	if len(line) < len("sep=;") || !strings.EqualFold(line[:4], "sep=") || utf8.RuneCountInString(line[4:]) != 1 {
		return ""
	}
	return line[4:]
}

// next returns the fields of the next row, valid until the next call; io.EOF;
// or what is wrong with the row, which is then behind it unless it failed.
func (r *csvRows) next() ([]string, error) {
	if err := r.nextRow(); err != nil {
		return nil, err
	}
	for more := true; more; {
		var err error
		if more, err = r.field(); err != nil {
			r.failed = true
			return nil, err
		}
	}
	if r.wrong != nil {
		return nil, r.wrong
	}
	all, start := string(r.text), 0
	r.fields = r.fields[:0]
	for _, end := range r.ends {
		r.fields = append(r.fields, all[start:end])
		start = end
	}
	return r.fields, nil
}

// nextRow goes to the next line that is not empty.
func (r *csvRows) nextRow() error {
	r.text, r.ends, r.wrong = r.text[:0], r.ends[:0], nil
	for {
		r.size = 0
		if !r.ahead {
			if err := r.fetch(); err != nil {
				r.from, r.failed = r.lines.n+1, true
				return err
			}
		}
		r.ahead = false
		if len(r.rest) > 0 {
			r.from = r.lines.n
			return nil
		}
	}
}

// fetch goes to the next line. Whoever needs it has used up the one before.
func (r *csvRows) fetch() (err error) {
	r.rest, err = r.lines.next(maxCSVRow - r.size)
	r.size += len(r.rest) + 1
	return err
}

// field reads a field, and reports whether there are more in the row.
func (r *csvRows) field() (more bool, err error) {
	if text := bytes.TrimLeft(r.rest, " "); bytes.HasPrefix(text, []byte{'"'}) {
		if len(text) < len(r.rest) {
			r.mistake(csv.ErrBareQuote) // but what it quotes may have lines
		}
		r.rest = text[1:]
		return r.quoted()
	}
	text, rest, more := bytes.Cut(r.rest, r.comma)
	if bytes.IndexByte(text, '"') >= 0 {
		r.mistake(csv.ErrBareQuote)
	}
	if bytes.IndexByte(text, '\r') >= 0 || bytes.IndexByte(text, '\n') >= 0 {
		r.mistake(errors.New("an end of line of another kind than that of the first line"))
	}
	r.text = append(r.text, text...)
	r.ends = append(r.ends, len(r.text))
	r.rest = rest
	return more, nil
}

// quoted reads a field from behind its opening quote.
func (r *csvRows) quoted() (more bool, err error) {
	from := r.lines.n
	for {
		text, rest, found := bytes.Cut(r.rest, []byte{'"'})
		r.text, r.rest = append(r.text, text...), rest
		switch {
		case !found:
			if err := r.nextLine(); err != nil {
				return false, err
			}
		case bytes.HasPrefix(rest, []byte{'"'}):
			r.text, r.rest = append(r.text, '"'), rest[1:]
		case r.closes(rest):
			r.ends = append(r.ends, len(r.text))
			_, r.rest, more = bytes.Cut(rest, r.comma)
			return more, nil
		case r.lines.n > from || !r.over(rest, true) || !r.over(rest, false):
			return false, fmt.Errorf("%w, and nobody can say where the row ends", csv.ErrQuote)
		default: // whatever the quote is, the row ends with the line
			r.mistake(csv.ErrQuote)
			return false, nil
		}
	}
}

// closes reports whether a quote closes its field, when rest stands behind it.
func (r *csvRows) closes(rest []byte) bool {
	next := bytes.TrimLeft(rest, " ")
	closes := len(next) == 0 || bytes.HasPrefix(next, r.comma)
	if closes && len(next) < len(rest) {
		r.mistake(csv.ErrQuote) // though there is little doubt
	}
	return closes
}

// nextLine goes to the next line of a quoted field.
func (r *csvRows) nextLine() error {
	r.text = append(r.text, '\n')
	err := r.fetch()
	switch {
	case err == io.EOF && r.lines.n > r.from: //nolint:errorlint // fetch returns it as it is
		return fmt.Errorf("%w; the quote takes in all up to line %d", csv.ErrQuote, r.lines.n)
	case err == io.EOF: //nolint:errorlint // as above
		return csv.ErrQuote
	}
	return err
}

// over reports whether the row ends with a line of which rest is left, within a
// quoted field or behind one.
func (r *csvRows) over(rest []byte, within bool) bool {
	for {
		for within {
			var closed bool
			_, rest, closed = bytes.Cut(rest, []byte{'"'})
			switch {
			case !closed:
				return false
			case bytes.HasPrefix(rest, []byte{'"'}):
				rest = rest[1:]
			default:
				within = !r.closes(rest)
			}
		}
		var more bool
		if _, rest, more = bytes.Cut(rest, r.comma); !more {
			return true
		}
		rest = bytes.TrimLeft(rest, " ")
		if within = bytes.HasPrefix(rest, []byte{'"'}); within {
			rest = rest[1:]
		}
	}
}

// mistake notes what is wrong with the row.
func (r *csvRows) mistake(err error) {
	if r.wrong == nil {
		r.wrong = err
	}
}

// csvLines reads lines that end in LF or CR LF, or in CR if the first one does.
type csvLines struct {
	in  *bufio.Reader
	n   int  // lines read
	end byte // of lines; 0 before the first one
	buf []byte
}

// next returns a line of at most so many bytes, without its end and valid until
// the next call, or io.EOF.
func (l *csvLines) next(most int) ([]byte, error) {
	line, err := l.read(most + len("\r\n"))
	if err == io.EOF && len(line) == 0 || err != nil && err != io.EOF { //nolint:errorlint // bufio returns it as it is
		return nil, err
	}
	if l.end == '\r' && err == nil {
		l.buf = append(l.buf[:0], line...) // before it is read on
		line = l.buf
		if next, _ := l.in.Peek(1); len(next) > 0 && next[0] == '\n' {
			_, _ = l.in.Discard(1)
		}
	}
	line = bytes.TrimSuffix(line, []byte{l.end})
	if l.end == '\n' {
		line = bytes.TrimSuffix(line, []byte{'\r'})
	}
	if len(line) > most {
		return nil, fmt.Errorf("the row is longer than %d bytes; perhaps a quote is not closed", maxCSVRow)
	}
	l.n++
	return line, nil
}

// read returns a line with its end, or more of it than is wanted.
func (l *csvLines) read(most int) (line []byte, err error) {
	if l.end == 0 {
		return l.readFirst(most)
	}
	line, err = l.in.ReadSlice(l.end)
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	l.buf = append(l.buf[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) && len(l.buf) <= most {
		line, err = l.in.ReadSlice(l.end)
		l.buf = append(l.buf, line...)
	}
	if len(l.buf) > most {
		err = nil
	}
	return l.buf, err
}

// readFirst is read for the first line, which tells how lines end.
func (l *csvLines) readFirst(most int) (line []byte, err error) {
	for len(line) <= most {
		b, err := l.in.ReadByte()
		if err != nil {
			l.end = '\n'
			return line, err
		}
		line = append(line, b)
		if b == '\n' || b == '\r' {
			l.end = b
			break
		}
	}
	if next, err := l.in.Peek(1); l.end == '\r' && err == nil && next[0] == '\n' {
		l.end = '\n'
		_, _ = l.in.Discard(1)
		line[len(line)-1] = '\n'
	}
	return line, nil
}

// lasting has an error of its reader last: what follows it would be taken for
// the rest of the file.
type lasting struct {
	r   io.Reader
	err error
}

func (l *lasting) Read(p []byte) (n int, err error) {
	if l.err == nil {
		n, l.err = l.r.Read(p)
	}
	return n, l.err
}
