package client

import "iter"

// ImportSlice returns contacts as a source for [Contacts.Import].
func ImportSlice(contacts []ImportContact) iter.Seq2[ImportContact, error] {
	return func(yield func(ImportContact, error) bool) {
		for _, c := range contacts {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// ImportAddresses returns addresses as a source for [Contacts.Import].
func ImportAddresses(addresses iter.Seq[string]) iter.Seq2[ImportContact, error] {
	return func(yield func(ImportContact, error) bool) {
		for a := range addresses {
			if !yield(ImportContact{Email: a}, nil) {
				return
			}
		}
	}
}
