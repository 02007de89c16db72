package accept

import (
	"bytes"
	"slices"
	"strconv"
)

// accepts reads a value and reports whether it is good. Where it is not, nobody
// goes on reading.
func (s *Shape) accepts(t *text) bool {
	first := t.peek()
	if first == 'n' {
		t.word()
		return s.Nullable
	}
	switch s.Kind {
	case Object:
		return first == '{' && s.acceptsMembers(t)
	case Array:
		return first == '[' && s.acceptsItems(t)
	case String:
		return first == '"' && s.acceptsQuoted(t.quoted())
	case Integer:
		return s.acceptsInteger(t.word())
	case Boolean:
		t.word()
		return first == 't' || first == 'f'
	}
	return false
}

func (s *Shape) acceptsMembers(t *text) bool {
	var seen uint64 // of the members, a bit for each
	for more := t.open('}'); more; more = t.more() {
		member, i := s.member(t.quoted())
		t.colon()
		if member == nil || !member.accepts(t) {
			return false
		}
		seen |= 1 << i
	}
	for i := range s.Members {
		if s.Members[i].Required && seen>>i&1 == 0 {
			return false
		}
	}
	return true
}

// member returns the shape of the member with a name and its place, or nil. A
// name that is written with escapes is none of the document's.
func (s *Shape) member(name []byte) (*Shape, int) {
	for i := range s.Members {
		if s.Members[i].Name == string(name) {
			return s.Members[i].Shape, i
		}
	}
	return s.Others, len(s.Members)
}

func (s *Shape) acceptsItems(t *text) bool {
	n := int64(0)
	for more := t.open(']'); more; more = t.more() {
		if !s.Item.accepts(t) {
			return false
		}
		n++
	}
	return n >= s.Min && (s.Max == 0 || n <= s.Max)
}

// acceptsQuoted takes what stands between quotes. Escapes would have to be undone
// to be compared or counted.
func (s *Shape) acceptsQuoted(raw []byte) bool {
	if s.anyText() {
		return len(raw) >= int(s.Min)
	}
	return bytes.IndexByte(raw, '\\') < 0 && s.acceptsString(raw)
}

// anyText reports whether every string is good, unless it is empty.
func (s *Shape) anyText() bool { return s.Min <= 1 && s.Max == 0 && s.Enum == nil && s.Pattern == nil }

// acceptsString takes a string as it is. Characters are only counted where each is
// one byte.
func (s *Shape) acceptsString(value []byte) bool {
	n := int64(len(value))
	switch {
	case n < s.Min || s.Max > 0 && n > s.Max:
		return false
	case s.Min > 1 && bytes.ContainsFunc(value, func(r rune) bool { return r > '~' }):
		return false
	case s.Enum != nil && !slices.ContainsFunc(s.Enum, func(one string) bool { return one == string(value) }):
		return false
	}
	return s.Pattern == nil || s.Pattern.Match(value)
}

// acceptsInteger takes a number without fraction and exponent.
func (s *Shape) acceptsInteger(digits []byte) bool {
	n, err := strconv.ParseInt(string(digits), 10, 64)
	return err == nil && n >= s.Min && (s.Max == 0 || n <= s.Max)
}
