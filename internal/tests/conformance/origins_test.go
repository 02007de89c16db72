package conformance_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
	"github.com/stretchr/testify/require"
)

// origins finds the text that defines a part of openapi.yaml: the specification or, if the part or its parent has
// x-decision, the section of docs/decisions.md with this number.
type origins struct {
	t             *testing.T
	specification string
	sections      map[int]string
}

// schema contains what the test reads of a schema, an operation or a parameter.
type schema struct {
	Decision   int               `yaml:"x-decision"`
	Name       string            `yaml:"name"`
	Properties map[string]schema `yaml:"properties"`
	AllOf      []schema          `yaml:"allOf"`
}

// TestOrigins: the specification or a decision defines each operation, event, field and parameter of openapi.yaml.
func TestOrigins(t *testing.T) {
	o := origins{t, readDocument(t, "docs/specification.md"), map[int]string{}}
	decisions, err := os.ReadFile("../../../docs/decisions.md")
	require.NoError(t, err)
	for _, section := range strings.Split(string(decisions), "\n### ")[1:] {
		number, text, _ := strings.Cut(section, ". ")
		n, err := strconv.Atoi(number)
		require.NoError(t, err)
		o.sections[n] = text
	}
	text, err := os.ReadFile("../../../openapi.yaml")
	require.NoError(t, err)
	var doc struct {
		Paths      map[string]map[string]yaml.Node
		Webhooks   map[string]map[string]schema
		Components struct{ Schemas, Parameters map[string]schema }
	}
	require.NoError(t, yaml.Unmarshal(text, &doc))
	require.NotEmpty(t, doc.Paths)
	for path, item := range doc.Paths {
		for method, node := range item {
			if method == "parameters" {
				continue
			}
			var operation schema
			require.NoError(t, node.Decode(&operation))
			o.find(strings.ToUpper(method)+" "+path, operation.Decision, operationPattern(strings.ToUpper(method), path))
		}
	}
	for event, item := range doc.Webhooks {
		o.find(event, item["post"].Decision, regexp.QuoteMeta(event))
	}
	for name, s := range doc.Components.Schemas {
		o.fields(name, s, s.Decision)
	}
	for name, p := range doc.Components.Parameters {
		o.find("the parameter "+name, p.Decision, `\b`+p.Name+`\b`)
	}
}

// operationPattern matches `| POST | /a/{b}/c |` in the specification, and `POST /a/{d}/c` or `POST …/c` in a decision.
func operationPattern(method, path string) string {
	literal := regexp.MustCompile(`.*(/[^{}/]+(?:/\{\w+\})?)$`).ReplaceAllString(path, "$1")
	braces := regexp.MustCompile(`\\\{\w+\\\}`)
	full := braces.ReplaceAllString(regexp.QuoteMeta(path), `\{\w+\}`)
	return method + `(?: \| | )(?:` + full + `|…` + braces.ReplaceAllString(regexp.QuoteMeta(literal), `\{\w+\}`) + `)(?:[\s` + "`" + `?]|$)`
}

func (o *origins) fields(name string, s schema, decision int) {
	for field, property := range s.Properties {
		n := decision
		if property.Decision != 0 {
			n = property.Decision
		}
		o.find(name+"."+field, n, `\b`+field+`\b`)
		o.fields(name+"."+field, property, n)
	}
	for _, part := range s.AllOf {
		o.fields(name, part, decision)
	}
}

// find reports a part whose origin does not contain the pattern.
func (o *origins) find(part string, decision int, pattern string) {
	o.t.Helper()
	text := o.specification
	if decision != 0 {
		text = o.sections[decision]
	}
	switch {
	case regexp.MustCompile(pattern).MatchString(text):
	case decision == 0:
		o.t.Errorf("openapi.yaml: docs/specification.md does not define %s: define it in docs/decisions.md, and add x-decision with the number of the section", part)
	default:
		o.t.Errorf("openapi.yaml: %s has x-decision: %d, but this section of docs/decisions.md does not name it", part, decision)
	}
}
