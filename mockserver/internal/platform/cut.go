package platform

import (
	"bytes"
	"io"
	"iter"
	"maps"
	"slices"

	"example.com/emailplatform/mockserver/internal/cut"
	"example.com/emailplatform/mockserver/internal/delivery"
)

// Cut is the whole state at one moment, while the platform goes on. It can be
// written until Release.
type Cut struct {
	head

	platform   *Platform
	acts       uint64 // of the platform until then
	restored   int    // how often the platform had been given other records
	accounts   []accountSnapshot
	contacts   map[int64]*cut.Cut[contact] // by list
	messages   *cut.Cut[message]
	deliveries *delivery.Cut
}

// Take returns the state as it is now. The platform stands still for as long as it
// takes to copy the resources of all accounts, but not contacts, messages and
// deliveries, of which there may be millions.
func (p *Platform) Take() *Cut { return p.takeAfter(nil) }

// takeAfter releases an earlier cut, if there is one, in the same moment, so that
// each change is after one of them or after the other.
func (p *Platform) takeAfter(earlier *Cut) *Cut {
	c := p.takeBetween(earlier)
	for _, a := range c.accounts {
		slices.Sort(a.Tags)
	}
	return c
}

// takeBetween takes a cut when no event is between the records and the journals.
func (p *Platform) takeBetween(earlier *Cut) *Cut {
	p.whole.Lock()
	defer p.whole.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	var deliveries *delivery.Cut
	if earlier != nil {
		earlier.releaseRecords()
		deliveries = earlier.deliveries
	}
	c := &Cut{
		head:       p.headLocked(),
		platform:   p,
		acts:       p.acts,
		restored:   p.restored,
		contacts:   map[int64]*cut.Cut[contact]{},
		messages:   p.changing.Take(p.kept),
		deliveries: p.deliveries.Take(deliveries),
	}
	for _, id := range slices.Sorted(maps.Keys(p.accounts)) {
		a := p.accounts[id]
		c.accounts = append(c.accounts, a.snapshot())
		for _, l := range a.Lists.all {
			c.contacts[l.ID] = l.contacts.changing.Take(l.contacts.all)
		}
	}
	return c
}

// Release ends a cut, for which nothing need be kept any more.
func (c *Cut) Release() {
	c.platform.mu.Lock()
	defer c.platform.mu.Unlock()
	c.releaseRecords()
	c.deliveries.Release()
}

func (c *Cut) releaseRecords() {
	c.messages.Release()
	for _, contacts := range c.contacts {
		contacts.Release()
	}
}

// snapshot copies the resources of an account.
func (a *account) snapshot() accountSnapshot {
	out := accountSnapshot{
		ID:         a.ID,
		Templates:  copies(slices.Collect(a.Templates.inOrder.All)),
		Campaigns:  copies(a.Campaigns.all),
		Workflows:  copies(a.Workflows.all),
		Webhooks:   copies(a.Webhooks.all),
		Suppressed: copies(slices.Collect(a.Suppression.inOrder.All)),
		Tags:       slices.Collect(maps.Keys(a.Tags)),
	}
	for _, c := range out.Campaigns {
		c.alarm = nil
	}
	for _, l := range a.Lists.all {
		saved := listSnapshot{list: *l}
		saved.contacts = nil
		out.Lists = append(out.Lists, saved)
	}
	return out
}

func copies[T any](from []*T) []*T {
	values, out := make([]T, len(from)), make([]*T, len(from))
	for i, x := range from {
		values[i] = *x
		out[i] = &values[i]
	}
	return out
}

// Write writes the whole state as JSON, a record in each line.
func (c *Cut) Write(w io.Writer) error { return c.write(w, "\n") }

func (c *Cut) write(w io.Writer, apart string) error {
	out := newStateWriter(w, apart)
	out.member("version", snapshotVersion)
	c.head.write(out)
	writeList(out, "accounts", slices.Values(c.accounts))
	c.writeContacts(out, func(list int64) iter.Seq[*contact] { return c.contacts[list].All(&c.platform.mu) })
	writeMessages(out, c.messages.All(&c.platform.mu))
	writeList(out, "deliveries", c.deliveries.All())
	writeList(out, "events", slices.Values(c.deliveries.Events))
	out.member("last_event", c.deliveries.LastEvent)
	return out.close()
}

func (p *Platform) headLocked() head { return head{Clock: new(p.clock.State()), LastID: p.lastID} }

