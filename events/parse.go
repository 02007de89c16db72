package events

import (
	"fmt"
	"time"

	"example.com/emailplatform/internal/json/jsonscan"
)

// ParseError describes an invalid part of a delivery. It contains field names
// but no values, so you can log it.
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

// Parse decodes the body of a delivery. Parse recognizes the compliance and the
// general envelope by their fields, not by the name of the event.
//
// The error is a [*ParseError] if the body is not a JSON object or has no event
// name. For other invalid fields, see "Errors" in the package documentation.
//
// The caller may modify the body after the call.
func Parse(body []byte) (*Event, error) {
	e, scanErr := parse(string(body))
	switch {
	case e == nil:
		return nil, newParseError(scanErr, nil)
	case e.Name != "":
		return e, nil
	case scanErr != nil && (scanErr.Path == "" || scanErr.Path == "event"):
		return nil, newParseError(scanErr, e)
	}
	return nil, &ParseError{Path: "event", Want: "the name of an event", Event: e}
}

// parse returns an event if text is a JSON object, and the first error in its
// envelope.
func parse(text string) (*Event, *jsonscan.Error) {
	c := jsonscan.New(text)
	env := envelope{Event: Event{raw: text}}
	for name, more := c.First(); more; name, more = c.Next() {
		env.readField(c, name)
	}
	scanErr := c.End()
	if scanErr != nil && scanErr.Syntax {
		return nil, scanErr
	}
	return env.finish(), scanErr
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
	dataName             Name   // the event's name when the data was read
	allocated            *Event // allocated together with the data; nil if there is none
}

func (env *envelope) readField(c *jsonscan.Cursor, name string) {
	switch name {
	case "id":
		env.ID = readID(c).String()
	case "event":
		env.Name = jsonscan.Text[Name](c)
	case "account_id":
		env.AccountID = readIntID(c).V
	case "ip":
		env.IP = c.String()
	case "user":
		env.User = readActor(c)
	case "created_on":
		env.createdOn = readUnixTime(c)
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

// readActor reads a user. It treats an invalid field as null.
func readActor(c *jsonscan.Cursor) (v User) {
	for name, more := c.First(); more; name, more = c.Next() {
		switch name {
		case "id":
			v.ID = readIntID(c)
		case "email":
			valid := c.Peek() == '"'
			v.Email = Null[string]{V: c.String(), Valid: valid}
		case "account_id":
			v.AccountID = readIntID(c)
		default:
			c.Skip()
		}
	}
	return v
}

// finish sets the fields that depend on other fields, and returns the event.
func (env *envelope) finish() *Event {
	switch {
	case !env.createdOn.IsZero():
		env.Time = env.createdOn
	case !env.timestamp.IsZero():
		env.Time, env.general = env.timestamp, true
	}
	switch {
	case !env.hasData:
		env.Data = noData(env.Name)
	case env.Data == nil || env.dataName != env.Name:
		c := env.data
		env.readData(&c)
	}
	if env.allocated == nil {
		env.allocated = new(Event)
	}
	*env.allocated = env.Event
	return env.allocated
}

func (env *envelope) readData(c *jsonscan.Cursor) {
	start := c.Offset()
	var data Data
	scanErr := c.Isolate(func(c *jsonscan.Cursor) {
		if data, env.allocated = readShape(c, env.Name); env.allocated == nil {
			c.Skip()
		}
	})
	env.Data, env.dataName, env.rawData = data, env.Name, c.Since(start)
	if data == nil || scanErr != nil {
		unknown := &Unknown{Raw: env.RawData(), Partial: data}
		if scanErr != nil {
			unknown.Err = newParseError(scanErr, nil)
		}
		env.Data = unknown
	}
}

// noData returns the data for an event without a field "data".
func noData(event Name) *Unknown {
	if _, allocated := readShape(jsonscan.New("null"), event); allocated != nil {
		return &Unknown{Err: &ParseError{Path: "data", Want: "an object"}}
	}
	return &Unknown{}
}
