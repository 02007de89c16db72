package platform

import (
	"encoding/json"
	"maps"
	"slices"

	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
)

// snapshotVersion changes with the format of snapshots.
const snapshotVersion = 2

// snapshot is the whole state as JSON. Messages share their contents, as they
// do in memory: a campaign has many messages and says one thing.
type snapshot struct {
	Version  int               `json:"version"`
	Clock    *clock.State      `json:"clock,omitzero"` // the clock as configured if there is none
	LastID   int64             `json:"last_id"`
	Accounts []accountSnapshot `json:"accounts"`
	Contents []content         `json:"contents"`
	Messages []messageSnapshot `json:"messages"` // those that were sent, in order, then the others
	delivery.State
}

type accountSnapshot struct {
	ID         int64          `json:"account_id"`
	Templates  []*template    `json:"templates"`
	Lists      []listSnapshot `json:"lists"`
	Campaigns  []*campaign    `json:"campaigns"`
	Workflows  []*workflow    `json:"workflows"`
	Webhooks   []*hook        `json:"webhooks"` // with their secrets
	Suppressed []*suppressed  `json:"suppressed_emails"`
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

// Snapshot returns the whole state as JSON.
func (p *Platform) Snapshot() ([]byte, error) {
	p.whole.Lock()
	defer p.whole.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	out := snapshot{Version: snapshotVersion, Clock: new(p.clock.State()), LastID: p.lastID}
	for _, id := range slices.Sorted(maps.Keys(p.accounts)) {
		out.Accounts = append(out.Accounts, p.accounts[id].snapshot())
	}
	out.takeMessages(&p.records)
	out.State = p.deliveries.State()
	return json.MarshalIndent(out, "", " ")
}

func (a *account) snapshot() accountSnapshot {
	out := accountSnapshot{
		ID:         a.ID,
		Templates:  slices.Collect(a.Templates.inOrder.All),
		Campaigns:  a.Campaigns.all,
		Workflows:  a.Workflows.all,
		Webhooks:   a.Webhooks.all,
		Suppressed: slices.Collect(a.Suppression.inOrder.All),
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
