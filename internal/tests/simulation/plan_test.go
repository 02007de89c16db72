package simulation

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"pgregory.net/rapid"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// Plan describes a run. The same plan causes the same run.
type Plan struct {
	// Seed determines latencies, ids and jitter.
	Seed uint64
	// Clients are the processes that call the platform.
	Clients []Client
	// Replicas is the number of processes that receive events through one load balancer.
	Replicas int
	// HTTP2 makes the load balancer use HTTP/2 to the replicas, instead of HTTP/1.1.
	HTTP2 bool
	// Concurrency is the number of concurrent deliveries of the platform. 0 means one at a time.
	Concurrency int
	// Store stores the keys of handled events.
	Store Store
	// Contacts is the number of contacts on the list.
	Contacts int
	// Steps run at their times, regardless of the results of earlier steps.
	Steps []Step
}

// Client configures a process that calls the platform.
type Client struct {
	HTTP2       bool
	MaxAttempts int           // of the client's RetryConfig
	NewTokens   bool          // the process requests another token after a 401
	Timeout     time.Duration // of one attempt
}

// Store is a kind of [webhook.Once].
type Store string

// The stores.
const (
	// Transactional commits the key of an event together with its effect.
	Transactional Store = "transactional"
	// InMemory is a separate MemoryOnce in each replica.
	InMemory Store = "in memory"

	// withoutKeys is like Transactional, but does not store keys. With it, tests check that the simulation detects
	// duplicates.
	withoutKeys Store = "without keys"
)

// exact reports whether each delivery must have exactly one effect.
func (s Store) exact() bool { return s == Transactional || s == withoutKeys }

// Step is an action at a time.
type Step struct {
	At time.Duration
	Do Action
}

// Action is an action of a step. The parameter id is the name of the step.
type Action interface {
	act(w *simulation, id string)
}

// Actions of processes and recipients. From is the index of the client that acts.
type (
	// Send submits an email to a contact of the list, or to an address on no list.
	Send struct {
		From    int
		Contact int // from 1; 0 means an address on no list
	}
	// React simulates a reaction to the newest email.
	React struct{ How Reaction }
	// Lookup looks up the newest email that the process knows. With Cancel, a second lookup waits for the first one, and
	// is canceled after the time in Cancel.
	Lookup struct {
		From   int
		Cancel time.Duration
	}
)

// Reaction is an action of a recipient.
type Reaction string

// The reactions.
const (
	Bounces              Reaction = "bounces"
	Complains            Reaction = "complains"
	Opens                Reaction = "opens"
	Unsubscribes         Reaction = "unsubscribes"
	UnsubscribesGlobally Reaction = "unsubscribes globally"
)

// Network failures. The field On contains the name of a link. "client1" is the link from the first client to the
// platform. "replica1" is the link from the load balancer to the first replica. Each failure happens once, to the next
// connection.
type (
	// RefuseConnection refuses a connection.
	RefuseConnection struct{ On string }
	// ConnectTimeout leaves an attempt to connect without a response.
	ConnectTimeout struct{ On string }
	// Cut breaks a connection after the given number of bytes in one direction.
	Cut struct {
		On    string
		Up    bool
		After int
	}
	// Fault is one of the platform's own faults.
	Fault struct{ mockserver.Fault }
)

// Process failures. A process has the name of its link, or "platform".
type (
	// Crash kills a process and starts it again later.
	Crash struct {
		Process string
		For     time.Duration
	}
	// Handle determines how a replica handles the next event.
	Handle struct {
		Replica string
		How     Handling
		For     time.Duration
	}
)

// Handling is the behavior of a replica that receives an event.
type Handling string

// The kinds of handling.
const (
	Fails            Handling = "fails"
	Panics           Handling = "panics"
	Hangs            Handling = "takes long" // for this time, even if the caller stops waiting
	DiesBeforeEffect Handling = "dies before the effect"
	DiesAfterEffect  Handling = "dies after the effect"
)

