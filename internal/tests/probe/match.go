package probe

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Parse decodes one JSON value. Numbers keep their notation.
func Parse(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, fmt.Errorf("something follows the value")
	}
	return value, nil
}

// Captures are the values that patterns have stored, by name.
type Captures map[string]string

// Mismatches compares a value with a pattern, and stores nothing.
func Mismatches(got any, pattern string) []string { return Captures{}.Mismatches(got, pattern) }

// Mismatches compares a value with a pattern in JSON. A placeholder in the pattern, such as <string>, matches any value
// of its kind (see kinds). The placeholders <string:name> and <integer:name> also store the value under this name. If
// an object in the pattern has a field with the name "…", the object in the value can have more fields.
func (c Captures) Mismatches(got any, pattern string) []string {
	want, err := Parse(pattern)
	if err != nil {
		return []string{fmt.Sprintf("the pattern is not JSON: %v: %s", err, pattern)}
	}
	return c.compare(nil, "", got, want)
}

func (c Captures) compare(found []string, at string, got, want any) []string {
	switch want := want.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			return c.compareObjects(found, at, got, want)
		}
	case []any:
		got, ok := got.([]any)
		if ok && len(got) == len(want) {
			for i := range want {
				found = c.compare(found, fmt.Sprintf("%s[%d]", at, i), got[i], want[i])
			}
			return found
		}
	case string:
		kind, name, stores := strings.Cut(strings.Trim(want, "<>"), ":")
		if is := kinds["<"+kind+">"]; stores && is != nil && is(got) {
			c[name] = fmt.Sprint(got)
			return found
		}
		if is, ok := kinds[want]; ok {
			if !is(got) {
				found = append(found, fmt.Sprintf("%s: got %s, want %s", at, Show(got), want))
			}
			return found
		}
		if got == want {
			return found
		}
	default:
		if got == want {
			return found
		}
	}
	return append(found, fmt.Sprintf("%s: got %s, want %s", at, Show(got), Show(want)))
}

func (c Captures) compareObjects(found []string, at string, got, want map[string]any) []string {
	_, open := want["…"]
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if name == "…" {
			continue
		}
		value, ok := got[name]
		if !ok {
			found = append(found, fmt.Sprintf("%s.%s is missing", at, name))
			continue
		}
		found = c.compare(found, at+"."+name, value, want[name])
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok && !open {
			found = append(found, fmt.Sprintf("%s.%s is not expected: %s", at, name, Show(got[name])))
		}
	}
	return found
}

// Show returns a value as JSON.
func Show(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(raw)
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// kinds are the strings of a pattern that match any value of a kind.
var kinds = map[string]func(any) bool{
	"<any>":   func(any) bool { return true },
	"<array>": func(v any) bool { _, ok := v.([]any); return ok },
	"<integer>": func(v any) bool {
		n, ok := v.(json.Number)
		_, err := n.Int64()
		return ok && err == nil
	},
	"<string>": func(v any) bool { s, ok := v.(string); return ok && s != "" },
	"<uuid>":   func(v any) bool { s, ok := v.(string); return ok && uuid.MatchString(s) },
	"<unix>": func(v any) bool {
		n, ok := v.(json.Number)
		seconds, err := n.Int64()
		return ok && err == nil && isRecent(time.Unix(seconds, 0))
	},
	"<iso>": func(v any) bool {
		s, ok := v.(string)
		at, err := time.Parse(time.RFC3339, s)
		return ok && err == nil && isRecent(at)
	},
}

// isRecent reports whether a time is within the last day.
func isRecent(at time.Time) bool {
	age := time.Since(at)
	return -time.Second < age && age < 24*time.Hour
}
