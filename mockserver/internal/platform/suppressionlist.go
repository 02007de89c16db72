package platform

import (
	"cmp"
	"strings"
)

// suppressionList holds addresses and patterns (*@domain, local@*) that are not
// sent to, the oldest first, each once. Both indexes have the same entries.
type suppressionList struct {
	byAddress map[string]*suppressed // without case
	inOrder   order[*suppressed]
	last      int64 // place that was given away
}

func newSuppressionList() suppressionList {
	return suppressionList{
		byAddress: map[string]*suppressed{},
		inOrder:   order[*suppressed]{Compare: func(a, b *suppressed) int { return cmp.Compare(a.place, b.place) }},
	}
}

// add puts an entry behind all others, unless its address is there.
func (s *suppressionList) add(e suppressed) bool {
	if s.find(e.Email) != nil {
		return false
	}
	s.last++
	e.place = s.last
	s.byAddress[strings.ToLower(e.Email)] = &e
	s.inOrder.Insert(&e)
	return true
}

func (s *suppressionList) remove(e *suppressed) {
	delete(s.byAddress, strings.ToLower(e.Email))
	s.inOrder.Remove(e)
}

// find returns the entry of an address or a pattern as it stands, or nil.
func (s *suppressionList) find(email string) *suppressed { return s.byAddress[strings.ToLower(email)] }

// matches reports whether an address is suppressed, by itself or by a pattern.
func (s *suppressionList) matches(address string) bool {
	local, domain, _ := strings.Cut(address, "@")
	return s.find(address) != nil || s.find("*@"+domain) != nil || s.find(local+"@*") != nil
}
