package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/suggest"
)

const tooManyItems = "too_many_items"

// validator validates one body in one pass, without decoding it.
type validator struct {
	text
	errors        []api.ProblemDetail
	badEntries    map[int]api.ProblemDetail // errors in import entries; nil for other bodies
	request       bool                      // the body is from a request, so unknown fields are recorded
	unknown       []string                  // locations of unknown fields, and unknown names of events
	rejectUnknown bool
}

// location is the location of a value. A nil location is the location of the whole
// body.
type location struct {
	outer *location
	name  []byte // name of a field; nil for an item of an array
	index int
}

func (p *location) loc() []any {
	switch {
	case p == nil:
		return []any{"body"}
	case p.name == nil:
		return append(p.outer.loc(), p.index)
	}
	return append(p.outer.loc(), string(p.name))
}

// fail adds an error for a value in the body, unless msg is empty.
func (v *validator) fail(at *location, kind, msg string) {
	if msg != "" && !v.full() {
		v.add(kind, msg, at.loc()...)
	}
}

func (v *validator) add(kind, msg string, loc ...any) {
	switch d := apierror.At(kind, msg, loc...); {
	case v.full():
	case v.badEntries != nil:
		v.importError(d)
	default:
		v.errors = append(v.errors, d)
	}
}

func (v *validator) full() bool { return len(v.errors) >= apierror.MaxDetails }

func (v *validator) value(s *Schema, at *location) {
	kind := kindOf(v.peek())
	switch {
	case s.AllOf != nil || s.OneOf != nil:
		v.combination(s, at)
	case s.Kind == Any, kind == Null && s.Nullable:
		v.skip()
	case kind == Integer && s.Kind == Number:
		v.fail(at, "value_error", s.numberError(string(v.word())))
	case kind != s.Kind:
		if kind == Integer {
			kind = Number
		}
		v.fail(at, "value_error", s.typeError(kind.String()))
		v.skip()
	case kind == Object:
		v.object(s, at)
	case kind == Array:
		v.array(s, at)
	case kind == String:
		raw := v.quoted()
		if !s.anyString() || len(raw) < int(s.Min) {
			v.fail(at, "value_error", s.stringError(string(unescaped(raw))))
		}
		if s.Event && v.request {
			v.event(at, string(unescaped(raw)))
		}
	case kind == Integer:
		v.fail(at, "value_error", s.integerError(string(v.word())))
	default:
		v.skip()
	}
}

func (v *validator) object(s *Schema, at *location) {
	var seen uint64              // a bit for each property
	field := location{outer: at} // outside the loop, so it is allocated only once
	for more := v.open('}'); more; more = v.more() {
		field.name = v.name()
		i := s.property(field.name)
		switch {
		case i >= 0:
			seen |= 1 << i
			v.value(s.Properties[i].Schema, &field)
		case s.Values != nil:
			v.value(s.Values, &field)
		default:
			if v.request && s.Properties != nil {
				v.unknownField(s, &field)
			}
			v.skip()
		}
	}
	for i := range s.Properties {
		if s.Properties[i].Required && seen>>i&1 == 0 {
			field.name = []byte(s.Properties[i].Name)
			v.fail(&field, "missing", "required")
		}
	}
	if s.Needs != nil && !slices.ContainsFunc(s.Needs, func(name string) bool { return seen>>s.property([]byte(name))&1 == 1 }) {
		last := len(s.Needs) - 1
		v.fail(at, "value_error", "must contain "+strings.Join(s.Needs[:last], ", ")+" or "+s.Needs[last])
	}
}

func (v *validator) array(s *Schema, at *location) {
	item := location{outer: at}
	for more := v.open(']'); more; more = v.more() {
		v.value(s.Items, &item)
		item.index++
	}
	switch n := int64(item.index); {
	case n < s.Min && s.Min == 1:
		v.fail(at, "value_error", "must not be empty")
	case n < s.Min:
		v.fail(at, "value_error", fmt.Sprintf("must contain at least %d items", s.Min))
	case s.Max > 0 && n > s.Max:
		v.fail(at, tooManyItems, fmt.Sprintf("must contain at most %d items", s.Max))
	}
}

