package mailroom

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"sync"
	"time"

	"example.com/emailplatform/client"
)

// Errors of [Room.Send] and [Room.Work].
var (
	ErrSuppressed   = errors.New("mailroom: address suppressed")
	ErrNotConnected = errors.New("mailroom: not connected")
	ErrClosed       = errors.New("mailroom: room closed")
)

// Room sends emails and handles events. A Room is safe for concurrent use.
type Room struct {
	c            *client.Client
	store        Store
	opts         Options
	wakeups      map[string]wakeup // by the kind of items
	pollInterval time.Duration     // between searches for work of other processes

	connected      chan struct{} // closed after connect has set the next three fields
	webhookHandler http.Handler  // nil without a URL
	webhookID      string        // after connect, only keepWebhook uses it
	listID         int64

	startOnce sync.Once       // Start
	closing   context.Context // ends when Close begins
	stop      context.CancelFunc
	mu        sync.Mutex // protects running from Add after Wait
	running   sync.WaitGroup
}

// New returns a Room. It sends no request, does not use the store and starts no
// goroutine.
func New(c *client.Client, store Store, opts Options) (*Room, error) {
	if c == nil || isNil(store) {
		return nil, errors.New("mailroom: the client and the store must not be nil")
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	r := &Room{c: c, store: store, opts: opts.withDefaults(), wakeups: map[string]wakeup{}, pollInterval: time.Second, connected: make(chan struct{})}
	for _, kind := range workKinds() {
		r.wakeups[kind] = make(wakeup, 1)
	}
	r.closing, r.stop = context.WithCancel(context.Background())
	return r, nil
}

// isNil reports whether v is nil or a nil pointer.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}

// Start starts the goroutines that send emails, look up emails, and call OnNotice. It
// returns immediately, even if the platform is down. If the Room was already started or
// closed, Start does nothing.
func (r *Room) Start() { r.startOnce.Do(r.start) }

func (r *Room) start() {
	if r.beginCall() != nil {
		return
	}
	defer r.running.Done()
	goLoop := func(interval time.Duration, w wakeup, work workFunc) {
		r.running.Go(func() { r.runLoop(w, interval, work) })
	}
	goLoop(r.pollInterval, nil, r.expire)
	workers := r.opts.Workers
	if r.opts.External {
		workers = 0
		goLoop(overdueAfter, nil, r.reschedule)
	} else {
		goLoop(r.pollInterval, r.wakeups[kindNotice], r.notify)
		goLoop(r.pollInterval, r.wakeups[kindLookup], r.lookUp)
	}
	r.running.Go(func() {
		r.connect(r.closing)
		goLoop(time.Minute, nil, r.cleanUp)
		for range workers {
			goLoop(r.pollInterval, r.wakeups[kindSend], r.send)
		}
	})
}

// Work does the work of one [Item]: depending on the kind of the item, Work sends an email,
// looks up an email or calls OnNotice. If another call has already done this work, Work
// does nothing. To send an email, Work needs the list and the webhook of the Room. If the
// Room has not found or created them yet, Work waits up to 5 s for them.
//
// Work is for job queues, with [Options].External. The queue calls Work for each item for
// which [Item.IsWork] returns true, when the time of the item (its field Due) has come. The
// queue must call Work again later in two cases:
//
//   - If wait is positive, the item has more work to do. Call Work after this time.
//   - If err is not nil, Work could not finish. The error is [ErrNotConnected],
//     [ErrClosed], an error of ctx or an error of the store. A later call can succeed,
//     for example in another process.
//
// Do not call Work for an item whose kind has no work, for example a suppressed address,
// because each call returns an error.
func (r *Room) Work(ctx context.Context, kind, key string) (wait time.Duration, err error) {
	if err := r.beginCall(); err != nil {
		return 0, err
	}
	defer r.running.Done()
	switch kind {
	case kindSend:
		connected, cancel := context.WithTimeout(ctx, 5*time.Second) // longer would delay the end of the queue
		defer cancel()
		if err = r.waitConnected(connected); err == nil {
			wait, err = r.send(ctx, key)
		}
	case kindLookup:
		wait, err = r.lookUp(ctx, key)
	case kindNotice:
		wait, err = r.notify(ctx, key)
	default:
		err = fmt.Errorf("mailroom: Work does not handle items of the kind %q", kind)
	}
	if wait == noWork {
		wait = 0
	}
	return wait, err
}

// Logger returns the logger of the [Options].
func (r *Room) Logger() *slog.Logger { return r.opts.Logger }

// waitConnected waits until the list and the webhook exist.
func (r *Room) waitConnected(ctx context.Context) error {
	select {
	case <-r.connected:
		return nil
	case <-r.closing.Done():
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrNotConnected, context.Cause(ctx))
	}
}

// Close stops the Room. It waits until the calls of OnNotice and the requests in progress
// have ended. The requests take at most SendTimeout plus 30 s. With External, however, a
// lookup can take 2 minutes, unless the queue cancels it.
//
// Work that has not begun stays in the store, and a later Room continues with it, even in
// another process. The error is always nil.
func (r *Room) Close() error {
	r.mu.Lock()
	r.stop()
	r.mu.Unlock()
	r.running.Wait()
	return nil
}

// beginCall counts a call in progress, unless the Room is closed.
func (r *Room) beginCall() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing.Err() != nil {
		return ErrClosed
	}
	r.running.Add(1)
	return nil
}
