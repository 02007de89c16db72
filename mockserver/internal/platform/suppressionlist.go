package platform

import (
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
)

// suppressionList contains suppressed addresses and patterns (*@domain, local@*). Its
// keys are in lower case.
type suppressionList struct {
	collection[string, api.SuppressedEmail]
}

// suppress adds an entry and reports whether it is new.
func (s *suppressionList) suppress(e api.SuppressedEmail) bool {
	if s.entry(e.Email) != nil {
		return false
	}
	s.add(strings.ToLower(e.Email), &e)
	return true
}

func (s *suppressionList) entry(email string) *api.SuppressedEmail {
	return s.get(strings.ToLower(email))
}

// matches reports whether the list contains the address or a pattern that matches it.
func (s *suppressionList) matches(address string) bool {
	local, domain, _ := strings.Cut(address, "@")
	return s.entry(address) != nil || s.entry("*@"+domain) != nil || s.entry(local+"@*") != nil
}
