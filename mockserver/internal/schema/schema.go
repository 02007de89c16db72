// Package schema describes the JSON encoding of Go types, using their struct
// tags. The control routes use it to validate bodies with package contract, and
// to generate their OpenAPI document and manual.
package schema

import (
	"cmp"
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Schema describes a type.
type Schema struct {
	Name    string   // name in the documents, if any
	Kinds   []string // object, array, string, integer, number, boolean; empty for any JSON
	Format  string   // such as date-time
	Enum    []string
	Null    bool    // null is also allowed
	Fields  []Field // fields of an object, in order
	Items   *Schema // schema of the items of an array
	Rules   Rules
	Extra   map[string]any // further JSON Schema keywords, which other code checks
	Request bool           // the object has no other fields
}

// Field describes a field of an object.
type Field struct {
	Name     string
	Doc      string
	Required bool // always present in a response, required in a request
	Schema   *Schema
}

// Rules limit the values of a field.
type Rules struct {
	Min, Max json.Number // limits of a number, or of the length of a string or an array; "" means no limit
	Above    json.Number // a number must be greater
	Pattern  string      // the name of the pattern for a string
}

// Types contains type information that reflection does not provide.
type Types struct {
	Name    func(reflect.Type) string // "" for a type without a name in the documents; nil if no type has a name
	Enums   map[reflect.Type][]string
	Kinds   map[reflect.Type][]string
	Extra   map[reflect.Type]map[string]any
	Request bool // the types are request bodies
}

// Of returns the schema of the JSON that encoding/json writes for a type.
func (o Types) Of(t reflect.Type) *Schema {
	if values := o.Enums[t]; values != nil {
		return &Schema{Kinds: []string{"string"}, Enum: values}
	}
	switch {
	case o.Kinds[t] != nil:
		return &Schema{Kinds: o.Kinds[t]}
	case t == reflect.TypeFor[time.Time]():
		return &Schema{Kinds: []string{"string"}, Format: "date-time"}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return &Schema{Kinds: []string{"string"}}
	case t.Implements(reflect.TypeFor[json.Marshaler]()):
		return &Schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return o.Of(t.Elem())
	case reflect.Struct:
		s := &Schema{Kinds: []string{"object"}, Fields: o.fieldsOf(t), Extra: o.Extra[t], Request: o.Request}
		if o.Name != nil {
			s.Name = o.Name(t)
		}
		return s
	case reflect.Slice:
		return &Schema{Kinds: []string{"array"}, Items: o.Of(t.Elem())}
	case reflect.String:
		return &Schema{Kinds: []string{"string"}}
	case reflect.Bool:
		return &Schema{Kinds: []string{"boolean"}}
	case reflect.Float32, reflect.Float64:
		return &Schema{Kinds: []string{"number"}}
	case reflect.Map, reflect.Interface:
		return &Schema{}
	case reflect.Uint64:
		return &Schema{Kinds: []string{"integer"}, Rules: Rules{Min: "0", Max: maxUint64}}
	}
	return &Schema{Kinds: []string{"integer"}, Rules: Rules{Max: maxInt64}}
}

// The limits of Go integers. Only the OpenAPI document contains them.
const (
	maxInt64  = "9223372036854775807"
	maxUint64 = "18446744073709551615"
)

// A field of type *struct{} hides a field of an embedded struct. A field with omitempty
// or omitzero is optional. The tag "item" contains the rules for the items of an array.
func (o Types) fieldsOf(t reflect.Type) (out []Field) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "-" || f.Type == reflect.TypeFor[*struct{}]() {
			continue
		}
		s := o.Of(f.Type)
		if options == "string" {
			s = &Schema{Kinds: []string{"string"}}
		}
		required := !strings.Contains(options, "omit")
		s.Null = required && f.Type.Kind() == reflect.Pointer
		s.Rules = rulesOf(f.Tag, s.Rules)
		if s.Items != nil {
			s.Items.Rules = rulesOf(reflect.StructTag(f.Tag.Get("item")), s.Items.Rules)
		}
		out = append(out, Field{cmp.Or(name, f.Name), f.Tag.Get("doc"), required, s})
	}
	return out
}

func rulesOf(tag reflect.StructTag, r Rules) Rules {
	number := func(name string, preset json.Number) json.Number { return cmp.Or(json.Number(tag.Get(name)), preset) }
	return Rules{number("min", r.Min), number("max", r.Max), number("above", r.Above), cmp.Or(tag.Get("pattern"), r.Pattern)}
}

// Field returns the field with the given name, or nil if there is none.
func (s *Schema) Field(name string) *Field {
	if i := slices.IndexFunc(s.Fields, func(f Field) bool { return f.Name == name }); i >= 0 {
		return &s.Fields[i]
	}
	return nil
}

// FieldNames returns the names of all fields.
func (s *Schema) FieldNames() []string {
	out := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		out[i] = f.Name
	}
	return out
}

// Is reports whether all values have the given kind.
func (s *Schema) Is(kind string) bool { return len(s.Kinds) == 1 && s.Kinds[0] == kind }

// OpenAPI converts a schema to the JSON Schema of OpenAPI 3.1. It adds named
// objects to the given map.
func (s *Schema) OpenAPI(named map[string]any) map[string]any {
	out := map[string]any{}
	set := func(name string, value any, given bool) {
		if given {
			out[name] = value
		}
	}
	var kinds []map[string]any // some generators do not support a list of types
	for _, kind := range s.Kinds {
		kinds = append(kinds, map[string]any{"type": kind})
	}
	set("anyOf", kinds, len(kinds) > 1)
	if len(kinds) == 1 {
		out = kinds[0]
	}
	set("format", s.Format, s.Format != "")
	set("enum", s.Enum, s.Enum != nil)
	s.Rules.openAPI(s, set)
	if s.Items != nil {
		out["items"] = s.Items.OpenAPI(named)
	}
	if s.Is("object") {
		properties, required := map[string]any{}, []string{}
		for _, f := range s.Fields {
			property := f.Schema.OpenAPI(named)
			if f.Doc != "" {
				property["description"] = f.Doc // OpenAPI 3.1 allows other keywords next to $ref
			}
			properties[f.Name] = property
			if f.Required {
				required = append(required, f.Name)
			}
		}
		out["properties"], out["required"] = properties, required
		set("additionalProperties", false, s.Request)
	}
	maps.Copy(out, s.Extra)
	if s.Name != "" {
		named[s.Name] = out
		out = map[string]any{"$ref": "#/components/schemas/" + s.Name}
	}
	if s.Null {
		return map[string]any{"anyOf": []map[string]any{out, {"type": "null"}}}
	}
	return out
}

func (r Rules) openAPI(s *Schema, set func(name string, value any, given bool)) {
	least, most := "minimum", "maximum"
	switch {
	case s.Is("string"):
		least, most = "minLength", "maxLength"
	case s.Is("array"):
		least, most = "minItems", "maxItems"
	}
	set(least, r.Min, r.Min != "")
	set(most, r.Max, r.Max != "")
	set("exclusiveMinimum", r.Above, r.Above != "")
	if p := patterns()[r.Pattern]; p.match != nil {
		set("pattern", p.match.String(), true)
	}
}
