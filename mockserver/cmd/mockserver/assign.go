package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// assignment is a change of a JSON value: path=value.
type assignment struct {
	path  []string
	value json.RawMessage
}

// parseAssignment parses path=value. A value that is not JSON is a string.
func parseAssignment(text string) (a assignment, err error) {
	path, value, ok := strings.Cut(text, "=")
	a.path = strings.Split(path, ".")
	if !ok || slices.Contains(a.path, "") {
		return a, errors.New("must be path=value, such as data.bounce.category=bounce_mb")
	}
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(value)) == nil {
		a.value = compact.Bytes()
		return a, nil
	}
	a.value, err = json.Marshal(value)
	return a, err
}

// setField sets a field of an object, or an element of an array, in compact JSON. The
// rest stays as it is. A field that does not exist is added at the end.
func setField(value json.RawMessage, path []string, to json.RawMessage) (json.RawMessage, error) {
	if len(path) == 0 {
		return to, nil
	}
	array := value[0] == '['
	if !array && value[0] != '{' {
		return nil, fmt.Errorf("%s: neither an object nor an array contains it", path[0])
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	_, _ = decoder.Token()
	n := 0
	for ; decoder.More(); n++ {
		name := strconv.Itoa(n)
		if !array {
			token, _ := decoder.Token()
			name, _ = token.(string)
		}
		var old json.RawMessage
		if err := decoder.Decode(&old); err != nil {
			return nil, err
		}
		if name == path[0] {
			end := int(decoder.InputOffset())
			changed, err := setField(old, path[1:], to)
			if err != nil {
				return nil, err
			}
			return slices.Concat(value[:end-len(old)], changed, value[end:]), nil
		}
	}
	switch {
	case len(path) > 1:
		return nil, fmt.Errorf("%s: there is none", path[0])
	case array && path[0] != strconv.Itoa(n):
		return nil, fmt.Errorf("%s: must be 0 to %d", path[0], n)
	case !array:
		name, _ := json.Marshal(path[0]) // a string
		to = slices.Concat(name, []byte(":"), to)
	}
	if n > 0 {
		to = append([]byte(","), to...)
	}
	end := len(value) - 1
	return slices.Concat(value[:end], to, value[end:]), nil
}
