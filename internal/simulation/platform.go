package simulation

import (
	"bytes"
	"context"
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
	skew     time.Duration // of its clock
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
		// Several at the same instant would be in an order that no seed decides.
		DeliveryConcurrency: 1,
		Log:                 p.w.log.logger(),
	}
	if p.w.plan.Seed%8 == 0 { // it takes a tenth of the time
		cfg.OnViolation = func(err error) { p.w.violate(theContract, "%v", err) }
	}
	srv := mockserver.New(cfg)
	if p.snapshot != nil {
		if err := srv.Restore(bytes.NewReader(p.snapshot)); err != nil {
			p.w.violate(snapshots, "%v", err)
		}
	}
	p.mu.Lock()
	p.srv = srv
	p.http = p.w.serve(p.proc, &edge{p: p, life: l, srv: srv})
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

func (p *platform) turnClock(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.skew = by
}

// clock returns the time that the platform's headers show.
func (p *platform) clock() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Add(p.skew)
}

// serve serves HTTP/1.1 and HTTP/2 for a process until its life ends.
func (w *world) serve(p *process, h http.Handler) *http.Server {
	s := &http.Server{
		Handler:           h,
		Protocols:         new(http.Protocols),
		ErrorLog:          w.log.plain(),
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
