package events

import (
	"cmp"

	"example.com/emailplatform/internal/json/jsonscan"
)

// subject contains the values that identify what an event is about. If one of these values
// is invalid, the data becomes Unknown, because otherwise a program could act on the wrong
// record.
type subject struct {
	address  string
	email    string
	list     ID
	contact  ID
	campaign ID
	isBounce bool // read checks the bounce too, because its category determines the action
	hasEmail bool // the field email is an object with the id, not an address
}

// subjectOf returns the identifying values in d if the payload type of d is unknown. Otherwise, it
// returns nil.
func subjectOf(d Data) *subject {
	u, _ := d.(*Unknown)
	if u == nil || u.Partial != nil {
		return nil
	}
	s := new(subject)
	s.read(newCursor(string(u.Raw)), "")
	return s
}

// read reads the identifying fields of an object, which any event can have. The paths of these
// fields begin with prefix.
func (s *subject) read(c *jsonscan.Cursor, prefix string) {
	for name, more := c.First(); more; name, more = c.Next() {
		switch path := prefix + name; path {
		case "contact", "list", "campaign", "transactional_email", "suppressedEmail":
			if c.EmptyArray() { // contains no wrong value, so it is like null
				c.Skip()
			} else {
				s.read(c, path+".")
			}
		case "bounce":
			if s.isBounce {
				s.read(c, path+".")
			} else {
				c.Skip()
			}
		case "bounce.category":
			_ = c.String()
		case "email":
			if c.Peek() != '"' || s.hasEmail {
				s.read(c, path+".")
			} else if address := c.String(); s.address == "" { // the flat copy of the transactional payload
				s.address = address
			}
		case "contact.email", "email_address", "suppressedEmail.email":
			s.address = cmp.Or(c.String(), s.address)
		case "email.id", "transactional_email.id", "email_id":
			s.email = cmp.Or(readAnyID(c), s.email)
		case "list.id", "list_id":
			s.list = readID(c)
		case "campaign.id", "campaign_id":
			s.campaign = readID(c)
		case "contact.id", "contact_id":
			s.contact = readID(c)
		default:
			c.Skip()
		}
	}
}
