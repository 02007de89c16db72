package riverjobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/emailplatform/client"
)

// Options configures [Jobs]. The zero value is a good default.
type Options struct {
	// OnLookup receives the result of each [LookupArgs] job. Writes with tx are
	// committed together with the completion of the job. If OnLookup returns an
	// error, the transaction is rolled back and River retries the job. If OnLookup
	// is nil, there is no worker for LookupArgs.
	OnLookup func(ctx context.Context, tx pgx.Tx, email client.Email) error

	// SendTimeout is the maximum duration of a call to send an email, including
	// retries. The default is 20 s. SendTimeout must be at least 1 ms.
	SendTimeout time.Duration

	// Pause is the duration of the pause after the first failure. The pause doubles
	// with each further failure, up to MaxPause. If the response has a Retry-After
	// header, the queue pauses for the time in this header, up to one hour. After an
	// unknown outcome, Retry-After can only extend the pause. The default is 30 s.
	// Pause must be at least 1 ms.
	Pause time.Duration

	// MaxPause is the maximum duration of a pause without a Retry-After header.
	// The default is 10 minutes or Pause, whichever is longer. MaxPause must not
	// be less than Pause.
	MaxPause time.Duration

	// RiverSchema must be equal to the field Schema in the River configuration.
	RiverSchema string

	// Logger receives the records "email outcome unknown", "email not queued", "email
	// forbidden", "email outcome not recorded", "email id cannot be stored", "sending
	// paused" and "sending resumed".
	// The default is slog.Default. Errors in log records can contain the address of a
	// recipient.
	Logger *slog.Logger
}

// Jobs contains the workers for [SendArgs] and [LookupArgs], and manages the records of
// the emails. It is safe for concurrent use.
type Jobs struct {
	pool *pgxpool.Pool
	c    *client.Client
	jobs *river.Client[pgx.Tx] // used only to insert and retry jobs
	opts Options
}

// New returns [Jobs] that send emails with c and store records in River's database. The
// pool must use this database. New sends no request and opens no connection. It returns
// an error if pool or c is nil, or if an option is out of range.
func New(pool *pgxpool.Pool, c *client.Client, opts Options) (*Jobs, error) {
	opts.SendTimeout = cmp.Or(opts.SendTimeout, 20*time.Second)
	opts.Pause = cmp.Or(opts.Pause, 30*time.Second)
	opts.MaxPause = cmp.Or(opts.MaxPause, max(10*time.Minute, opts.Pause))
	opts.Logger = cmp.Or(opts.Logger, slog.Default())
	switch {
	case pool == nil || c == nil:
		return nil, errors.New("riverjobs: the pool and the client must not be nil")
	case opts.SendTimeout < time.Millisecond:
		return nil, fmt.Errorf("riverjobs: SendTimeout must be at least 1ms, got %v", opts.SendTimeout)
	case opts.Pause < time.Millisecond:
		return nil, fmt.Errorf("riverjobs: Pause must be at least 1ms, got %v", opts.Pause)
	case opts.MaxPause < opts.Pause:
		return nil, fmt.Errorf("riverjobs: MaxPause must be at least Pause (%v), got %v", opts.Pause, opts.MaxPause)
	}
	jobs, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: opts.RiverSchema, Logger: opts.Logger})
	if err != nil {
		return nil, fmt.Errorf("riverjobs: %w", err)
	}
	return &Jobs{pool, c, jobs, opts}, nil
}

// Register adds the workers of this package. It panics if one of the workers is already
// registered.
func (j *Jobs) Register(workers *river.Workers) {
	river.AddWorker(workers, &sendWorker{Jobs: j})
	river.AddWorker(workers, &reconcileWorker{Jobs: j})
	if j.opts.OnLookup != nil {
		river.AddWorker(workers, &lookupWorker{Jobs: j})
	}
}

// dbTimeout is the timeout for statements that must run even if the job's
// context is canceled.
const dbTimeout = 5 * time.Second

// uncanceled returns a context that ignores the cancellation of ctx.
func uncanceled(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), d)
}

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
// InsertTx method of a River client, in the same transaction as the email's data.
type SendArgs struct {
	// Key identifies the email, for example "order-17". The key must be valid
	// UTF-8 without NUL and 1 to 255 bytes long. Otherwise the insertion fails. If a job
	// with the same key exists, River skips the new job, even if the submissions
	// differ.
	Key string `json:"key" river:"unique"`

	// Submission is the email. All text must be valid UTF-8 without NUL, and the
	// recipient's address at most 1,000 bytes long. Otherwise the insertion fails.
	Submission client.EmailSubmission `json:"submission"`
}

// Kind implements river.JobArgs.
func (SendArgs) Kind() string { return "emailplatform_send" }

// InsertOpts implements river.JobArgsWithInsertOpts. The jobs use the queue
// [SendQueue] and are unique by Key.
func (SendArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: SendQueue, UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

// The maximum lengths of a key or email id, and of a recipient's address, in bytes.
// PostgreSQL's limit for an index entry is 2,704 bytes.
const (
	maxKey     = 255
	maxAddress = 1000
)

// MarshalJSON returns an error for an invalid key or text, so the insertion fails.
// Without this check, River would treat all jobs with empty keys as duplicates.
func (a SendArgs) MarshalJSON() ([]byte, error) {
	if n := len(a.Key); n < 1 || n > maxKey {
		return nil, fmt.Errorf("riverjobs: SendArgs.Key must be 1 to %d bytes long, got %d", maxKey, n)
	}
	if n := len(a.Submission.To); n > maxAddress {
		return nil, fmt.Errorf("riverjobs: SendArgs.Submission.To must be at most 1,000 bytes long, got %d", n)
	}
	if err := checkText("SendArgs", reflect.ValueOf(a)); err != nil {
		return nil, err
	}
	type plain SendArgs
	return json.Marshal(plain(a))
}

// LookupArgs contains the arguments of a job that looks up an email and calls
// [Options.OnLookup].
type LookupArgs struct {
	// EmailID is the id of the email, which its [Output] and events contain. The
	// id must be valid UTF-8 without NUL. Otherwise the insertion fails.
	EmailID string `json:"email_id"`
}

// MarshalJSON returns an error for an id that would be stored as another id.
func (a LookupArgs) MarshalJSON() ([]byte, error) {
	type plain LookupArgs
	if err := checkText("LookupArgs", reflect.ValueOf(a)); err != nil {
		return nil, err
	}
	return json.Marshal(plain(a))
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
	EmailID string `json:"email_id,omitzero"` // set if the platform accepted or rejected the email, and PostgreSQL can store the id
	Reason  string `json:"reason,omitzero"`   // set unless the email was sent and has an EmailID
}

// State describes the progress or the outcome of sending an email.
type State string

// The states of an email.
const (
	StateSending   State = "sending"    // a worker has sent the request, or is about to
	StateSent      State = "sent"       // the platform accepted the email
	StateNotQueued State = "not_queued" // the email is not sent, because the platform rejected it
	StateUnknown   State = "unknown"    // the platform may have accepted the email
)
