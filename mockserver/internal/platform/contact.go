package platform

import (
	"cmp"
	"iter"
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
	Barred      bool   `json:"barred,omitzero"` // complained or bounced since it was active, so no import activates it

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
	statuses  map[string]orders
	tags      map[string]*order[uint32]
	interests map[string]*order[uint32]
}

// orders contains the same slots in several sort orders. The keys are the sort fields
// of a query.
type orders map[string]*order[uint32]

func (o orders) insert(slot uint32) {
	for _, order := range o {
		order.Insert(slot)
	}
}

func (o orders) remove(slot uint32) {
	for _, order := range o {
		order.Remove(slot)
	}
}

func newContactTable() *contactTable {
	t := &contactTable{
		byAddress: map[string]uint32{},
		statuses:  map[string]orders{},
		tags:      map[string]*order[uint32]{},
		interests: map[string]*order[uint32]{},
	}
	t.orders = t.newOrders()
	return t
}

func (t *contactTable) newOrders() orders {
	by := func(compare func(a, b *contact) int) *order[uint32] {
		return &order[uint32]{Compare: func(a, b uint32) int {
			return cmp.Or(compare(t.slot(a), t.slot(b)), cmp.Compare(a, b))
		}}
	}
	return orders{
		"id":            bySlot(),
		"email":         by(func(a, b *contact) int { return strings.Compare(a.Email, b.Email) }),
		"status":        by(func(a, b *contact) int { return strings.Compare(a.Status, b.Status) }),
		"subscribed_on": by(func(a, b *contact) int { return cmp.Compare(a.SubscribedOn, b.SubscribedOn) }),
	}
}

// bySlot returns an empty order by slot, which is the order of ids.
func bySlot() *order[uint32] { return &order[uint32]{Compare: cmp.Compare[uint32]} }

// The id of the new contact must be greater than the ids of all other contacts.
func (t *contactTable) add(c *contact) {
	c.slot = uint32(t.all.Len())
	t.all.Add(c)
	t.byAddress[strings.ToLower(c.Email)] = c.slot
	t.orders.insert(c.slot)
	t.insertByStatus(c)
	index(t.tags, c.Tags, c.slot)
	index(t.interests, c.Interests, c.slot)
}

// index adds a slot to the indexes of labels.
func index(byLabel map[string]*order[uint32], labels []string, slot uint32) {
	for _, label := range labels {
		if byLabel[label] == nil {
			byLabel[label] = bySlot()
		}
		byLabel[label].Insert(slot)
	}
}

func (t *contactTable) insertByStatus(c *contact) {
	if t.statuses[c.Status] == nil {
		t.statuses[c.Status] = t.newOrders()
	}
	t.statuses[c.Status].insert(c.slot)
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
	t.orders["status"].Remove(c.slot)
	t.statuses[c.Status].remove(c.slot)
	c.Before = ""
	if status == statusDeleted {
		c.Before = c.Status
	}
	c.Status = status
	c.Barred = status != statusActive && (c.Barred || status == statusSpam || status == statusBounced)
	t.orders["status"].Insert(c.slot)
	t.insertByStatus(c)
}

func (t *contactTable) setDate(c *contact, unix int64) {
	all, among := t.orders["subscribed_on"], t.statuses[c.Status]["subscribed_on"]
	all.Remove(c.slot)
	among.Remove(c.slot)
	c.SubscribedOn = unix
	all.Insert(c.slot)
	among.Insert(c.slot)
}

// tag adds tags to a contact, without duplicates.
func (t *contactTable) tag(c *contact, tags []string) {
	c.Tags = union(c.Tags, tags)
	index(t.tags, tags, c.slot)
}

func (t *contactTable) interest(c *contact, interests []string) {
	c.Interests = union(c.Interests, interests)
	index(t.interests, interests, c.slot)
}

func union(have, add []string) []string {
	for _, label := range add {
		if !slices.Contains(have, label) {
			have = append(slices.Clip(have), label)
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
	all := found["id"].Len()
	from, to := p.bounds(all)
	if from == to {
		return []*contact{}, all
	}
	if q.descending { // read the page from the other end, then reverse the order
		from, to = all-to, all-from
	}
	out := make([]*contact, 0, to-from)
	for slot := range t.sorted(q.sort, found, from) {
		if out = append(out, t.slot(slot)); len(out) == to-from {
			break
		}
	}
	if q.descending {
		slices.Reverse(out)
	}
	return out, all
}

// matching returns the slots that match a filter. If no index contains exactly these
// slots in every order, the result contains only the order of ids.
func (t *contactTable) matching(field, value string) orders {
	switch field {
	case "":
		return t.orders
	case "status":
		return t.statuses[value]
	case "tag":
		return orders{"id": t.tags[value]}
	case "interest":
		return orders{"id": t.interests[value]}
	}
	found := bySlot()
	if c := t.at(value); c != nil {
		found.Insert(c.slot)
	}
	return orders{"id": found}
}

// sorted yields the matching slots in the given order, starting at the given rank. If
// the matches are not in that order already, sorted sorts them if there are few, or
// searches all slots in that order.
func (t *contactTable) sorted(field string, found orders, rank int) iter.Seq[uint32] {
	if order := found[field]; order != nil {
		return order.From(rank)
	}
	matches, all := found["id"], t.orders[field]
	if matches.Len() <= t.all.Len()/256 {
		return slices.Values(slices.SortedFunc(matches.From(0), all.Compare)[rank:])
	}
	matching := make([]uint8, t.all.Len())
	for slot := range matches.From(0) {
		matching[slot] = 1
	}
	return among(all, matching, rank)
}