func (a Send) act(sim *simulation, id string) {
	c := sim.callers[a.From]
	to := id + "@example.org"
	if a.Contact > 0 && len(sim.contacts) > 0 {
		to = sim.contacts[(a.Contact-1)%len(sim.contacts)]
	}
	var got client.SubmittedEmail
	d := c.do(&call{id: id, what: "sends to " + to}, func(ctx context.Context, api *client.Client) (err error) {
		got, err = api.Emails.Send(ctx, client.EmailSubmission{
			To: to, Sender: client.Sender{Email: "shop@example.com"}, Content: client.EmailContent{Subject: id, Text: "Hello"},
		})
		return err
	}, func(d *call) {
		if got.ID != "" {
			c.mu.Lock()
			c.newest = got.ID
			c.mu.Unlock()
		}
		if d.err == nil && got.ID == "" {
			sim.violate(nilIsComplete, "%s: no id", id)
		}
	})
	sim.record.addFinalCheck(func(outbox map[string][]mockserver.Message) { sim.checkSent(d, id, got, outbox[id]) })
}

// checkSent compares the outbox with the result of the call.
func (sim *simulation) checkSent(d *call, id string, got client.SubmittedEmail, sent []mockserver.Message) {
	sim.checkDone(d, len(sent)-sim.record.inconsistentOf(id), got.Status == "")
	if d.hasResult() && d.err == nil && len(sent) == 1 && got.ID != "" && got.ID != sent[0].ID {
		sim.violate(nilIsComplete, "%s: the response has the id %s, the message %s", id, got.ID, sent[0].ID)
	}
}

// checkDone checks that the result of a call agrees with the number of times that the platform processed the
// operation. If maybeNot is true, an operation may be unprocessed although the call returned nil.
func (sim *simulation) checkDone(d *call, n int, maybeNot bool) {
	switch {
	case d != nil && n > 1:
		sim.violate(neverTwice, "%s %s: processed %d times, returned %v", d.id, d.what, n, d.err)
	case !d.hasResult() || errors.Is(d.err, client.ErrOutcomeUnknown):
	case d.err == nil && n == 0 && !maybeNot:
		sim.violate(nilIsDone, "%s %s: was not processed", d.id, d.what)
	case d.err != nil && n > 0:
		sim.violate(failedHadNoEffect, "%s %s: was processed, returned %v", d.id, d.what, d.err)
	}
}

func (a React) act(sim *simulation, id string) {
	srv := sim.platform.now()
	sent := srv.Outbox()
	if len(sent) == 0 || !sim.platform.proc.isUp() {
		return
	}
	m := sent[len(sent)-1].ID
	react := map[Reaction]func(string) error{
		Bounces:              func(m string) error { return srv.Bounce(m, mockserver.HardBounce) },
		Complains:            func(m string) error { return srv.Complain(m, "mailbox") },
		Opens:                srv.Open,
		Unsubscribes:         srv.Unsubscribe,
		UnsubscribesGlobally: srv.GlobalUnsubscribe,
	}[a.How]
	sim.trace.add("recipient", "%s of %s: %v", id, m, react(m))
}

func (a Lookup) act(sim *simulation, id string) {
	c := sim.callers[a.From]
	c.mu.Lock()
	email := c.newest
	c.mu.Unlock()
	if email == "" {
		return
	}
	c.lookUp(id, email, 0)
	if a.Cancel > 0 {
		c.lookUp(id+"b", email, a.Cancel)
	}
}

