package platform

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/table"
)

// The statuses of contacts (specification, "Contact").
const (
	statusActive       = "active"
	statusPending      = "pending"
	statusUnsubscribed = "unsubscribed"
	statusDeleted      = "deleted"
	statusSpam         = "spam"
	statusBounced      = "bounced"
)

// The slices of a contact are never changed in place, so its copies can share
// them.
type contact struct {
	api.Contact        // LastBounceType is "" instead of "none"
	Added       int64  `json:"added"`           // sequence number of the last addition to the list
	Before      string `json:"before,omitzero"` // status that a deleted contact had before

	slot uint32
}

func (c *contact) wire() api.Contact {
	out := c.Contact
	out.CustomAttributes = orEmpty(out.CustomAttributes)
	out.Tags, out.Interests = orEmpty(out.Tags), orEmpty(out.Interests)
	out.LastBounceType = c.lastBounce()
	return out
}

// effectiveStatus returns the contact's status. If the contact is deleted,
// effectiveStatus returns the status that it had before.
func (c *contact) effectiveStatus() string {
	if c.Status == statusDeleted {
		return c.Before
	}
	return c.Status
}

func (c *contact) lastBounce() string { return cmp.Or(c.LastBounceType, "none") }

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// setAttribute returns a copy of attributes with one attribute set.
func setAttribute(attributes []api.CustomAttribute, name, value string) []api.CustomAttribute {
	attributes = slices.Clone(attributes)
	i := slices.IndexFunc(attributes, func(a api.CustomAttribute) bool { return a.Name == name })
	if i < 0 {
		return append(attributes, api.CustomAttribute{Name: name, Value: value})
	}
	attributes[i].Value = value
	return attributes
}

// contactTable contains the contacts of a list. In a list of a million contacts,
// reading a page takes microseconds. If the page is sorted and also filtered by a tag
// or an interest, reading it takes milliseconds. The slot of a contact is its index in
// the table of all contacts. The indexes contain slots. Only contacts that edit()
// returned may be changed. To change indexed fields, use the methods of the table.
type contactTable struct {
	all       table.Table[contact] // in ascending order of ids
	byAddress map[string]uint32
	orders    orders // of all slots
	statuses  map[string]*standing
	tags      map[string][]uint32
	interests map[string][]uint32
}

type orders struct {
	byEmail order[uint32] // by address
	byDate  order[uint32] // by subscribed_on
}

func (o *orders) insert(slot uint32) {
	o.byEmail.Insert(slot)
	o.byDate.Insert(slot)
}

func (o *orders) remove(slot uint32) {
	o.byEmail.Remove(slot)
	o.byDate.Remove(slot)
}

// standing contains the slots of all contacts with one status.
type standing struct {
	orders

	set slotSet
}

func newContactTable() *contactTable {
	t := &contactTable{
		byAddress: map[string]uint32{},
		statuses:  map[string]*standing{},
		tags:      map[string][]uint32{},
		interests: map[string][]uint32{},
	}
	t.orders = t.newOrders()
	return t
}

func (t *contactTable) newOrders() (o orders) {
	o.byEmail.Compare = func(a, b uint32) int {
		return cmp.Or(strings.Compare(t.slot(a).Email, t.slot(b).Email), cmp.Compare(a, b))
	}
	o.byDate.Compare = func(a, b uint32) int {
		return cmp.Or(cmp.Compare(t.slot(a).SubscribedOn, t.slot(b).SubscribedOn), cmp.Compare(a, b))
	}
	return o
}

// The id of the new contact must be greater than the ids of all other contacts.
func (t *contactTable) add(c *contact) {
	slot := uint32(t.all.Len())
	c.slot = slot
	t.all.Add(c)
	t.byAddress[strings.ToLower(c.Email)] = slot
	t.orders.insert(slot)
	t.mark(c.Status, slot)
	for _, tag := range c.Tags {
		t.tags[tag] = insertSlot(t.tags[tag], slot)
	}
	for _, interest := range c.Interests {
		t.interests[interest] = insertSlot(t.interests[interest], slot)
	}
}

func (t *contactTable) mark(status string, slot uint32) {
	s := t.statuses[status]
	if s == nil {
		s = &standing{orders: t.newOrders()}
		t.statuses[status] = s
	}
	s.set.Add(slot)
	s.insert(slot)
}

func (t *contactTable) find(id int64) *contact {
	i, found := sort.Find(t.all.Len(), func(i int) int { return cmp.Compare(id, t.all.At(i).ID) })
	if !found {
		return nil
	}
	return t.all.At(i)
}

func (t *contactTable) slot(n uint32) *contact { return t.all.At(int(n)) }

// edit returns a version of the contact that the caller may change.
func (t *contactTable) edit(c *contact) *contact { return t.all.Edit(int(c.slot)) }

// at returns the contact with the given address, ignoring letter case.
func (t *contactTable) at(address string) *contact {
	slot, ok := t.byAddress[strings.ToLower(address)]
	if !ok {
		return nil
	}
	return t.slot(slot)
}

// editAt returns nil if the list does not contain the address.
func (t *contactTable) editAt(address string) *contact {
	if c := t.at(address); c != nil {
		return t.edit(c)
	}
	return nil
}

