package platform

import "strings"

// addressees maps each address to the contact that an email without a list goes
// to. Keys are lower-case addresses. If several lists contain an address, the
// last added contact counts. Contacts never leave this map: a contact keeps its
// list, and the sequence number of additions only grows, so a new contact
// replaces the previous one.
type addressees map[string]addressee

type addressee struct {
	list *list
	slot uint32 // of the contact
}

// added must be called for every contact that is added to a list, including
// again.
func (a addressees) added(l *list, c *contact) {
	if _, last := a.find(c.Email); last == nil || last.Added < c.Added {
		a[strings.ToLower(c.Email)] = addressee{l, c.slot}
	}
}

func (a addressees) find(address string) (*list, *contact) {
	found, ok := a[strings.ToLower(address)]
	if !ok {
		return nil, nil
	}
	return found.list, found.list.contacts.slot(found.slot)
}
