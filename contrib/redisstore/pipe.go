package redisstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// slow is the duration after which a round trip no longer delays the next
	// round trip.
	slow = 50 * time.Millisecond
	// maxTrips is the maximum number of concurrent round trips. A round trip that
	// takes longer than the constant slow no longer counts. With a maximum of one,
	// a second caller would wait for the round trip of the first. With a maximum
	// above two, fewer callers would share a round trip.
	maxTrips = 2
	// maxBatch is the maximum number of commands in a round trip.
	maxBatch = 128
)

// pipe sends the commands of concurrent callers together. Commands that arrive
// during a round trip share the next round trip. The automatic pipelines of go-redis
// would do the same, but they are experimental.
type pipe struct {
	rdb   interface{ Pipeline() redis.Pipeliner }
	alone bool // each command has its own round trip

	mu      sync.Mutex
	waiting []*command // oldest first
	running int        // number of runs that will check waiting again
}

// command is a SET that returns the previous value.
type command struct {
	ctx        context.Context //nolint:containedctx // for its values; it does not end
	key, value string
	args       redis.SetArgs
	end        func(before string, err error) // err is redis.Nil if there was no previous value
	expires    time.Time                      // time after which no caller waits for the result
}

func (p *pipe) add(c *command) {
	if p.alone {
		go p.send([]*command{c})
		return
	}
	c.expires = time.Now().Add(timeout)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, c)
	if p.running < maxTrips {
		p.running++
		go p.run()
	}
}

// run makes round trips until no command is waiting, or until another run has
// started because a round trip was slow.
func (p *pipe) run() {
	for batch := p.nextBatch(); len(batch) > 0; batch = p.nextBatch() {
		successor := time.AfterFunc(slow, p.run)
		p.send(batch)
		if !successor.Stop() {
			return
		}
	}
}

// nextBatch returns the next commands. It drops commands whose callers no longer wait.
// Otherwise the queue would grow while Redis does not respond.
func (p *pipe) nextBatch() (batch []*command) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for now := time.Now(); len(p.waiting) > 0 && now.After(p.waiting[0].expires); p.waiting = p.waiting[1:] {
		p.waiting[0].end("", context.DeadlineExceeded)
	}
	n := min(len(p.waiting), maxBatch)
	batch, p.waiting = p.waiting[:n:n], p.waiting[n:]
	if n == 0 {
		p.running--
		p.waiting = nil
	}
	return batch
}

func (p *pipe) send(batch []*command) {
	ctx, cancel := context.WithTimeout(batch[0].ctx, timeout)
	defer cancel()
	pipeline := p.rdb.Pipeline()
	replies := make([]*redis.StatusCmd, len(batch))
	for i, c := range batch {
		replies[i] = pipeline.SetArgs(c.ctx, c.key, c.value, c.args)
	}
	_, failed := pipeline.Exec(ctx)
	for i, c := range batch {
		before, err := replies[i].Result()
		if err == nil && before == "" && !errors.Is(failed, redis.Nil) {
			err = failed // for example, Redis rejected the connection, so the command has neither a reply nor an error
		}
		c.end(before, err)
	}
}
