package mailroom

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
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
	// OnNotice is called for each notice, in a transaction of the store. ctx carries this
	// transaction. If OnNotice returns an error or panics, the transaction is rolled back, and
	// the Room calls OnNotice again after a pause. The pause begins with 2 s and doubles up to
	// one hour. Therefore writes in the transaction happen exactly once, but other effects can
	// happen again.
	//
	// OnNotice must be safe for concurrent use. It must not call the platform, because the
	// transaction stays open during the call, and it must not call [Room.Close], which waits
	// for OnNotice. It can call [Room.Enqueue] and [Room.Resolve] with ctx. If it calls them
	// with the key of the notice, PostgreSQL can detect a deadlock with another worker.
	// PostgreSQL then rolls back one of the two transactions, and the Room repeats this
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
	// accepts its policy. Do not add contacts to this list. While the list is empty, only
	// the suppression list causes rejections. By default, emails have no list.
	List string

	// Workers is the number of concurrent requests to send. The default is 4.
	Workers int

	// External is for a store with a job queue, such as contrib/riverjobs. With External, Start
	// starts no workers, because the queue calls [Room.Work]. An item may have no job, for
	// example because it was stored before the application used the queue. Such an item becomes
	// overdue. Every 15 minutes, the Room therefore stores the items again that are overdue for
	// 15 minutes, so that the queue gets jobs for them.
	External bool

	// SendTimeout limits each call to send an email, with its retries. The default is
	// 20 s.
	SendTimeout time.Duration

	// Pause is the pause after a failed request. It doubles with each further failure,
	// up to MaxPause. The defaults are 30 s and 10 minutes.
	Pause, MaxPause time.Duration

	// RetryFor is how long the Room sends an email again if the platform does not accept it for
	// a temporary reason. The time begins with the first request. At the end of this time, the
	// outcome is [Failed]. The default is 24 hours.
	RetryFor time.Duration

	// Poll is the interval at which the Room searches the store for work of other
	// processes. The default is 1 s.
	Poll time.Duration

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
	o.MaxPause = cmp.Or(o.MaxPause, max(10*time.Minute, o.Pause))
	o.RetryFor = cmp.Or(o.RetryFor, 24*time.Hour)
	o.Poll = cmp.Or(o.Poll, time.Second)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.Observe == nil {
		o.Observe = func(context.Context, Observation) {}
	}
	o.Webhook.Logger = cmp.Or(o.Webhook.Logger, o.Logger)
	return o
}

func (o Options) check() error {
	switch {
	case o.OnNotice == nil:
		return errors.New("mailroom: OnNotice must not be nil")
	case o.Webhook.Once != nil:
		return errors.New("mailroom: Webhook.Once must be nil, because the Room deduplicates in its store")
	case o.Workers < 0 || min(o.SendTimeout, o.Pause, o.MaxPause, o.RetryFor, o.Poll, o.KeepSent) < 0:
		return errors.New("mailroom: Workers and durations must not be negative")
	}
	return nil
}

// Room sends emails and handles events. A Room is safe for concurrent use.
type Room struct {
	c      *client.Client
	store  Store
	opts   Options
	hook   atomic.Pointer[http.Handler] // nil until the webhook exists
	hookID atomic.Value                 // a string, once subscribed
	listID atomic.Int64

	notices, sends, lookups queue
	connected               chan struct{} // closed when the list and the webhook exist
	closing                 chan struct{} // closed by Close

	mu      sync.Mutex
	closed  bool
	stop    context.CancelFunc // nil before Start
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
	return &Room{
		c: c, store: store, opts: opts.withDefaults(),
		notices: newQueue(), sends: newQueue(), lookups: newQueue(),
		connected: make(chan struct{}), closing: make(chan struct{}),
	}, nil
}

// Start starts the goroutines that send emails, look up emails, and call OnNotice. It
// returns immediately, even if the platform is down. If the Room was already started or
// closed, Start does nothing.
func (r *Room) Start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != nil || r.closed {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.running.Go(func() { r.connect(ctx) })
	r.running.Go(func() { r.loop(ctx, nil, r.opts.Poll, r.expire) })
	r.running.Go(func() { r.loop(ctx, nil, time.Minute, r.tidy) })
	if r.opts.External {
		r.running.Go(func() { r.loop(ctx, nil, overdue, r.reschedule) })
		return
	}
	r.running.Go(func() { r.loop(ctx, r.notices, r.opts.Poll, r.tell) })
	r.running.Go(func() { r.loop(ctx, r.lookups, r.opts.Poll, r.lookUp) })
	for range r.opts.Workers {
		r.running.Go(func() {
			if r.await(ctx) == nil {
				r.loop(ctx, r.sends, r.opts.Poll, r.send)
			}
		})
	}
}

// Work does the work of one [Item] if the item is still due: it sends an email, looks up an
// email or calls OnNotice. With [Options].External, if [Item.IsWork] returns true for an
// item, a job queue calls Work when the time of the item has come. Before Work sends an
// email, it waits for at most 5 s until the Room has connected. If wait is positive, call
// Work again after this time. If Work returns an error, call Work again too, because the
// error is from the store, [ErrNotConnected], [ErrClosed] or the end of ctx.
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
	}
	return max(wait, 0), err
}

// await waits until the list and the webhook exist.
func (r *Room) await(ctx context.Context) error {
	select {
	case <-r.connected:
		return nil
	case <-r.closing:
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
	if !r.closed {
		close(r.closing)
	}
	r.closed = true
	if r.stop != nil {
		r.stop()
	}
	r.mu.Unlock()
	r.running.Wait()
	return nil
}

// enter counts a call in progress, unless the Room is closed.
func (r *Room) enter() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.running.Add(1)
	return nil
}

// queue wakes a loop.
type queue chan struct{}

func newQueue() queue { return make(queue, 1) }

func (q queue) wake() {
	select {
	case q <- struct{}{}:
	default:
	}
}

// loop calls next until ctx ends: immediately if it does not have to wait, and otherwise
// after q wakes or after the pause.
func (r *Room) loop(ctx context.Context, q queue, pause time.Duration, next func(ctx context.Context, key string) (wait time.Duration, err error)) {
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

// encode encodes a value of this package, which cannot fail. It replaces invalid UTF-8,
// because a store accepts only UTF-8 as the value of an item. The body of an event may
// contain invalid UTF-8, for example if it quotes a mail server.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("mailroom: %v", err))
	}
	return bytes.ToValidUTF8(b, []byte("\uFFFD"))
}

// decode reads the value of an item. If the item does not exist, it returns the zero value.
func decode[T any](it Item) (v T, err error) {
	if len(it.Value) == 0 {
		return v, nil
	}
	if err := json.Unmarshal(it.Value, &v); err != nil {
		return v, fmt.Errorf("mailroom: item %s %q: %w", it.Kind, it.Key, err)
	}
	return v, nil
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
