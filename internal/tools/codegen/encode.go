package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strconv"
)

// attributeObject is the type that the overlay of package client gives to attributes that
// are an object in JSON. types.gen.go declares them as Attributes in the end.
const attributeObject = "AttributeObject"

// handWritten are the functions of the package that write other types.
var handWritten = map[string]string{
	attributeObject:    "writeAttributes",
	unixTime:           "writeUnixTime",
	nullUnixTime:       "writeNullUnixTime",
	"ID":               "writeID",
	"Null[string]":     "writeNullString",
	"Nullable[string]": "writeNullable",
}

// encoder writes writers of JSON.
type encoder struct{ *generator }

// encode returns encode.gen.go of a package: methods that encode request bodies as
// JSON without reflection. They use a writer of package jsonwrite. Each type T of a
// body in requests.gen.go, and each type of its fields, has a method
//
//	func (v *T) write(w *jsonwrite.Writer)
//
// Its output equals the output of an encoder of encoding/json that does not escape
// HTML.
//
// The type of a field can be string, bool, int64, a type in
// types.gen.go (a struct with json tags, or a named type of the first three), a
// string type in the handwritten files or in package events, a
// pointer to these, a slice of these except bool, a slice type in the handwritten files,
// or a type in handWritten. A nil slice without omitzero is an error.
func encode(dir string) ([]byte, error) {
	const in, requests = "types.gen.go", "requests.gen.go"
	shared, err := newGenerator(filepath.Join(dir, in))
	if err != nil {
		return nil, err
	}
	g := encoder{shared}
	if err := g.findBodies(filepath.Join(dir, requests)); err != nil {
		return nil, err
	}
	for i := 0; i < len(g.need); i++ { // need grows
		g.function(g.need[i])
	}
	return g.source(in+" and "+requests, `import "example.com/emailplatform/internal/json/jsonwrite"`)
}

// findBodies notes the types of the parameters called body.
func (g encoder) findBodies(path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok && len(f.Names) == 1 && f.Names[0].Name == "body" {
			g.needs(types.ExprString(f.Type))
		}
		return true
	})
	return nil
}

// function writes the method of the type called name.
func (g encoder) function(name string) {
	st, ok := g.types[name].(*ast.StructType)
	if !ok {
		g.fail("%s: only a struct can be a body or a part of one", name)
		return
	}
	g.printf("\nfunc (v *%s) write(w *jsonwrite.Writer) {\nw.Open('{')", name)
	for _, f := range g.fields(name, st) {
		v := "v." + f.name
		write := fmt.Sprintf("w.Name(`%s:`)\n%s", strconv.Quote(f.member), g.value(f.typ, v))
		if _, pointer := f.typ.(*ast.StarExpr); pointer && !f.omitzero {
			g.fail("%s: the pointer %s needs omitzero", name, f.name)
		}
		if f.omitzero {
			write = fmt.Sprintf("if %s {\n%s\n}", g.present(f.typ, v), write)
		}
		g.printf("%s", write)
	}
	g.printf("w.Close('}')\n}")
}

// basic returns the method that writes the type called name, and which type it
// takes, or "".
func (g encoder) basic(name string) (method, argument string) {
	switch name {
	case "string":
		return "String", name
	case "int64":
		return "Int", name
	case "bool":
		return "Bool", name
	}
	if g.isText(name) {
		return "String", "string"
	}
	if named, ok := g.types[name].(*ast.Ident); ok {
		return g.basic(named.Name)
	}
	return "", ""
}

// value returns the statement that writes v, an expression of type t.
func (g encoder) value(t ast.Expr, v string) string {
	name := types.ExprString(t)
	if write := handWritten[name]; write != "" {
		return write + "(w, " + v + ")"
	}
	switch method, argument := g.basic(name); {
	case argument == name:
		return fmt.Sprintf("w.%s(%s)", method, v)
	case argument != "":
		return fmt.Sprintf("w.%s(%s(%s))", method, argument, v)
	case g.types[name] != nil:
		g.needs(name)
		return v + ".write(w)"
	}
	switch t := t.(type) {
	case *ast.StarExpr:
		if _, argument := g.basic(types.ExprString(t.X)); argument != "" {
			v = "*" + v // a method takes the pointer as it is
		}
		return g.value(t.X, v)
	case *ast.ArrayType:
		return g.slice(types.ExprString(t.Elt), v)
	}
	g.fail("no writer for %s", name)
	return ""
}

// slice returns the statement that writes v, a slice of the type called name.
func (g encoder) slice(name, v string) string {
	switch method, _ := g.basic(name); {
	case method == "String", method == "Int":
		return fmt.Sprintf("jsonwrite.%ss(w, %s)", method, v)
	case method == "" && g.types[name] != nil:
		g.needs(name)
		return fmt.Sprintf("jsonwrite.Slice(w, %s, (*%s).write)", v, name)
	}
	g.fail("no writer for a slice of %s", name)
	return ""
}

// present returns the expression that says whether v, of type t, is not zero.
func (g encoder) present(t ast.Expr, v string) string {
	switch t := t.(type) {
	case *ast.StarExpr, *ast.ArrayType:
		return v + " != nil"
	case *ast.IndexExpr:
		return "!" + v + ".IsZero()"
	case *ast.Ident, *ast.SelectorExpr:
		if types.ExprString(t) == attributeObject {
			return v + " != nil"
		}
		switch method, _ := g.basic(types.ExprString(t)); method {
		case "String":
			return v + ` != ""`
		case "Int":
			return v + " != 0"
		case "Bool":
			return v
		}
	}
	return fmt.Sprintf("%s != (%s{})", v, types.ExprString(t))
}
