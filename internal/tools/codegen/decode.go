package main

import (
	"go/ast"
	"go/parser"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oapi-codegen/oapi-codegen/v2/pkg/codegen"

	"example.com/emailplatform/internal/tools/must"
)

// decoder selects the types that have readers in decode.gen.go. The reader of a type T is a function readT that decodes
// JSON in one pass, without reflection.
type decoder struct {
	order map[string][]string // for responses: the fields of list elements in openapi.yaml, by type
	hand  map[string]ast.Expr // types in handwritten files
	known map[string][]string // the values of constants, by the type as the package writes it
	own   map[string]bool     // handwritten functions
	roots []string            // types whose readers the package calls and does not contain, in the order of their first use
	types map[string]codegen.TypeDefinition
	need  []string // types with readers, which grows
}

// reader is the input of the template for one type.
type reader struct {
	codegen.TypeDefinition

	Value    string   // reads a value that is not a struct
	Known    []string // the known values of a string type, in lower case except events.Name
	Fields   []readField
	Identity readField // the field that every response has
	Strict   bool      // a value of the wrong type is an error
}

type readField struct {
	Name, Member string
	Read         string // the expression that reads the field
	Zero         string // the zero value, if the field is an identity
	Next         string // the JSON name of the field that usually follows
}

// newDecoder reads the source files of a package, to find the types that they declare and the readers that they call.
// For a package that decodes responses, order contains the fields of each type that is an array element, in the order of
// openapi.yaml. For other packages, order is nil.
func newDecoder(dir string, order map[string][]string) *decoder {
	d := &decoder{order: order, hand: map[string]ast.Expr{}, own: map[string]bool{}, types: map[string]codegen.TypeDefinition{}}
	d.known = constants(dir, "")
	if order != nil {
		maps.Copy(d.known, constants(filepath.Join(dir, "..", "events"), "events."))
	}
	for _, file := range parseFiles(dir, "types.gen.go", "requests.gen.go", "decode.gen.go") {
		d.scan(file)
	}
	d.roots = slices.DeleteFunc(d.roots, func(name string) bool { return d.own["read"+name] })
	return d
}

func (d *decoder) scan(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if !n.Assign.IsValid() {
				d.hand[n.Name.Name] = n.Type
			}
		case *ast.FuncDecl:
			d.own[n.Name.Name] = true
		case *ast.Ident:
			if name, ok := strings.CutPrefix(n.Name, "read"); ok {
				d.roots = append(d.roots, name)
			}
		}
		return true
	})
}

// readers returns the types that the package reads, and the types of their fields.
func (d *decoder) readers(all []codegen.TypeDefinition) (out []reader) {
	for _, t := range all {
		d.types[t.TypeName] = t
	}
	for _, name := range d.roots {
		d.needs(name)
	}
	for i := 0; i < len(d.need); i++ {
		out = append(out, d.reader(d.need[i]))
	}
	return out
}

func (d *decoder) needs(name string) {
	if _, ok := d.types[name]; (ok || d.known[name] != nil) && !d.own["read"+name] && !slices.Contains(d.need, name) {
		d.need = append(d.need, name)
	}
}

func (d *decoder) reader(name string) reader {
	r := reader{TypeDefinition: d.types[name]}
	if r.Known = d.known[name]; r.Known != nil {
		r.TypeName = name
		return r
	}
	if r.Schema.Properties == nil {
		r.Value = d.value(must.Get(parser.ParseExpr(r.Schema.TypeDecl())))
		return r
	}
	r.Strict = r.Schema.OAPISchema.Extensions["x-strict"] == true
	for _, p := range r.Schema.Properties {
		if ignored(p) {
			continue
		}
		f := d.field(p)
		if d.order != nil && strings.HasSuffix(f.Name, "ID") && f.Read == "c.String()" {
			must.Failf("%s.%s is text: set x-go-read: readAnyID(c) in client.overlay.yaml, because platforms can return numbers", name, f.Name)
		}
		r.Fields = append(r.Fields, f)
		if d.order != nil && (f.Name == "ID" || f.Name == "Data") {
			r.Identity = f
		}
	}
	if d.order == nil {
		return r
	}
	if slices.Contains(d.roots, name) && r.Identity.Name == "" {
		r.Identity = firstRequired(r)
	}
	sortFields(r.Fields, d.order[name])
	return r
}

