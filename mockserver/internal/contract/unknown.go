package contract

import (
	"fmt"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/suggest"
)

// Limits of the unknown names that are recorded for a request. A client could send any
// number of them.
const (
	maxUnknown = 20  // maximum number of fields, and of parameters
	maxName    = 100 // maximum length of a name in bytes
)

// unknownField records a field that is not in the schema of its object. A name that
// differs only in case is always an error, because encoding/json accepts it but the
// platform does not.
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
	if v.rejectUnknown && !v.full() && !v.knownEntry(field) { // skip slow suggestions if the error is not kept
		v.fail(field, "value_error", suggest.Unknown("field", name, known))
	}
}

// pattern returns the location of the field, such as contacts[].emial. It contains no
// array indexes.
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

// note adds a name, unless the list contains it or is full.
func note(names []string, name string) []string {
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	if len(names) == maxUnknown || slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
