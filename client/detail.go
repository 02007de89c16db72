package client

import (
	"strings"

	"example.com/emailplatform/internal/json/jsonscan"
)

// Limits on the details in an Error.
const (
	maxDetails      = 100
	maxShownDetails = 5   // in the result of Error
	maxDetailText   = 500 // bytes per text
	maxLocation     = 20  // elements of a location
)

// ErrorDetail is one problem that the platform found in a request.
type ErrorDetail struct {
	Loc  Location `json:"loc"`  // location of the invalid value
	Msg  string   `json:"msg"`  // human-readable description
	Type string   `json:"type"` // violated rule, such as "missing"; the platform may add values
}

// String returns text such as "body.email: not an email address
// (value_error)".
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

// Location is the location of a value in a request. The first element is
// "body", "path", "query" or "header". All other elements are field names or
// zero-based array indexes.
type Location []string

// String returns text such as "body.contacts.3.email".
func (l Location) String() string { return strings.Join(l, ".") }

// UnmarshalJSON implements [json.Unmarshaler] and stores strings and numbers as
// text. A single string or number becomes a location with one element.
func (l *Location) UnmarshalJSON(b []byte) error {
	c := jsonscan.New(string(b))
	v := readLocation(c)
	if err := c.End(); err != nil { // err is a pointer type, so returning it directly would return a non-nil error
		return err
	}
	*l = v
	return nil
}

func readLocation(c *jsonscan.Cursor) Location {
	element := func(c *jsonscan.Cursor) string {
		if c.Peek() == '"' {
			return c.String()
		}
		return c.Number()
	}
	if b := c.Peek(); b == '"' || '0' <= b && b <= '9' {
		return Location{element(c)}
	}
	return jsonscan.Slice(c, element)
}

// parseDetails reads the details of an error in the platform's format and redacts the
// token. It also returns the number of details that it omitted. If the body has another
// format, there are no details. An invalid field in one detail does not affect other
// fields or details.
func parseDetails(body, token string) (details []ErrorDetail, omitted int) {
	c := jsonscan.New(body)
	for name := range c.Object() {
		if name != "detail" {
			c.Skip()
			continue
		}
		details, omitted = readDetails(c, token)
	}
	if c.End() != nil {
		return nil, 0
	}
	return details, omitted
}

// readDetails reads a string or the first maxDetails elements of an array.
func readDetails(c *jsonscan.Cursor, token string) (details []ErrorDetail, omitted int) {
	add := func() {
		if d := readDetail(c, token); d.Msg != "" || d.Type != "" || len(d.Loc) > 0 {
			details = append(details, d)
		}
	}
	switch c.Peek() {
	case '"':
		add()
	case '[':
		n := 0
		for range c.Array() {
			if n++; n > maxDetails {
				omitted++
				c.Skip()
				continue
			}
			add()
		}
	default:
		c.Skip()
	}
	return details, omitted
}

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

// readDetailLocation reads the first maxLocation elements of a location. Elements
// that are not strings are returned as JSON text.
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

// shortened returns a copy of s without the token. Long text is truncated with
// an ellipsis. Invalid UTF-8, which a header can contain, is replaced, because
// an exporter of logs or traces can drop a whole batch that contains it.
func shortened(s, token string) string {
	s = redactFirst(s, token, maxDetailText+1)
	if len(s) <= maxDetailText {
		return strings.ToValidUTF8(strings.Clone(s), "\uFFFD")
	}
	return strings.ToValidUTF8(strings.Clone(s[:maxDetailText]), "") + "…"
}
