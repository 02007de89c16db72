package platform

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/table"
)

const snapshotVersion = 4

// state is the JSON of the whole state or of a change to it. A change has no version.
// A record in a change replaces the record with the same id. A collection in a change
// replaces the account's whole collection. Messages refer to shared contents, because
// all messages of a campaign have the same content.
type state struct {
	Version int `json:"version,omitzero" doc:"the version of the format"`
	Change  int `json:"change,omitzero" doc:"the sequence number of a change in the -state file"`
	head
	Accounts []accountState       `json:"accounts" doc:"the accounts with their templates, lists, campaigns, workflows and webhooks"`
	Contacts []contactState       `json:"contacts" doc:"the contacts on all lists"` // by list, in ascending order of ids
	Contents []api.MessageContent `json:"contents" doc:"the contents of the messages"`
	Messages []messageState       `json:"messages" doc:"the messages, oldest first"`
	delivery.State
}

// StateType returns the Go type of a snapshot's JSON.
func StateType() reflect.Type { return reflect.TypeFor[state]() }

type head struct {
	Clock  *clock.State `json:"clock,omitzero" doc:"the state of the clock"` // nil means the configured clock
	LastID int64        `json:"last_id" doc:"the greatest id ever used, including ids of deleted resources"`
}

type accountState struct {
	ID         int64                 `json:"account_id"`
	Templates  []api.Template        `json:"templates,omitzero"`
	Lists      []api.List            `json:"lists,omitzero"`
	Campaigns  []campaign            `json:"campaigns,omitzero"`
	Workflows  []api.Workflow        `json:"workflows,omitzero"`
	Webhooks   []delivery.Webhook    `json:"webhooks,omitzero"` // with their secrets
	Suppressed []api.SuppressedEmail `json:"suppressed_emails,omitzero"`
	Tags       []string              `json:"tags,omitzero"`
}

type contactState struct {
	ListID int64 `json:"list_id"`
	contact
}

type messageState struct {
	message
	Content int `json:"content"` // index in the list of contents
}

// Snapshot is the whole state at a point in time. It is immutable.
type Snapshot struct {
	head

	acts       int // value of Platform.acts
	replaced   int // value of Platform.replaced
	accounts   []accountState
	contacts   map[int64]table.Copy[contact] // by list
	messages   table.Copy[message]
	deliveries delivery.Snapshot
}

// Snapshot returns the current state. Other calls wait while Snapshot copies
// the resources of all accounts. It does not copy contacts, messages or
// deliveries, because there can be millions of them.
func (p *Platform) Snapshot() *Snapshot { return p.snapshot(nil) }

// snapshot returns the current state. If no transaction has taken place since the
// earlier snapshot, both snapshots share their resources.
func (p *Platform) snapshot(earlier *Snapshot) *Snapshot {
	p.whole.Lock() // so the records and the deliveries are consistent
	defer p.whole.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &Snapshot{
		head:       head{Clock: new(p.Clock.State()), LastID: p.lastID},
		acts:       p.acts,
		replaced:   p.replaced,
		contacts:   map[int64]table.Copy[contact]{},
		messages:   p.messages.Snapshot(),
		deliveries: p.Deliveries.Snapshot(),
	}
	if earlier != nil && earlier.acts == s.acts && earlier.replaced == s.replaced {
		s.accounts, s.contacts = earlier.accounts, earlier.contacts
		return s
	}
	for a := range p.accountsLocked(0) {
		s.accounts = append(s.accounts, a.state())
		for l := range a.Lists.all() {
			s.contacts[l.ListID] = l.contacts.all.Snapshot()
		}
	}
	return s
}

func (a *account) state() accountState {
	out := accountState{
		ID:         a.ID,
		Templates:  a.Templates.copies(),
		Campaigns:  a.Campaigns.copies(),
		Workflows:  a.Workflows.copies(),
		Webhooks:   a.Webhooks.copies(),
		Suppressed: a.Suppression.copies(),
		Tags:       slices.Sorted(maps.Keys(a.Tags)),
	}
	for i := range out.Campaigns {
		out.Campaigns[i].alarm = nil
	}
	for l := range a.Lists.all() {
		out.Lists = append(out.Lists, l.List)
	}
	return out
}

// Write writes the whole state as JSON, one record per line.
func (s *Snapshot) Write(w io.Writer) error {
	return s.writeWhole(w, "\n")
}

func (s *Snapshot) writeWhole(w io.Writer, separator string) error {
	out := newStateWriter(w, separator)
	out.member("version", snapshotVersion)
	s.writeSince(&Snapshot{}, out)
	return out.close()
}

