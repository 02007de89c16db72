package simulation

import (
	"context"
	"fmt"
	"io"
	"log"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// witness is the token of the test itself.
const witness = "token-of-the-witness-03aa"

// fixture contains everything in the bubble.
type fixture struct {
	plan   Plan
	chance chance
	start  time.Time
	ctx    context.Context // context of the run
	cancel context.CancelFunc

	trace    *trace
	record   *record
	store    *store
	net      *network
	platform *platform
	receiver *receiver
	callers  []*caller
	verifier *webhook.Verifier

	processes map[string]*process
	contacts  []string // the addresses on the list

	mu         sync.Mutex
	isQuiet    bool
	inProgress map[string]int
	violations []Violation
}

// Violation is a violated invariant.
type Violation struct {
	Invariant Invariant
	What      string
}

// Run is the result of a plan.
type Run struct {
	Plan       Plan
	Violations []Violation
	Trace      string
}

// Simulate runs a plan in its own bubble. It must not be called by parallel tests.
func Simulate(t *testing.T, plan Plan) (run Run) {
	t.Helper()
	cryptotest.SetGlobalRandom(t, plan.Seed)
	defer oneAtATime()()
	defer log.SetOutput(log.Writer())
	defer func() {
		if v := recover(); v != nil { // synctest reports goroutines that are still blocked
			run.Violations = append(run.Violations, Violation{nothingLeft, fmt.Sprint(v)})
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t.Context(), plan)
		log.SetOutput(io.Discard) // messages of net/http
		w.setUp()
		w.storm()
		w.calm()
		w.judge()
		w.tearDown()
		run = Run{Plan: plan, Violations: w.violations, Trace: w.trace.String()}
	})
	return run
}

// oneAtATime makes goroutines run one at a time, in the order of their wake-ups, until the returned function
// is called. Otherwise, where net/http wakes several goroutines together, their order would be random.
func oneAtATime() (restore func()) {
	processors, percent := runtime.GOMAXPROCS(1), debug.SetGCPercent(-1)
	return func() {
		debug.SetGCPercent(percent)
		runtime.GOMAXPROCS(processors)
	}
}

func setup(ctx context.Context, plan Plan) *fixture {
	w := &fixture{
		plan: plan, chance: chance(plan.Seed), start: time.Now(),
		trace: &trace{start: time.Now()}, record: newRecord(),
		net: &network{links: map[string]*link{}, open: map[*end]bool{}}, processes: map[string]*process{}, inProgress: map[string]int{},
	}
	w.ctx, w.cancel = context.WithCancel(ctx)
	w.store = &store{w: w, locks: map[string]*life{}, handled: map[string]bool{}, effects: map[string]int{}}
	w.receiver = newReceiver(w)
	w.platform = newPlatform(w)
	for i := range plan.Clients {
		w.callers = append(w.callers, newCaller(w, i))
	}
	return w
}

// setUp creates a webhook and a list with contacts, before anything goes wrong.
func (w *fixture) setUp() {
	w.platform.proc.start()
	api, err := client.New(client.Config{BaseURL: "http://platform.test", AllowPlainHTTP: true, Token: witness, HTTPClient: w.platform.now().HTTPClient()})
	must(err)
	hook, err := api.Webhooks.Create(w.ctx, client.WebhookCreate{URL: "https://" + receiverHost + "/hook", Events: heardEvents()})
	must(err)
	secret, err := webhook.ParseSecret(hook.Secret.Reveal(), hook.HashFunction)
	must(err)
	w.verifier, err = webhook.NewVerifier(secret)
	must(err)
	list, err := api.Lists.Create(w.ctx, client.ListCreate{Name: "Contacts"})
	must(err)
	must(api.Lists.AcceptPolicy(w.ctx, list.ID))
	for i := range w.plan.Contacts {
		w.contacts = append(w.contacts, fmt.Sprintf("e%d@example.org", i+1))
		_, err := api.Contacts.Create(w.ctx, list.ID, client.ContactCreate{Email: w.contacts[i]})
		must(err)
	}
	for _, r := range w.receiver.replicas {
		r.proc.start()
	}
	for _, c := range w.callers {
		c.proc.start()
	}
}

func must(err error) {
	if err != nil {
		panic("simulation: setting up: " + err.Error())
	}
}

// tokens returns the tokens of the platform.
func (w *fixture) tokens() []mockserver.Token {
	tokens := []mockserver.Token{{Value: witness}}
	for _, c := range w.callers {
		for _, token := range c.tokens() {
			tokens = append(tokens, mockserver.Token{Value: token})
		}
	}
	return tokens
}