// lookUp looks up an email. If the call is canceled, it must end, even while it waits for the rate limiter.
func (c *caller) lookUp(id, email string, cancel time.Duration) {
	var got client.Email
	c.do(&call{id: id, what: "looks up " + email}, func(ctx context.Context, api *client.Client) (err error) {
		if cancel > 0 {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeout(ctx, cancel)
			defer stop()
		}
		got, err = api.Emails.Get(ctx, email)
		return err
	}, func(d *call) {
		if d.err == nil && got.ID != email {
			c.sim.violate(nilIsComplete, "%s: the id is %q, want %q", id, got.ID, email)
		}
		if most := cancel + 10*time.Millisecond; cancel > 0 && d.took > most {
			c.sim.violate(ends, "%s took %v after it was canceled after %v: %v", id, d.took, cancel, d.err)
		}
	})
}

func (a RefuseConnection) act(sim *simulation, _ string) { sim.net.links[a.On].arm(a) }
func (a ConnectTimeout) act(sim *simulation, _ string)   { sim.net.links[a.On].arm(a) }
func (a Cut) act(sim *simulation, _ string)              { sim.net.links[a.On].arm(a) }
func (a Handle) act(sim *simulation, _ string)           { sim.net.links[a.Replica].arm(a) }
func (a Crash) act(sim *simulation, _ string)            { sim.processes[a.Process].crash(a.For) }

func (a Fault) act(sim *simulation, _ string) {
	if _, err := sim.platform.now().Inject(a.Fault); err != nil {
		panic(fmt.Sprintf("simulation: %+v: %v", a, err))
	}
}

// plans generates plans.
func plans() *rapid.Generator[Plan] {
	return rapid.Custom(func(r *rapid.T) Plan {
		g := planGenerator{T: r, clients: rapid.IntRange(1, 3).Draw(r, ""), replicas: rapid.IntRange(1, 3).Draw(r, "")}
		p := Plan{
			Seed:        rapid.Uint64().Draw(r, ""),
			Replicas:    g.replicas,
			HTTP2:       g.oneIn(3),
			Concurrency: 1 + g.upTo(4),
			Store:       pick(g, Transactional, Transactional, InMemory),
			Contacts:    g.upTo(5),
		}
		for range g.clients {
			p.Clients = append(p.Clients, Client{
				HTTP2:       g.oneIn(2),
				NewTokens:   g.oneIn(2),
				MaxAttempts: pick(g, 3, 3, 1, 2, 5),
				Timeout:     pick(g, 15*time.Second, 2*time.Second, time.Minute),
			})
		}
		length := pick(g, 30*time.Second, 5*time.Second, 2*time.Minute)
		step := func(action func(planGenerator) Action) *rapid.Generator[Step] {
			return rapid.Custom(func(r *rapid.T) Step {
				g := planGenerator{r, g.clients, g.replicas}
				return Step{g.time(length), action(g)}
			})
		}
		p.Steps = append(rapid.SliceOfN(step(planGenerator.work), 1, 20).Draw(r, ""),
			rapid.SliceOfN(step(planGenerator.nextFault), 0, 20).Draw(r, "")...)
		slices.SortStableFunc(p.Steps, func(a, b Step) int { return int(a.At - b.At) })
		return p
	})
}

// planGenerator draws the parts of a plan.
type planGenerator struct {
	*rapid.T
	clients, replicas int
}

func (g planGenerator) upTo(n int) int { return rapid.IntRange(0, n-1).Draw(g.T, "") }

func (g planGenerator) oneIn(n int) bool { return g.upTo(n) == n-1 }

// time draws a time that is shorter than the given duration and is a multiple of a hundredth of it.
func (g planGenerator) time(below time.Duration) time.Duration {
	return below / 100 * time.Duration(g.upTo(100))
}

func pick[T any](g planGenerator, of ...T) T { return of[g.upTo(len(of))] }

func (g planGenerator) client() int { return g.upTo(g.clients) }

func (g planGenerator) clientName() string { return fmt.Sprintf("client%d", g.client()+1) }

func (g planGenerator) replicaName() string { return fmt.Sprintf("replica%d", g.upTo(g.replicas)+1) }

// linkName draws a client's link most of the time.
func (g planGenerator) linkName() string {
	if g.oneIn(4) {
		return g.replicaName()
	}
	return g.clientName()
}

