package main

import (
	"bytes"
	"embed"
	"go/format"
	"text/template"

	"example.com/emailplatform/internal/tools/markdown"
	"example.com/emailplatform/internal/tools/must"
)

//go:embed templates
var templates embed.FS

// execute executes a template and formats the result as Go code.
func execute(name string, data any) []byte { return must.Get(format.Source(fill(name, data))) }

func fill(name string, data any) []byte {
	functions := template.FuncMap{
		"general": general, "choices": choices, "anchor": markdown.Anchor, "code": code, "codes": codes, "brief": brief, "rows": rowsOf,
	}
	var out bytes.Buffer
	must.OK(must.Get(template.New("").Funcs(functions).ParseFS(templates, "templates/*")).ExecuteTemplate(&out, name, data))
	return out.Bytes()
}
