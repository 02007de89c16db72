package platform

import (
	"cmp"
	"iter"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// collection contains the resources of one kind in an account, by key and in
// order of creation. The zero value is empty.
type collection[K comparable, T any] struct {
	byKey   map[K]*item[T]
	inOrder order[*item[T]]
	places  int64 // last assigned place
}

// item is a resource and its position in the order of creation. The order of creation
// may differ from the order of ids, because seeds can set ids.
type item[T any] struct {
	resource *T
	place    int64
}

func (c *collection[K, T]) add(key K, resource *T) {
	if c.byKey == nil {
		c.byKey = map[K]*item[T]{}
		c.inOrder.Compare = func(a, b *item[T]) int { return cmp.Compare(a.place, b.place) }
	}
	c.places++
	c.byKey[key] = &item[T]{resource, c.places}
	c.inOrder.Insert(c.byKey[key])
}

func (c *collection[K, T]) remove(key K) {
	c.inOrder.Remove(c.byKey[key])
	delete(c.byKey, key)
}

// get returns the resource with the given key, or nil if there is none.
func (c *collection[K, T]) get(key K) *T {
	if found := c.byKey[key]; found != nil {
		return found.resource
	}
	return nil
}

// find returns the resource with the given key, or a 404 error if there is none.
func (c *collection[K, T]) find(key K, kind string, loc ...any) (*T, error) {
	if found := c.get(key); found != nil {
		return found, nil
	}
	return nil, problem.NotFound(kind, key, loc...)
}

func (c *collection[K, T]) len() int { return len(c.byKey) }

// all yields the resources, oldest first.
func (c *collection[K, T]) all() iter.Seq[*T] { return c.from(0) }

func (c *collection[K, T]) from(rank int) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for found := range c.inOrder.From(rank) {
			if !yield(found.resource) {
				return
			}
		}
	}
}

// copies returns copies of the resources, oldest first. The result is never
// nil, because nil means "unchanged" in a snapshot.
func (c *collection[K, T]) copies() []T {
	out := make([]T, 0, c.len())
	for x := range c.all() {
		out = append(out, *x)
	}
	return out
}

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

// entry returns the entry for an address or a pattern, or nil if there is none.
func (s *suppressionList) entry(email string) *api.SuppressedEmail {
	return s.get(strings.ToLower(email))
}

// matches reports whether the list contains the address or a pattern that matches it.
func (s *suppressionList) matches(address string) bool {
	local, domain, _ := strings.Cut(address, "@")
	return s.entry(address) != nil || s.entry("*@"+domain) != nil || s.entry(local+"@*") != nil
}
