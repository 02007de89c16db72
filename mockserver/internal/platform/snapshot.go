package platform

import (
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
)

const (
	// snapshotVersion changes with the format of snapshots.
	snapshotVersion = 3
	// oldestVersion is still read: its lists have their contacts in them.
	oldestVersion = 2
)

// snapshot is the whole state as JSON, or, if it has no version, what of it has
// changed: records take the place of those with their ids, a collection of an
// account that of the whole collection. Messages share their
// contents, as they do in memory: a campaign has many messages and says one thing.
type snapshot struct {
	Version int `json:"version,omitzero"`
	Change  int `json:"change,omitzero"` // which one since the whole state, from 1
	head
	Accounts []accountSnapshot `json:"accounts"`
	Contacts []contactSnapshot `json:"contacts"` // of each list by id
	Contents []content         `json:"contents"`
	Messages []messageSnapshot `json:"messages"` // in the order in which they were made
	delivery.State
}

// head is what a state says beside its records.
type head struct {
	Clock  *clock.State `json:"clock,omitzero"` // the clock as configured if there is none
	LastID int64        `json:"last_id"`
}

type accountSnapshot struct {
	ID         int64          `json:"account_id"`
	Templates  []*template    `json:"templates,omitzero"`
	Lists      []listSnapshot `json:"lists,omitzero"`
	Campaigns  []*campaign    `json:"campaigns,omitzero"`
	Workflows  []*workflow    `json:"workflows,omitzero"`
	Webhooks   []*hook        `json:"webhooks,omitzero"` // with their secrets
	Suppressed []*suppressed  `json:"suppressed_emails,omitzero"`
	Tags       []string       `json:"tags,omitzero"`
}

type listSnapshot struct {
	list
	Contacts []*contact `json:"contacts,omitzero"` // in version 2
}

type contactSnapshot struct {
	ListID int64 `json:"list_id"`
	contact
}

type messageSnapshot struct {
	message
	Content int `json:"content"` // which of the contents
}
