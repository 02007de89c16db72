package simulation

import (
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// pipe is one direction of a connection. What is written arrives some time later, all that was written by then at once:
// how a transport divides its writes shows nowhere.
type pipe struct {
	conn *conn
	up   bool // from the client to the server

	mu       sync.Mutex
	changed  *sync.Cond
	sent     []byte // written, and not there yet
	there    []byte // arrived, and not read yet
	under    bool   // a delivery is under way
	ended    bool   // the writer has closed its end
	eof      bool   // and that has arrived
	err      error  // the connection is broken
	late     bool   // the read deadline has passed
	deadline *time.Timer
	trips    int // deliveries so far
}

func newPipe(c *conn, up bool) *pipe {
	p := &pipe{conn: c, up: up}
	p.changed = sync.NewCond(&p.mu)
	return p
}

func (p *pipe) read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch {
		case p.late:
			return 0, os.ErrDeadlineExceeded
		case len(p.there) > 0:
			n := copy(b, p.there)
			p.there = p.there[n:]
			return n, nil
		case p.err != nil:
			return 0, p.err
		case p.eof:
			return 0, io.EOF
		}
		p.changed.Wait()
	}
}

func (p *pipe) write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.err != nil:
		return 0, p.err
	case p.ended:
		return 0, net.ErrClosed
	}
	p.sent = append(p.sent, b...)
	p.setOffLocked()
	return len(b), nil
}

// end lets the reader see the end of what was written.
func (p *pipe) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.ended = true
		p.setOffLocked()
	}
}

// fail breaks the pipe: what has not arrived is lost.
func (p *pipe) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err, p.sent = err, nil
		p.changed.Broadcast()
	}
}

// drop forgets all that is in the pipe.
func (p *pipe) drop() {
	p.setDeadline(time.Time{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent, p.there = nil, nil
}

func (p *pipe) setDeadline(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deadline != nil {
		p.deadline.Stop()
		p.deadline = nil
	}
	d := time.Until(at)
	p.late = !at.IsZero() && d <= 0
	if !at.IsZero() && d > 0 {
		p.deadline = time.AfterFunc(d, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.late = true
			p.changed.Broadcast()
		})
	}
	p.changed.Broadcast()
}

// name names the next delivery to chance.
func (p *pipe) name() string {
	return fmt.Sprintf("%s %t %d", p.conn.name, p.up, p.trips)
}

// setOffLocked has what was sent arrive after the latency of the link.
func (p *pipe) setOffLocked() {
	if p.under || p.err != nil {
		return
	}
	p.under = true
	p.trips++
	time.AfterFunc(p.conn.link.latency(p.name()), p.arrive)
}

// arrive delivers what was sent.
func (p *pipe) arrive() {
	p.mu.Lock()
	data, ended := p.sent, p.ended
	p.sent, p.under = nil, false
	p.mu.Unlock()

	data, broken := p.conn.cutOff(p.up, data)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	p.there = append(p.there, data...)
	p.eof = ended && len(data) == 0
	p.changed.Broadcast()
	// What follows comes at an instant of its own: between two things that it could do, a reader chooses as it likes.
	p.trips++
	later := p.conn.link.w.chance.brief("later " + p.name())
	switch {
	case broken:
		time.AfterFunc(later, func() { p.conn.breakOff(p.up) })
	case ended && !p.eof:
		time.AfterFunc(later, p.arrive)
	}
}

// The two ways in which a connection is lost.
var (
	errReset = &net.OpError{Op: "read", Net: "sim", Err: syscall.ECONNRESET}
	errDead  = &net.OpError{Op: "read", Net: "sim", Err: net.ErrClosed}
)
