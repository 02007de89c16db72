package simulation

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"example.com/emailplatform/mockserver"
)

// platform is the process of the platform. Its state outlives it in a snapshot.
type platform struct {
	w    *world
	proc *process

	mu       sync.Mutex
	srv      *mockserver.Server
	http     *http.Server
	snapshot []byte
	ahead    time.Duration // of its clock, which was set
}

func newPlatform(w *world) *platform {
	p := &platform{w: w}
	p.proc = w.newProcess("platform", p.run)
	p.proc.end = p.save
	return p
}

// run begins a life, with what the snapshot says.
func (p *platform) run(l *life) {
	cfg := mockserver.Config{
		Tokens:    p.w.tokens(),
		Targets:   map[string]http.Handler{receiverHost: p.w.receiver},
		FaultSeed: p.w.plan.Seed + 1,
		// The receiver gives each delivery an instant of its own.
		DeliveryConcurrency: max(1, p.w.plan.Concurrency),
	}
	srv := mockserver.New(cfg)
	if p.snapshot != nil {
		if err := srv.Restore(bytes.NewReader(p.snapshot)); err != nil {
			p.w.violate(snapshots, "%v", err)
		}
	}
	if off := time.Until(srv.Now()) - p.ahead; off.Abs() > time.Millisecond {
		p.w.violate(snapshots, "the clock of a platform that starts again is off by %v", off)
	}
	p.mu.Lock()
	p.srv = srv
	p.http = serve(p.proc, &edge{p: p, life: l, srv: srv})
	p.mu.Unlock()
}

// save is what a platform leaves that dies: all that it had done by then.
func (p *platform) save() {
	p.snapshot = p.state()
	p.mu.Lock()
	srv, server := p.srv, p.http
	p.mu.Unlock()
	go func() {
		_ = server.Close()
		srv.Close()
	}()
}

// now returns the server of this life.
func (p *platform) now() *mockserver.Server {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.srv
}

// setClock lets the clock jump: what becomes due then happens at once. One that is
// down has no clock.
func (p *platform) setClock(ahead time.Duration) {
	if !p.proc.isUp() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.srv.SetNow(time.Now().Add(ahead)); err != nil {
		panic(fmt.Sprintf("simulation: %v", err))
	}
	p.ahead = ahead
}

// serve serves HTTP/1.1 and HTTP/2 for a process until its life ends.
func serve(p *process, h http.Handler) *http.Server {
	s := &http.Server{
		Handler:           h,
		Protocols:         new(http.Protocols),
		ErrorLog:          log.New(io.Discard, "", 0),
		ReadHeaderTimeout: time.Minute,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c.(*end).conn)
		},
	}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	port := p.listener()
	go func() { _ = s.Serve(port) }()
	return s
}

type connKey struct{}

// state returns all that the platform holds, as text.
func (p *platform) state() []byte {
	var b bytes.Buffer
	if err := p.now().Snapshot(&b); err != nil {
		p.w.violate(snapshots, "%v", err)
	}
	return b.Bytes()
}
