package problem

import (
	"bytes"
	"encoding/json"
	"slices"
)

// placeAt returns the location of the value that ends at offset, or of the
// object or array that begins there; body must be valid. The path that
// encoding/json reports differs between releases of Go, but the offset does
// not.
func placeAt(body []byte, offset int64) []any {
	path, _ := find(json.NewDecoder(bytes.NewReader(body)), offset)
	slices.Reverse(path)
	return path
}

// find reads a value. If it contains the value that ends at the offset, find returns
// the path of that value, in reverse. It builds no other paths, because values can be
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
