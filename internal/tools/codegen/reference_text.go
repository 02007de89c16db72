package main

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/emailplatform/internal/tools/markdown"
	"example.com/emailplatform/internal/tools/must"
)

// jsonType matches the JSON types that a list can contain.
var jsonType = regexp.MustCompile(`\b(string|integer)\b`)

// kind describes the values of a schema and its rules. For a named schema with properties, it returns a link to its
// section.
func (w writer) kind(ref *openapi3.SchemaRef) string {
	name, s := schemaName(ref), ref.Value
	if name != "" && s.Properties != nil {
		if strings.HasSuffix(name, "Page") {
			return fmt.Sprintf("[%s](#pages) of %s", name, w.kind(s.Properties["data"].Value.Items))
		}
		return fmt.Sprintf("[%s](#%s)", name, markdown.Anchor(home(name)))
	}
	var types []string
	for _, word := range s.Type.Slice() {
		types = append(types, w.typ(word, s))
	}
	for _, variant := range s.OneOf {
		types = append(types, w.kind(variant))
	}
	return strings.Join(append([]string{strings.Join(types, " or ")}, rules(s)...), ", ")
}

// home returns the schema whose section contains a schema.
func home(name string) string {
	for _, suffix := range []string{"Create", "Update", "Summary"} {
		name = strings.TrimSuffix(name, suffix)
	}
	switch {
	case strings.HasSuffix(name, "ListRef"):
		return "ListRef"
	case name == "EmailContent":
		return "MessageContent"
	}
	return name
}

func (w writer) typ(word string, s *openapi3.Schema) string {
	if word == "string" && s.Enum != nil {
		return codes(values(s))
	}
	switch word {
	case "string":
		formats := map[string]string{"date-time": "time as ISO 8601", "email": "email address", "uri": "URL", "uuid": "UUID"}
		return cmp.Or(formats[s.Format], word)
	case "array":
		item := w.kind(s.Items)
		if strings.Contains(item, ", ") {
			item = "(" + item + ")"
		}
		return "list of " + jsonType.ReplaceAllString(item, "${1}s")
	case "object":
		if others := s.AdditionalProperties.Schema; others != nil {
			return "object of " + w.kind(others)
		}
	}
	return word
}

// rules returns the rules of a schema except its type.
func rules(s *openapi3.Schema) (out []string) {
	switch {
	case s.Min != nil && s.Max != nil:
		out = append(out, number(*s.Min)+" to "+number(*s.Max))
	case s.Min != nil:
		out = append(out, "at least "+number(*s.Min))
	case s.Max != nil:
		out = append(out, "at most "+number(*s.Max))
	}
	switch {
	case s.MinLength == 1, s.MinItems == 1:
		out = append(out, "not empty")
	case s.MinLength > 1:
		out = append(out, fmt.Sprintf("at least %d characters", s.MinLength))
	case s.MinItems > 1:
		out = append(out, fmt.Sprintf("at least %d items", s.MinItems))
	}
	if s.MaxItems != nil {
		out = append(out, fmt.Sprintf("at most %d", *s.MaxItems))
	}
	if s.Pattern != "" {
		out = append(out, code(s.Pattern))
	}
	if s.Default != nil {
		out = append(out, fmt.Sprint(s.Default)+" by default")
	}
	return out
}

// number writes an integer.
func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// row is a line of a table for a field or a parameter. For a parameter, it contains the place, for example the
// query.
type row struct {
	Name        string `json:"name"`
	In          string `json:"in,omitempty"`
	Kind        string `json:"type"`
	Description string `json:"description"`
	Optional    bool   `json:"optional,omitempty"`
	Decision    string `json:"-"` // a link, if the specification does not define the field
}

// members returns the properties of a schema. A property without a description gets the description of its schema.
func (w writer) members(s *openapi3.Schema) (rows []row) {
	for name, member := range inOrder(s.Properties) {
		rows = append(rows, row{
			Decision: link(cmp.Or(decision(memberExtensions(member)), decision(s.Extensions))),
			Name:     name, Kind: cell(w.kind(member)), Description: cell(member.Value.Description), Optional: !slices.Contains(s.Required, name),
		})
	}
	return rows
}

// memberExtensions returns the extensions of a property itself, not of the schema that it refers to.
func memberExtensions(ref *openapi3.SchemaRef) map[string]any {
	if ref.Ref != "" {
		return ref.Extensions
	}
	return ref.Value.Extensions
}

// link links to the decision with a number.
func link(n string) string {
	if n == "" {
		return ""
	}
	return "[" + n + "](decisions.md#" + decisionAnchors()[n] + ")"
}

// decisionAnchors returns the anchors of decisions by number.
var decisionAnchors = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	decisions := string(must.Get(os.ReadFile("../../../docs/decisions.md")))
	for _, m := range regexp.MustCompile(`(?m)^### ((\d+)\. .*)$`).FindAllStringSubmatch(decisions, -1) {
		out[m[2]] = markdown.Anchor(m[1])
	}
	return out
})

// Shared reports whether one table documents a parameter for all endpoints.
func (r row) Shared() bool {
	return r.In == "path" || slices.Contains([]string{"page", "per_page", "with_count"}, r.Name)
}

// repeated matches parts of descriptions that repeat the type or the introduction of the reference.
var repeated = regexp.MustCompile(`, in Unix seconds|, as ISO 8601|, from 1( to 100)?|, at most [0-9,]+|, by default [^.]+| (The default is|The platform may add) [^.]*\.|^Always \w+\.`)

// obvious matches words that explain no field.
var obvious = regexp.MustCompile(`^(` +
	`address|an|at|be|bounced|changed|clicked|complaint|contact|emails|error|field|happened|id|` +
	`inline|items|joined|last|list|made|message|name|number|of|part|recipient|rejection|s|sent|` +
	`that|the|time|to|unsubscribed|updated|user|was|when|will` + `)$`)

// conditions matches words without which a description would be wrong.
var conditions = regexp.MustCompile(`(?i)\b(no|not|none|never|only|if|unless|except)\b`)

// brief removes the parts of a description that repeat the type or the name of the field.
func brief(description, name string) string {
	description = repeated.ReplaceAllString(description, "")
	first, rest, _ := strings.Cut(description, "; ")
	words := strings.FieldsFunc(strings.ToLower(first), func(r rune) bool { return !unicode.IsLetter(r) })
	if !conditions.MatchString(first) && !slices.ContainsFunc(words, func(word string) bool {
		return !strings.Contains(strings.ToLower(name), word) && !obvious.MatchString(word)
	}) {
		return capitalized(rest)
	}
	if noun, ok := strings.CutPrefix(description, "The "); ok { // an article at the beginning is not needed in a table
		return capitalized(noun)
	}
	return description
}

// capitalized returns a text with a capital letter at its beginning.
func capitalized(text string) string {
	_, size := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:size]) + text[size:]
}

// cell makes text fit into a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// code writes texts as code.
func code(text string) string { return "`" + text + "`" }

func codes(texts []string) string { return code(strings.Join(texts, "` `")) }
