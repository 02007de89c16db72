package platform

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// contactTable holds the contacts of a list so that any filtered, sorted page
// of a million is found in a few milliseconds. A contact's slot is its place
// in all; the indexes hold slots.
type contactTable struct {
	all       []*contact // by id, which only ever grows
	byAddress map[string]uint32
	byEmail   order             // slots by address
	byDate    order             // slots by subscribed_on
	statuses  map[string]bitset // slots by status
	tags      map[string][]uint32
	interests map[string][]uint32
}

func newContactTable() *contactTable {
	t := &contactTable{
		byAddress: map[string]uint32{},
		statuses:  map[string]bitset{},
		tags:      map[string][]uint32{},
		interests: map[string][]uint32{},
	}
	t.byEmail.compare = func(a, b uint32) int {
		return cmp.Or(strings.Compare(t.all[a].Email, t.all[b].Email), cmp.Compare(a, b))
	}
	t.byDate.compare = func(a, b uint32) int {
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
	t.byEmail.insert(slot)
	t.byDate.insert(slot)
	t.mark(c.Status, slot)
	for _, tag := range c.Tags {
		t.tags[tag] = insertSlot(t.tags[tag], slot)
	}
	for _, interest := range c.Interests {
		t.interests[interest] = insertSlot(t.interests[interest], slot)
	}
}

func (t *contactTable) mark(status string, slot uint32) {
	set := t.statuses[status]
	set.add(slot)
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
	t.statuses[c.Status].remove(c.slot)
	c.Status = status
	t.mark(status, c.slot)
}

func (t *contactTable) setDate(c *contact, unix int64) {
	t.byDate.remove(c.slot)
	c.SubscribedOn = unix
	t.byDate.insert(c.slot)
}

// tag gives the contact the tags that it does not have yet. The slices of a
// contact are never changed in place: copies of it share them.
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
		if set == nil || set.has(slot) {
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
func (t *contactTable) matching(field, value string) (bitset, int) {
	var slots []uint32
	switch field {
	case "":
		return nil, len(t.all)
	case "status":
		set := t.statuses[value]
		if set == nil {
			set = bitset{}
		}
		return set, set.count()
	case "email":
		if slot, ok := t.byAddress[strings.ToLower(value)]; ok {
			slots = []uint32{slot}
		}
	case "tag":
		slots = t.tags[value]
	case "interest":
		slots = t.interests[value]
	}
	set := bitset{}
	for _, slot := range slots {
		set.add(slot)
	}
	return set, len(slots)
}

func (t *contactTable) sorted(field string) iter.Seq[uint32] {
	switch field {
	case "email":
		return t.byEmail.slots
	case "subscribed_on":
		return t.byDate.slots
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
		for slot := range t.statuses[status].slots {
			if !yield(slot) {
				return
			}
		}
	}
}

// insertSlot puts a slot into its place among sorted ones.
func insertSlot(slots []uint32, slot uint32) []uint32 {
	if n := len(slots); n == 0 || slots[n-1] < slot {
		return append(slots, slot)
	}
	i, found := slices.BinarySearch(slots, slot)
	if found {
		return slots
	}
	return slices.Insert(slots, i, slot)
}

// bitset is a set of slots.
type bitset []uint64

func (s *bitset) add(slot uint32) {
	if word := int(slot / 64); word >= len(*s) {
		*s = append(*s, make([]uint64, word+1-len(*s))...)
	}
	(*s)[slot/64] |= 1 << (slot % 64)
}

func (s bitset) remove(slot uint32) { s[slot/64] &^= 1 << (slot % 64) }

func (s bitset) has(slot uint32) bool {
	return int(slot/64) < len(s) && s[slot/64]&(1<<(slot%64)) != 0
}

func (s bitset) count() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

func (s bitset) slots(yield func(uint32) bool) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			if !yield(uint32(i*64 + bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}

// order keeps slots sorted in blocks: an insertion moves half a block at most.
type order struct {
	compare func(a, b uint32) int
	blocks  [][]uint32 // none is empty
}

const blockSize = 1024

func (o *order) insert(slot uint32) {
	b := o.block(slot)
	if b == len(o.blocks) {
		o.blocks = append(o.blocks, append(make([]uint32, 0, blockSize), slot))
		return
	}
	block := o.blocks[b]
	i, _ := slices.BinarySearchFunc(block, slot, o.compare)
	block = slices.Insert(block, i, slot)
	o.blocks[b] = block
	if len(block) == blockSize {
		half := append(make([]uint32, 0, blockSize), block[blockSize/2:]...)
		o.blocks[b] = block[:blockSize/2]
		o.blocks = slices.Insert(o.blocks, b+1, half)
	}
}

// remove takes a slot out that is in; its sort key must not have changed yet.
func (o *order) remove(slot uint32) {
	b := o.block(slot)
	i, _ := slices.BinarySearchFunc(o.blocks[b], slot, o.compare)
	o.blocks[b] = slices.Delete(o.blocks[b], i, i+1)
	if len(o.blocks[b]) == 0 {
		o.blocks = slices.Delete(o.blocks, b, b+1)
	}
}

// block returns the block that slot belongs into: the last one that does not
// begin after it, or the first.
func (o *order) block(slot uint32) int {
	b := sort.Search(len(o.blocks), func(i int) bool { return o.compare(o.blocks[i][0], slot) > 0 })
	return max(0, b-1)
}

func (o *order) slots(yield func(uint32) bool) {
	for _, block := range o.blocks {
		for _, slot := range block {
			if !yield(slot) {
				return
			}
		}
	}
}