// storm runs the steps.
func (w *fixture) storm() {
	for i, s := range w.plan.Steps {
		id := fmt.Sprint("step", i)
		at := s.At + w.chance.brief("step "+id)
		w.busy(id, func() {
			time.Sleep(at - time.Since(w.start))
			w.trace.add("step", "%d: %#v", i, s.Do)
			s.Do.act(w, id)
		})
	}
	last := time.Duration(0)
	for _, s := range w.plan.Steps {
		last = max(last, s.At)
	}
	time.Sleep(last + time.Second - time.Since(w.start))
}

// busy runs f in a goroutine that the run waits for.
func (w *fixture) busy(id string, f func()) {
	w.mu.Lock()
	w.inProgress[id]++
	w.mu.Unlock()
	go func() {
		defer func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.inProgress[id]--; w.inProgress[id] == 0 {
				delete(w.inProgress, id)
			}
		}()
		f()
	}()
}

// patience is the time limit for the run to become idle.
const patience = 12 * time.Hour

// calm removes all faults and waits until everything has ended.
func (w *fixture) calm() {
	w.trace.add("simulation", "all is calm")
	for _, l := range w.net.links {
		l.calm()
	}
	w.platform.now().ClearFaults()
	w.await()
	time.Sleep(2 * time.Minute) // until idle connections are closed
	w.encore()
	w.await()
	ctx, cancel := context.WithTimeout(w.ctx, 4*24*time.Hour) // more than the retry schedule
	defer cancel()
	if err := w.platform.now().Drain(ctx); err != nil {
		w.violate(delivers, "%v", err)
	}
	time.Sleep(time.Hour) // for abandoned handlers
}

// await waits until everything has ended.
func (w *fixture) await() {
	end := time.Now().Add(patience)
	for time.Now().Before(end) {
		time.Sleep(time.Minute)
		w.platform.now().ClearFaults() // faults of steps that were still in progress
		w.mu.Lock()
		n := len(w.inProgress)
		w.mu.Unlock()
		if n == 0 && w.allUp() {
			return
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.inProgress {
		w.violations = append(w.violations, Violation{ends, id + " has not come to its end"})
	}
}

// encore makes each client send and look up once more at the end of a run, which must succeed.
func (w *fixture) encore() {
	w.mu.Lock()
	w.isQuiet = true
	w.mu.Unlock()
	for i, c := range w.callers {
		for j, a := range []Action{Send{From: i}, Lookup{From: i}} {
			id := fmt.Sprintf("encore%d.%d", i+1, j)
			time.Sleep(time.Second + w.chance.brief(c.proc.name+id))
			a.act(w, id)
		}
	}
}

// isCalm reports whether there are no more faults.
func (w *fixture) isCalm() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.isQuiet
}

func (w *fixture) allUp() bool {
	for _, p := range w.processes {
		if !p.isUp() {
			return false
		}
	}
	return true
}

// tearDown ends the run and checks that no connection is open.
func (w *fixture) tearDown() {
	for _, c := range w.callers {
		c.way.CloseIdleConnections()
	}
	for _, r := range w.receiver.replicas {
		r.way.CloseIdleConnections()
	}
	time.Sleep(time.Second) // until the servers have closed their ends
	w.net.mu.Lock()
	if n := len(w.net.open); n > 0 {
		w.violations = append(w.violations, Violation{nothingLeft, fmt.Sprintf("%d ends of connections are open", n)})
	}
	w.net.mu.Unlock()
	w.cancel()
	for _, p := range w.processes {
		p.kill()
	}
}

// violate records a violation.
func (w *fixture) violate(i Invariant, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	w.trace.add("VIOLATED", "%s: %s", i, what)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violations = append(w.violations, Violation{i, what})
}

// process can be killed and started again. Each life starts with an empty memory.
type process struct {
	w    *fixture
	name string
	run  func(*life) // starts a life; returns immediately
	end  func()      // called before the connections are lost

	mu      sync.Mutex
	current *life
	port    *listener
}

// life is one run of a process. When it ends, its context is canceled.
type life struct {
	n      int
	ctx    context.Context
	cancel context.CancelFunc
}

func (w *fixture) newProcess(name string, run func(*life)) *process {
	p := &process{w: w, name: name, run: run}
	w.processes[name] = p
	return p
}

// start starts a life.
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

// lives reports whether the process is still in this life.
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

// crash kills the process and starts it again later.
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

// kill ends a life.
func (p *process) kill() {
	if p.end != nil {
		p.end()
	}
	l := p.life()
	_ = p.listener().Close()
	p.w.net.killAll(p)
	l.cancel()
}

// accept passes a connection to the server of the process.
func (p *process) accept(e *end) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.port.incoming <- e
}
