package client

import (
	"encoding/json"
	"strings"

	"example.com/emailplatform/internal/json/jsonscan"
)

// What an Error holds of the details of an answer.
const (
	maxDetails      = 100
	maxShownDetails = 5   // in the line of Error
	maxDetailText   = 500 // bytes of each text
	maxLocation     = 20  // members of a location
)

// ErrorDetail is one mistake that the platform found.
type ErrorDetail struct {
	Loc  Location `json:"loc"`  // where
	Msg  string   `json:"msg"`  // what is wrong
	Type string   `json:"type"` // the rule that is broken, such as "missing"; an open set
}

// String returns for example "body.email: not an email address (value_error)".
func (d ErrorDetail) String() string {
	s := d.Loc.String()
	if s != "" && d.Msg != "" {
		s += ": "
	}
	s += d.Msg
	if d.Type != "" {
		s += " (" + d.Type + ")"
	}
	return s
}

// Location is a place in a request: body, path, query or header first, then
// names of members and places in arrays, from 0.
type Location []string

// String returns for example "body.contacts.3.email".
func (l Location) String() string { return strings.Join(l, ".") }

// UnmarshalJSON implements [json.Unmarshaler]: strings and numbers are both
// kept as text, and one that stands alone is a location of one member.
func (l *Location) UnmarshalJSON(b []byte) error {
	var raw []json.RawMessage
	if len(b) > 0 && (b[0] == '"' || '0' <= b[0] && b[0] <= '9') {
		raw = []json.RawMessage{b}
	} else if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*l = nil
	for _, r := range raw {
		s := string(r)
		if strings.HasPrefix(s, `"`) {
			if err := json.Unmarshal(r, &s); err != nil {
				return err
			}
		}
		*l = append(*l, s)
	}
	return nil
}

func readLocation(c *jsonscan.Cursor) Location {
	return jsonscan.Slice(c, func(c *jsonscan.Cursor) string {
		if c.Peek() == '"' {
			return c.String()
		}
		return c.Number()
	})
}

// parseDetails reads the platform's error format without token, and returns how
// many details it leaves out. Another body has no details, which is no mistake,
// and what does not fit in a detail does not take the rest with it.
func parseDetails(body, token string) (details []ErrorDetail, more int) {
	c := jsonscan.New(body)
	for name := range c.Object() {
		if name != "detail" {
			c.Skip()
			continue
		}
		details, more = nil, 0
		switch c.Peek() {
		case '[':
			details, more = readDetails(c, token)
		case '"':
			details = appendDetail(nil, readDetail(c, token))
		default:
			c.Skip()
		}
	}
	if c.End() != nil {
		return nil, 0
	}
	return details, more
}

// readDetails reads an array of details, and keeps the first of them.
func readDetails(c *jsonscan.Cursor, token string) (details []ErrorDetail, more int) {
	n := 0
	for range c.Array() {
		if n++; n > maxDetails {
			more++
			c.Skip()
			continue
		}
		details = appendDetail(details, readDetail(c, token))
	}
	return details, more
}

// appendDetail appends a detail that says something.
func appendDetail(details []ErrorDetail, d ErrorDetail) []ErrorDetail {
	if d.Msg == "" && d.Type == "" && len(d.Loc) == 0 {
		return details
	}
	return append(details, d)
}

// readDetail reads one detail, or a text alone, and shortens what is too long.
func readDetail(c *jsonscan.Cursor, token string) (d ErrorDetail) {
	switch c.Peek() {
	case '"':
		d.Msg = shortened(c.String(), token)
	case '{':
		for name := range c.Object() {
			switch {
			case name == "loc":
				d.Loc = readDetailLocation(c, token)
			case name == "msg" && c.Peek() == '"':
				d.Msg = shortened(c.String(), token)
			case name == "type" && c.Peek() == '"':
				d.Type = shortened(c.String(), token)
			default:
				c.Skip()
			}
		}
	default:
		c.Skip()
	}
	return d
}

// readDetailLocation reads a location, the first members of it, and as it is
// written what is no text in it. A text or a number alone is a location, too.
func readDetailLocation(c *jsonscan.Cursor, token string) (l Location) {
	member := func() string {
		if c.Peek() == '"' {
			return shortened(c.String(), token)
		}
		return shortened(string(c.Raw()), token)
	}
	switch b := c.Peek(); {
	case b == '"', '0' <= b && b <= '9':
		return Location{member()}
	case b != '[':
		c.Skip()
		return nil
	}
	for range c.Array() {
		if len(l) == maxLocation {
			c.Skip()
			continue
		}
		l = append(l, member())
	}
	return l
}

// shortened returns a copy of s without token, or its beginning and an ellipsis.
func shortened(s, token string) string {
	s = redactFirst(s, token, maxDetailText+1)
	if len(s) <= maxDetailText {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(strings.Clone(s[:maxDetailText]), "") + "…"
}