func (h head) equal(other head) bool { return *h.Clock == *other.Clock && h.LastID == other.LastID }

func (h head) write(out *stateWriter) {
	out.member("clock", h.Clock)
	out.member("last_id", h.LastID)
}

// changed returns what has changed since an earlier cut, which has been released,
// as JSON in one line; nothing if nothing has.
func (c *Cut) changed(earlier *Cut, n int) ([]byte, error) {
	var line bytes.Buffer
	out := newStateWriter(&line, "")
	out.member("change", n)
	c.head.write(out)
	writeList(out, "accounts", c.changedAccounts(earlier))
	c.writeContacts(out, func(list int64) iter.Seq[*contact] {
		before := earlier.contacts[list]
		if before == nil { // the list is new
			return c.contacts[list].All(&c.platform.mu)
		}
		return c.contacts[list].Since(before, &c.platform.mu)
	})
	writeMessages(out, c.messages.Since(earlier.messages, &c.platform.mu))
	writeList(out, "deliveries", c.deliveries.Since(earlier.deliveries))
	writeList(out, "events", slices.Values(c.deliveries.NewEvents(earlier.deliveries)))
	out.member("last_event", c.deliveries.LastEvent)
	if out.records == 0 && c.equal(earlier.head) {
		return nil, nil
	}
	err := out.close()
	return line.Bytes(), err
}

func (c *Cut) changedAccounts(earlier *Cut) iter.Seq[accountSnapshot] {
	return func(yield func(accountSnapshot) bool) {
		before := map[int64]accountSnapshot{}
		for _, a := range earlier.accounts {
			before[a.ID] = a
		}
		for _, a := range c.accounts {
			was, known := before[a.ID]
			if a, changed := a.since(was); (changed || !known) && !yield(a) {
				return
			}
		}
	}
}

// writeContacts writes contacts of all lists, in the order of the lists.
func (c *Cut) writeContacts(out *stateWriter, of func(list int64) iter.Seq[*contact]) {
	var saved contactSnapshot
	writeList(out, "contacts", func(yield func(*contactSnapshot) bool) {
		for _, a := range c.accounts {
			for _, l := range a.Lists {
				for x := range of(l.ID) {
					if saved = (contactSnapshot{l.ID, *x}); !yield(&saved) {
						return
					}
				}
			}
		}
	})
}

// writeMessages writes messages, and then what they say.
func writeMessages(out *stateWriter, messages iter.Seq[*message]) {
	known, contents := map[content]int{}, []content(nil)
	var saved messageSnapshot
	writeList(out, "messages", func(yield func(*messageSnapshot) bool) {
		for m := range messages {
			i, ok := known[m.Content]
			if !ok {
				i = len(contents)
				known[m.Content] = i
				contents = append(contents, m.Content)
			}
			if saved = (messageSnapshot{*m, i}); !yield(&saved) {
				return
			}
		}
	})
	writeList(out, "contents", slices.Values(contents))
}

// Follower writes the state, and then what changes. It is not for concurrent use.
type Follower struct {
	platform *Platform
	last     *Cut
	n        int // changes since the whole state
}

// Follow returns a follower that has written nothing yet.
func (p *Platform) Follow() *Follower { return &Follower{platform: p} }

// Write writes the whole state the first time, and then, as a JSON object in one
// line, what has changed since the last time. If nothing has, it writes nothing. When other
// records have taken the place of all, it writes the whole state again. After an
// error the follower is of no use any more.
func (f *Follower) Write(w io.Writer) error {
	if f.last != nil && f.last.isNow() {
		return nil
	}
	before := f.last
	now := f.platform.takeAfter(before)
	f.last = now
	if before == nil {
		return now.Write(w)
	}
	if before.restored != now.restored {
		f.n = 0
		return now.write(w, "")
	}
	line, err := now.changed(before, f.n+1)
	if len(line) == 0 || err != nil {
		return err
	}
	f.n++
	_, err = w.Write(line)
	return err
}

// Close ends following.
func (f *Follower) Close() {
	if f.last != nil {
		f.last.Release()
		f.last = nil
	}
}

// isNow reports whether nobody has done anything since.
func (c *Cut) isNow() bool {
	c.platform.mu.Lock()
	defer c.platform.mu.Unlock()
	return c.acts == c.platform.acts && c.equal(c.platform.headLocked()) && c.deliveries.IsNow()
}
