package problem

import (
	"bytes"
	"encoding/json"
)

// placeAt is the place of the value of which body[:offset] holds the end, or
// the beginning if it is an object or an array. The path that encoding/json
// gives is another in each of Go's releases; the offset is not.
func placeAt(body []byte, offset int64) []any {
	dec := json.NewDecoder(bytes.NewReader(body))
	var within []level
	for {
		token, err := dec.Token()
		if err != nil {
			return nil
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			within = within[:len(within)-1]
			continue
		}
		isName := len(within) > 0 && within[len(within)-1].enter(token)
		if !isName && dec.InputOffset() >= offset {
			return placeOf(within)
		}
		if token == json.Delim('{') || token == json.Delim('[') {
			within = append(within, level{object: token == json.Delim('{'), index: -1})
		}
	}
}

// level is an object or an array that is being read, and where in it.
type level struct {
	object bool
	named  bool // the name is read, the value is not
	name   string
	index  int
}

// enter notes the next token and reports whether it is a member's name.
func (l *level) enter(token json.Token) bool {
	if l.object && !l.named {
		l.name, _ = token.(string)
		l.named = true
		return true
	}
	l.named = false
	l.index++
	return false
}

func placeOf(within []level) []any {
	place := make([]any, 0, len(within))
	for _, l := range within {
		if l.object {
			place = append(place, l.name)
		} else {
			place = append(place, l.index)
		}
	}
	return place
}
