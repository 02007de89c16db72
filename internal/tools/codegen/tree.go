package main

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// tree is a part of openapi.yaml, with its fields in order. The zero value is a
// part that does not exist.
type tree struct{ *yaml.Node }

func parseTree(text []byte) (tree, error) {
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil || len(node.Content) == 0 {
		return tree{}, fmt.Errorf("openapi.yaml: %w", cmp.Or(err, errors.New("it is empty")))
	}
	return tree{node.Content[0]}, nil
}

// all iterates over the fields of a mapping.
func (t tree) all() iter.Seq2[string, tree] {
	return func(yield func(string, tree) bool) {
		if t.Node == nil || t.Kind != yaml.MappingNode {
			return
		}
		for pair := range slices.Chunk(t.Content, 2) {
			if !yield(pair[0].Value, tree{pair[1]}) {
				return
			}
		}
	}
}

// items returns the elements of a sequence.
func (t tree) items() (out []tree) {
	if t.Node == nil || t.Kind != yaml.SequenceNode {
		return nil
	}
	for _, node := range t.Content {
		out = append(out, tree{node})
	}
	return out
}

// at returns the part at the end of a path of names.
func (t tree) at(names ...string) tree {
	for _, want := range names {
		var found tree
		for name, field := range t.all() {
			if name == want {
				found = field
			}
		}
		t = found
	}
	return t
}

// text returns a scalar field as it is written, or "".
func (t tree) text(name string) string {
	if field := t.at(name); field.Node != nil && field.Kind == yaml.ScalarNode {
		return field.Value
	}
	return ""
}

// words returns a field that is a text or a sequence of texts.
func (t tree) words(name string) (out []string) {
	if text := t.text(name); text != "" {
		return []string{text}
	}
	for _, item := range t.at(name).items() {
		out = append(out, item.Value)
	}
	return out
}

// schema returns the schema with a name; t is the whole document.
func (t tree) schema(name string) tree { return t.at("components", "schemas", name) }

// schemaNamed is the name of the schema that t refers to, or "".
func (t tree) schemaNamed() string {
	name, ok := strings.CutPrefix(t.text("$ref"), "#/components/schemas/")
	if !ok {
		return ""
	}
	return name
}

// resolve returns what t refers to, or t itself.
func (t tree) resolve(root tree) tree {
	ref, ok := strings.CutPrefix(t.text("$ref"), "#/")
	if !ok {
		return t
	}
	return root.at(strings.Split(ref, "/")...)
}

// json returns the schema of a request, response or delivery whose body is JSON.
func (t tree) json() tree { return t.at("content", "application/json", "schema") }

func (t tree) requires(field string) bool { return slices.Contains(t.words("required"), field) }
