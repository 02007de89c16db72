package mailroom

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// Errors of [Room.Send] and [Room.Enqueue].
var (
	ErrSuppressed   = errors.New("mailroom: address suppressed")
	ErrNotConnected = errors.New("mailroom: not connected")
	ErrClosed       = errors.New("mailroom: room closed")
)

// Options configures a [Room]. OnNotice is required. The zero values of the other fields
// are good defaults.
type Options struct {
	// OnNotice is called for each notice, in a transaction of the store, which ctx carries.
	// If OnNotice returns an error or panics, the transaction is rolled back, and the Room
	// calls OnNotice again after a pause. The pause begins with 2 s and doubles up to one hour.
	// Therefore writes in the transaction happen exactly once, but other effects can happen
	// again.
	//
	// OnNotice must be safe for concurrent use. It must not call the platform, because the
	// transaction stays open during the call, and it must not call [Room.Close], which waits
	// for OnNotice. It can call [Room.Enqueue] and [Room.Resolve] with ctx. If it calls them
	// with the key of the notice, PostgreSQL can detect a deadlock with another worker. The
	// Room repeats the transaction that PostgreSQL then rolls back.
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
	// accepts its policy. Do not add contacts to this list. While the list is empty, only
	// the suppression list causes rejections. By default, emails have no list.
	List string

	// Workers is the number of concurrent requests to send. The default is 4.
	Workers int

	// External is for a store with a job queue, such as contrib/riverjobs. With External, Start
	// starts no workers, because the queue calls [Room.Work]. An item may have no job, for
	// example because it was stored before the application used the queue. Every 15 minutes,
	// the Room therefore stores the items again that are overdue for 15 minutes, so that the
	// queue gets jobs for them.
	External bool

	// SendTimeout limits each call to send an email, with its retries. The default is
	// 20 s.
	SendTimeout time.Duration

	// Pause is the pause after a failed request. It doubles with each further failure, up to
	// 20 times Pause. The default is 30 s, so a pause is at most 10 minutes.
	Pause time.Duration

	// RetryFor is how long the Room sends an email again if the platform does not accept it for
	// a temporary reason. The time begins with the first request. At the end of this time, the
	// outcome is [Failed]. The default is 24 hours.
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
	o.SendTimeout = cmp.Or(o.SendTimeout, 20*time.Second)
	o.Pause = cmp.Or(o.Pause, 30*time.Second)
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

// Room sends emails and handles events. A Room is safe for concurrent use.
type Room struct {
	c      *client.Client
	store  Store
	opts   Options
	queues map[string]queue // by the kind of items
	poll   time.Duration    // between searches for work of other processes

	connected chan struct{} // closed after connect has set the next three fields
	hook      http.Handler  // nil without a URL
	hookID    string        // after connect, only tidy uses it
	listID    int64

	once    sync.Once       // Start
	closing context.Context // ends when Close begins
	stop    context.CancelFunc
	mu      sync.Mutex // protects running from Add after Wait
	running sync.WaitGroup
}

// New returns a Room. It sends no request, does not use the store and starts no
// goroutine.
func New(c *client.Client, store Store, opts Options) (*Room, error) {
	if c == nil || store == nil {
		return nil, errors.New("mailroom: the client and the store must not be nil")
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	r := &Room{c: c, store: store, opts: opts.withDefaults(), queues: map[string]queue{}, poll: time.Second, connected: make(chan struct{})}
	for _, kind := range workKinds() {
		r.queues[kind] = make(queue, 1)
	}
	r.closing, r.stop = context.WithCancel(context.Background())
	return r, nil
}

// Start starts the goroutines that send emails, look up emails, and call OnNotice. It
// returns immediately, even if the platform is down. If the Room was already started or
// closed, Start does nothing.
func (r *Room) Start() { r.once.Do(r.start) }

func (r *Room) start() {
	if r.enter() != nil {
		return
	}
	defer r.running.Done()
	every := func(pause time.Duration, q queue, next work) { r.running.Go(func() { r.loop(q, pause, next) }) }
	every(r.poll, nil, r.expire)
	workers := r.opts.Workers
	if r.opts.External {
		workers = 0
		every(overdue, nil, r.reschedule)
	} else {
		every(r.poll, r.queues[kindNotice], r.tell)
		every(r.poll, r.queues[kindLookup], r.lookUp)
	}
	r.running.Go(func() {
		r.connect(r.closing)
		every(time.Minute, nil, r.tidy)
		for range workers {
			every(r.poll, r.queues[kindSend], r.send)
		}
	})
}

// Work does the work of one [Item] if the item is still due: it sends an email, looks up an
// email or calls OnNotice. With [Options].External, if [Item.IsWork] returns true for an
// item, a job queue calls Work when the time of the item has come. Before Work sends an
// email, it waits for at most 5 s until the Room has connected. If wait is positive, call
// Work again after this time. If Work returns an error, call Work again too, because the
// error is from the store, [ErrNotConnected], [ErrClosed] or the end of ctx. For an item that
// is not work, the error does not end.
func (r *Room) Work(ctx context.Context, kind, key string) (wait time.Duration, err error) {
	if err := r.enter(); err != nil {
		return 0, err
	}
	defer r.running.Done()
	switch kind {
	case kindSend:
		connected, cancel := context.WithTimeout(ctx, 5*time.Second) // longer would delay the end of the queue
		defer cancel()
		if err = r.await(connected); err == nil {
			wait, err = r.send(ctx, key)
		}
	case kindLookup:
		wait, err = r.lookUp(ctx, key)
	case kindNotice:
		wait, err = r.tell(ctx, key)
	default:
		err = fmt.Errorf("mailroom: Work does not handle items of the kind %q", kind)
	}
	return max(wait, 0), err
}

// await waits until the list and the webhook exist.
func (r *Room) await(ctx context.Context) error {
	select {
	case <-r.connected:
		return nil
	case <-r.closing.Done():
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrNotConnected, context.Cause(ctx))
	}
}

// Close stops the Room. It waits until the calls of OnNotice have returned. It also
// waits for requests in progress, for at most SendTimeout plus 30 s. With External, a lookup
// can take 2 minutes, unless the queue cancels it. The remaining work
// stays in the store, and a later Room continues with it, even in another process. The
// error is always nil.
func (r *Room) Close() error {
	r.mu.Lock()
	r.stop()
	r.mu.Unlock()
	r.running.Wait()
	return nil
}

// enter counts a call in progress, unless the Room is closed.
func (r *Room) enter() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing.Err() != nil {
		return ErrClosed
	}
	r.running.Add(1)
	return nil
}

