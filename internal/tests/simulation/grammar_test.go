package simulation

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"example.com/emailplatform/mockserver"
)

// Generate returns the plan of a seed.
func Generate(seed uint64) Plan {
	g := &grammar{chance: chance(seed)}
	p := Plan{
		Seed:        seed,
		Replicas:    1 + g.upTo(3),
		HTTP2:       g.oneIn(3),
		Concurrency: 1 + g.upTo(4),
		Store:       pick(g, Transactional, Transactional, InMemory),
		Contacts:    g.upTo(5),
	}
	for range 1 + g.upTo(3) {
		p.Clients = append(p.Clients, Client{
			HTTP2:       g.oneIn(2),
			MaxAttempts: pick(g, 3, 3, 1, 2, 5),
			Timeout:     pick(g, 15*time.Second, 2*time.Second, time.Minute),
		})
	}
	g.plan = &p
	length := pick(g, 5*time.Second, 30*time.Second, 2*time.Minute)
	for range 4 + g.upTo(12) {
		p.Steps = append(p.Steps, Step{g.time(length), g.work()})
	}
	for range g.upTo(14) {
		p.Steps = append(p.Steps, Step{g.time(length), g.trouble()})
	}
	slices.SortStableFunc(p.Steps, func(a, b Step) int { return int(a.At - b.At) })
	return p
}

// grammar draws random values in order.
type grammar struct {
	chance chance
	drawn  int
	plan   *Plan
}

func (g *grammar) upTo(n int) int {
	g.drawn++
	return g.chance.upTo(n, numbered("grammar", g.drawn))
}

func (g *grammar) oneIn(n int) bool { return g.upTo(n) == 0 }

// time draws whole microseconds, because plans are printed.
func (g *grammar) time(below time.Duration) time.Duration {
	g.drawn++
	return g.chance.between(0, below-time.Microsecond, numbered("grammar", g.drawn)).Truncate(time.Microsecond)
}

func pick[T any](g *grammar, of ...T) T { return of[g.upTo(len(of))] }

func (g *grammar) client() int { return g.upTo(len(g.plan.Clients)) }

func (g *grammar) clientName() string { return fmt.Sprintf("client%d", g.client()+1) }

func (g *grammar) replicaName() string { return fmt.Sprintf("replica%d", g.upTo(g.plan.Replicas)+1) }

// linkName draws a client's link most of the time.
func (g *grammar) linkName() string {
	if g.oneIn(4) {
		return g.replicaName()
	}
	return g.clientName()
}

func (g *grammar) processName() string {
	switch g.upTo(4) {
	case 0:
		return "platform"
	case 1:
		return g.clientName()
	}
	return g.replicaName()
}

// work draws an action of a client or a recipient.
func (g *grammar) work() Action {
	switch g.upTo(8) {
	case 0, 1, 2:
		return Send{From: g.client(), Contact: g.upTo(5)}
	case 3, 4:
		return React{pick(g, Bounces, Complains, Opens, Leaves, LeavesForAll)}
	case 5:
		return Lookup{From: g.client()}
	}
	return Lookup{From: g.client(), Cancel: g.time(time.Second)}
}

// trouble draws a fault.
func (g *grammar) trouble() Action {
	switch g.upTo(8) {
	case 0:
		return Refuse{g.linkName()}
	case 1:
		return Silence{g.linkName()}
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
	return Handle{g.replicaName(), pick(g, Fails, Panics, Hangs, Dies, DiesDue), g.time(pick(g, 5*time.Second, time.Minute))}
}

// fault draws a fault rule that ends after a few requests.
func (g *grammar) fault() mockserver.Fault {
	f := mockserver.Fault{Times: 1 + g.upTo(3), Operation: pick(g, "", "", "submitEmail", "getEmail")}
	switch g.upTo(9) {
	case 0:
		f.Action, f.AfterProcessing = mockserver.FaultReset, g.oneIn(2)
	case 1, 2:
		f.Action, f.Status = mockserver.FaultStatus, pick(g, 500, 502, 503, 504, 429, 401, 507)
		f.AfterProcessing = f.Status >= 500 && g.oneIn(2)
		if f.Status == 429 || !f.AfterProcessing && g.oneIn(2) {
			f.RetryAfter = pick(g, "1", "0", "7", "-3", "soon", "86400")
		}
	case 3:
		f.Action = mockserver.FaultTruncate
	case 4:
		f.Action, f.AfterProcessing = mockserver.FaultNotJSON, g.oneIn(2)
	case 5:
		f.Action, f.Delay = mockserver.FaultDelay, g.time(30*time.Second)
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

// between returns a time from low to high, in nanoseconds, so two names hardly ever get the same one.
func (c chance) between(low, high time.Duration, name string) time.Duration {
	return low + time.Duration(c.draw(name)%uint64(high-low+1))
}

// brief returns less than a millisecond. It gives each actor its own instant.
func (c chance) brief(name string) time.Duration {
	return c.between(time.Microsecond, time.Millisecond, "brief "+name)
}

// numbered returns the name of the nth item of a kind.
func numbered(kind string, n int) string { return kind + " " + strconv.Itoa(n) }
