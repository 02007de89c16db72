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
)

const snapshotVersion = 4

// state is the JSON of the whole state. Contents are stored separately from the messages
// that refer to them, because all messages of a campaign share one content.
type state struct {
	Version int `json:"version" doc:"the version of the format"`
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

	accounts   []accountSnapshot
	contacts   map[int64][]*contact // by list
	messages   []*message
	deliveries delivery.Snapshot
}

// accountSnapshot contains the resources of an account.
type accountSnapshot struct {
	id         int64
	templates  []*api.Template
	lists      []*list
	campaigns  []*campaign
	workflows  []*api.Workflow
	webhooks   []*delivery.Webhook
	suppressed []*api.SuppressedEmail
	tags       []string
}

// Snapshot returns the current state. Other calls must wait in the meantime. To keep this
// time short, Snapshot copies only pointers to the records.
func (p *Platform) Snapshot() *Snapshot {
	p.snapshotLock.Lock() // so the records and the deliveries are consistent
	defer p.snapshotLock.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &Snapshot{
		head:       head{Clock: new(p.Clock.State()), LastID: p.lastID},
		contacts:   map[int64][]*contact{},
		messages:   p.messages.Snapshot(),
		deliveries: p.Deliveries.Snapshot(),
	}
	for a := range p.accountsLocked(0) {
		s.accounts = append(s.accounts, a.snapshot())
		for l := range a.Lists.all() {
			s.contacts[l.ListID] = l.contacts.all.Snapshot()
		}
	}
	return s
}

func (a *account) snapshot() accountSnapshot {
	return accountSnapshot{
		id:         a.ID,
		templates:  a.Templates.snapshot(),
		lists:      a.Lists.snapshot(),
		campaigns:  a.Campaigns.snapshot(),
		workflows:  a.Workflows.snapshot(),
		webhooks:   a.Webhooks.snapshot(),
		suppressed: a.Suppression.snapshot(),
		tags:       slices.Sorted(maps.Keys(a.Tags)),
	}
}

func (a accountSnapshot) state() accountState {
	out := accountState{
		ID:         a.id,
		Templates:  copiesOf(a.templates),
		Campaigns:  copiesOf(a.campaigns),
		Workflows:  copiesOf(a.workflows),
		Webhooks:   copiesOf(a.webhooks),
		Suppressed: copiesOf(a.suppressed),
		Tags:       a.tags,
	}
	for _, l := range a.lists {
		out.Lists = append(out.Lists, l.List)
	}
	return out
}

// Write writes the whole state as JSON, one record per line.
func (s *Snapshot) Write(w io.Writer) error {
	out := &stateWriter{out: bufio.NewWriterSize(w, 64<<10), before: "{"}
	out.encode = json.NewEncoder(&out.record)
	out.encode.SetEscapeHTML(false)
	out.member("version", snapshotVersion)
	out.member("clock", s.Clock)
	out.member("last_id", s.LastID)
	writeList(out, "accounts", func(yield func(accountState) bool) {
		for i := range s.accounts {
			if !yield(s.accounts[i].state()) {
				return
			}
		}
	})
	writeList(out, "contacts", s.allContacts())
	known, contents := map[api.MessageContent]int{}, []api.MessageContent(nil)
	writeList(out, "messages", func(yield func(messageState) bool) {
		for _, m := range s.messages {
			i, ok := known[m.Content]
			if !ok {
				i = len(contents)
				known[m.Content] = i
				contents = append(contents, m.Content)
			}
			if !yield(messageState{*m, i}) {
				return
			}
		}
	})
	writeList(out, "contents", slices.Values(contents))
	writeList(out, "deliveries", s.deliveries.Deliveries())
	writeList(out, "events", slices.Values(s.deliveries.Events))
	out.member("last_event", s.deliveries.LastEvent)
	out.text("}\n")
	return errors.Join(out.err, out.out.Flush())
}

func (s *Snapshot) allContacts() iter.Seq[contactState] {
	return func(yield func(contactState) bool) {
		for _, a := range s.accounts {
			for _, l := range a.lists {
				for _, c := range s.contacts[l.ListID] {
					if !yield(contactState{l.ListID, *c}) {
						return
					}
				}
			}
		}
	}
}

// stateWriter writes one JSON object, record by record, so only one encoded record is in
// memory.
type stateWriter struct {
	out    *bufio.Writer
	record bytes.Buffer
	encode *json.Encoder // encodes into record
	before string        // text before the next member
	err    error         // errors from the encoder; out stores its own error
}

func (s *stateWriter) text(t string) { _, _ = s.out.WriteString(t) }

func (s *stateWriter) value(v any) {
	s.record.Reset()
	s.err = errors.Join(s.err, s.encode.Encode(v))
	_, _ = s.out.Write(bytes.TrimSuffix(s.record.Bytes(), []byte("\n")))
}

func (s *stateWriter) member(name string, v any) {
	s.text(s.before + strconv.Quote(name) + ":")
	s.value(v)
	s.before = ",\n"
}

func writeList[T any](s *stateWriter, name string, records iter.Seq[T]) {
	s.text(s.before + strconv.Quote(name) + ":[")
	before := "\n"
	for record := range records {
		s.text(before)
		s.value(record)
		if _, err := s.out.Write(nil); err != nil || s.err != nil {
			return
		}
		before = ",\n"
	}
	s.text("]")
}