// queue wakes a loop.
type queue chan struct{}

func (q queue) wake() {
	select {
	case q <- struct{}{}:
	default:
	}
}

// work does the work of the item with the key, or of any item if key is "".
type work func(ctx context.Context, key string) (wait time.Duration, err error)

// loop calls next until the Room is closed: immediately if it does not have to wait, and
// otherwise after q wakes or after the pause.
func (r *Room) loop(q queue, pause time.Duration, next work) {
	ctx := r.closing
	for ctx.Err() == nil {
		wait, err := next(ctx, "")
		if err != nil && ctx.Err() == nil {
			r.opts.Logger.ErrorContext(ctx, "mailroom: store failed", "error", err)
		}
		if wait == 0 && err == nil {
			q.wake() // other work may remain for another worker
			continue
		}
		select {
		case <-ctx.Done():
		case <-q:
		case <-time.After(pause):
		}
	}
}

// doubled returns the pause after n failures: first, doubled n-1 times, at most most.
func doubled(first time.Duration, n int, most time.Duration) time.Duration {
	d := min(first, most)
	for ; n > 1 && d < most; n-- {
		d = min(2*d, most)
	}
	return d
}

// normal returns the form of an address in the store.
func normal(address string) string { return strings.ToLower(strings.TrimSpace(address)) }

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
