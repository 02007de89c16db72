package platform

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// mergedState is a whole state that changes are put over.
type mergedState struct {
	state

	contacts map[int64]int  // places of contacts by their ids, once there is a change
	messages map[string]int // the same of messages
}

// add puts a change over the state.
func (s *mergedState) add(next *state) error {
	if next.Change != s.Change+1 {
		return fmt.Errorf("want change %d", s.Change+1)
	}
	s.index()
	s.Change, s.head = next.Change, next.head
	for _, a := range next.Accounts {
		i, known := slices.BinarySearchFunc(s.Accounts, a.ID, accountState.compare)
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
	return s.Apply(next.State)
}

func (a accountState) compare(id int64) int { return cmp.Compare(a.ID, id) }

// take takes over the collections of a later state that has but some.
func (a *accountState) take(later accountState) {
	into, from := reflect.ValueOf(a).Elem(), reflect.ValueOf(later)
	for i := 1; i < from.NumField(); i++ {
		if !from.Field(i).IsNil() {
			into.Field(i).Set(from.Field(i))
		}
	}
}

var errNoContent = errors.New("content: there is none such")

// index finds the places of records, when the first change comes.
func (s *mergedState) index() {
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
