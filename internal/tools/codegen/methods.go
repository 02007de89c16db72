package main

import (
	"cmp"
	"os"
	"strings"
	"unicode"

	"github.com/oapi-codegen/oapi-codegen/v2/pkg/codegen"
	yaml "github.com/oasdiff/yaml3"

	"example.com/emailplatform/internal/tools/must"
)

const allComment = "All iterates over all items, starting at params.Page. See Pagination in the\npackage documentation."

// method is a method of package client that sends one request and reads its response.
type method struct {
	codegen.OperationDefinition

	Service, Comment string
	All, Find        string // comments of the methods for pages
}

// Name is the first word of the comment.
func (m method) Name() string { return strings.Fields(m.Comment)[0] }

// Result returns the content of a successful response, or nil.
func (m method) Result() *codegen.ResponseContentDefinition {
	for _, r := range m.Responses {
		if r.StatusCode[0] == '2' && len(r.Contents) > 0 {
			return &r.Contents[0]
		}
	}
	return nil
}

// methods returns the methods in client.methods.yaml, in its order.
func methods(operations []codegen.OperationDefinition) (out []method) {
	const in = "client.methods.yaml"
	byID := map[string]codegen.OperationDefinition{}
	for _, op := range operations {
		byID[op.MiddlewareKey()] = op
	}
	var root yaml.Node
	must.OK(yaml.Unmarshal(must.Get(os.ReadFile(in)), &root))
	for service, comments := range pairs(root.Content[0]) {
		text := map[string]string{}
		must.OK(comments.Decode(&text))
		for id := range pairs(comments) {
			op, known := byID[id]
			switch {
			case id == "All" || id == "Find":
				continue
			case !known:
				must.Failf("%s: openapi.yaml has no operation %s", in, id)
			}
			out = append(out, method{op, service, text[id], cmp.Or(text["All"], allComment), text["Find"]})
		}
	}
	return out
}

// argument returns the name of the argument for a body of the given type. For a type such as ListCreate, the name is
// the created resource: list. For a type such as ContactTagging, the name is the last word: tagging.
func argument(typ string) string {
	resource, created := strings.CutSuffix(typ, "Create")
	if !created {
		resource = typ[strings.LastIndexFunc(typ, unicode.IsUpper):]
	}
	return strings.ToLower(resource)
}

// comment returns text as a Go comment.
func comment(text string) string {
	return strings.ReplaceAll("// "+strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n// "), "// \n", "//\n")
}
