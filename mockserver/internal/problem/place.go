package problem

import (
	"bytes"
	"encoding/json"
	"slices"
)

// placeAt returns the place of the value that body[:offset] ends with, or begins
// with if it is an object or an array; body is valid. The path that encoding/json
// reports differs between releases of Go, the offset does not.
func placeAt(body []byte, offset int64) []any {
	path, _ := find(json.NewDecoder(bytes.NewReader(body)), offset)
	slices.Reverse(path)
	return path
}

// find reads a value, and returns the steps to the one that ends at the offset, the
// last one first, if that is in the value. Only its path is built: many values may be
// nested deeply.
func find(dec *json.Decoder, offset int64) (path []any, found bool) {
	opening, err := dec.Token()
	if err != nil || dec.InputOffset() >= offset {
		return nil, true
	}
	if opening != json.Delim('{') && opening != json.Delim('[') {
		return nil, false
	}
	for i := 0; dec.More(); i++ {
		var step any = i
		if opening == json.Delim('{') {
			step, _ = dec.Token()
		}
		if path, found = find(dec, offset); found {
			return append(path, step), true
		}
	}
	_, _ = dec.Token() // the closing bracket
	return nil, false
}
