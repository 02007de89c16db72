package simulation

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// network contains the links between processes.
type network struct {
	mu    sync.Mutex
	links map[string]*link
	open  map[*end]bool // ends that their owners have not closed
}

// link connects two processes. An armed fault applies to the next connection of the link.
type link struct {
	sim      *simulation
	name     string
	from, to *process

	mu    sync.Mutex
	dials int
	armed []Action
}

func (sim *simulation) newLink(name string, from, to *process) *link {
	l := &link{sim: sim, name: name, from: from, to: to}
	sim.net.links[name] = l
	return l
}

// arm adds a fault.
func (l *link) arm(a Action) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = append(l.armed, a)
}

// take removes and returns the first fault of a kind.
func take[T Action](l *link, fits func(T) bool) (found T, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, a := range l.armed {
		if t, is := a.(T); is && (fits == nil || fits(t)) {
			l.armed = append(l.armed[:i:i], l.armed[i+1:]...)
			return t, true
		}
	}
	return found, false
}

// removeFaults removes all faults.
func (l *link) removeFaults() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = nil
}

// latency returns the travel time of bytes.
func (l *link) latency(name string) time.Duration {
	return l.sim.chance.between(100*time.Microsecond, 5*time.Millisecond, "latency "+name)
}

// dialTimeout is the dial timeout of http.DefaultTransport.
const dialTimeout = 30 * time.Second

// dial connects the two processes of the link.
func (l *link) dial(ctx context.Context) (net.Conn, error) {
	l.mu.Lock()
	l.dials++
	name := fmt.Sprintf("%s.%d", l.name, l.dials)
	l.mu.Unlock()
	if err := pause(ctx, l.latency("dial "+name)); err != nil {
		return nil, dialError(err)
	}
	if _, ok := take[ConnectTimeout](l, nil); ok {
		l.sim.trace.add(l.name, "%s: the connection attempt times out", name)
		_ = pause(ctx, dialTimeout)
		return nil, dialError(syscall.ETIMEDOUT)
	}
	_, refused := take[RefuseConnection](l, nil)
	if refused || !l.to.isUp() || !l.from.isUp() {
		l.sim.trace.add(l.name, "%s: refused", name)
		return nil, dialError(syscall.ECONNREFUSED)
	}
	c := &conn{link: l, name: name}
	c.up, c.down = newPipe(c, true), newPipe(c, false)
	client, server := &end{conn: c, owner: l.from, in: c.down, out: c.up}, &end{conn: c, owner: l.to, in: c.up, out: c.down}
	l.sim.net.mu.Lock()
	l.sim.net.open[client], l.sim.net.open[server] = true, true
	l.sim.net.mu.Unlock()
	l.to.accept(server)
	return client, nil
}

func dialError(err error) error { return &net.OpError{Op: "dial", Net: "sim", Err: err} }

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// conn is a connection with two pipes.
type conn struct {
	link     *link
	name     string
	up, down *pipe

	mu   sync.Mutex
	cut  *Cut
	left int // bytes until the cut
}

// cutOff returns the bytes that arrive, and whether the connection is lost afterwards.
func (c *conn) cutOff(up bool, data []byte) (arrives []byte, broken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut == nil && len(data) > 0 {
		if cut, ok := take(c.link, func(t Cut) bool { return t.Up == up }); ok {
			c.cut, c.left = &cut, cut.After
		}
	}
	switch {
	case c.cut == nil || c.cut.Up != up:
		return data, false
	case c.left < 0: // nothing arrives after the cut
		return nil, false
	}
	if c.left -= len(data); c.left > 0 {
		return data, false
	}
	n := c.left + len(data)
	c.left = -1
	return data[:n], true
}

// breakOff breaks the connection. The reader of this direction gets the error immediately, and the other reader
// later.
func (c *conn) breakOff(up bool) {
	c.link.sim.trace.add(c.link.name, "%s: cut", c.name)
	near, far := c.up, c.down
	if !up {
		near, far = far, near
	}
	near.fail(errReset)
	time.AfterFunc(c.link.latency("cut "+c.name), func() { far.fail(errReset) })
}

// end is one end of a connection. It implements [net.Conn].
type end struct {
	conn    *conn
	owner   *process
	in, out *pipe

	once sync.Once
}

func (e *end) Read(b []byte) (int, error)  { return e.in.read(b) }
func (e *end) Write(b []byte) (int, error) { return e.out.write(b) }

func (e *end) Close() error {
	e.once.Do(func() {
		e.in.fail(errDead)
		e.in.drop()
		e.out.end()
		n := e.conn.link.sim.net
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.open, e)
	})
	return nil
}

