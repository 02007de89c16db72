package riverjobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	// header, the queue pauses for that time, up to one hour. The default is 30 s.
	// Pause must be at least 1 ms.
	Pause time.Duration

	// MaxPause is the maximum duration of a pause without a Retry-After header.
	// The default is 10 minutes or Pause, whichever is longer. MaxPause must not
	// be less than Pause.
	MaxPause time.Duration

	// RiverSchema must be equal to the field Schema in the River configuration.
	RiverSchema string

	// Logger receives the records "email outcome unknown", "email not queued", "email
	// forbidden", "email outcome not recorded", "sending paused" and "sending resumed".
	// The default is slog.Default. Errors in log records can contain the address of a
	// recipient.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.SendTimeout == 0 {
		o.SendTimeout = 20 * time.Second
	}
	if o.Pause == 0 {
		o.Pause = 30 * time.Second
	}
	if o.MaxPause == 0 {
		o.MaxPause = max(10*time.Minute, o.Pause)
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

func (o Options) check() error {
	switch {
	case o.SendTimeout < time.Millisecond:
		return fmt.Errorf("riverjobs: SendTimeout must be at least 1ms, got %v", o.SendTimeout)
	case o.Pause < time.Millisecond:
		return fmt.Errorf("riverjobs: Pause must be at least 1ms, got %v", o.Pause)
	case o.MaxPause < o.Pause:
		return fmt.Errorf("riverjobs: MaxPause must be at least Pause, which is %v, got %v", o.Pause, o.MaxPause)
	}
	return nil
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
	if pool == nil || c == nil {
		return nil, errors.New("riverjobs: the pool and the client must not be nil")
	}
	opts = opts.withDefaults()
	if err := opts.check(); err != nil {
		return nil, err
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

// dbTimeout is the timeout for statements that must not end with the job's
// context.
const dbTimeout = 5 * time.Second

// uncanceled returns a context that does not end with the job's context.
func uncanceled(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), d)
}
