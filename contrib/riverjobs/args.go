package riverjobs

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/riverqueue/river"

	"example.com/emailplatform/client"
)

// The names of the job queues. The configuration of the River client must contain
// both queues.
const (
	// SendQueue contains the [SendArgs] jobs. The queue's MaxWorkers is the
	// maximum number of concurrent requests in each replica.
	SendQueue = "emailplatform_send"
	// LookupQueue contains the [LookupArgs] jobs and the jobs from
	// [Jobs.Reconcile]. One worker per replica is enough, because the platform
	// allows one lookup per second.
	LookupQueue = "emailplatform_lookup"
)

// SendArgs contains the arguments of a job that sends an email. Insert the arguments with the
// InsertTx method of a River client, in the same transaction as the data of the email.
type SendArgs struct {
	// Key identifies the email, for example "order-17". It must be valid UTF-8 of 1
	// to 255 bytes; otherwise the insertion fails. If a job with the same key
	// exists, River skips the new job, even if the submissions differ.
	Key string `json:"key" river:"unique"`

	// Submission is the email.
	Submission client.EmailSubmission `json:"submission"`
}

// Kind implements river.JobArgs.
func (SendArgs) Kind() string { return "emailplatform_send" }

// InsertOpts implements river.JobArgsWithInsertOpts. The options select
// [SendQueue], and make SendArgs.Key unique.
func (SendArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: SendQueue, UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

// maxKey is the maximum length of a key in bytes, far below PostgreSQL's limit
// for an index entry.
const maxKey = 255

// MarshalJSON returns an error for an invalid key, so the insertion fails. If all
// keys were empty, all jobs would be duplicates.
func (a SendArgs) MarshalJSON() ([]byte, error) {
	if n := len(a.Key); n < 1 || n > maxKey {
		return nil, fmt.Errorf("riverjobs: SendArgs.Key must have 1 to %d bytes, got %d", maxKey, n)
	}
	if !utf8.ValidString(a.Key) {
		return nil, fmt.Errorf("riverjobs: SendArgs.Key must be valid UTF-8, got %q", a.Key)
	}
	type plain SendArgs
	return json.Marshal(plain(a))
}

// LookupArgs contains the arguments of a job that looks up an email and calls
// [Options.OnLookup].
type LookupArgs struct {
	// EmailID is the id of the email, as in its [Output] and its events.
	EmailID string `json:"email_id"`
}

// Kind implements river.JobArgs.
func (LookupArgs) Kind() string { return "emailplatform_lookup" }

// InsertOpts implements river.JobArgsWithInsertOpts. The queue is [LookupQueue].
func (LookupArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: LookupQueue} }

// reconcileArgs is a job that looks up an email and compares it with the emails
// whose outcome is unknown.
type reconcileArgs struct {
	EmailID string `json:"email_id"`
}

func (reconcileArgs) Kind() string { return "emailplatform_reconcile" }

func (reconcileArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: LookupQueue, UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

// Output is the JSON output of a [SendArgs] job.
type Output struct {
	State   State  `json:"state"`             // StateSending is never an output
	EmailID string `json:"email_id,omitzero"` // set if the platform accepted or rejected the email
	Reason  string `json:"reason,omitzero"`   // set unless the email was sent
}

// State is the state of an email.
type State string

// The states of an email.
const (
	StateSending   State = "sending"    // a worker has sent the request, or is about to
	StateSent      State = "sent"       // the platform accepted the email
	StateNotQueued State = "not_queued" // the email is not sent, because the platform rejected it
	StateUnknown   State = "unknown"    // the platform may have accepted the email
)
