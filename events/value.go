package events

import (
	"encoding/json"
	"strconv"
	"time"

	"example.com/emailplatform/internal/json/jsonscan"
	"example.com/emailplatform/internal/json/jsonwrite"
)

// ID is the id of a contact, a list, a campaign or another resource. The platform writes
// ids as numbers in some events, and as strings in others. An ID keeps its original
// form, and MarshalJSON writes it in this form. The zero ID represents null.
//
// The number 42 and the string "42" are the same id. Therefore compare ids with
// [ID.Equal] instead of ==, and use [ID.String] for map keys.
type ID struct {
	_      [0]func() // prevents comparison with ==
	text   string
	quoted bool
}

// IntID returns an ID whose JSON encoding is the number n.
func IntID(n int64) ID { return ID{text: strconv.FormatInt(n, 10)} }

// StringID returns an ID whose JSON encoding is the string s.
func StringID(s string) ID { return ID{text: s, quoted: true} }

// Equal reports whether both ids have the same characters or are both null. A number
// and a string with the same characters are equal.
func (id ID) Equal(other ID) bool { return id.text == other.text && id.IsZero() == other.IsZero() }

// String returns the characters of the id, or "" for null. The result is the same
// for the number 42 and the string "42".
func (id ID) String() string { return id.text }

// Int64 returns the id as a number, and reports whether it is an integer in the
// range of int64.
func (id ID) Int64() (int64, bool) {
	n, err := strconv.ParseInt(id.text, 10, 64)
	return n, err == nil
}

// IsZero reports whether the id is null.
func (id ID) IsZero() bool { return id.text == "" && !id.quoted }

// MarshalJSON implements [json.Marshaler].
func (id ID) MarshalJSON() ([]byte, error) {
	switch {
	case id.quoted:
		return json.Marshal(id.text)
	case id.IsZero():
		return []byte("null"), nil
	}
	return []byte(id.text), nil
}

// UnmarshalJSON implements [json.Unmarshaler] for a number, a string or null.
func (id *ID) UnmarshalJSON(b []byte) error {
	return unmarshal(b, id, readID)
}

// marshal returns the JSON of v. As in encoding/json, invalid UTF-8 becomes
// replacement characters.
func marshal(v writer) ([]byte, error) {
	w := jsonwrite.Writer{Bytes: make([]byte, 0, 256)}
	v.write(&w)
	return w.Bytes, nil
}

// unmarshal sets v to the value that read returns for b. After a mismatch, v does not
// change.
func unmarshal[T any](b []byte, v *T, read func(*jsonscan.Cursor) T) error {
	c := newCursor(string(b))
	got := read(c)
	if err := c.End(); err != nil {
		return err
	}
	*v = got
	return nil
}

func writeID(w *jsonwrite.Writer, id ID) {
	switch {
	case id.quoted:
		w.String(id.text)
	case id.IsZero():
		w.Null()
	default:
		w.Bytes = append(w.Bytes, id.text...)
	}
}

func readID(c *jsonscan.Cursor) ID {
	text, quoted := c.ID()
	return ID{text: text, quoted: quoted}
}

// readAttributes reads attributes from an array. It also accepts an object, because some
// platforms write an object, as in the requests that send email.
func readAttributes(c *jsonscan.Cursor, read func(*jsonscan.Cursor) CustomAttribute) []CustomAttribute {
	return jsonscan.Named(c, read, func(name, value string) CustomAttribute { return CustomAttribute{Name: name, Value: value} })
}

// readAnyID reads an id that this package stores as text. The platform may write it as a
// number.
func readAnyID(c *jsonscan.Cursor) string {
	text, _ := c.ID()
	return text
}

// readInt reads an integer. For any other value, the result is null. Any other value
// except null is also a mismatch.
func readInt(c *jsonscan.Cursor) Null[int64] {
	n, ok := c.NullInt()
	return Null[int64]{V: n, Valid: ok}
}

// Null is a value that may be null, similar to
// [database/sql.Null]. The zero Null is null.
type Null[T any] struct {
	V     T    // the zero value if null
	Valid bool // not null
}

// Value returns a Null that contains v.
func Value[T any](v T) Null[T] { return Null[T]{V: v, Valid: true} }

// MarshalJSON implements [json.Marshaler].
func (n Null[T]) MarshalJSON() ([]byte, error) {
	if !n.Valid {
		return []byte("null"), nil
	}
	return json.Marshal(n.V)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Null[T]) UnmarshalJSON(b []byte) error {
	var v T
	if string(b) == "null" {
		*n = Null[T]{}
		return nil
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	*n = Value(v)
	return nil
}

func writeNullInt(w *jsonwrite.Writer, n Null[int64]) {
	if !n.Valid {
		w.Null()
		return
	}
	w.Int(n.V)
}

func writeNullString(w *jsonwrite.Writer, n Null[string]) {
	if !n.Valid {
		w.Null()
		return
	}
	w.String(n.V)
}

// readNull reads a value that may be null. A value of the wrong type becomes null too,
// and is a mismatch.
func readNull[T any](c *jsonscan.Cursor, read func(*jsonscan.Cursor) T) Null[T] {
	if c.Null() {
		return Null[T]{}
	}
	before := c.Mismatches()
	if v := read(c); c.Mismatches() == before {
		return Value(v)
	}
	return Null[T]{}
}

// writeUnixTime writes Unix seconds, and 0 for the zero time.
func writeUnixTime(w *jsonwrite.Writer, t time.Time) {
	if t.IsZero() {
		w.Int(0)
		return
	}
	w.Int(t.Unix())
}

// writeNullUnixTime writes null for the zero time.
func writeNullUnixTime(w *jsonwrite.Writer, t time.Time) {
	if t.IsZero() {
		w.Null()
		return
	}
	w.Int(t.Unix())
}

func readTime(c *jsonscan.Cursor) time.Time { return c.Time() }

// newCursor returns a cursor that also reads integers in strings.
func newCursor(text string) *jsonscan.Cursor {
	c := jsonscan.New(text)
	c.QuotedInts = true
	return c
}
