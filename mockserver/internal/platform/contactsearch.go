package platform

import (
	"iter"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/clock"
)

// ListedContact is a contact in search results.
type ListedContact struct {
	AccountID    int64     `json:"account_id" doc:"the account of the contact"`
	ListID       int64     `json:"list_id,string" doc:"the id of the list"`
	ListName     string    `json:"list_name" doc:"the name of the list"`
	ID           int64     `json:"id,string" doc:"the id of the contact"`
	Email        string    `json:"email" doc:"the address of the contact"`
	Status       string    `json:"status" doc:"the status of the contact"`
	SubscribedOn time.Time `json:"subscribed_on" doc:"the time when the contact was added to the list"`
	Tags         []string  `json:"tags" doc:"the tags of the contact"`
}

// NewestContacts returns the number of contacts on a list, and an iterator over these contacts,
// newest first. The list can belong to any account. If listID is 0, the number and the iterator
// cover all lists, beginning with the newest list. If ok is false, the list does not exist.
func (p *Platform) NewestContacts(listID int64) (n int, contacts iter.Seq[ListedContact], ok bool) {
	type listSnapshot struct {
		account int64
		api.List
		contacts []*contact
	}
	lists := ofAll(p, func(a *account) *collection[int64, list] { return &a.Lists }, func(a *account, l *list) listSnapshot {
		if listID != 0 && listID != l.ListID {
			return listSnapshot{}
		}
		return listSnapshot{a.ID, l.List, l.contacts.all.Snapshot()}
	}, func(l listSnapshot) int64 { return l.ListID })
	lists = slices.DeleteFunc(lists, func(l listSnapshot) bool { return l.ListID == 0 })
	for _, l := range lists {
		n += len(l.contacts)
	}
	return n, func(yield func(ListedContact) bool) {
		for _, l := range lists {
			for _, c := range slices.Backward(l.contacts) {
				if !yield(ListedContact{l.account, l.ListID, l.Name, c.ID, c.Email, c.Status, clock.Unix(c.SubscribedOn), c.Tags}) {
					return
				}
			}
		}
	}, listID == 0 || len(lists) > 0
}
