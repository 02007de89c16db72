package events

import (
	"fmt"
	"time"

	"example.com/emailplatform/internal/json/jsonscan"
)

// ParseError describes an invalid part of a delivery. You can log it, because it contains
// field names but no values.
type ParseError struct {
	// Offset is the position in the body, in bytes from its start.
	Offset int64

	// Path is the path of the invalid field, such as data.contact.id or
	// data.tags[2]. Path is empty if the error concerns the whole body.
	Path string

	// Want describes the expected value, such as "a string".
	Want string

	// Event contains the valid fields if the body is a JSON object without an
	// event name. Otherwise it is nil.
	Event *Event
}

// Error implements error.
func (e *ParseError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("events: expected %s at offset %d", e.Want, e.Offset)
	}
	return fmt.Sprintf("events: %s: expected %s at offset %d", e.Path, e.Want, e.Offset)
}

// Parse decodes the body of a delivery. Any event can have the compliance or the general
// envelope (see "Payload types" in the package documentation), because Parse recognizes an
// envelope by its fields.
//
// The error is a [*ParseError] if the body is not a JSON object or has no event
// name. For other invalid fields, see "Errors" in the package documentation.
//
// The caller may modify the body after the call.
func Parse(body []byte) (*Event, error) {
	e, mismatches := parse(string(body))
	switch {
	case e == nil:
		return nil, newParseError(mismatches[0], nil)
	case e.Name != "":
		return e, nil
	case len(mismatches) > 0 && (mismatches[0].Path == "" || mismatches[0].Path == "event"):
		return nil, newParseError(mismatches[0], e)
	}
	return nil, &ParseError{Path: "event", Want: "the name of an event", Event: e}
}

// parse returns an event if text is a JSON value. It also returns the first mismatches
// in the envelope and in the data. If text is not a JSON value, parse returns only the
// syntax error.
func parse(text string) (*Event, []*jsonscan.Error) {
	c := newCursor(text)
	env := envelope{Event: Event{raw: text}}
	for name, more := c.First(); more; name, more = c.Next() {
		env.readField(c, name)
	}
	if scanErr := c.End(); scanErr != nil && scanErr.Syntax {
		return nil, []*jsonscan.Error{scanErr}
	}
	return env.finish(c.Errs())
}

func newParseError(err *jsonscan.Error, e *Event) *ParseError {
	return &ParseError{Offset: int64(err.Offset), Path: err.Path, Want: err.Want, Event: e}
}

// envelope is an event while its fields are read, in any order.
type envelope struct {
	Event
	createdOn, timestamp time.Time       // zero if absent
	data                 jsonscan.Cursor // positioned before the data
	hasData              bool
	dataName             Name              // the event's name when the data was read
	allocated            *Event            // allocated together with the data; nil if there is none
	mismatches           []*jsonscan.Error // in the data
}

func (env *envelope) readField(c *jsonscan.Cursor, name string) {
	switch name {
	case "id":
		env.ID = readID(c).String()
	case "event":
		env.Name = jsonscan.Text[Name](c)
	case "account_id":
		env.AccountID = c.Int()
	case "ip":
		env.IP = c.String()
	case "user":
		env.User = readUser(c)
	case "created_on":
		env.createdOn = readTime(c)
	case "timestamp":
		env.timestamp = readTime(c)
	case "data":
		again := env.hasData
		env.data, env.hasData = *c, true
		if again || env.Name == "" {
			env.Data = nil // read when the name is known, so only the last duplicate is read
			c.Skip()
		} else {
			env.readData(c)
		}
	default:
		c.Skip()
	}
}

// readUser reads a user. It treats an invalid field as null.
func readUser(c *jsonscan.Cursor) (v User) {
	for name, more := c.First(); more; name, more = c.Next() {
		switch name {
		case "id":
			v.ID = readInt(c)
		case "email":
			v.Email = readNull(c, (*jsonscan.Cursor).String)
		case "account_id":
			v.AccountID = readInt(c)
		default:
			c.Skip()
		}
	}
	return v
}

// finish sets the fields of the event that depend on other fields. It returns the event, and
// the mismatches in the envelope and the data.
func (env *envelope) finish(mismatches []*jsonscan.Error) (*Event, []*jsonscan.Error) {
	switch {
	case !env.createdOn.IsZero():
		env.Time = env.createdOn
	case !env.timestamp.IsZero():
		env.Time, env.general = env.timestamp, true
	}
	switch {
	case !env.hasData:
		env.noData()
	case env.Data == nil || env.dataName != env.Name:
		c := env.data
		env.readData(&c)
	}
	if env.allocated == nil {
		env.allocated = new(Event)
	}
	mismatches = append(mismatches, env.mismatches...)
	env.mismatched = len(mismatches) > 0
	*env.allocated = env.Event
	return env.allocated, mismatches
}

// readData reads the data at the cursor c, which is a copy of env.data or has the same position.
func (env *envelope) readData(c *jsonscan.Cursor) {
	start := c.Offset()
	var data Data
	env.mismatches = c.Isolate(func(c *jsonscan.Cursor) {
		if data = env.readShape(c); env.allocated == nil {
			c.Skip()
		}
	})
	env.Data, env.dataName, env.rawData = data, env.Name, c.Since(start)
	if decisive := env.decisive(data); data == nil || decisive != nil {
		unknown := &Unknown{Raw: env.RawData(), Partial: data}
		if decisive != nil {
			unknown.Err = newParseError(decisive, nil)
		}
		env.Data = unknown
	}
}

// readShape reads the data of an event whose name may have another letter case.
func (env *envelope) readShape(c *jsonscan.Cursor) (data Data) {
	if data, env.allocated = readShape(c, env.Name); env.allocated == nil {
		env.Name = foldName(env.Name)
		data, env.allocated = readShape(c, env.Name)
	}
	return data
}

// decisive returns the first mismatch that makes the data [Unknown], or nil if there is none.
func (env *envelope) decisive(data Data) *jsonscan.Error {
	mismatches := env.mismatches
	if data != nil && len(mismatches) > 0 {
		c := env.data
		s := subject{isBounce: env.Name == NameEmailBounced, hasEmail: sentBy(data) == SendingTypeEmailAPI}
		mismatches = c.Isolate(func(c *jsonscan.Cursor) { s.read(c, "") })
	}
	if len(mismatches) == 0 {
		return nil
	}
	return mismatches[0]
}

// noData sets the data of an event without a field "data".
func (env *envelope) noData() {
	unknown := &Unknown{}
	env.readShape(jsonscan.New("null"))
	if env.allocated != nil {
		missing := &jsonscan.Error{Path: "data", Want: "an object"}
		env.mismatches = []*jsonscan.Error{missing}
		unknown.Err = newParseError(missing, nil)
	}
	env.Data = unknown
}
