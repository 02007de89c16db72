package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// misspelt finds the members of a body that encoding/json takes for another one,
// because it compares names without case. The API knows no such members, and who
// sends them should hear of it here.
func misspelt(schema *openapi3.Schema, value any, loc ...any) (found []api.ProblemDetail) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if known := schema.Properties[name]; known != nil {
				found = append(found, misspelt(known.Value, member, append(loc, name)...)...)
			} else if right := calledLike(schema, name); right != "" {
				at := append(slices.Clone(loc), name) // loc is shared by all that is found
				found = append(found, problem.At("value_error", fmt.Sprintf("no such member: it is called %q", right), at...))
			}
		}
		slices.SortStableFunc(found, func(a, b api.ProblemDetail) int { return strings.Compare(fmt.Sprint(a.Loc...), fmt.Sprint(b.Loc...)) })
	case []any:
		for i, item := range value {
			if schema.Items != nil {
				found = append(found, misspelt(schema.Items.Value, item, append(loc, i)...)...)
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
