package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// tree is a part of the document, its members in their order. The zero value is
// what is not there.
type tree struct{ *yaml.Node }

func parseTree(text []byte) (tree, error) {
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil || len(node.Content) == 0 {
		return tree{}, fmt.Errorf("openapi.yaml: %w", cmp.Or(err, fmt.Errorf("it is empty")))
	}
	return tree{node.Content[0]}, nil
}

// all iterates over the members of a mapping.
func (t tree) all() func(yield func(string, tree) bool) {
	return func(yield func(string, tree) bool) {
		if t.Node == nil {
			return
		}
		for name, node := range members(t.Node) {
			if !yield(name, tree{node}) {
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

// at returns what is at the end of a path of names.
func (t tree) at(names ...string) tree {
	for _, want := range names {
		var found tree
		for name, member := range t.all() {
			if name == want {
				found = member
			}
		}
		t = found
	}
	return t
}

// text returns a scalar member as it is written, or "".
func (t tree) text(name string) string {
	if member := t.at(name); member.Node != nil && member.Kind == yaml.ScalarNode {
		return member.Value
	}
	return ""
}

// words returns a member that is a text or a sequence of texts.
func (t tree) words(name string) (out []string) {
	if text := t.text(name); text != "" {
		return []string{text}
	}
	for _, item := range t.at(name).items() {
		out = append(out, item.Value)
	}
	return out
}

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

func (t tree) requires(member string) bool { return slices.Contains(t.words("required"), member) }
