package contract

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/suggest"
)

// How much is told of what nobody knows: a client decides how much of it there is.
const (
	maxUnknown = 20  // members, and as many parameters
	maxName    = 100 // bytes of each
)

// stranger is a member of a body that the document does not know.
type stranger struct {
	loc []any
	of  *openapi3.Schema // the object that it is in
}

// strangers finds the members that are unknown. What is in them is not looked at.
func strangers(schema *openapi3.Schema, value any, loc ...any) (found []stranger) {
	at := func(name any) []any { return append(slices.Clone(loc), name) }
	switch value := value.(type) {
	case map[string]any:
		if len(schema.Properties) == 0 {
			return nil // a map, where all names are allowed
		}
		for name, member := range value {
			if known := schema.Properties[name]; known != nil {
				found = append(found, strangers(known.Value, member, at(name)...)...)
			} else {
				found = append(found, stranger{at(name), schema})
			}
		}
		slices.SortStableFunc(found, func(a, b stranger) int { return strings.Compare(fmt.Sprint(a.loc...), fmt.Sprint(b.loc...)) })
	case []any:
		for i, item := range value {
			if schema.Items != nil {
				found = append(found, strangers(schema.Items.Value, item, at(i)...)...)
			}
		}
	}
	return found
}

// name is the member's own name.
func (s stranger) name() string { return s.loc[len(s.loc)-1].(string) }

// place is where the member is, such as contacts[].emial: the same in each
// element of an array.
func (s stranger) place() string {
	var out strings.Builder
	for _, step := range s.loc[1:] {
		switch step := step.(type) {
		case int:
			out.WriteString("[]")
		case string:
			if out.Len() > 0 {
				out.WriteString(".")
			}
			out.WriteString(step)
		}
	}
	return out.String()
}

// known are the names of the members that there are in its place.
func (s stranger) known() []string {
	var names []string
	for name := range s.of.Properties {
		names = append(names, name)
	}
	return names
}

// misspelt is the mistake of one that encoding/json takes for another member,
// because it compares names without case. The API knows no such members, and who
// sends them should hear of it here.
func (s stranger) misspelt() (api.ProblemDetail, bool) {
	for _, right := range s.known() {
		if strings.EqualFold(right, s.name()) {
			return problem.At("value_error", fmt.Sprintf("no such member: it is called %q", right), s.loc...), true
		}
	}
	return api.ProblemDetail{}, false
}

// judge returns the mistakes among strangers: those that are misspelt, or all of
// them if they are refused; and where the others are, each place once.
func judge(all []stranger, refuse bool) (details []api.ProblemDetail, places []string) {
	for _, s := range all {
		if detail, is := s.misspelt(); is {
			details = append(details, detail)
			continue
		}
		places = note(places, s.place())
		if refuse {
			details = append(details, problem.At("value_error", suggest.Unknown("member", s.name(), s.known()), s.loc...))
		}
	}
	return details, places
}

// unknownParameters finds what a query has and the operation does not know.
func (o *Operation) unknownParameters(query url.Values, refuse bool) (details []api.ProblemDetail, names []string) {
	var known []string
	for _, p := range o.InQuery {
		known = append(known, p.Name)
	}
	for name := range query {
		if slices.Contains(known, name) {
			continue
		}
		names = note(names, name)
		if refuse {
			details = append(details, problem.At("value_error", suggest.Unknown("parameter", name, known), "query", name))
		}
	}
	slices.Sort(names)
	slices.SortFunc(details, func(a, b api.ProblemDetail) int { return strings.Compare(fmt.Sprint(a.Loc...), fmt.Sprint(b.Loc...)) })
	return details, names
}

// note adds a name that is not there yet, unless there are many.
func note(names []string, name string) []string {
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	if len(names) == maxUnknown || slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
