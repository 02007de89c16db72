package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oapi-codegen/oapi-codegen/v2/pkg/codegen"
)

// inlineTimes matches the unit that a time has only in JSON.
var inlineTimes = regexp.MustCompile(`, (?:in Unix seconds|as ISO 8601)`)

// goType returns the type of a field.
func goType(p codegen.Property) string {
	if skip, ok := p.Extensions["x-go-type-skip-optional-pointer"].(bool); ok {
		p.Schema.SkipOptionalPointer = skip
	}
	return p.GoTypeDef()
}

// omitzero reports whether a request omits a field with the zero value. Fields do not use omitempty, because in
// encoding/json/v2 it would also omit a pointer to "" and an explicit null.
func omitzero(p codegen.Property) bool { return !p.Required || strings.HasPrefix(goType(p), "*") }

// ignored reports whether the platform neither sends nor receives a field. The field has a name in JSON nevertheless,
// because an application can store the value, for example in a queue.
func ignored(p codegen.Property) bool { return p.Extensions["x-go-json-ignore"] == true }

// decision returns the number of the decision that adds an element to the specification, or "".
func decision(extensions map[string]any) string {
	if n := extensions["x-decision"]; n != nil {
		return fmt.Sprint(n)
	}
	return ""
}

// fieldComment returns the comment of a field.
func fieldComment(p codegen.Property) string {
	text := p.Description
	if goType(p) == "time.Time" {
		text = inlineTimes.ReplaceAllString(text, "")
	}
	if n := decision(p.Extensions); n != "" {
		text = strings.TrimSpace(text + " (Decision " + n + ".)")
	}
	return codegen.StringToGoComment(text)
}

// nounPhrase matches a description that continues "Contact is".
var nounPhrase = regexp.MustCompile(`^(A|An|The|One|What|Who|Where|Why|Whether|How) `)

// typeComment returns a description as the comment of a type, such as "Contact is a member of a list.".
func typeComment(name, description string) string {
	switch rest := codegen.LowercaseFirstCharacter(description); {
	case nounPhrase.MatchString(description):
		description = " is " + rest
	case strings.HasPrefix(rest, "which "), strings.HasPrefix(rest, "when "):
		description = " says " + rest
	default:
		description = ": " + description
	}
	return codegen.StringToGoComment(name + description)
}

// hasTimes reports whether a type has times in Unix seconds, which encoding/json would write as text.
func hasTimes(s *openapi3.Schema) bool {
	for _, p := range s.Properties {
		if write, _ := p.Value.Extensions["x-go-write"].(string); strings.HasSuffix(write, "UnixTime") {
			return true
		}
	}
	return false
}
