package main

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// edit replaces cut bytes at an offset. Of several at one offset the first noted
// comes first.
type edit struct {
	at, cut int
	text    string
}

// text is the code of a node in one line.
func (f *finder) text(n ast.Node) string {
	code := f.src[f.offset(n.Pos()):f.offset(n.End())]
	return strings.Join(strings.Fields(string(code)), " ")
}

func (f *finder) offset(p token.Pos) int { return f.fset.Position(p).Offset }

func (f *finder) insert(p token.Pos, text string) { f.replace(p, 0, text) }

func (f *finder) replace(p token.Pos, cut int, text string) {
	f.edits = append(f.edits, edit{f.offset(p), cut, text})
}

func (f *finder) edited() []byte {
	slices.SortStableFunc(f.edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	var out []byte
	from := 0
	for _, e := range f.edits {
		out = append(append(out, f.src[from:e.at]...), e.text...)
		from = e.at + e.cut
	}
	return append(out, f.src[from:]...)
}
