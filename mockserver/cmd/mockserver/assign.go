package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// assignment is a change of a JSON value: path=value.
type assignment struct {
	path  []string
	value json.RawMessage
}

// parseAssignment takes a value that is no JSON for a string.
func parseAssignment(text string) (assignment, error) {
	path, value, ok := strings.Cut(text, "=")
	a := assignment{path: strings.Split(path, "."), value: json.RawMessage(value)}
	if !ok || slices.Contains(a.path, "") {
		return a, errors.New("want path=value, such as data.bounce.category=bounce_mb")
	}
	if !json.Valid(a.value) {
		quoted, err := json.Marshal(value)
		if err != nil {
			return a, err
		}
		a.value = quoted
	}
	return a, nil
}

// member is one of an object, in its order, or an element of an array.
type member struct {
	name  string
	value json.RawMessage
}

// setMember changes a member of a JSON value, and leaves the rest and its order
// as it is. What is not there is added, if there is something to add it to.
func setMember(value json.RawMessage, path []string, to json.RawMessage) (json.RawMessage, error) {
	if len(path) == 0 {
		return to, nil
	}
	members, array, err := membersOf(value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path[0], err)
	}
	i := slices.IndexFunc(members, func(m member) bool { return m.name == path[0] })
	switch {
	case i >= 0:
		if members[i].value, err = setMember(members[i].value, path[1:], to); err != nil {
			return nil, err
		}
	case len(path) > 1:
		return nil, fmt.Errorf("%s: there is none", path[0])
	case array && path[0] != strconv.Itoa(len(members)):
		return nil, fmt.Errorf("%s: want 0 to %d", path[0], len(members))
	default:
		members = append(members, member{path[0], to})
	}
	return join(members, array)
}

// membersOf takes an object or an array apart. An element's name is its index.
func membersOf(value json.RawMessage) (members []member, array bool, err error) {
	decoder := json.NewDecoder(bytes.NewReader(value))
	open, err := decoder.Token()
	if err != nil {
		return nil, false, err
	}
	if open != json.Delim('{') && open != json.Delim('[') {
		return nil, false, errors.New("what it would be in is neither an object nor an array")
	}
	array = open == json.Delim('[')
	for decoder.More() {
		m := member{name: strconv.Itoa(len(members))}
		if !array {
			name, err := decoder.Token()
			if err != nil {
				return nil, false, err
			}
			m.name, _ = name.(string)
		}
		if err := decoder.Decode(&m.value); err != nil {
			return nil, false, err
		}
		members = append(members, m)
	}
	if _, err = decoder.Token(); errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return members, array, err
}

func join(members []member, array bool) (json.RawMessage, error) {
	brackets := "{}"
	if array {
		brackets = "[]"
	}
	out := []byte{brackets[0]}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		if !array {
			name, err := json.Marshal(m.name)
			if err != nil {
				return nil, err
			}
			out = append(append(out, name...), ':')
		}
		out = append(out, m.value...)
	}
	return append(out, brackets[1]), nil
}
