package platform

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// changedSnapshot is a whole state that changes are put over.
type changedSnapshot struct {
	snapshot

	contacts map[int64]int  // places of contacts by their ids, once there is a change
	messages map[string]int // the same of messages
}

// add puts a change over the state.
func (s *changedSnapshot) add(next *snapshot) error {
	if next.Change != s.Change+1 {
		return fmt.Errorf("want change %d", s.Change+1)
	}
	s.index()
	s.Change, s.head = next.Change, next.head
	for _, a := range next.Accounts {
		i, known := slices.BinarySearchFunc(s.Accounts, a.ID, accountSnapshot.compare)
		if known {
			s.Accounts[i].take(a)
		} else {
			s.Accounts = slices.Insert(s.Accounts, i, a)
		}
	}
	for _, c := range next.Contacts {
		s.Contacts = put(s.Contacts, s.contacts, c.ID, c)
	}
	for i, m := range next.Messages {
		if m.Content < 0 || m.Content >= len(next.Contents) {
			return fmt.Errorf("messages[%d]: %w", i, errNoContent)
		}
		m.Content += len(s.Contents)
		s.Messages = put(s.Messages, s.messages, m.ID, m)
	}
	s.Contents = append(s.Contents, next.Contents...)
	return s.Add(next.State)
}

func (a accountSnapshot) compare(id int64) int { return cmp.Compare(a.ID, id) }

// since leaves of an account the collections that are not as they were.
func (a accountSnapshot) since(was accountSnapshot) (left accountSnapshot, changed bool) {
	now, before := reflect.ValueOf(&a).Elem(), reflect.ValueOf(was)
	for i := 1; i < now.NumField(); i++ { // behind the id
		if reflect.DeepEqual(now.Field(i).Interface(), before.Field(i).Interface()) {
			now.Field(i).SetZero()
		} else {
			changed = true
		}
	}
	return a, changed
}

// take takes over the collections of a later state that has but some.
func (a *accountSnapshot) take(later accountSnapshot) {
	into, from := reflect.ValueOf(a).Elem(), reflect.ValueOf(later)
	for i := 1; i < from.NumField(); i++ {
		if !from.Field(i).IsNil() {
			into.Field(i).Set(from.Field(i))
		}
	}
}

var errNoContent = errors.New("content: there is none such")

// index finds the places of records, when the first change comes.
func (s *changedSnapshot) index() {
	if s.contacts != nil {
		return
	}
	s.contacts, s.messages = map[int64]int{}, map[string]int{}
	for i, c := range s.Contacts {
		s.contacts[c.ID] = i
	}
	for i, m := range s.Messages {
		s.messages[m.ID] = i
	}
}

// put puts a record into the place of the one with its id, or behind all.
func put[K comparable, T any](all []T, places map[K]int, id K, x T) []T {
	if i, known := places[id]; known {
		all[i] = x
		return all
	}
	places[id] = len(all)
	return append(all, x)
}
