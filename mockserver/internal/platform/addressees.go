package platform

import "strings"

// addressees are the contacts of an account that an address alone means, by the
// address without case: of those that have it, on whatever list, the one that was
// added last. No contact ever leaves its list, and the number that it is added
// with grows with every time, so whoever was added now takes the place.
type addressees map[string]addressee

type addressee struct {
	list    *list
	contact *contact
}

// added must be told of every contact that is added to a list, or added again.
func (a addressees) added(l *list, c *contact) {
	address := strings.ToLower(c.Email)
	if last := a[address].contact; last == nil || last.Added < c.Added {
		a[address] = addressee{l, c}
	}
}

func (a addressees) find(address string) (*list, *contact) {
	found := a[strings.ToLower(address)]
	return found.list, found.contact
}
