package mockserver

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
	"unicode/utf8"
)

// snapshotVersion changes with the format of snapshots.
const snapshotVersion = 1

// snapshot is the whole state as JSON. Messages share their contents, as they
// do in memory: a campaign has many messages and says one thing.
type snapshot struct {
	Version    int                `json:"version"`
	LastID     int64              `json:"last_id"`
	Accounts   []accountSnapshot  `json:"accounts"`
	Contents   []content          `json:"contents"`
	Messages   []messageSnapshot  `json:"messages"` // those that were sent, in order, then the others
	Deliveries []deliverySnapshot `json:"deliveries"`
	Events     []*FiredEvent      `json:"events"`
	LastEvent  int                `json:"last_event"`
}

type accountSnapshot struct {
	ID         int64          `json:"account_id"`
	Templates  []*template    `json:"templates"`
	Lists      []listSnapshot `json:"lists"`
	Campaigns  []*campaign    `json:"campaigns"`
	Workflows  []*workflow    `json:"workflows"`
	Webhooks   []*hook        `json:"webhooks"` // with their secrets
	Suppressed []suppressed   `json:"suppressed_emails"`
	Tags       []string       `json:"tags"`
}

type listSnapshot struct {
	list
	Contacts []*contact `json:"contacts"`
}

type messageSnapshot struct {
	message
	Content int `json:"content"` // which of the contents
}

type deliverySnapshot struct {
	*Delivery
	Bytes     []byte    `json:"body_base64,omitzero"` // the body, if it is no text
	Tries     int       `json:"tries"`
	Duplicate bool      `json:"duplicate,omitzero"`
	Manual    bool      `json:"manual,omitzero"`  // the next attempt was asked for
	Started   time.Time `json:"started,omitzero"` // the attempt under way
	Place     int       `json:"place,omitzero"`   // in the webhook's queue, from 1
}

// Snapshot writes the whole state as one JSON object: every record of every
// account, the messages, the journals of events and deliveries with what is
// still to be delivered, and the secrets of webhooks, so keep it like one. The
// fault plan and the log of requests are not part of it. It may be called at
// any time. What is being attempted counts as still to be delivered, and its
// attempt as made; only what [Server.SendEventTo] has still to deliver has failed
// after a restore, because its secret is not part of the snapshot.
func (s *Server) Snapshot(w io.Writer) error {
	body, err := s.platform.snapshot()
	if err != nil {
		return fmt.Errorf("mockserver: snapshot: %w", err)
	}
	if _, err := w.Write(body); err != nil {
		return fmt.Errorf("mockserver: snapshot: %w", err)
	}
	return nil
}

func (p *platform) snapshot() ([]byte, error) {
	p.whole.Lock()
	defer p.whole.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	out := snapshot{Version: snapshotVersion, LastID: p.lastID}
	for _, id := range slices.Sorted(maps.Keys(p.accounts)) {
		out.Accounts = append(out.Accounts, p.accounts[id].snapshot())
	}
	out.takeMessages(&p.records)
	d := p.deliver
	d.mu.Lock()
	defer d.mu.Unlock()
	out.Deliveries = d.snapshotLocked()
	out.Events, out.LastEvent = d.events, d.lastEvent
	return json.MarshalIndent(out, "", " ")
}

func (d *deliverer) snapshotLocked() []deliverySnapshot {
	places := map[*Delivery]int{}
	for _, q := range d.order {
		for i, delivery := range q.pending {
			places[delivery] = i + 1
		}
	}
	var out []deliverySnapshot
	for _, delivery := range d.journal {
		saved := deliverySnapshot{
			Delivery:  delivery,
			Tries:     delivery.tries,
			Duplicate: delivery.duplicate,
			Manual:    delivery.manual,
			Started:   delivery.started,
			Place:     places[delivery],
		}
		if !utf8.Valid(delivery.Body) {
			saved.Bytes = delivery.Body
		}
		out = append(out, saved)
	}
	return out
}

func (a *account) snapshot() accountSnapshot {
	out := accountSnapshot{
		ID:         a.ID,
		Templates:  a.Templates.all,
		Campaigns:  a.Campaigns.all,
		Workflows:  a.Workflows.all,
		Webhooks:   a.Webhooks.all,
		Suppressed: a.Suppression.all,
		Tags:       slices.Sorted(maps.Keys(a.Tags)),
	}
	for _, l := range a.Lists.all {
		out.Lists = append(out.Lists, listSnapshot{*l, l.contacts.all})
	}
	return out
}

func (sn *snapshot) takeMessages(from *records) {
	known := map[content]int{}
	take := func(m *message) {
		i, ok := known[m.Content]
		if !ok {
			i = len(sn.Contents)
			known[m.Content] = i
			sn.Contents = append(sn.Contents, m.Content)
		}
		sn.Messages = append(sn.Messages, messageSnapshot{*m, i})
	}
	for _, m := range from.outbox {
		take(m)
	}
	for _, id := range slices.Sorted(maps.Keys(from.messages)) {
		if m := from.messages[id]; !m.sent() {
			take(m)
		}
	}
}

// sent reports whether a message is in the outbox.
func (m *message) sent() bool { return m.Status != messageRejected && m.Status != messageError }
