package client

import "iter"

// ContactsFromSlice returns contacts as a source for [Contacts.Import].
func ContactsFromSlice(contacts []ImportContact) iter.Seq2[ImportContact, error] {
	return func(yield func(ImportContact, error) bool) {
		for _, c := range contacts {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// ContactsFromAddresses returns addresses as a source for [Contacts.Import].
func ContactsFromAddresses(addresses iter.Seq[string]) iter.Seq2[ImportContact, error] {
	return func(yield func(ImportContact, error) bool) {
		for a := range addresses {
			if !yield(ImportContact{Email: a}, nil) {
				return
			}
		}
	}
}