func (g planGenerator) processName() string {
	switch g.upTo(4) {
	case 0:
		return "platform"
	case 1:
		return g.clientName()
	}
	return g.replicaName()
}

// work draws an action of a client or a recipient.
func (g planGenerator) work() Action {
	switch g.upTo(8) {
	case 0, 1, 2:
		return Send{From: g.client(), Contact: g.upTo(5)}
	case 3, 4:
		return React{pick(g, Bounces, Complains, Opens, Unsubscribes, UnsubscribesGlobally)}
	case 5:
		return Lookup{From: g.client()}
	}
	return Lookup{From: g.client(), Cancel: g.time(time.Second)}
}

// nextFault draws a fault.
func (g planGenerator) nextFault() Action {
	switch g.upTo(8) {
	case 0:
		return RefuseConnection{g.linkName()}
	case 1:
		return ConnectTimeout{g.linkName()}
	case 2, 3:
		return Cut{On: g.linkName(), Up: g.oneIn(2), After: g.upTo(pick(g, 30, 300, 3000))}
	case 4, 5:
		return Fault{g.fault()}
	case 6:
		if g.oneIn(6) { // for longer than the platform retries
			return Crash{g.replicaName(), 9 * time.Hour}
		}
		return Crash{g.processName(), g.time(pick(g, time.Second, time.Minute))}
	}
	return Handle{g.replicaName(), pick(g, Fails, Panics, Hangs, DiesBeforeEffect, DiesAfterEffect), g.time(pick(g, 5*time.Second, time.Minute))}
}

// fault draws a fault rule that ends after a few requests.
func (g planGenerator) fault() mockserver.Fault {
	f := mockserver.Fault{Times: 1 + g.upTo(3), Operation: pick(g, "", "", "submitEmail", "getEmail")}
	switch g.upTo(9) {
	case 0:
		f.Action, f.AfterProcessing = mockserver.FaultReset, g.oneIn(2)
	case 1, 2:
		f.Action, f.Status = mockserver.FaultStatus, pick(g, 500, 502, 503, 504, 429, 401, 507, 408, 403, 409, 422)
		f.AfterProcessing, f.RetryAfter = g.oneIn(2), pick(g, "", "1", "0", "7", "-3", "soon", "86400")
	case 3:
		f.Action = mockserver.FaultTruncate
	case 4:
		f.Action, f.Status = mockserver.FaultNotJSON, pick(g, 200, 502, 503)
		f.AfterProcessing, f.RetryAfter = g.oneIn(2), pick(g, "", "1")
	case 5:
		f.Action, f.Delay = mockserver.FaultDelay, time.Millisecond+g.time(30*time.Second)
	case 6:
		f.Action, f.AfterProcessing = mockserver.FaultHang, g.oneIn(2)
	case 7:
		f.Action, f.AfterProcessing = mockserver.FaultRedirect, g.oneIn(2)
	case 8:
		f.Action, f.Operation = pick(g, mockserver.FaultDuplicate, mockserver.FaultReorder, mockserver.FaultDrop, mockserver.FaultInternalError), ""
	}
	return f
}

// chance draws random values by name, so one part of a run does not depend on how often another part drew values.
type chance uint64

// draw returns a pseudorandom number for a name.
func (c chance) draw(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	x := h.Sum64() + uint64(c)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// upTo returns a number from 0 to n-1.
func (c chance) upTo(n int, name string) int { return int(c.draw(name) % uint64(n)) }

// between returns a time from low to high, in nanoseconds, so two names hardly ever get the same time.
func (c chance) between(low, high time.Duration, name string) time.Duration {
	return low + time.Duration(c.draw(name)%uint64(high-low+1))
}

// shortDelay returns less than a millisecond, so that each actor has its own instant.
func (c chance) shortDelay(name string) time.Duration {
	return c.between(time.Microsecond, time.Millisecond, "short delay "+name)
}
