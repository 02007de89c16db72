package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// argumentsError is what is wrong with the arguments of a call, all of it, in
// words that a model can act on.
type argumentsError []string

func (e argumentsError) Error() string {
	return "Nothing was done. Correct these arguments and call again:\n- " + strings.Join(e, "\n- ")
}

// read finds the operation that is called, and holds its arguments against the
// tool's input schema. Arguments that say nothing, which some assistants send
// for all that they do not use, count as left out.
func (t *tool) read(given json.RawMessage) (operation, json.RawMessage, error) {
	arguments, err := parseArguments(given)
	if err != nil {
		return operation{}, nil, argumentsError{err.Error()}
	}
	maps.DeleteFunc(arguments, func(_ string, v any) bool { return saysNothing(v) })
	t.setOnlyOperation(arguments)
	name, _ := arguments["operation"].(string)
	op, known := t.operations[name]
	wrong := t.check(arguments)
	if known {
		wrong = append(wrong, op.check(name, arguments)...)
	} else {
		wrong = append(wrong, t.missing(arguments)...)
	}
	if len(wrong) > 0 {
		return operation{}, nil, argumentsError(wrong)
	}
	clean, err := json.Marshal(arguments)
	return op, clean, err
}

// setOnlyOperation names the operation if that is left out and there is but one.
func (t *tool) setOnlyOperation(arguments map[string]any) {
	if _, given := arguments["operation"]; given || len(t.operations) != 1 {
		return
	}
	for name := range t.operations {
		arguments["operation"] = name
	}
}

func parseArguments(given json.RawMessage) (map[string]any, error) {
	arguments := map[string]any{}
	if len(given) == 0 {
		return arguments, nil
	}
	d := json.NewDecoder(bytes.NewReader(given))
	d.UseNumber() // a float64 would change large ids
	if err := d.Decode(&arguments); err != nil {
		return nil, fmt.Errorf("the arguments must be a JSON object: %w", err)
	}
	if arguments == nil { // null
		arguments = map[string]any{}
	}
	return arguments, nil
}

func saysNothing(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// check holds each argument against its schema. Integers that are written like 7.0
// or "7" are replaced by what they mean, and unknown arguments are removed.
func (t *tool) check(arguments map[string]any) (wrong []string) {
	schema := t.input()
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		property := schema.Properties[name]
		if property == nil {
			wrong = append(wrong, fmt.Sprintf("%.40q: there is no such argument; there are %s",
				name, strings.Join(schema.PropertyOrder, ", ")))
			delete(arguments, name)
			continue
		}
		if n, ok := asInteger(arguments[name], property.Type == "integer"); ok {
			arguments[name] = n
		}
		if s := mistake(property, arguments[name]); s != "" {
			wrong = append(wrong, name+": "+s)
		}
	}
	return wrong
}

func (t *tool) input() *jsonschema.Schema { return t.InputSchema.(*jsonschema.Schema) }

// missing returns which arguments are missing for every operation.
func (t *tool) missing(arguments map[string]any) (wrong []string) {
	for _, name := range t.input().Required {
		if _, ok := arguments[name]; ok {
			continue
		}
		s := name + ": is required"
		if values := t.input().Properties[name].Enum; len(values) > 0 {
			s += ", " + oneOf(values)
		}
		wrong = append(wrong, s)
	}
	return wrong
}

// check returns which arguments are missing for the operation, and which are
// for another: what is ignored in silence misleads.
func (o operation) check(name string, arguments map[string]any) (wrong []string) {
	for _, a := range o.required {
		if _, ok := arguments[a]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s: is required for operation %q", a, name))
		}
	}
	for _, a := range slices.Sorted(maps.Keys(arguments)) {
		if a != "operation" && !slices.Contains(o.required, a) && !slices.Contains(o.optional, a) {
			wrong = append(wrong, fmt.Sprintf("%s: is not for operation %q, leave it out", a, name))
		}
	}
	return wrong
}

// mistake returns what is wrong with the value of an argument, or nothing.
func mistake(s *jsonschema.Schema, v any) string {
	switch s.Type {
	case "integer":
		n, ok := v.(int64)
		if !ok {
			return fmt.Sprintf("want an integer, not %s", describe(v))
		}
		return outOfRange(s, n)
	case "string":
		text, ok := v.(string)
		if !ok {
			return fmt.Sprintf("want a string, not %s", describe(v))
		}
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)) {
			return fmt.Sprintf("%.40q is not possible, want %s", text, oneOf(s.Enum))
		}
	case "object":
		return notTexts(v)
	}
	return ""
}

func outOfRange(s *jsonschema.Schema, n int64) string {
	switch {
	case s.Minimum != nil && float64(n) < *s.Minimum:
		return fmt.Sprintf("%d is too small, want at least %g", n, *s.Minimum)
	case s.Maximum != nil && float64(n) > *s.Maximum:
		return fmt.Sprintf("%d is too large, want at most %g", n, *s.Maximum)
	}
	return ""
}

// notTexts returns why v is not an object of strings by name.
func notTexts(v any) string {
	members, ok := v.(map[string]any)
	if !ok {
		return fmt.Sprintf(`want an object such as {"first_name":"Ada"}, not %s`, describe(v))
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if _, ok := members[name].(string); !ok {
			return fmt.Sprintf("the value of %.40q must be a string, not %s", name, describe(members[name]))
		}
		if name == "" {
			return "a name is empty"
		}
	}
	return ""
}

// asInteger returns the integer that v is, if it is a number that is one, or such
// a number in a string where an integer is wanted.
func asInteger(v any, wanted bool) (int64, bool) {
	number, ok := v.(json.Number)
	if text, isText := v.(string); isText && wanted {
		number, ok = json.Number(text), json.Valid([]byte(text))
	}
	if !ok {
		return 0, false
	}
	if n, err := strconv.ParseInt(number.String(), 10, 64); err == nil {
		return n, true
	}
	const exact = 1 << 53 // beyond it a float64 stands for several integers
	f, err := number.Float64()
	return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) <= exact
}

func describe(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("the string %.40q", v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case json.Number:
		return fmt.Sprintf("%.40s", v)
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "null"
}

func oneOf(values []any) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	return strings.Join(quoted, " or ")
}
