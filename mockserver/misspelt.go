package mockserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/emailplatform/mockserver/internal/api"
)

// misspelt finds the members of a body that encoding/json takes for another one,
// because it compares names without case. The API knows no such members, and who
// sends them should hear of it here.
func misspelt(schema *openapi3.Schema, value any, loc ...any) (found []api.ProblemDetail) {
	at := func(place any) []any { return append(slices.Clone(loc), place) }
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if member := schema.Properties[name]; member != nil {
				found = append(found, misspelt(member.Value, value[name], at(name)...)...)
			} else if right := calledLike(schema, name); right != "" {
				found = append(found, detail("value_error", fmt.Sprintf("no such member: it is called %q", right), at(name)...))
			}
		}
	case []any:
		for i, item := range value {
			if schema.Items != nil {
				found = append(found, misspelt(schema.Items.Value, item, at(i)...)...)
			}
		}
	}
	return found
}

// calledLike returns the name of the member that differs by case alone, if
// there is one.
func calledLike(schema *openapi3.Schema, name string) string {
	for right := range schema.Properties {
		if strings.EqualFold(right, name) {
			return right
		}
	}
	return ""
}