// killAll closes the connections of a killed process.
func (n *network) killAll(p *process) {
	var ends []*end
	n.mu.Lock()
	for e := range n.open {
		if e.owner == p {
			ends = append(ends, e)
		}
	}
	n.mu.Unlock()
	for _, e := range ends {
		e.die()
	}
}

// die closes the end as a killed process does.
func (e *end) die() {
	e.out.drop()
	time.AfterFunc(e.conn.link.latency("die "+e.conn.name), func() { e.out.fail(errReset) })
	_ = e.Close()
}

func address(name string) net.Addr { return &net.UnixAddr{Name: name, Net: "sim"} }

func (e *end) LocalAddr() net.Addr  { return address(e.conn.name) }
func (e *end) RemoteAddr() net.Addr { return address(e.conn.name) }

func (e *end) SetDeadline(t time.Time) error { return e.SetReadDeadline(t) }

func (e *end) SetReadDeadline(t time.Time) error {
	e.in.setDeadline(t)
	return nil
}

// SetWriteDeadline does nothing, because writes do not block.
func (*end) SetWriteDeadline(time.Time) error { return nil }

// listener passes connections to the server of a process.
type listener struct {
	incoming chan *end
	closed   chan struct{}
	once     sync.Once
}

func newListener() *listener {
	return &listener{incoming: make(chan *end, 1000), closed: make(chan struct{})}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
		return nil, net.ErrClosed
	default:
	}
	select {
	case e := <-l.incoming:
		return e, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (*listener) Addr() net.Addr { return address("sim") }

// pipe is one direction of a connection. The sizes of writes have no effect, because all bytes on their way arrive
// together.
type pipe struct {
	conn *conn
	up   bool // from the client to the server

	mu         sync.Mutex
	changed    *sync.Cond
	sent       []byte // written, but not arrived
	received   []byte // arrived, but not read
	inTransit  bool   // a delivery is in progress
	ended      bool   // the writer has closed its end
	eof        bool   // the reader has received the end
	err        error  // the connection is broken
	timedOut   bool   // the read deadline has passed
	deadline   *time.Timer
	deliveries int // deliveries so far
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
		case p.timedOut:
			return 0, os.ErrDeadlineExceeded
		case len(p.received) > 0:
			n := copy(b, p.received)
			p.received = p.received[n:]
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
	p.scheduleLocked()
	return len(b), nil
}

// end marks the end of the written bytes for the reader.
func (p *pipe) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.ended = true
		p.scheduleLocked()
	}
}

// fail breaks the pipe, so bytes that have not arrived are lost.
func (p *pipe) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err, p.sent = err, nil
		p.changed.Broadcast()
	}
}

// drop removes all bytes.
func (p *pipe) drop() {
	p.setDeadline(time.Time{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent, p.received = nil, nil
}

func (p *pipe) setDeadline(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deadline != nil {
		p.deadline.Stop()
		p.deadline = nil
	}
	d := time.Until(at)
	p.timedOut = !at.IsZero() && d <= 0
	if !at.IsZero() && d > 0 {
		p.deadline = time.AfterFunc(d, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.timedOut = true
			p.changed.Broadcast()
		})
	}
	p.changed.Broadcast()
}

// name returns the name of the current delivery for chance.
func (p *pipe) name() string {
	return fmt.Sprintf("%s %t %d", p.conn.name, p.up, p.deliveries)
}

// scheduleLocked delivers written bytes after the latency of the link.
func (p *pipe) scheduleLocked() {
	if p.inTransit || p.err != nil {
		return
	}
	p.inTransit = true
	p.deliveries++
	time.AfterFunc(p.conn.link.latency(p.name()), p.arrive)
}

// arrive delivers written bytes.
func (p *pipe) arrive() {
	p.mu.Lock()
	data, ended := p.sent, p.ended
	p.sent, p.inTransit = nil, false
	p.mu.Unlock()

	data, broken := p.conn.cutOff(p.up, data)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	p.received = append(p.received, data...)
	p.eof = ended && len(data) == 0
	p.changed.Broadcast()
	// The next change gets its own instant, because a reader with two possible changes would choose one at random.
	p.deliveries++
	later := p.conn.link.sim.chance.shortDelay("later " + p.name())
	switch {
	case broken:
		time.AfterFunc(later, func() { p.conn.breakOff(p.up) })
	case ended && !p.eof:
		time.AfterFunc(later, p.arrive)
	}
}

// The errors of a lost connection.
var (
	errReset = &net.OpError{Op: "read", Net: "sim", Err: syscall.ECONNRESET}
	errDead  = &net.OpError{Op: "read", Net: "sim", Err: net.ErrClosed}
)
