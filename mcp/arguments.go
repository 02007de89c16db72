package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxProblems is the maximum number of problems in an error.
const maxProblems = 20

// argumentsError returns an error that lists the problems with a call's arguments
// for the assistant.
func argumentsError(problems ...string) error {
	return errors.New("Nothing was changed. Correct these arguments and call again:\n- " + strings.Join(problems, "\n- "))
}

// read finds the operation and validates its arguments against the tool's input schema.
// An argument with an empty value counts as omitted, because some assistants send every
// argument.
func (t *tool) read(given json.RawMessage) (operation, json.RawMessage, error) {
	schema := t.InputSchema.(*jsonschema.Schema)
	arguments, unknown, err := parseArguments(given, schema.Properties)
	if err != nil {
		return operation{}, nil, argumentsError(err.Error())
	}
	if _, given := arguments["operation"]; !given && len(t.operations) == 1 {
		for name := range t.operations {
			arguments["operation"] = json.RawMessage(strconv.Quote(name))
		}
	}
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		clean, problem := check(schema.Properties[name], arguments[name])
		arguments[name] = clean
		if problem != "" {
			wrong = append(wrong, name+": "+problem)
		}
	}
	name := stringOf(arguments["operation"])
	op, known := t.operations[name]
	if known {
		wrong = append(wrong, op.check(name, arguments)...)
	} else {
		wrong = append(wrong, missing(schema, arguments)...)
	}
	if len(unknown) > 0 {
		wrong = append(wrong, describeUnknown(unknown, schema.PropertyOrder))
	}
	if len(wrong) > 0 {
		return operation{}, nil, argumentsError(wrong...)
	}
	clean, err := json.Marshal(arguments)
	return op, clean, err
}

// parseArguments reads the arguments one by one, and returns the names of unknown
// arguments. It keeps the values as JSON text, because decoded values can take twenty
// times the memory.
func parseArguments(
	given json.RawMessage, known map[string]*jsonschema.Schema,
) (arguments map[string]json.RawMessage, unknown []string, err error) {
	arguments = map[string]json.RawMessage{}
	if len(given) == 0 || string(given) == "null" {
		return arguments, nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(given))
	start, err := d.Token()
	if err != nil || start != json.Delim('{') {
		return nil, nil, errors.New("the arguments must be a JSON object")
	}
	var value json.RawMessage
	for d.More() {
		token, err := d.Token()
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("the arguments must be a JSON object: %w", err)
		}
		name := token.(string)
		switch {
		case isEmpty(value):
		case known[name] == nil:
			unknown = append(unknown, name)
		default:
			arguments[name] = bytes.Clone(value)
		}
	}
	return arguments, unknown, nil
}

// isEmpty reports whether a JSON value is null or empty.
func isEmpty(value json.RawMessage) bool {
	switch string(value) {
	case "null", `""`:
		return true
	}
	inner := bytes.TrimSpace(value[1:max(1, len(value)-1)])
	return len(inner) == 0 && (value[0] == '[' || value[0] == '{')
}

// describeUnknown returns one problem for all unknown arguments.
func describeUnknown(names, known []string) string {
	quoted := make([]string, min(len(names), maxProblems))
	for i := range quoted {
		quoted[i] = fmt.Sprintf("%.40q", names[i])
	}
	text := "unknown arguments: " + strings.Join(quoted, ", ")
	if more := len(names) - len(quoted); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + "; the arguments are " + strings.Join(known, ", ")
}

// missing returns the omitted arguments that every operation requires.
func missing(schema *jsonschema.Schema, arguments map[string]json.RawMessage) (wrong []string) {
	for _, name := range schema.Required {
		if _, ok := arguments[name]; ok {
			continue
		}
		s := name + ": is required"
		if values := schema.Properties[name].Enum; len(values) > 0 {
			s += ", " + oneOf(values)
		}
		wrong = append(wrong, s)
	}
	return wrong
}

