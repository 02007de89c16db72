package platform

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/cut"
	"example.com/emailplatform/mockserver/internal/slots"
)

// contactTable holds the contacts of a list so that any filtered, sorted page
// of a million is found in a few milliseconds. A contact's slot is its place
// in all; the indexes hold slots. A contact is changed by the table's methods
// alone: they tell whoever keeps what it was, and the indexes.
type contactTable struct {
	all       []*contact // by id, which only ever grows
	changing  cut.Source[contact]
	byAddress map[string]uint32
	byEmail   slots.Order          // slots by address
	byDate    slots.Order          // slots by subscribed_on
	statuses  map[string]slots.Set // slots by status
	tags      map[string][]uint32
	interests map[string][]uint32
}

func newContactTable() *contactTable {
	t := &contactTable{
		byAddress: map[string]uint32{},
		statuses:  map[string]slots.Set{},
		tags:      map[string][]uint32{},
		interests: map[string][]uint32{},
	}
	t.byEmail.Compare = func(a, b uint32) int {
		return cmp.Or(strings.Compare(t.all[a].Email, t.all[b].Email), cmp.Compare(a, b))
	}
	t.byDate.Compare = func(a, b uint32) int {
		return cmp.Or(cmp.Compare(t.all[a].SubscribedOn, t.all[b].SubscribedOn), cmp.Compare(a, b))
	}
	return t
}

// add takes a contact whose id is greater than all before.
func (t *contactTable) add(c *contact) {
	slot := uint32(len(t.all))
	c.slot = slot
	t.all = append(t.all, c)
	t.byAddress[strings.ToLower(c.Email)] = slot
	t.byEmail.Insert(slot)
	t.byDate.Insert(slot)
	t.mark(c.Status, slot)
	for _, tag := range c.Tags {
		t.tags[tag] = slots.Insert(t.tags[tag], slot)
	}
	for _, interest := range c.Interests {
		t.interests[interest] = slots.Insert(t.interests[interest], slot)
	}
}

func (t *contactTable) mark(status string, slot uint32) {
	set := t.statuses[status]
	set.Add(slot)
	t.statuses[status] = set
}

// find returns the contact with the id, or nil.
func (t *contactTable) find(id int64) *contact {
	i, ok := slices.BinarySearchFunc(t.all, id, func(c *contact, id int64) int { return cmp.Compare(c.ID, id) })
	if !ok {
		return nil
	}
	return t.all[i]
}

// at returns the contact with the address, compared without case, or nil.
func (t *contactTable) at(address string) *contact {
	slot, ok := t.byAddress[strings.ToLower(address)]
	if !ok {
		return nil
	}
	return t.all[slot]
}

func (t *contactTable) setStatus(c *contact, status string) {
	t.changing.Changing(c)
	t.statuses[c.Status].Remove(c.slot)
	c.Before = ""
	if status == statusDeleted {
		c.Before = c.Status
	}
	c.Status = status
	t.mark(status, c.slot)
}

func (t *contactTable) setDate(c *contact, unix int64) {
	t.changing.Changing(c)
	t.byDate.Remove(c.slot)
	c.SubscribedOn = unix
	t.byDate.Insert(c.slot)
}

// setAdded notes that the contact was added again: n grows with every time.
func (t *contactTable) setAdded(c *contact, n int64) {
	t.changing.Changing(c)
	c.Added = n
}

// setAttributes gives the contact other attributes, in a slice of their own.
func (t *contactTable) setAttributes(c *contact, attributes []attribute) {
	t.changing.Changing(c)
	c.Attributes = attributes
}

// bounced counts a bounce.
func (t *contactTable) bounced(c *contact, category events.BounceCategory) {
	t.changing.Changing(c)
	c.Bounces++
	c.LastBounceType = bounceType(category)
}

// tag gives the contact the tags that it does not have yet. The slices of a
// contact are never changed in place: copies of it share them.
func (t *contactTable) tag(c *contact, tags []string) {
	t.changing.Changing(c)
	c.Tags = addLabels(c.Tags, tags, t.tags, c.slot)
}

func (t *contactTable) interest(c *contact, interests []string) {
	t.changing.Changing(c)
	c.Interests = addLabels(c.Interests, interests, t.interests, c.slot)
}

func addLabels(have, add []string, index map[string][]uint32, slot uint32) []string {
	for _, label := range add {
		if !slices.Contains(have, label) {
			have = append(slices.Clip(have), label)
			index[label] = slots.Insert(index[label], slot)
		}
	}
	return have
}

// query is a filtered and sorted view of the table.
type query struct {
	field, value string // the filter; no field is no filter
	sort         string // id, email, status or subscribed_on
	descending   bool
}

// page returns the contacts of one page and how many there are on all.
func (t *contactTable) page(q query, p pageRequest) ([]*contact, int) {
	set, n := t.matching(q.field, q.value)
	from, to := p.bounds(n)
	if q.descending { // the same places from the other end, then turned round
		from, to = n-to, n-from
	}
	out := make([]*contact, 0, to-from)
	i := 0
	for slot := range t.sorted(q.sort) {
		if i == to {
			break
		}
		if set == nil || set.Has(slot) {
			if i >= from {
				out = append(out, t.all[slot])
			}
			i++
		}
	}
	if q.descending {
		slices.Reverse(out)
	}
	return out, n
}

// matching returns the slots that pass a filter and how many they are; a nil
// set is all of them.
func (t *contactTable) matching(field, value string) (slots.Set, int) {
	var found []uint32
	switch field {
	case "":
		return nil, len(t.all)
	case "status":
		set := t.statuses[value]
		if set == nil {
			set = slots.Set{}
		}
		return set, set.Count()
	case "email":
		if slot, ok := t.byAddress[strings.ToLower(value)]; ok {
			found = []uint32{slot}
		}
	case "tag":
		found = t.tags[value]
	case "interest":
		found = t.interests[value]
	}
	set := slots.Set{}
	for _, slot := range found {
		set.Add(slot)
	}
	return set, len(found)
}

func (t *contactTable) sorted(field string) iter.Seq[uint32] {
	switch field {
	case "email":
		return t.byEmail.All
	case "subscribed_on":
		return t.byDate.All
	case "status":
		return t.byStatus
	}
	return func(yield func(uint32) bool) {
		for slot := range t.all {
			if !yield(uint32(slot)) {
				return
			}
		}
	}
}

func (t *contactTable) byStatus(yield func(uint32) bool) {
	statuses := make([]string, 0, len(t.statuses))
	for status := range t.statuses {
		statuses = append(statuses, status)
	}
	slices.Sort(statuses)
	for _, status := range statuses {
		for slot := range t.statuses[status].All {
			if !yield(slot) {
				return
			}
		}
	}
}
