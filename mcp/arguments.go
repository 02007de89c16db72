package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxProblems is the maximum number of problems in an error.
const maxProblems = 20

// argumentsError lists the problems with a call's arguments for the assistant.
type argumentsError []string

func (e argumentsError) Error() string {
	shown := e[:min(len(e), maxProblems)]
	text := "Nothing was changed. Correct these arguments and call again:\n- " + strings.Join(shown, "\n- ")
	if more := len(e) - len(shown); more > 0 {
		text += fmt.Sprintf("\n- and %d more", more)
	}
	return text
}

// read finds the operation and validates its arguments against the tool's input
// schema. Empty arguments, which some assistants send, count as omitted.
func (t *tool) read(given json.RawMessage) (operation, json.RawMessage, error) {
	arguments, unknown, err := parseArguments(given, t.input().Properties)
	if err != nil {
		return operation{}, nil, argumentsError{err.Error()}
	}
	t.setOnlyOperation(arguments)
	name, _ := arguments["operation"].(string)
	op, known := t.operations[name]
	wrong := t.check(arguments)
	if known {
		wrong = append(wrong, op.check(name, arguments)...)
	} else {
		wrong = append(wrong, t.missing(arguments)...)
	}
	if text := unknown.describe(t.input().PropertyOrder); text != "" {
		wrong = append(wrong, text)
	}
	if len(wrong) > 0 {
		return operation{}, nil, argumentsError(wrong)
	}
	clean, err := json.Marshal(arguments)
	return op, clean, err
}

// setOnlyOperation sets an omitted operation if the tool has only one.
func (t *tool) setOnlyOperation(arguments map[string]any) {
	if _, given := arguments["operation"]; given || len(t.operations) != 1 {
		return
	}
	for name := range t.operations {
		arguments["operation"] = name
	}
}

// unknownArguments contains arguments in a call that the tool does not define.
type unknownArguments struct {
	names []string // the first maxProblems names
	count int
}

func (u *unknownArguments) add(name string) {
	if u.count++; len(u.names) < maxProblems {
		u.names = append(u.names, fmt.Sprintf("%.40q", name))
	}
}

// describe returns one problem for all unknown arguments, or "" if there are
// none.
func (u *unknownArguments) describe(known []string) string {
	if u.count == 0 {
		return ""
	}
	text := "unknown arguments: " + strings.Join(u.names, ", ")
	if more := u.count - len(u.names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + "; the arguments are " + strings.Join(known, ", ")
}

// parseArguments reads the arguments one by one. It decodes only known
// arguments, and only as much as an error message needs, because decoded JSON
// can take twenty times the memory of its text.
func parseArguments(given json.RawMessage, known map[string]*jsonschema.Schema) (map[string]any, *unknownArguments, error) {
	arguments, unknown := map[string]any{}, new(unknownArguments)
	if len(given) == 0 || string(given) == "null" {
		return arguments, unknown, nil
	}
	d := json.NewDecoder(bytes.NewReader(given))
	start, err := d.Token()
	if err != nil || start != json.Delim('{') {
		return nil, nil, errors.New("the arguments must be a JSON object")
	}
	var value json.RawMessage
	for d.More() {
		name, err := d.Token()
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("the arguments must be a JSON object: %w", err)
		}
		switch property := known[name.(string)]; {
		case saysNothing(value):
		case property == nil:
			unknown.add(name.(string))
		default:
			arguments[name.(string)] = shallow(value, property.Type == "object")
		}
	}
	return arguments, unknown, nil
}

// saysNothing reports whether a JSON value is null or empty.
func saysNothing(value json.RawMessage) bool {
	switch string(value) {
	case "null", `""`:
		return true
	}
	inner := bytes.TrimSpace(value[1:max(1, len(value)-1)])
	return len(inner) == 0 && (value[0] == '[' || value[0] == '{')
}

