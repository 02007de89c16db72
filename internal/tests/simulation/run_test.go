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

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// testToken is the token of the test itself.
const testToken = "token-of-the-test-03aa"

// simulation contains everything in the bubble of a run.
type simulation struct {
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

	mu          sync.Mutex
	faultsEnded bool
	inProgress  map[string]int
	violations  []Violation
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
			run.Violations = append(run.Violations, Violation{nothingLeaks, fmt.Sprint(v)})
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		sim := newSimulation(t.Context(), plan)
		log.SetOutput(io.Discard) // messages of net/http
		sim.setUp(t)
		sim.runSteps()
		sim.finish()
		sim.checkInvariants()
		sim.tearDown()
		run = Run{Plan: plan, Violations: sim.violations, Trace: sim.trace.String()}
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

func newSimulation(ctx context.Context, plan Plan) *simulation {
	sim := &simulation{
		plan: plan, chance: chance(plan.Seed), start: time.Now(),
		trace: &trace{start: time.Now()}, record: newRecord(),
		net: &network{links: map[string]*link{}, open: map[*end]bool{}}, processes: map[string]*process{}, inProgress: map[string]int{},
	}
	sim.ctx, sim.cancel = context.WithCancel(ctx)
	sim.store = &store{sim: sim, locks: map[string]*life{}, handled: map[string]bool{}, effects: map[string]int{}}
	sim.receiver = newReceiver(sim)
	sim.platform = newPlatform(sim)
	for i := range plan.Clients {
		sim.callers = append(sim.callers, newCaller(sim, i))
	}
	return sim
}

// setUp creates a webhook and a list with contacts, before anything goes wrong.
func (sim *simulation) setUp(t *testing.T) {
	sim.platform.proc.start()
	api := check.Need(client.New(client.Config{
		BaseURL: "http://platform.test", AllowPlainHTTP: true, Token: testToken, HTTPClient: sim.platform.now().HTTPClient(),
	}))(t)
	hook := check.Need(api.Webhooks.Create(sim.ctx, client.WebhookCreate{URL: "https://" + receiverHost + "/hook", Events: subscribedEvents()}))(t)
	sim.verifier = check.Need(webhook.NewVerifier(check.Need(webhook.ParseSecret(hook.Secret.Reveal(), hook.HashFunction))(t)))(t)
	list := check.Need(api.Lists.Create(sim.ctx, client.ListCreate{Name: "Contacts"}))(t)
	require.NoError(t, api.Lists.AcceptPolicy(sim.ctx, list.ID))
	for i := range sim.plan.Contacts {
		sim.contacts = append(sim.contacts, fmt.Sprintf("e%d@example.org", i+1))
		check.Need(api.Contacts.Create(sim.ctx, list.ID, client.ContactCreate{Email: sim.contacts[i]}))(t)
	}
	for _, r := range sim.receiver.replicas {
		r.proc.start()
	}
	for _, c := range sim.callers {
		c.proc.start()
	}
}

// tokens returns the tokens of the platform.
func (sim *simulation) tokens() []mockserver.Token {
	tokens := []mockserver.Token{{Value: testToken}}
	for _, c := range sim.callers {
		for _, token := range c.tokens() {
			tokens = append(tokens, mockserver.Token{Value: token})
		}
	}
	return tokens
}

// runSteps runs the steps.
func (sim *simulation) runSteps() {
	for i, s := range sim.plan.Steps {
		id := fmt.Sprint("step", i)
		at := s.At + sim.chance.shortDelay("step "+id)
		sim.busy(id, func() {
			time.Sleep(at - time.Since(sim.start))
			sim.trace.add("step", "%d: %#v", i, s.Do)
			s.Do.act(sim, id)
		})
	}
	last := time.Duration(0)
	for _, s := range sim.plan.Steps {
		last = max(last, s.At)
	}
	time.Sleep(last + time.Second - time.Since(sim.start))
}

// busy runs f in a goroutine that the run waits for.
func (sim *simulation) busy(id string, f func()) {
	sim.mu.Lock()
	sim.inProgress[id]++
	sim.mu.Unlock()
	go func() {
		defer func() {
			sim.mu.Lock()
			defer sim.mu.Unlock()
			if sim.inProgress[id]--; sim.inProgress[id] == 0 {
				delete(sim.inProgress, id)
			}
		}()
		f()
	}()
}

// idleTimeout is the time limit for the run to become idle.
const idleTimeout = 12 * time.Hour

// finish removes all faults, makes the last calls and waits until everything has ended.
func (sim *simulation) finish() {
	sim.trace.add("simulation", "the faults end")
	for _, l := range sim.net.links {
		l.removeFaults()
	}
	sim.platform.now().ClearFaults()
	sim.await()
	time.Sleep(2 * time.Minute) // until idle connections are closed
	sim.makeLastCalls()
	sim.await()
	ctx, cancel := context.WithTimeout(sim.ctx, 4*24*time.Hour) // more than the retry schedule
	defer cancel()
	if err := sim.platform.now().Drain(ctx); err != nil {
		sim.violate(delivers, "%v", err)
	}
	time.Sleep(time.Hour) // for abandoned handlers
}

// await waits until everything has ended.
func (sim *simulation) await() {
	end := time.Now().Add(idleTimeout)
	for time.Now().Before(end) {
		time.Sleep(time.Minute)
		sim.platform.now().ClearFaults() // faults of steps that were still in progress
		sim.mu.Lock()
		n := len(sim.inProgress)
		sim.mu.Unlock()
		if n == 0 && sim.allUp() {
			return
		}
	}
	sim.mu.Lock()
	defer sim.mu.Unlock()
	for id := range sim.inProgress {
		sim.violations = append(sim.violations, Violation{ends, id + " has not come to its end"})
	}
}

// makeLastCalls makes each client send an email and look up an email at the end of a run. These calls must succeed.
func (sim *simulation) makeLastCalls() {
	sim.mu.Lock()
	sim.faultsEnded = true
	sim.mu.Unlock()
	for i, c := range sim.callers {
		for j, a := range []Action{Send{From: i}, Lookup{From: i}} {
			id := fmt.Sprintf("last%d.%d", i+1, j)
			time.Sleep(time.Second + sim.chance.shortDelay(c.proc.name+id))
			a.act(sim, id)
		}
	}
}

// haveFaultsEnded reports whether there are no more faults.
func (sim *simulation) haveFaultsEnded() bool {
	sim.mu.Lock()
	defer sim.mu.Unlock()
	return sim.faultsEnded
}

func (sim *simulation) allUp() bool {
	for _, p := range sim.processes {
		if !p.isUp() {
			return false
		}
	}
	return true
}

// tearDown ends the run and checks that no connection is open.
func (sim *simulation) tearDown() {
	for _, c := range sim.callers {
		c.transport.CloseIdleConnections()
	}
	for _, r := range sim.receiver.replicas {
		r.transport.CloseIdleConnections()
	}
	time.Sleep(time.Second) // until the servers have closed their ends
	sim.net.mu.Lock()
	if n := len(sim.net.open); n > 0 {
		sim.violations = append(sim.violations, Violation{nothingLeaks, fmt.Sprintf("%d ends of connections are open", n)})
	}
	sim.net.mu.Unlock()
	sim.cancel()
	for _, p := range sim.processes {
		p.kill()
	}
}

// violate records a violation.
func (sim *simulation) violate(i Invariant, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	sim.trace.add("VIOLATED", "%s: %s", i, what)
	sim.mu.Lock()
	defer sim.mu.Unlock()
	sim.violations = append(sim.violations, Violation{i, what})
}

// process can be killed and started again. Each life starts with an empty memory.
type process struct {
	sim  *simulation
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

func (sim *simulation) newProcess(name string, run func(*life)) *process {
	p := &process{sim: sim, name: name, run: run}
	sim.processes[name] = p
	return p
}

// start starts a life.
func (p *process) start() {
	p.mu.Lock()
	ctx, cancel := context.WithCancel(p.sim.ctx)
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
	p.sim.trace.add(p.name, "is killed")
	p.kill()
	time.AfterFunc(down, func() {
		if p.sim.ctx.Err() == nil && !p.isUp() {
			p.sim.trace.add(p.name, "starts again")
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
	p.sim.net.killAll(p)
	l.cancel()
}

// accept passes a connection to the server of the process.
func (p *process) accept(e *end) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.port.incoming <- e
}
