package main

import (
	"cmp"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
)

var (
	typeDoc  = regexp.MustCompile(`(?m)^// ([A-Z]\w*) (A|An|The|One|What|Who|Where|Why|Whether|How) `)
	saysDoc  = regexp.MustCompile(`(?m)^// ([A-Z]\w*) (Which|When) `)
	anyDoc   = regexp.MustCompile(`(?m)^// ([A-Z]\w*) ([A-Z]\w* .*\ntype )`)
	fieldDoc = regexp.MustCompile("(?m)^(\t+)// ([A-Z]\\w*) ([A-Z`].*(?:\n\t+//.*)*\n\t+(\\w+) )")
	pointer  = regexp.MustCompile("(?m)^(\t+\\w+ +\\*\\w+ +`json:\"\\w+)\"`$")
	unixDoc  = regexp.MustCompile(`(?m)^(\t+// .*), (?:in Unix seconds|as ISO 8601)(.*\n\t+\w+ +time\.Time )`)
	formTag  = regexp.MustCompile(" `form:[^`]*`")
)

// tidy makes generated Go files read well, given in one call:
//
//   - The comment of a type reads as a sentence: "Contact A member of a list."
//     becomes "Contact is a member of a list."
//   - The comment of a field loses the field's name in front.
//   - A pointer that is nil is left out of JSON.
//   - The comment of a time loses the unit that it has in JSON.
//   - Parameters lose the struct tags that nothing reads.
//   - Aliases of basic types, which are made for shared parameters, are replaced
//     by what they stand for.
func tidy(names ...string) error {
	aliases := map[string]string{}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		src, err = inlineAliases(src, aliases)
		if err != nil {
			return err
		}
		src, err = format.Source(comments(src))
		if err != nil {
			return err
		}
		if err := write(name, src); err != nil {
			return err
		}
	}
	return nil
}

// comments rewrites the comments of types and fields, and their tags.
func comments(src []byte) []byte {
	src = sentences(src, typeDoc, " is ")
	src = sentences(src, saysDoc, " says ")
	src = anyDoc.ReplaceAll(src, []byte("// $1: $2"))
	src = pointer.ReplaceAll(src, []byte("$1,omitzero\"`"))
	src = unixDoc.ReplaceAll(src, []byte("$1$2"))
	src = formTag.ReplaceAll(src, nil)
	return fieldDoc.ReplaceAllFunc(src, func(m []byte) []byte {
		s := fieldDoc.FindSubmatch(m)
		if string(s[2]) != string(s[4]) {
			return m
		}
		return []byte(string(s[1]) + "// " + string(s[3]))
	})
}

// sentences puts a verb between the name and the word that pattern finds.
func sentences(src []byte, pattern *regexp.Regexp, verb string) []byte {
	return pattern.ReplaceAllFunc(src, func(m []byte) []byte {
		s := pattern.FindSubmatch(m)
		return []byte("// " + string(s[1]) + verb + strings.ToLower(string(s[2])) + " ")
	})
}

// edit replaces the bytes from..to.
type edit struct {
	from, to int
	text     string
}

// inlineAliases adds the aliases that src declares to aliases, and returns src
// without them and their uses.
func inlineAliases(src []byte, aliases map[string]string) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	var edits []edit
	for _, d := range file.Decls {
		if name, basic, ok := alias(d); ok {
			aliases[name] = basic
			from := d.Pos()
			if doc := d.(*ast.GenDecl).Doc; doc != nil {
				from = doc.Pos()
			}
			edits = append(edits, edit{from: at(from), to: at(d.End())})
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok {
			typ := f.Type
			if pointer, ok := typ.(*ast.StarExpr); ok {
				typ = pointer.X
			}
			if id, ok := typ.(*ast.Ident); ok && aliases[id.Name] != "" {
				edits = append(edits, edit{at(id.Pos()), at(id.End()), aliases[id.Name]})
			}
		}
		return true
	})
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(b.from, a.from) })
	for _, e := range edits {
		src = slices.Replace(src, e.from, e.to, []byte(e.text)...)
	}
	return src, nil
}

// alias reports whether d declares one alias of a basic type.
func alias(d ast.Decl) (name, basic string, ok bool) {
	g, ok := d.(*ast.GenDecl)
	if !ok || g.Tok != token.TYPE || len(g.Specs) != 1 {
		return "", "", false
	}
	spec := g.Specs[0].(*ast.TypeSpec)
	id, ok := spec.Type.(*ast.Ident)
	if !ok || !spec.Assign.IsValid() || !slices.Contains([]string{"int64", "string", "bool"}, id.Name) {
		return "", "", false
	}
	return spec.Name.Name, id.Name, true
}

// unexport gives types of the files a name with a small letter in front.
func unexport(types []string, files ...string) error {
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := write(file, uncapitalized(src, types)); err != nil {
			return err
		}
	}
	return nil
}

func uncapitalized(src []byte, names []string) []byte {
	for _, name := range names {
		word := regexp.MustCompile(`\b` + name + `\b`)
		src = word.ReplaceAll(src, []byte(strings.ToLower(name[:1])+name[1:]))
	}
	return src
}
