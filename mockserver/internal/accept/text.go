package accept

import "bytes"

// text is a place in a JSON text that somebody else has found to be valid: its
// reader looks at what tells values apart and skips the rest. In any other text it
// reads something or other, but never past the end.
type text struct {
	b []byte
	i int
}

// peek returns the first byte of what comes next, or 0 at the end.
func (t *text) peek() byte {
	for ; t.i < len(t.b); t.i++ {
		switch t.b[t.i] {
		case ' ', '\t', '\n', '\r':
		default:
			return t.b[t.i]
		}
	}
	return 0
}

// open enters an array or object and reports whether it has elements.
func (t *text) open(end byte) bool {
	t.i++
	if t.peek() == end {
		t.i++
		return false
	}
	return true
}

// more reads what is behind an element, and reports whether it is a comma.
func (t *text) more() bool {
	comma := t.peek() == ','
	t.i++
	return comma
}

// colon reads what is behind the name of a member.
func (t *text) colon() {
	t.peek()
	t.i++
}

// quoted reads a string and returns what stands between its quotes.
func (t *text) quoted() []byte {
	t.peek()
	start := min(t.i+1, len(t.b))
	for i := start; ; i++ {
		n := bytes.IndexByte(t.b[i:], '"')
		if n < 0 {
			t.i = len(t.b)
			return t.b[start:]
		}
		if i += n; !escaped(t.b[start:i]) {
			t.i = i + 1
			return t.b[start:i]
		}
	}
}

// escaped reports whether a quote behind these bytes is part of the string.
func escaped(before []byte) bool {
	n := len(before) - len(bytes.TrimRight(before, `\`))
	return n%2 == 1
}

// word reads what is neither a string nor an array or object.
func (t *text) word() []byte {
	t.peek()
	start := min(t.i, len(t.b))
	n := bytes.IndexAny(t.b[start:], ",]} \t\n\r")
	if n < 0 {
		n = len(t.b) - start
	}
	t.i = start + n
	return t.b[start:t.i]
}