// combination reads a value that must match all schemas in AllOf, or exactly one
// schema in OneOf.
func (v *validator) combination(s *Schema, at *location) {
	start := v.i
	for _, part := range s.AllOf {
		v.i = start
		v.value(part, at)
	}
	if s.OneOf == nil {
		return
	}
	matches := 0
	var reasons []string
	for _, variant := range s.OneOf {
		try := validator{text: text{v.b, start}}
		try.value(variant, at)
		v.i = try.i
		if len(try.errors) == 0 {
			matches++
		} else {
			reasons = append(reasons, try.list())
		}
	}
	if matches != 1 {
		v.fail(at, "value_error", fmt.Sprintf("must match exactly one schema, but matches %d of %d: %s",
			matches, len(s.OneOf), strings.Join(reasons, " | ")))
	}
}

func (v *validator) list() string {
	var all []string
	for _, e := range v.errors {
		all = append(all, fmt.Sprintf("%v: %s", e.Loc, e.Msg))
	}
	return strings.Join(all, "; ")
}

const (
	maxUnknown = 20  // maximum number of fields, and of parameters
	maxName    = 100 // maximum length of a name in bytes
)

// unknownField records a field that is not in the schema. A name that differs from a
// known name only in letter case is always an error, because encoding/json accepts the
// name but the platform does not.
func (v *validator) unknownField(s *Schema, field *location) {
	name := string(field.name)
	var known []string
	for _, p := range s.Properties {
		if strings.EqualFold(p.Name, name) {
			v.fail(field, "value_error", fmt.Sprintf("unknown field, use %q", p.Name))
			return
		}
		known = append(known, p.Name)
	}
	v.unknown = note(v.unknown, field.pattern())
	if v.rejectUnknown && !v.full() && !v.knownEntry(field) { // skip slow suggestions if the error is not stored
		v.fail(field, "value_error", suggest.Unknown("field", name, known))
	}
}

// event records the name of an unknown event. The name is an error only if unknown
// fields are errors too, because the list of names in the specification is incomplete.
func (v *validator) event(at *location, name string) {
	known := load().events
	if _, ok := known[name]; ok || name == "" {
		return
	}
	v.unknown = note(v.unknown, at.pattern()+": "+name)
	if v.rejectUnknown && !v.full() {
		v.fail(at, "value_error", suggest.Unknown("value", name, slices.Sorted(maps.Keys(known))))
	}
}

// pattern returns the location of the field without array indexes, such as
// contacts[].emial.
func (p *location) pattern() string {
	switch {
	case p == nil:
		return ""
	case p.name == nil:
		return p.outer.pattern() + "[]"
	case p.outer == nil:
		return string(p.name)
	}
	return p.outer.pattern() + "." + string(p.name)
}

// note adds a name to names, unless names already contains it or is full.
func note(names []string, name string) []string {
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	if len(names) == maxUnknown || slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// text reads valid JSON and does not check the syntax.
type text struct {
	b []byte
	i int
}

// peek skips white space and returns the next byte, or 0 at the end.
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

// more reads the comma after an element, or the end of the array or object, and
// reports whether another element follows.
func (t *text) more() bool {
	comma := t.peek() == ','
	t.i++
	return comma
}

// name reads the name of a field and the colon after it.
func (t *text) name() []byte {
	name := unescaped(t.quoted())
	t.peek()
	t.i++
	return name
}

// quoted reads a string and returns the text between its quotes.
func (t *text) quoted() []byte {
	t.peek()
	raw := t.b[t.i+1:]
	n := bytes.IndexByte(raw, '"')
	for n > 0 && raw[n-1] == '\\' && escapes(raw[:n]) {
		n += 1 + bytes.IndexByte(raw[n+1:], '"')
	}
	t.i += n + 2
	return raw[:n]
}

// escapes reports whether raw ends with a backslash that escapes the next
// character.
func escapes(raw []byte) bool { return (len(raw)-len(bytes.TrimRight(raw, `\`)))%2 == 1 }

// unescaped returns the value of a JSON string from the raw text between its quotes.
// Like encoding/json, unescaped replaces invalid UTF-8 with U+FFFD.
func unescaped(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return raw
	}
	var s string
	_ = json.Unmarshal(append(append([]byte{'"'}, raw...), '"'), &s) // raw is valid
	return []byte(s)
}

// word reads a number, true, false or null.
func (t *text) word() []byte {
	t.peek()
	start := t.i
	n := bytes.IndexAny(t.b[start:], ",]} \t\n\r")
	if n < 0 {
		n = len(t.b) - start
	}
	t.i += n
	return t.b[start:t.i]
}

func (t *text) skip() {
	for depth := 0; ; {
		switch t.peek() {
		case '"':
			t.quoted()
		case '{', '[':
			depth++
			t.i++
		case '}', ']':
			depth--
			t.i++
		case ',', ':':
			t.i++
		default:
			t.word()
		}
		if depth == 0 {
			return
		}
	}
}