func (s *Snapshot) writeSince(since *Snapshot, out *stateWriter) {
	out.member("clock", s.Clock)
	out.member("last_id", s.LastID)
	writeList(out, "accounts", s.accountsSince(since))
	writeList(out, "contacts", s.contactsSince(since))
	known, contents := map[api.MessageContent]int{}, []api.MessageContent(nil)
	var record messageState // reused to avoid an allocation for each message
	writeList(out, "messages", func(yield func(*messageState) bool) {
		for m := range s.messages.Since(since.messages) {
			i, ok := known[m.Content]
			if !ok {
				i = len(contents)
				known[m.Content] = i
				contents = append(contents, m.Content)
			}
			if record = (messageState{*m, i}); !yield(&record) {
				return
			}
		}
	})
	writeList(out, "contents", slices.Values(contents))
	writeList(out, "deliveries", s.deliveries.Deliveries(since.deliveries))
	writeList(out, "events", slices.Values(s.deliveries.EventsSince(since.deliveries)))
	out.member("last_event", s.deliveries.LastEvent)
}

func (s *Snapshot) accountsSince(since *Snapshot) iter.Seq[accountState] {
	return func(yield func(accountState) bool) {
		before := map[int64]accountState{}
		for _, a := range since.accounts {
			before[a.ID] = a
		}
		for _, a := range s.accounts {
			was, known := before[a.ID]
			if a, changed := a.since(was); (changed || !known) && !yield(a) {
				return
			}
		}
	}
}

// since returns the collections of an account that have changed since an
// earlier snapshot.
func (a accountState) since(was accountState) (left accountState, changed bool) {
	now, before := reflect.ValueOf(&a).Elem(), reflect.ValueOf(was)
	for i := 1; i < now.NumField(); i++ { // skip the id
		if reflect.DeepEqual(now.Field(i).Interface(), before.Field(i).Interface()) {
			now.Field(i).SetZero()
		} else {
			changed = true
		}
	}
	return a, changed
}

func (s *Snapshot) contactsSince(since *Snapshot) iter.Seq[*contactState] {
	var record contactState
	return func(yield func(*contactState) bool) {
		for _, a := range s.accounts {
			for _, l := range a.Lists {
				contacts := s.contacts[l.ListID]
				for c := range contacts.Since(since.contacts[l.ListID]) {
					if record = (contactState{l.ListID, *c}); !yield(&record) {
						return
					}
				}
			}
		}
	}
}

// A Follower writes the whole state, and then only the changes. It is not safe
// for concurrent use.
type Follower struct {
	platform *Platform
	last     *Snapshot
	n        int // changes since the whole state
}

// Follow returns a new follower.
func (p *Platform) Follow() *Follower { return &Follower{platform: p} }

// Write writes the whole state on the first call. Each later call writes the changes
// since the previous call as a JSON object on one line, or nothing if there are no
// changes. After a restore or a reset, Write writes the whole state again. It does not
// retry a failed write.
func (f *Follower) Write(w io.Writer) error {
	before, now := f.last, f.platform.snapshot(f.last)
	f.last = now
	if before == nil {
		return now.Write(w)
	}
	if before.replaced != now.replaced {
		f.n = 0
		return now.writeWhole(w, "")
	}
	out := newStateWriter(w, "")
	out.member("change", f.n+1)
	now.writeSince(before, out)
	if !out.any && *now.Clock == *before.Clock && now.LastID == before.LastID {
		return nil
	}
	f.n++
	return out.close()
}

// Close releases the last written state, which the Follower keeps in
// memory.
func (f *Follower) Close() { f.last = nil }

// stateWriter writes one JSON object, record by record, so only one encoded
// record is in memory.
type stateWriter struct {
	out    *bufio.Writer
	record bytes.Buffer
	encode *json.Encoder // encodes into record
	apart  string        // separator between records
	before string        // text before the next field
	any    bool          // a record has been written
	err    error         // errors from the encoder; out stores its own error
}

func newStateWriter(w io.Writer, apart string) *stateWriter {
	s := &stateWriter{out: bufio.NewWriterSize(w, 64<<10), apart: apart, before: "{"}
	s.encode = json.NewEncoder(&s.record)
	s.encode.SetEscapeHTML(false)
	return s
}

func (s *stateWriter) text(t string) { _, _ = s.out.WriteString(t) }

func (s *stateWriter) value(v any) {
	s.record.Reset()
	s.err = errors.Join(s.err, s.encode.Encode(v))
	_, _ = s.out.Write(bytes.TrimSuffix(s.record.Bytes(), []byte("\n")))
}

func (s *stateWriter) name(name string) {
	s.text(s.before + strconv.Quote(name) + ":")
	s.before = "," + s.apart
}

func (s *stateWriter) member(name string, v any) {
	s.name(name)
	s.value(v)
}

func (s *stateWriter) failed() bool {
	_, err := s.out.Write(nil)
	return s.err != nil || err != nil
}

func writeList[T any](s *stateWriter, name string, records iter.Seq[T]) {
	s.name(name)
	before := "[" + s.apart
	for record := range records {
		s.text(before)
		s.value(record)
		before = "," + s.apart
		if s.any = true; s.failed() {
			return
		}
	}
	if before[0] == '[' {
		s.text("[")
	}
	s.text("]")
}

// close ends the object and the line, and flushes the output.
func (s *stateWriter) close() error {
	s.text("}\n")
	return errors.Join(s.err, s.out.Flush())
}
