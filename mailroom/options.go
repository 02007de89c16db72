package mailroom

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// Options configures a [Room]. OnNotice is required. The zero values of the other fields
// are good defaults.
type Options struct {
	// OnNotice is called for each notice, in a transaction of the store. The context ctx carries
	// this transaction. If OnNotice returns an error, panics or exits, the transaction is rolled
	// back, and the Room calls OnNotice again after a pause. The pause is 2 s at first and
	// doubles up to one hour. Because of the rollback, writes in the transaction happen exactly
	// once, but other effects can happen again.
	//
	// OnNotice must be safe for concurrent use. It must not call the platform, because the
	// Room's transaction stays open until OnNotice returns, and it must not call [Room.Close],
	// which waits for OnNotice.
	//
	// OnNotice can call [Room.Enqueue] and [Room.Resolve] with ctx. In PostgreSQL, such a call
	// with the key of the notice can cause a deadlock with another worker. This is harmless,
	// because PostgreSQL rolls back one of the transactions, and the Room repeats this
	// transaction.
	OnNotice func(ctx context.Context, n Notice) error

	// Observe, if not nil, is called for metrics after each call of OnNotice, when its
	// transaction has ended. It must be safe for concurrent use and must not block.
	Observe func(ctx context.Context, o Observation)

	// URL is the URL at which the platform reaches the Room. The Room creates a webhook with
	// this URL, or no webhook if URL is empty.
	URL string

	// Events are the events of the webhook. The default is [DefaultEvents].
	Events []events.Name

	// List is the name of a list for emails without a ListID. The Room creates the list and
	// accepts its policy. By default, emails have no list.
	//
	// If an email has no list, the platform uses the newest contact with the address in any
	// list, and may reject the email because of this contact's status, for example because
	// it has not confirmed a newsletter. On List, the platform finds no contact, so only the
	// suppression list causes rejections. For this reason, do not add contacts to List.
	List string

	// Workers is the number of concurrent requests to send. The default is 4.
	Workers int

	// External is for a store with a job queue, such as contrib/riverjobs. With External,
	// Start starts no workers, because the queue calls [Room.Work].
	//
	// The store adds a job to the queue when the Room stores an item. However, an item may
	// have no job, for example because it was stored before the application used the queue.
	// Therefore, every 15 minutes, the Room finds the items that have been overdue for at
	// least 15 minutes and stores them again, so the store adds jobs for them.
	External bool

	// SendTimeout limits each call to send an email, with its retries. The default is
	// 20 s.
	SendTimeout time.Duration

	// Pause is the pause after a failed request. It doubles with each further failure, up to
	// 20 times Pause. The default is 30 s, so a pause is at most 10 minutes.
	Pause time.Duration

	// RetryFor is how long the Room retries an email that the platform temporarily does not
	// accept. The time begins with the first request. If the platform has not accepted the
	// email by the end of this time, the outcome is [Failed]. The default is 24 hours.
	RetryFor time.Duration

	// KeepSent is how long the store keeps the key of an email after its outcome is known. When
	// the key has been deleted, Enqueue with the same key sends another email. By default, keys
	// are kept forever.
	KeepSent time.Duration

	// Webhook contains further options of the handler. The Room sets Once.
	Webhook webhook.Options

	// Logger receives failures at warn and error level. The default is slog.Default.
	Logger *slog.Logger
}

// DefaultEvents returns the events that [Notice] needs and the events that resolve
// unknown outcomes.
func DefaultEvents() []events.Name {
	return []events.Name{
		events.NameEmailBounced, events.NameEmailReportedAsSpam, events.NameEmailRejected, events.NameEmailError,
		events.NameContactUnsubscribed, events.NameEmailGlobalUnsubscribed, events.NameSuppressedEmailAdded,
		events.NameEmailOpened, events.NameEmailClicked,
	}
}

func (o Options) withDefaults() Options {
	if o.Events == nil {
		o.Events = DefaultEvents()
	}
	o.Workers = cmp.Or(o.Workers, 4)
	o.SendTimeout = min(cmp.Or(o.SendTimeout, 20*time.Second), math.MaxInt64/2) // adding to it cannot overflow
	o.Pause = min(cmp.Or(o.Pause, 30*time.Second), math.MaxInt64/2/maxPauses)
	o.RetryFor = cmp.Or(o.RetryFor, 24*time.Hour)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	o.Webhook.Logger = cmp.Or(o.Webhook.Logger, o.Logger)
	return o
}

func (o Options) check() error {
	switch {
	case o.OnNotice == nil:
		return errors.New("mailroom: OnNotice must not be nil")
	case o.Webhook.Once != nil:
		return errors.New("mailroom: Webhook.Once must be nil, because the Room deduplicates in its store")
	case o.Workers < 0 || min(o.SendTimeout, o.Pause, o.RetryFor, o.KeepSent) < 0:
		return errors.New("mailroom: Workers and durations must not be negative")
	}
	return nil
}
