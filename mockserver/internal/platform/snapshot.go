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
// changed: records take the place of those with their ids, an account that of
// the whole account but for contacts and messages. Messages share their
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