// firstRequired returns the field that identifies a response, or an item of a page, that has no id.
func firstRequired(r reader) readField {
	required := r.Schema.OAPISchema.Required
	i := slices.IndexFunc(r.Fields, func(f readField) bool { return len(required) > 0 && f.Member == required[0] })
	if i < 0 {
		must.Failf("openapi.yaml: %s is a response or an item without a field ID or Data: make another field of its schema required", r.TypeName)
	}
	return r.Fields[i]
}

// sortFields puts fields into the given order, if order contains all of them.
func sortFields(fields []readField, order []string) {
	if slices.ContainsFunc(fields, func(f readField) bool { return !slices.Contains(order, f.Member) }) {
		return
	}
	slices.SortFunc(fields, func(a, b readField) int { return slices.Index(order, a.Member) - slices.Index(order, b.Member) })
	for i := range fields[1:] {
		fields[i].Next = fields[i+1].Member
	}
}

// field returns how a field is read.
func (d *decoder) field(p codegen.Property) readField {
	typ := must.Get(parser.ParseExpr(goType(p)))
	if list, ok := d.hand[goType(p)].(*ast.ArrayType); ok {
		typ = list
	}
	f := readField{Name: p.GoFieldName(), Member: p.JsonFieldName, Zero: zero(typ)}
	list, ok := typ.(*ast.ArrayType)
	if ok && d.order != nil && f.Name == "Data" {
		f.Read = "readItems(c, " + d.function(list.Elt) + ")"
		d.roots = append(d.roots, types.ExprString(list.Elt)) // each item has an identity too
	} else if f.Read, _ = p.Extensions["x-go-read"].(string); f.Read == "" {
		f.Read = d.value(typ)
	}
	return f
}

// value returns the expression that reads a value of type t.
func (d *decoder) value(t ast.Expr) string {
	name := types.ExprString(t)
	switch t := t.(type) {
	case *ast.StarExpr:
		return "jsonscan.Pointer(c, " + d.function(t.X) + ")"
	case *ast.ArrayType:
		if types.ExprString(t.Elt) == "CustomAttribute" {
			return "readAttributes(c, " + d.function(t.Elt) + ")"
		}
		return "jsonscan.Slice(c, " + d.function(t.Elt) + ")"
	case *ast.IndexExpr:
		return "read" + types.ExprString(t.X) + "(c, " + d.function(t.Index) + ")"
	case *ast.Ident, *ast.SelectorExpr:
		if method := cursorMethod(name); method != "" {
			return "c." + method + "()"
		}
		return d.function(t) + "(c)"
	}
	must.Failf("no reader for the type %s", name)
	return ""
}

// function returns the function that reads a value of type t.
func (d *decoder) function(t ast.Expr) string {
	name := types.ExprString(t)
	switch method := cursorMethod(name); {
	case method != "":
		return "(*jsonscan.Cursor)." + method
	case d.isText(name) && d.known[name] == nil:
		return "jsonscan.Text[" + name + "]"
	}
	d.needs(name)
	switch t := t.(type) {
	case *ast.Ident:
		return "read" + t.Name
	case *ast.SelectorExpr: // a type of another package
		return "read" + t.Sel.Name
	}
	return "func(c *jsonscan.Cursor) " + name + " { return " + d.value(t) + " }"
}

// isText reports whether the type called name is a handwritten string type, or a type of package events.
func (d *decoder) isText(name string) bool {
	id, ok := d.hand[name].(*ast.Ident)
	return ok && id.Name == "string" || strings.HasPrefix(name, "events.")
}

// Base returns the name of the type without its package.
func (r reader) Base() string { return r.TypeName[strings.LastIndexByte(r.TypeName, '.')+1:] }

// List returns the known values as Go source: quoted, with commas between them.
func (r reader) List() string { return `"` + strings.Join(r.Known, `", "`) + `"` }

func cursorMethod(name string) string {
	return map[string]string{"string": "String", "bool": "Bool", "int64": "Int", "json.RawMessage": "Raw"}[name]
}

// zero returns the zero value of the type of an identity.
func zero(t ast.Expr) string {
	if _, list := t.(*ast.ArrayType); list {
		return "nil"
	}
	if types.ExprString(t) == "int64" {
		return "0"
	}
	return `""`
}