func (t *contactTable) setStatus(c *contact, status string) {
	if c.Status == status {
		return
	}
	before := t.statuses[c.Status]
	before.set.Remove(c.slot)
	before.remove(c.slot)
	c.Before = ""
	if status == statusDeleted {
		c.Before = c.Status
	}
	c.Status = status
	t.mark(status, c.slot)
}

func (t *contactTable) setDate(c *contact, unix int64) {
	among := &t.statuses[c.Status].byDate
	t.orders.byDate.Remove(c.slot)
	among.Remove(c.slot)
	c.SubscribedOn = unix
	t.orders.byDate.Insert(c.slot)
	among.Insert(c.slot)
}

// tag adds tags to a contact, without duplicates.
func (t *contactTable) tag(c *contact, tags []string) {
	c.Tags = addLabels(c.Tags, tags, t.tags, c.slot)
}

func (t *contactTable) interest(c *contact, interests []string) {
	c.Interests = addLabels(c.Interests, interests, t.interests, c.slot)
}

func addLabels(have, add []string, index map[string][]uint32, slot uint32) []string {
	for _, label := range add {
		if !slices.Contains(have, label) {
			have = append(slices.Clip(have), label)
			index[label] = insertSlot(index[label], slot)
		}
	}
	return have
}

type query struct {
	field, value string // the filter; an empty field means no filter
	sort         string // id, email, status or subscribed_on
	descending   bool
}

// page returns the contacts of one page and the number of contacts on all
// pages.
func (t *contactTable) page(q query, p pageRequest) ([]*contact, int) {
	found := t.matching(q.field, q.value)
	from, to := p.bounds(found.n)
	if q.descending { // read the page from the other end, then reverse the order
		from, to = found.n-to, found.n-from
	}
	n := to - from
	out := make([]*contact, 0, n)
	if n == 0 {
		return out, found.n
	}
	for slot := range t.sorted(q.sort, found, from) {
		if out = append(out, t.slot(slot)); len(out) == n {
			break
		}
	}
	if q.descending {
		slices.Reverse(out)
	}
	return out, found.n
}

// match is the result of a filter: all slots, a set of slots, or a sorted
// slice.
type match struct {
	n      int
	all    bool
	set    slotSet
	sorted []uint32
	orders *orders // sort orders; nil if the result is a sorted slice
}

func (t *contactTable) matching(field, value string) match {
	switch field {
	case "":
		return match{n: t.all.Len(), all: true, orders: &t.orders}
	case "status":
		if s := t.statuses[value]; s != nil {
			return match{n: s.byEmail.Len(), set: s.set, orders: &s.orders}
		}
		return match{}
	case "tag":
		return match{n: len(t.tags[value]), sorted: t.tags[value]}
	case "interest":
		return match{n: len(t.interests[value]), sorted: t.interests[value]}
	}
	slot, ok := t.byAddress[strings.ToLower(value)]
	if !ok {
		return match{}
	}
	return match{n: 1, sorted: []uint32{slot}}
}

// asSet returns nil if all slots match.
func (m match) asSet() slotSet {
	if m.all || m.set != nil {
		return m.set
	}
	set := slotSet{} // not nil
	for _, slot := range m.sorted {
		set.Add(slot)
	}
	return set
}

func (m match) from(rank int) iter.Seq[uint32] {
	if m.set != nil {
		return m.set.From(rank, nil)
	}
	return func(yield func(uint32) bool) {
		for i := rank; i < m.n; i++ {
			slot := uint32(i)
			if !m.all {
				slot = m.sorted[i]
			}
			if !yield(slot) {
				return
			}
		}
	}
}

func (t *contactTable) sorted(field string, found match, rank int) iter.Seq[uint32] {
	among := found.orders
	if among == nil {
		among = &t.orders
	}
	switch field {
	case "email":
		return t.inOrder(&among.byEmail, found, rank)
	case "subscribed_on":
		return t.inOrder(&among.byDate, found, rank)
	case "status":
		return t.byStatus(found.asSet(), rank)
	}
	return found.from(rank)
}

// inOrder yields the matching slots in the given order, starting at the given rank. If
// the order contains only matching slots, inOrder reads the order directly. Otherwise,
// it sorts the matches if there are few, or searches the whole order.
func (t *contactTable) inOrder(order *order[uint32], found match, rank int) iter.Seq[uint32] {
	switch {
	case found.orders != nil:
		return order.From(rank)
	case found.n <= t.all.Len()/256:
		found.sorted = slices.SortedFunc(slices.Values(found.sorted), order.Compare)
		return found.from(rank)
	}
	return found.asSet().Ordered(order, rank)
}

// byStatus yields the slots in a set, sorted by status. A nil set means all slots.
func (t *contactTable) byStatus(within slotSet, rank int) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for _, status := range slices.Sorted(maps.Keys(t.statuses)) {
			s := t.statuses[status]
			n := s.byEmail.Len()
			if within != nil {
				n = s.set.Count(within)
			}
			skipped := min(rank, n)
			for slot := range s.set.From(skipped, within) {
				if !yield(slot) {
					return
				}
			}
			rank -= skipped
		}
	}
}
