package platform

import "strings"

// addressees are the contacts of an account that an address alone means, by the
// address without case: of those that have it, on whatever list, the one that was
// added last. No contact ever leaves its list, and the number that it is added
// with grows with every time, so whoever was added now takes the place.
type addressees map[string]addressee

type addressee struct {
	list *list
	slot uint32 // of the contact
}

// added must be told of every contact that is added to a list, or added again.
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
