package main

import (
	"encoding/json"
	"regexp"
	"strings"
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
	Parameters  []consoleField   `json:"parameters,omitempty"`
	Body        string           `json:"body,omitempty"`
	Fields      []consoleField   `json:"fields,omitempty"`
	Examples    []consoleExample `json:"examples,omitempty"`
}

type consoleField struct {
	Name        string `json:"name"`
	In          string `json:"in,omitempty"`
	Type        string `json:"type"`
	Description string `json:"description"`
	Optional    bool   `json:"optional,omitempty"`
}

type consoleExample struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// operationsFile returns the operations for the console, as JSON.
func operationsFile(doc *document) (map[string][]byte, error) {
	w := writer{kinds: kinds{doc.root}, doc: doc}
	out := []consoleOperation{}
	for _, op := range doc.operations {
		e := w.endpoint(op, op.tree)
		o := consoleOperation{
			ID: op.id, Method: op.method, Path: op.path, Tag: strings.Join(op.words("tags"), ", "),
			Summary: e.Summary, Description: unmarked(e.Description), Repeatable: op.repeatable,
			Parameters: consoleFields(e.Parameters), Body: unmarked(e.Body),
		}
		body := op.at("requestBody", "content", "application/json")
		if name := body.at("schema").schemaNamed(); name != "" {
			o.Fields = consoleFields(w.members(doc.root.schema(name)))
		}
		if one := body.at("example"); one.Node != nil {
			o.Examples = []consoleExample{{"example", string(appendJSON(nil, one))}}
		}
		for name, x := range body.at("examples").all() {
			o.Examples = append(o.Examples, consoleExample{name, string(appendJSON(nil, x.at("value")))})
		}
		out = append(out, o)
	}
	text, err := json.Marshal(out)
	return map[string][]byte{"operations.json": append(text, '\n')}, err
}

func consoleFields(rows []row) (out []consoleField) {
	for _, r := range rows {
		out = append(out, consoleField{r.Name, r.In, unmarked(r.Kind), unmarked(r.Description), r.Optional})
	}
	return out
}

// unmarked returns Markdown as plain text.
func unmarked(text string) string {
	text = markdownLink.ReplaceAllString(text, "$1")
	return strings.NewReplacer("`", "", `\|`, "|").Replace(text)
}