// shallow decodes a scalar, and an object if the schema requires an object. It
// omits the elements of other arrays and objects.
func shallow(value json.RawMessage, wantObject bool) any {
	switch value[0] {
	case '"':
		if plain := value[1 : len(value)-1]; bytes.IndexByte(plain, '\\') < 0 && utf8.Valid(plain) {
			return string(plain) // json.Unmarshal allocates more memory for each string
		}
		var s string
		_ = json.Unmarshal(value, &s) // the decoder has checked the syntax
		return s
	case '[':
		return []any{}
	case '{':
		var raw map[string]json.RawMessage
		if wantObject {
			_ = json.Unmarshal(value, &raw) // the decoder has checked the syntax
		}
		fields := make(map[string]any, len(raw))
		for name, v := range raw {
			fields[name] = shallow(v, false)
		}
		return fields
	case 't', 'f':
		return value[0] == 't'
	case 'n':
		return nil
	}
	return json.Number(value) // a float64 would change large ids
}

// check checks each argument against its schema. It converts values such as 7.0 and
// "7" to integers.
func (t *tool) check(arguments map[string]any) (wrong []string) {
	schema := t.input()
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		property := schema.Properties[name]
		if n, ok := asInteger(arguments[name], property.Type == "integer"); ok {
			arguments[name] = n
		}
		if s := invalidArgument(property, arguments[name]); s != "" {
			wrong = append(wrong, name+": "+s)
		}
	}
	return wrong
}

func (t *tool) input() *jsonschema.Schema { return t.InputSchema.(*jsonschema.Schema) }

// missing returns the omitted arguments that every operation requires.
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

// check returns the missing arguments of the operation, and the arguments that
// belong to other operations.
func (o operation) check(name string, arguments map[string]any) (wrong []string) {
	for _, a := range o.required {
		if _, ok := arguments[a]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s: is required for operation %q", a, name))
		}
	}
	for _, a := range slices.Sorted(maps.Keys(arguments)) {
		if a != "operation" && !slices.Contains(o.required, a) && !slices.Contains(o.optional, a) {
			wrong = append(wrong, fmt.Sprintf("%s: is not allowed for operation %q; omit it", a, name))
		}
	}
	return wrong
}

// invalidArgument returns an error message, or "" if the argument is valid.
func invalidArgument(s *jsonschema.Schema, v any) string {
	switch s.Type {
	case "integer":
		n, ok := v.(int64)
		if !ok {
			return fmt.Sprintf("must be an integer, got %s", describe(v))
		}
		return outOfRange(s, n)
	case "string":
		text, ok := v.(string)
		if !ok {
			return fmt.Sprintf("must be a string, got %s", describe(v))
		}
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)) {
			return fmt.Sprintf("must be %[2]s, got %.40[1]q", text, oneOf(s.Enum))
		}
	case "object":
		return notTexts(v)
	}
	return ""
}

func outOfRange(s *jsonschema.Schema, n int64) string {
	switch {
	case s.Minimum != nil && float64(n) < *s.Minimum:
		return fmt.Sprintf("must be at least %[2]g, got %[1]d", n, *s.Minimum)
	case s.Maximum != nil && float64(n) > *s.Maximum:
		return fmt.Sprintf("must be at most %[2]g, got %[1]d", n, *s.Maximum)
	}
	return ""
}

// notTexts returns a message if v is not an object whose values are strings.
func notTexts(v any) string {
	members, ok := v.(map[string]any)
	if !ok {
		return fmt.Sprintf(`must be an object such as {"first_name":"Ada"}, got %s`, describe(v))
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if _, ok := members[name].(string); !ok {
			return fmt.Sprintf("the value of %.40q must be a string, got %s", name, describe(members[name]))
		}
		if name == "" {
			return "a name is empty"
		}
	}
	return ""
}

// asInteger converts integers and numbers such as 7.0. If wanted is set, it
// also converts strings that contain such a number.
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
	const exact = 1 << 53 // from here on, a float64 can represent several integers
	f, err := number.Float64()
	return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) < exact
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
