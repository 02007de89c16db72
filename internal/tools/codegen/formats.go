package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"os"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"

	"example.com/emailplatform/internal/tools/try"
)

// formats describes alternative formats of response types, and their required fields. It is x-responses in an overlay.
// The zero value means only the declared format.
type formats struct {
	Envelope string                    `yaml:"envelope"` // the field that may contain a resource
	Schemas  map[string]responseFormat `yaml:"schemas"`

	order map[string][]string // fields of list elements in openapi.yaml, by type
}

// responseFormat describes alternative field names of one type. A name in an object is written object/name.
type responseFormat struct {
	Required string            `yaml:"required"` // the required field
	Aliases  map[string]string `yaml:"aliases"`  // other names, with the fields that they stand for
	Readers  map[string]string `yaml:"readers"`  // functions that read some names
}

// readFormats reads x-responses of the overlay at path.
func readFormats(path string, doc *document) formats {
	var overlay struct {
		Responses formats `yaml:"x-responses"`
	}
	try.OK(yaml.Unmarshal(try.Get(os.ReadFile(path)), &overlay))
	if overlay.Responses.Schemas == nil {
		try.Failf("%s: no x-responses", path)
	}
	overlay.Responses.order = doc.elements()
	return overlay.Responses
}

// aliases returns the other names, sorted.
func (s responseFormat) aliases() []string { return slices.Sorted(maps.Keys(s.Aliases)) }

// reader writes the parts of a reader that depend on alternative names.
type reader struct {
	*decoder
	responseFormat
	fields []field
}

// check fails if the responseFormat names a field that the type called name does not have.
func (r reader) check(name string) {
	members := slices.Collect(maps.Values(r.Aliases))
	for member := range r.Readers {
		if r.Aliases[member] == "" {
			members = append(members, member)
		}
	}
	if r.Required != "" {
		members = append(members, r.Required)
	}
	for _, member := range members {
		if r.field(member).name == "" {
			try.Failf("x-responses: %s has no field %q", name, member)
		}
	}
	for alias := range r.Aliases {
		if outer, _, _ := strings.Cut(alias, "/"); r.field(outer).name != "" {
			try.Failf("x-responses: %s has a field %q, so this name must not be an alias", name, outer)
		}
	}
}

// field returns the field with a JSON name, or the zero field.
func (r reader) field(member string) field {
	for _, f := range r.fields {
		if f.member == member {
			return f
		}
	}
	return field{}
}

// sort sorts the fields of the type called name as in openapi.yaml. It returns false if the order is unknown.
func (r reader) sort(name string) bool {
	place := func(f field) int { return slices.Index(r.formats.order[name], f.member) }
	if slices.ContainsFunc(r.fields, func(f field) bool { return place(f) < 0 }) {
		return false
	}
	slices.SortFunc(r.fields, func(a, b field) int { return place(a) - place(b) })
	return true
}

// loop returns the head of the loop over the field names. named reports whether
// the type can be a complete response.
func (r reader) loop(named bool) string {
	if !named || r.formats.Envelope == "" || r.field(r.formats.Envelope).name != "" {
		return "name, more := c.First(); more; name, more = c.Next()"
	}
	return fmt.Sprintf("name := range c.Envelope(%q)", r.formats.Envelope)
}

// declare writes the statements before the loop over the names.
func (r reader) declare() {
	if r.Required != "" {
		r.printf("start := c.Offset()")
	}
	for _, alias := range r.aliases() {
		r.printf("var %s %s", variable(alias), types.ExprString(r.field(r.Aliases[alias]).typ))
	}
}

// read returns the expression that reads the value of name into f. A value of another type is ignored under an
// alternative name.
func (r reader) read(name string, f field) string {
	switch own := r.Readers[name]; {
	case own != "" && name == f.member:
		return own + "(c)"
	case own != "":
		return "jsonscan.Optional(c, " + own + ")"
	case r.formats.Schemas != nil && (f.omitzero || name != f.member):
		return "jsonscan.Optional(c, " + r.reader(f.typ) + ")"
	}
	return r.value(f.typ)
}

// readAliases writes the cases of the alternative names.
func (r reader) readAliases() {
	inner := map[string][]string{} // by the object that contains them
	for _, alias := range r.aliases() {
		object, name, deep := strings.Cut(alias, "/")
		if !deep {
			object, name = "", alias
		}
		read := r.read(alias, r.field(r.Aliases[alias]))
		inner[object] = append(inner[object], fmt.Sprintf("case %q:\n%s = %s", name, variable(alias), read))
	}
	for _, object := range slices.Sorted(maps.Keys(inner)) {
		cases := strings.Join(inner[object], "\n")
		if object != "" {
			cases = fmt.Sprintf("case %q:\nfor name := range c.Members() {\nswitch name {\n%s\ndefault:\nc.Skip()\n}\n}", object, cases)
		}
		r.printf("%s", cases)
	}
}

// readErrorFields writes the case for the fields that mark an error instead of a
// list.
func (r reader) readErrorFields() {
	if f := r.field(r.Required); f.name != "" && zero(f.typ) == "nil" {
		r.printf("case \"detail\", \"error\":\nreadErrorField(c, name)")
	}
}

// finish writes the statements after the loop over the names.
func (r reader) finish() {
	for _, alias := range r.aliases() {
		f := r.field(r.Aliases[alias])
		if zero(f.typ) == "nil" {
			r.printf("if v.%s == nil {\nv.%[1]s = %s\n}", f.name, variable(alias))
		} else {
			r.printf("v.%s = cmp.Or(v.%[1]s, %s)", f.name, variable(alias))
		}
	}
	if f := r.field(r.Required); f.name != "" {
		r.printf("if v.%s == %s {\nc.Missing(start, %q)\n}", f.name, zero(f.typ), f.member)
	}
}

// variable returns the name of the variable for an alias, such as
// otherAudienceListID.
func variable(alias string) string {
	words := strings.FieldsFunc(alias, func(r rune) bool { return r == '/' || r == '_' })
	for i, word := range words {
		if words[i] = strings.ToUpper(word[:1]) + word[1:]; word == "id" {
			words[i] = "ID"
		}
	}
	return "other" + strings.Join(words, "")
}

// zero returns the zero value of t, which must not be a struct.
func zero(t ast.Expr) string {
	switch t.(type) {
	case *ast.ArrayType, *ast.StarExpr:
		return "nil"
	}
	switch types.ExprString(t) {
	case "int64":
		return "0"
	case "bool":
		return "false"
	}
	return `""`
}
