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
	return find(json.NewDecoder(bytes.NewReader(body)), offset, []any{})
}

// find reads the value at a place, and returns the place of the one that ends at
// the offset, or nil.
func find(dec *json.Decoder, offset int64, at []any) []any {
	opening, err := dec.Token()
	if err != nil || dec.InputOffset() >= offset {
		return at
	}
	if opening != json.Delim('{') && opening != json.Delim('[') {
		return nil
	}
	for i := 0; dec.More(); i++ {
		var step any = i
		if opening == json.Delim('{') {
			step, _ = dec.Token()
		}
		if found := find(dec, offset, append(slices.Clip(at), step)); found != nil {
			return found
		}
	}
	_, _ = dec.Token() // the closing bracket
	return nil
}
