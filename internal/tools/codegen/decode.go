package main

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"example.com/emailplatform/internal/tools/try"
)

// decoder writes readers of JSON.
type decoder struct {
	*generator
	named   map[string]bool // types with readers that handwritten code uses
	formats formats
}

// decode returns decode.gen.go of a package. For each type T in types.gen.go that the other files of the package or
// the fields of such a type use, it has a function that decodes JSON in one pass, without reflection:
//
//	func readT(c *jsonscan.Cursor) T
//
// It returns the same value as json.Unmarshal into a new T, with the exceptions in the documentation of jsonscan. It
// skips unknown fields.
//
// With formats, the types can come from another platform. A field with omitzero ignores a value of another type. A
// complete response can be in an envelope, unless it has a field with the same name. If a required field and its
// aliases are absent, the cursor reports an error. If the required field is a list, readErrorField(c, name) reads the
// fields detail and error.
//
// Elements of lists expect the fields in the order of openapi.yaml. To compare the next name with the expected name
// is faster than to read any name.
//
// A type consists of string, bool, int64, [json.RawMessage], types in types.gen.go, string types in handwritten files
// and in package events, pointers and slices. For every other type, the package must declare a function: readID for
// ID, readTime for [time.Time], and for a generic type N[T]
//
//	func readN[T any](c *jsonscan.Cursor, read func(*jsonscan.Cursor) T) N[T]
func decode(dir string, formats formats) (src []byte, err error) {
	defer try.Catch(&err)
	const in, out = "types.gen.go", "decode.gen.go"
	g := &decoder{generator: newGenerator(filepath.Join(dir, in)), named: map[string]bool{}, formats: formats}
	g.findCalls(dir, in, out)
	g.writeNeeded(g.function)
	g.checkFormats()
	return g.source(in), nil
}

// checkFormats fails if formats contains a type without a reader, or does not contain the required field of a complete
// response.
func (g *decoder) checkFormats() {
	for name := range g.formats.Schemas {
		if !slices.Contains(g.need, name) {
			try.Failf("x-responses: type %s has no reader", name)
		}
	}
	for _, name := range g.need {
		if g.formats.Schemas != nil && g.named[name] && g.formats.Schemas[name].Required == "" {
			try.Failf("x-responses: %s must have a required field", name)
		}
	}
}

// findCalls records the types with readers that other files of the package use.
func (g *decoder) findCalls(dir, in, out string) {
	for _, file := range parseFiles(dir, in, out) {
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if name, ok := strings.CutPrefix(id.Name, "read"); ok {
					g.needs(name)
					g.named[name] = true
				}
			}
			return true
		})
	}
}

// function writes the reader of the type called name.
func (g *decoder) function(name string) {
	st, ok := g.types[name].(*ast.StructType)
	if !ok {
		g.printf("\nfunc read%s(c *jsonscan.Cursor) %[1]s { return %[1]s(%s) }", name, g.value(g.types[name]))
		return
	}
	r := reader{decoder: g, fields: g.fields(name, st), responseFormat: g.formats.Schemas[name]}
	r.check(name)
	g.printf("\nfunc read%s(c *jsonscan.Cursor) (v %[1]s) {", name)
	r.declare()
	g.printf("for %s {\nswitch name {", r.loop(g.named[name]))
	hints := r.sort(name)
	for i, f := range r.fields {
		g.printf("case %q:\nv.%s = %s", f.member, f.name, r.read(f.member, f))
		if hints && i+1 < len(r.fields) {
			g.printf("if !c.Is(`,%q:`) {\ncontinue\n}\nfallthrough", r.fields[i+1].member)
		}
	}
	r.readAliases()
	r.readErrorFields()
	g.printf("default:\nc.Skip()\n}\n}")
	r.finish()
	g.printf("return v\n}")
}

// basicMethod returns the method of a cursor that reads a basic type, and of a writer that writes it, or "".
func basicMethod(name string) string {
	return map[string]string{"string": "String", "bool": "Bool", "int64": "Int"}[name]
}

// cursorMethod returns the method of the cursor that reads a type, or "".
func cursorMethod(name string) string {
	if name == "json.RawMessage" {
		return "Raw"
	}
	return basicMethod(name)
}

// value returns the expression that reads a value of type t.
func (g *decoder) value(t ast.Expr) string {
	name := types.ExprString(t)
	if method := cursorMethod(name); method != "" {
		return "c." + method + "()"
	}
	if name == nullUnixTime {
		return "readUnixTime(c)"
	}
	if g.isText(name) {
		return "jsonscan.Text[" + name + "](c)"
	}
	switch t := t.(type) {
	case *ast.StarExpr:
		return "jsonscan.Pointer(c, " + g.reader(t.X) + ")"
	case *ast.ArrayType:
		return "jsonscan.Slice(c, " + g.reader(t.Elt) + ")"
	case *ast.IndexExpr:
		return "read" + types.ExprString(t.X) + "(c, " + g.reader(t.Index) + ")"
	case *ast.Ident, *ast.SelectorExpr:
		return g.reader(t) + "(c)"
	}
	try.Failf("no reader for %s", name)
	return ""
}

// reader returns the function that reads a value of type t.
func (g *decoder) reader(t ast.Expr) string {
	name := types.ExprString(t)
	if method := cursorMethod(name); method != "" {
		return "(*jsonscan.Cursor)." + method
	}
	if g.isText(name) {
		return "jsonscan.Text[" + name + "]"
	}
	switch t := t.(type) {
	case *ast.Ident:
		g.needs(t.Name)
		return "read" + t.Name
	case *ast.SelectorExpr: // type of another package
		return "read" + t.Sel.Name
	}
	return "func(c *jsonscan.Cursor) " + name + " { return " + g.value(t) + " }"
}
