package redisstore

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// linger is the time that a process stays subscribed after its last caller has
// left the queue.
const linger = 10 * time.Second

type waiter struct {
	id      string
	ticket  atomic.Int64  // the number of the waiter in the queue; 0 if it is unknown
	left    atomic.Int64  // number of callers ahead of it that have left since the last check
	changed chan struct{} // capacity 1; nil before the first subscription
	leave   func()        // nil before join
}

// sleep waits for the duration wait. If a caller ahead of w leaves the queue, sleep
// shortens the wait by the duration gap.
func (w *waiter) sleep(ctx context.Context, wait, gap time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	until := time.Now().Add(wait)
	for {
		select {
		case <-timer.C:
			return ctx.Err()
		case <-ctx.Done():
			return ctx.Err()
		case <-w.changed:
			until = until.Add(-time.Duration(w.left.Swap(0)) * gap)
			timer.Reset(time.Until(until))
		}
	}
}

func (w *waiter) done() {
	if w.leave != nil {
		w.leave()
	}
}

type watchers struct {
	mu       sync.Mutex
	channels map[string]*watch
}

// watch is a subscription to the notifications of one queue. All callers of this process that wait
// in the queue share it. Some fields change even after ready is closed. The mutex of the watchers
// guards these fields.
type watch struct {
	channel string
	ready   chan struct{} // closed when the subscription exists or has failed
	err     error         // error of a failed subscription
	pubsub  *redis.PubSub
	waiters map[*waiter]bool
	idle    *time.Timer
}

// join subscribes w to notifications about callers that leave the queue. If join
// returns an error, there are no notifications, so w may sleep too long.
func (ws *watchers) join(ctx context.Context, rdb Client, channel string, w *waiter) error {
	ws.mu.Lock()
	if ws.channels == nil {
		ws.channels = map[string]*watch{}
	}
	s := ws.channels[channel]
	if s == nil {
		s = &watch{channel: channel, ready: make(chan struct{}), waiters: map[*waiter]bool{}}
		s.idle = time.AfterFunc(linger, func() { ws.close(s) })
		ws.channels[channel] = s
		go ws.listen(context.WithoutCancel(ctx), rdb, s)
	}
	ws.add(s, w)
	ws.mu.Unlock()
	select {
	case <-s.ready:
		return s.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// joinReady subscribes w to the notifications if the subscription exists.
func (ws *watchers) joinReady(channel string, w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if s := ws.channels[channel]; s != nil && s.pubsub != nil {
		ws.add(s, w)
	}
}

func (ws *watchers) add(s *watch, w *waiter) {
	w.changed, w.leave = make(chan struct{}, 1), func() { ws.leave(s, w) }
	s.idle.Stop()
	s.waiters[w] = true
}

func (ws *watchers) leave(s *watch, w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(s.waiters, w)
	if len(s.waiters) == 0 {
		s.idle.Reset(linger)
	}
}

// close ends the subscription and the goroutine of listen, unless a new caller has joined.
func (ws *watchers) close(s *watch) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(s.waiters) > 0 || ws.channels[s.channel] != s {
		return
	}
	delete(ws.channels, s.channel)
	if s.pubsub != nil {
		_ = s.pubsub.Close()
	}
}

// listen receives notifications until the subscription fails or is closed. If only the
// connection breaks, go-redis subscribes again.
func (ws *watchers) listen(ctx context.Context, rdb Client, s *watch) {
	pubsub := rdb.Subscribe(ctx, s.channel)
	_, err := pubsub.ReceiveTimeout(ctx, timeout)
	ws.mu.Lock()
	wanted := ws.channels[s.channel] == s // otherwise the callers have left
	if wanted && err != nil {
		delete(ws.channels, s.channel) // the next caller subscribes again
	}
	over := !wanted || err != nil
	if s.pubsub, s.err = pubsub, err; over {
		_ = pubsub.Close()
	}
	close(s.ready)
	ws.mu.Unlock()
	if over {
		return
	}
	for m := range pubsub.Channel() {
		if ticket, err := strconv.ParseInt(m.Payload, 10, 64); err == nil {
			ws.wake(s, ticket)
		}
	}
}

// wake wakes the callers whose tickets are later than the argument ticket.
func (ws *watchers) wake(s *watch, ticket int64) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range s.waiters {
		if own := w.ticket.Load(); own != 0 && own <= ticket {
			continue // the caller waits before it; a caller without a ticket may be about to get one
		}
		w.left.Add(1)
		select {
		case w.changed <- struct{}{}:
		default: // it has not read the last notification yet
		}
	}
}
