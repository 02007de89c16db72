package simulation

import (
	"bytes"
	"encoding/json"
)

// value is where a JSON value stands in a text. A member of an object can be taken
// out, with its name and a comma.
type value struct {
	from, to       int
	member         bool
	cutFrom, cutTo int
}

// reshape puts a text in the place of the nth value of an answer, counted from the
// outermost, or takes the value out. Of an answer with fewer values the count
// begins anew. A value is not replaced by one of its own kind, which nobody could
// tell from a right one, nor is an element taken out of a list: null comes then.
func reshape(body []byte, nth int, put string) []byte {
	all := values(body)
	if len(all) == 0 {
		return body
	}
	v := all[nth%len(all)]
	if put == "" {
		if v.member {
			return append(bytes.Clone(body[:v.cutFrom]), body[v.cutTo:]...)
		}
		put = "null"
	}
	if isID := bytes.HasSuffix(bytes.TrimRight(body[:v.from], " "), []byte(`id":`)); kind(body[v.from], isID) == kind(put[0], isID) {
		put = "null"
	}
	return append(append(bytes.Clone(body[:v.from]), put...), body[v.to:]...)
}

// kind is the first byte of values of one kind. An id may be a string or a number.
func kind(first byte, isID bool) byte {
	switch {
	case first == '-', '0' <= first && first <= '9':
		if isID {
			return '"'
		}
		return '0'
	case first == 't', first == 'f':
		return 't'
	}
	return first
}

// values finds all values of a JSON text, those within others too.
func values(body []byte) []value {
	var found []value
	var scan func(at int) int
	scan = func(at int) int {
		at = skip(body, at)
		i := len(found)
		found = append(found, value{from: at})
		end := scalar(body, at)
		if body[at] == '{' || body[at] == '[' {
			end = within(body, at, scan, &found)
		}
		found[i].to = end
		return end
	}
	if !json.Valid(body) {
		return nil
	}
	scan(0)
	return found
}

// within scans the members of an object or array, and notes what goes with each.
func within(body []byte, at int, scan func(int) int, found *[]value) int {
	object := body[at] == '{'
	at = skip(body, at+1)
	for first := true; body[at] != '}' && body[at] != ']'; first = false {
		start := at
		if !first {
			at = skip(body, at+1) // the comma
		}
		if object {
			at = skip(body, scalar(body, at)) + 1 // the name and the colon
		}
		i := len(*found)
		at = skip(body, scan(at))
		v := &(*found)[i]
		v.member, v.cutFrom, v.cutTo = object, start, at
		if first && body[at] == ',' {
			v.cutTo = at + 1
		}
	}
	return at + 1
}

// scalar returns where the string, number or word at a place ends.
func scalar(body []byte, at int) int {
	if body[at] == '"' {
		for at++; body[at] != '"'; at++ {
			if body[at] == '\\' {
				at++
			}
		}
		return at + 1
	}
	for at < len(body) && !bytes.ContainsRune([]byte(",:]} \t\r\n"), rune(body[at])) {
		at++
	}
	return at
}

// skip passes white space over.
func skip(body []byte, at int) int {
	for at < len(body) && bytes.IndexByte([]byte(" \t\r\n"), body[at]) >= 0 {
		at++
	}
	return at
}
