package simulation

import (
	"context"
	"sync"
	"time"
)

// process is something that can be killed and started again. Each life starts with an empty memory.
type process struct {
	w    *world
	name string
	run  func(*life) // begins a life; returns at once
	end  func()      // what dies with it: called before its connections are lost

	mu      sync.Mutex
	current *life
	port    *listener
}

// life is one run of a process. ctx ends with it.
type life struct {
	n      int
	ctx    context.Context
	cancel context.CancelFunc
}

func (w *world) newProcess(name string, run func(*life)) *process {
	p := &process{w: w, name: name, run: run}
	w.processes[name] = p
	return p
}

// start begins a life.
func (p *process) start() {
	p.mu.Lock()
	ctx, cancel := context.WithCancel(p.w.ctx)
	n := 1
	if p.current != nil {
		n = p.current.n + 1
	}
	p.current = &life{n, ctx, cancel}
	p.port = newListener()
	l := p.current
	p.mu.Unlock()
	p.run(l)
}

// isUp reports whether the process lives.
func (p *process) isUp() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current != nil && p.current.lives()
}

// lives reports whether the process is still in this life of it.
func (l *life) lives() bool { return l.ctx.Err() == nil }

func (p *process) life() *life {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

func (p *process) listener() *listener {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.port
}

// crash kills the process and starts it again later. One that is down already stays so.
func (p *process) crash(down time.Duration) {
	if !p.isUp() {
		return
	}
	p.w.trace.add(p.name, "is killed")
	p.kill()
	time.AfterFunc(down, func() {
		if p.w.ctx.Err() == nil && !p.isUp() {
			p.w.trace.add(p.name, "starts again")
			p.start()
		}
	})
}

// kill ends a life: nobody hears of what it still does.
func (p *process) kill() {
	if p.end != nil {
		p.end()
	}
	l := p.life()
	_ = p.listener().Close()
	p.w.net.killAll(p)
	l.cancel()
}

// accept hands a connection to the server of the process.
func (p *process) accept(e *end) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.port.incoming <- e
}
