package platform

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
	"strings"

	"example.com/emailplatform/mockserver/internal/table"
)

// contactTable contains the contacts of a list. Its indexes refer to a contact by its slot,
// which is the position of the contact in the field all.
//
// Change only a contact that edit returned, because a snapshot may share the other versions.
// To change the status or date of a contact, use the methods of the table, because counts
// and sort orders depend on them.
type contactTable struct {
	all       table.Table[contact] // in ascending order of ids
	byAddress map[string]uint32    // slots
	counts    map[string]int       // number of contacts by status
	sorted    map[string][]uint32  // slots in the sort orders that have been requested, by field
}

// contactOrders contains the sort fields of a query. The key for id is empty, because slots are
// in the order of ids.
var contactOrders = map[string]func(c *contact) sortKey{
	"id":            func(*contact) sortKey { return sortKey{} },
	"email":         func(c *contact) sortKey { return textKey(c.Email) },
	"status":        func(c *contact) sortKey { return textKey(c.Status) },
	"subscribed_on": func(c *contact) sortKey { return sortKey{number: c.SubscribedOn} },
}

// contactFilters contains the filter fields of a query. Each function returns the matching slots,
// in ascending order of the query's sort field.
var contactFilters = map[string]func(t *contactTable, q query) []uint32{
	"email": func(t *contactTable, q query) []uint32 {
		if slot, ok := t.byAddress[strings.ToLower(q.value)]; ok {
			return []uint32{slot}
		}
		return nil
	},
	"status": func(t *contactTable, q query) []uint32 {
		return t.filter(q, func(c *contact) bool { return c.Status == q.value })
	},
	"tag": func(t *contactTable, q query) []uint32 {
		return t.filter(q, func(c *contact) bool { return slices.Contains(c.Tags, q.value) })
	},
	"interest": func(t *contactTable, q query) []uint32 {
		return t.filter(q, func(c *contact) bool { return slices.Contains(c.Interests, q.value) })
	},
}

// sortKey is the position of a contact in a sort order. If several contacts have the same
// value, the id decides.
type sortKey struct {
	number int64
	text   string
	slot   uint32
}

// textKey also stores the first bytes of the text in the number, because comparing
// numbers is faster.
func textKey(text string) sortKey {
	var first [8]byte
	copy(first[:], text)
	return sortKey{number: int64(binary.BigEndian.Uint64(first[:]) >> 1), text: text}
}

func (k sortKey) compare(other sortKey) int {
	if order := cmp.Compare(k.number, other.number); order != 0 {
		return order
	}
	return cmp.Or(strings.Compare(k.text, other.text), cmp.Compare(k.slot, other.slot))
}

func newContactTable() *contactTable {
	return &contactTable{byAddress: map[string]uint32{}, counts: map[string]int{}, sorted: map[string][]uint32{"id": {}}}
}

// add adds a contact, whose id must be greater than the ids of all other contacts.
func (t *contactTable) add(c *contact) {
	c.slot = uint32(t.all.Len())
	t.all.Add(c)
	t.byAddress[strings.ToLower(c.Email)] = c.slot
	t.counts[c.Status]++
	for field := range t.sorted {
		t.insert(field, c.slot)
	}
}

// inOrder returns all slots, sorted by a field. Because sorting takes long, the table
// keeps the result, and the methods add, setStatus and setDate update it.
func (t *contactTable) inOrder(field string) []uint32 {
	if t.sorted[field] == nil {
		keys := make([]sortKey, 0, t.all.Len()) // close together in memory, unlike the contacts
		for _, slot := range t.sorted["id"] {
			keys = append(keys, t.key(field, slot))
		}
		slices.SortFunc(keys, sortKey.compare)
		order := make([]uint32, len(keys))
		for i, key := range keys {
			order[i] = key.slot
		}
		t.sorted[field] = order
	}
	return t.sorted[field]
}

func (t *contactTable) key(field string, slot uint32) (key sortKey) {
	key = contactOrders[field](t.slot(slot))
	key.slot = slot
	return key
}

// sortPosition returns the index of a slot in a sort order.
func (t *contactTable) sortPosition(field string, slot uint32) int {
	i, _ := slices.BinarySearchFunc(t.sorted[field], t.key(field, slot), func(other uint32, key sortKey) int {
		return t.key(field, other).compare(key)
	})
	return i
}

func (t *contactTable) insert(field string, slot uint32) {
	if order := t.sorted[field]; order != nil {
		t.sorted[field] = slices.Insert(order, t.sortPosition(field, slot), slot)
	}
}

func (t *contactTable) remove(field string, slot uint32) {
	if order := t.sorted[field]; order != nil {
		i := t.sortPosition(field, slot)
		t.sorted[field] = slices.Delete(order, i, i+1)
	}
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
	t.remove("status", c.slot)
	t.counts[c.Status]--
	c.StatusUnlessDeleted = ""
	if status == statusDeleted {
		c.StatusUnlessDeleted = c.Status
	}
	c.Status = status
	c.Barred = status != statusActive && (c.Barred || contactStatusNamed(status).reactivates == reactivateNever)
	t.counts[c.Status]++
	t.insert("status", c.slot)
}

// setStatusByRecipient sets the status after an action of the recipient. A deleted contact stays deleted,
// but setStatusByRecipient records the action, because a later import must respect it.
func (t *contactTable) setStatusByRecipient(c *contact, status string) {
	if c.Status != statusDeleted {
		t.setStatus(c, status)
		return
	}
	c.StatusUnlessDeleted = status
	c.Barred = c.Barred || contactStatusNamed(status).reactivates == reactivateNever
}

func (t *contactTable) setDate(c *contact, unix int64) {
	t.remove("subscribed_on", c.slot)
	c.SubscribedOn = unix
	t.insert("subscribed_on", c.slot)
}

// union returns the list have, followed by each label that only the list add contains. The
// running time is linear, because a request can contain a million labels.
func union(have, add []string) []string {
	if len(add) == 0 {
		return have
	}
	known := make(map[string]bool, len(have))
	for _, label := range have {
		known[label] = true
	}
	out := slices.Clip(have)
	for _, label := range add {
		if !known[label] {
			known[label] = true
			out = append(out, label)
		}
	}
	return out
}

type query struct {
	field, value string // the filter, a key of contactFilters; "" means no filter
	sort         string // a key of contactOrders
	descending   bool
}

// page returns the contacts of one page and the number of contacts on all pages.
func (t *contactTable) page(q query, p pageRequest) ([]*contact, int) {
	slots := t.matching(q)
	from, to := p.bounds(len(slots))
	if q.descending { // read the page from the other end, then reverse the order
		from, to = len(slots)-to, len(slots)-from
	}
	out := make([]*contact, 0, to-from)
	for _, slot := range slots[from:to] {
		out = append(out, t.slot(slot))
	}
	if q.descending {
		slices.Reverse(out)
	}
	return out, len(slots)
}

// matching returns the slots that match the filter of a query, in ascending order of the query's sort
// field.
func (t *contactTable) matching(q query) []uint32 {
	if q.field == "" {
		return t.inOrder(q.sort)
	}
	return contactFilters[q.field](t, q)
}

func (t *contactTable) filter(q query, matches func(c *contact) bool) []uint32 {
	matching := make([]bool, t.all.Len()) // by slot, because the contacts are read fast only in order of creation
	for slot := range matching {
		matching[slot] = matches(t.all.At(slot))
	}
	var found []uint32
	for _, slot := range t.inOrder(q.sort) {
		if matching[slot] {
			found = append(found, slot)
		}
	}
	return found
}
