package platform

import (
	"fmt"
	"iter"
	"slices"

	"example.com/emailplatform/mockserver/internal/apierror"
)

// collection contains the resources of one kind in an account, by key and in order of creation. The
// zero value is empty. Snapshots share the resources, so do not change a resource in place. Instead,
// change the copy that edit returns.
type collection[K comparable, T any] struct {
	byKey   map[K]numbered[T]
	inOrder []*T  // oldest first
	numbers []int // of the resources in inOrder, ascending
	last    int   // the number of the newest resource, even if it was removed
}

type numbered[T any] struct {
	resource *T
	number   int
}

func (c *collection[K, T]) add(key K, resource *T) {
	if c.byKey == nil {
		c.byKey = map[K]numbered[T]{}
	}
	c.last++
	c.byKey[key] = numbered[T]{resource, c.last}
	c.inOrder, c.numbers = append(c.inOrder, resource), append(c.numbers, c.last)
}

func (c *collection[K, T]) remove(key K) {
	i := c.index(key)
	c.inOrder, c.numbers = slices.Delete(c.inOrder, i, i+1), slices.Delete(c.numbers, i, i+1)
	delete(c.byKey, key)
}

// index returns the position of a resource in inOrder. The resource must exist, because
// remove and set would otherwise change another resource.
func (c *collection[K, T]) index(key K) int {
	i, found := slices.BinarySearch(c.numbers, c.byKey[key].number)
	if !found {
		panic(fmt.Sprintf("mockserver: the collection has no key %v", key))
	}
	return i
}

// get returns the resource with the given key, or nil if there is none. The caller must not change
// the resource.
func (c *collection[K, T]) get(key K) *T { return c.byKey[key].resource }

// set replaces a resource. Within the transaction, the caller can change the new resource until the next call of set or
// edit with its key.
func (c *collection[K, T]) set(key K, resource *T) {
	i := c.index(key)
	c.byKey[key], c.inOrder[i] = numbered[T]{resource, c.numbers[i]}, resource
}

// edit replaces a resource with a copy, and returns the copy. Within the transaction, the caller can change the copy
// until the next call of set or edit with its key.
func (c *collection[K, T]) edit(key K) *T {
	resource := new(*c.get(key))
	c.set(key, resource)
	return resource
}

// find returns the resource with the given key, or a 404 error if there is none.
func (c *collection[K, T]) find(key K, kind string, loc ...any) (*T, error) {
	if found := c.get(key); found != nil {
		return found, nil
	}
	return nil, apierror.NotFound(kind, key, loc...)
}

func (c *collection[K, T]) len() int { return len(c.byKey) }

// all yields the resources, oldest first.
func (c *collection[K, T]) all() iter.Seq[*T] { return slices.Values(c.inOrder) }

// snapshot returns the current resources, oldest first.
func (c *collection[K, T]) snapshot() []*T { return slices.Clone(c.inOrder) }

// copies returns copies of the resources, oldest first.
func (c *collection[K, T]) copies() []T { return copiesOf(c.inOrder) }

func copiesOf[T any](resources []*T) []T {
	out := make([]T, 0, len(resources))
	for _, x := range resources {
		out = append(out, *x)
	}
	return out
}

// copyOf returns a copy of a resource that is stored in its generated API type.
func copyOf[T any](resource *T) T { return *resource }
