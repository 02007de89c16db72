// Package accept tells from the bytes of a request that it certainly keeps to
// openapi.yaml, in one pass and without decoding it.
//
// It errs on one side only: what it accepts, the document accepts too, and every
// member and parameter of it is one that the document knows. What it does not
// accept may still be good; then the document itself has to be asked, which takes
// several times as long and says what is wrong.
package accept

import (
	"net/url"
	"regexp"
	"sync"
)

// Operation is an endpoint of the document, and what its requests look like.
type Operation struct {
	ID, Method, Path string
	Deprecated       bool
	InPath, InQuery  []Parameter
	NeedsQuery       bool   // a parameter in the query is required
	Body             *Shape // nil if it takes none
	BodyRequired     bool
}

// Pattern is the pattern that net/http routes by: "GET /lists/{list_id}".
func (o *Operation) Pattern() string { return o.Method + " " + o.Path }

// Operations returns all operations of the document, in its order. They are
// shared: nobody may change them.
var Operations = sync.OnceValue(operations)

// Parameter is a parameter in the path or in the query.
type Parameter struct {
	Name     string
	Required bool
	Shape    *Shape // of a single value
}

// Kind is the kind of a value.
type Kind byte

// The kinds of values. The zero value is what this package knows nothing of: it
// accepts none.
const (
	Unknown Kind = iota
	Object
	Array
	String
	Integer
	Boolean
)

// Shape is a schema, as far as values are accepted by it.
type Shape struct {
	Kind     Kind
	Nullable bool
	Members  []Member // of an object
	Others   *Shape   // of the members of an object that has no Members
	Item     *Shape   // of an array
	Min, Max int64    // of an integer, or of the length of an array or a string; a Max of 0 is none
	Enum     []string // of a string
	Pattern  *regexp.Regexp
}

// Member is a member of an object.
type Member struct {
	Name     string
	Required bool
	Shape    *Shape
}

// InQueryIsGood reports whether the query of a request is certainly good: each
// parameter is known, is there once, and has a good value.
func (o *Operation) InQueryIsGood(raw string) bool {
	if raw == "" && !o.NeedsQuery {
		return true
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return false
	}
	known := 0
	for _, p := range o.InQuery {
		given := values[p.Name]
		switch {
		case len(given) == 0 && !p.Required:
		case len(given) != 1 || !p.Shape.acceptsText(given[0]):
			return false
		default:
			known++
		}
	}
	return known == len(values)
}

// InPathIsGood reports whether the parameters in the path are certainly good; value
// returns them by their names, unescaped.
func (o *Operation) InPathIsGood(value func(name string) string) bool {
	for _, p := range o.InPath {
		if !p.Shape.acceptsText(value(p.Name)) {
			return false
		}
	}
	return true
}

// BodyIsGood reports whether a body is certainly good. It must be JSON, or empty
// for none: of anything else it may report either.
func (o *Operation) BodyIsGood(body []byte) bool {
	if o.Body == nil || len(body) == 0 {
		return len(body) == 0 && !o.BodyRequired
	}
	t := text{b: body}
	return o.Body.accepts(&t)
}

// acceptsText reports whether a parameter is good that came as plain text.
func (s *Shape) acceptsText(value string) bool {
	switch s.Kind {
	case String:
		if value == "" {
			return false // which may mean that there is none
		}
		return s.acceptsString([]byte(value))
	case Integer:
		return s.acceptsInteger([]byte(value))
	case Boolean:
		return value == "true" || value == "false"
	}
	return false
}