// check returns the missing arguments of the operation, and the arguments that
// belong to other operations.
func (o operation) check(name string, arguments map[string]json.RawMessage) (wrong []string) {
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

// check checks a value against its schema, and converts values such as 7.0 and "7" to
// integers. It returns an error message, or "" if the value is valid.
func check(s *jsonschema.Schema, value json.RawMessage) (clean json.RawMessage, problem string) {
	if s.Type != "integer" && !isText(value) {
		return value, notText
	}
	switch s.Type {
	case "integer":
		n, ok := asInteger(value)
		switch {
		case !ok:
			return value, "must be an integer, got " + describe(value)
		case s.Minimum != nil && float64(n) < *s.Minimum:
			return value, fmt.Sprintf("must be at least %g, got %d", *s.Minimum, n)
		case s.Maximum != nil && float64(n) > *s.Maximum:
			return value, fmt.Sprintf("must be at most %g, got %d", *s.Maximum, n)
		}
		return strconv.AppendInt(nil, n, 10), ""
	case "string":
		switch {
		case value[0] != '"':
			return value, "must be a string, got " + describe(value)
		case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(stringOf(value))):
			return value, fmt.Sprintf("must be %s, got %.40q", oneOf(s.Enum), stringOf(value))
		}
	case "object":
		return cleanTexts(value)
	}
	return value, ""
}

const notText = "must be Unicode text; a character was damaged, for example by a conversion from Latin-1"

// escapes matches each escape sequence in JSON. It matches the two sequences of a surrogate
// pair together.
var escapes = regexp.MustCompile(`\\(u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|u\w{4}|.)`)

// isText reports whether all strings in JSON are Unicode text. Otherwise, decoding would
// replace a part of a string with U+FFFD, and the platform would store other text.
func isText(value json.RawMessage) bool {
	return utf8.Valid(value) && !slices.ContainsFunc(escapes.FindAll(value, -1), func(e []byte) bool {
		return len(e) == len(`\ud800`) && e[2]|0x20 == 'd' && e[3] >= '8' // half of a pair
	})
}

// cleanTexts removes duplicate names from an object. The object can also be given as
// JSON text. If value is not an object whose values are strings, cleanTexts returns a
// message.
func cleanTexts(value json.RawMessage) (clean json.RawMessage, problem string) {
	if text := strings.TrimSpace(stringOf(value)); strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		value = json.RawMessage(text) // some assistants send every argument as a string
	}
	if !isText(value) {
		return value, notText
	}
	if value[0] != '{' {
		return value, `must be an object such as {"first_name":"Ada"}, got ` + describe(value)
	}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(value, &members) // the decoder has checked the syntax
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if members[name][0] != '"' {
			return value, fmt.Sprintf("the value of %.40q must be a string, got %s", name, describe(members[name]))
		}
		if name == "" {
			return value, "a name is empty"
		}
	}
	clean, _ = json.Marshal(members) // never fails
	return clean, ""
}

// asInteger converts integers, numbers such as 7.0, and strings that contain
// such a number.
func asInteger(value json.RawMessage) (int64, bool) {
	number := string(value)
	if value[0] == '"' {
		number = stringOf(value)
	}
	if !json.Valid([]byte(number)) {
		return 0, false
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return n, true
	}
	const exact = 1 << 53 // from here on, a float64 can represent several integers
	f, err := strconv.ParseFloat(number, 64)
	return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) < exact
}

// stringOf decodes a string. For any other value it returns "".
func stringOf(value json.RawMessage) (s string) {
	_ = json.Unmarshal(value, &s) // the decoder has checked the syntax
	return s
}

func describe(value json.RawMessage) string {
	switch value[0] {
	case '"':
		return fmt.Sprintf("the string %.40q", stringOf(value))
	case '[':
		return "an array"
	case '{':
		return "an object"
	}
	return fmt.Sprintf("%.40s", value)
}

func oneOf(values []any) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	return strings.Join(quoted, " or ")
}
