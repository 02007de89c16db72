package contract

import (
	"fmt"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/suggest"
)

// tooManyItems is the error type for an array with too many items.
const tooManyItems = "too_many_items"

// validator validates one body in one pass, without decoding it.
type validator struct {
	text
	errors        []api.ProblemDetail
	badEntries    map[int]api.ProblemDetail // errors of import entries; nil for other bodies
	request       bool                      // the body is from a request, so unknown fields are recorded
	unknown       []string                  // locations of unknown fields
	rejectUnknown bool
}

// place is the location of a value in the body. The location of the whole body
// is nil.
type place struct {
	outer *place
	name  []byte // name of a field; nil for an item of an array
	index int
}

// loc returns the location in the format that errors use.
func (p *place) loc() []any {
	switch {
	case p == nil:
		return []any{"body"}
	case p.name == nil:
		return append(p.outer.loc(), p.index)
	}
	return append(p.outer.loc(), string(p.name))
}

// fail adds an error for a value in the body, unless msg is empty.
func (v *validator) fail(at *place, kind, msg string) {
	if msg != "" && !v.full() {
		v.add(kind, msg, at.loc()...)
	}
}

func (v *validator) add(kind, msg string, loc ...any) {
	switch d := problem.At(kind, msg, loc...); {
	case v.full():
	case v.badEntries != nil:
		v.importError(d)
	default:
		v.errors = append(v.errors, d)
	}
}

// full reports whether the list of errors is full.
func (v *validator) full() bool { return len(v.errors) >= problem.MaxDetails }

// value reads a value and validates it.
func (v *validator) value(s *Schema, at *place) {
	kind := kindOf(v.peek())
	switch {
	case s.AllOf != nil || s.OneOf != nil:
		v.combination(s, at)
	case s.Kind == Any, kind == Null && s.Nullable:
		v.skip()
	case kind != s.Kind:
		v.fail(at, "value_error", s.typeError())
		v.skip()
	case kind == Object:
		v.object(s, at)
	case kind == Array:
		v.array(s, at)
	case kind == String:
		if raw := v.quoted(); !s.anyString() || len(raw) < int(s.Min) {
			v.fail(at, "value_error", s.stringError(string(unescaped(raw))))
		}
	case kind == Integer:
		v.fail(at, "value_error", s.integerError(string(v.word())))
	default:
		v.skip()
	}
}

func (v *validator) object(s *Schema, at *place) {
	var seen uint64           // a bit for each property
	field := place{outer: at} // outside the loop, so it is allocated only once
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
}

func (v *validator) array(s *Schema, at *place) {
	item := place{outer: at}
	for more := v.open(']'); more; more = v.more() {
		v.value(s.Items, &item)
		item.index++
	}
	switch n := int64(item.index); {
	case n < s.Min:
		v.fail(at, "value_error", fmt.Sprintf("minimum number of items is %d", s.Min))
	case s.Max > 0 && n > s.Max:
		v.fail(at, tooManyItems, fmt.Sprintf("maximum number of items is %d", s.Max))
	}
}

// combination reads a value that must match all schemas in AllOf, or exactly one
// schema in OneOf.
func (v *validator) combination(s *Schema, at *place) {
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
		v.fail(at, "value_error", fmt.Sprintf("value must match exactly one schema, but matches %d of %d: %s",
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

// maxUnknown and maxName limit the number and length of recorded unknown names.
const (
	maxUnknown = 20  // maximum number of fields, and of parameters
	maxName    = 100 // maximum length of a name in bytes
)

// unknownField records a field that is not in the schema. A name that differs from
// a known name only in letter case is always an error, because encoding/json
// accepts the name but the platform does not.
func (v *validator) unknownField(s *Schema, field *place) {
	name := string(field.name)
	known := s.names()
	for _, right := range known {
		if strings.EqualFold(right, name) {
			v.fail(field, "value_error", fmt.Sprintf("no such field: the name must be %q", right))
			return
		}
	}
	v.unknown = note(v.unknown, field.pattern())
	if v.rejectUnknown && !v.full() && !v.knownEntry(field) { // skip slow suggestions if the error is not stored
		v.fail(field, "value_error", suggest.Unknown("field", name, known))
	}
}

// pattern returns the location of the field without array indexes, such as
// contacts[].emial.
func (p *place) pattern() string {
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
