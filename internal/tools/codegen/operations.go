package main

import (
	"encoding/json"
	"regexp"
	"strings"

	"example.com/emailplatform/internal/tools/must"
)

var markdownLink = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)

// consoleOperation is an operation as the console shows it.
type consoleOperation struct {
	ID          string           `json:"id"`
	Method      string           `json:"method"`
	Path        string           `json:"path"`
	Tag         string           `json:"tag"`
	Summary     string           `json:"summary"`
	Description string           `json:"description"`
	Repeatable  bool             `json:"repeatable,omitempty"`
	Parameters  []row            `json:"parameters,omitempty"`
	Body        string           `json:"body,omitempty"`
	Fields      []row            `json:"fields,omitempty"`
	Examples    []consoleExample `json:"examples,omitempty"`
}

type consoleExample struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// operationsFile returns the operations for the console, as JSON.
func operationsFile(doc *document) map[string][]byte {
	w := writer{doc: doc}
	out := []consoleOperation{}
	for _, op := range doc.operations {
		e := w.endpoint(op)
		o := consoleOperation{
			ID: op.id, Method: op.method, Path: op.path, Tag: strings.Join(op.Tags, ", "),
			Summary: e.Summary, Description: unmarked(e.Description), Repeatable: op.repeatable,
			Parameters: unmarkedRows(e.Parameters), Body: unmarked(e.Body),
		}
		if body := op.body(); body != nil {
			o.Fields = unmarkedRows(w.members(body.Schema.Value))
			if body.Example != nil {
				o.Examples = []consoleExample{{"example", doc.json(body.Origin, "example")}}
			}
			for name, x := range inOrder(body.Examples) {
				o.Examples = append(o.Examples, consoleExample{name, doc.json(x.Origin, "value")})
			}
		}
		out = append(out, o)
	}
	return map[string][]byte{"mockserver/console/static/operations.json": append(must.Get(json.Marshal(out)), '\n')}
}

func unmarkedRows(rows []row) []row {
	for i, r := range rows {
		rows[i].Kind, rows[i].Description = unmarked(r.Kind), unmarked(r.Description)
	}
	return rows
}

// unmarked returns Markdown as plain text.
func unmarked(text string) string {
	text = markdownLink.ReplaceAllString(text, "$1")
	return strings.NewReplacer("`", "", `\|`, "|").Replace(text)
}
