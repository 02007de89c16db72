package simulation

import (
	"slices"
	"testing"
)

// Shrink returns the shortest run that it finds in which the same invariant does not
// hold: steps are left out, first many at a time, then one by one, and then what the
// world is made of is made simpler. It takes at most some hundred runs.
func Shrink(t *testing.T, run Run) Run {
	t.Helper()
	s := &shrinker{t: t, best: run, left: 400}
	for n := len(run.Plan.Steps) / 2; n >= 1; n /= 2 {
		for s.leaveOut(n) {
		}
	}
	s.simplify()
	for s.leaveOut(1) {
	}
	return s.best
}

type shrinker struct {
	t    *testing.T
	best Run
	left int // runs
}

// leaveOut leaves n steps out wherever the run still fails without them, and reports
// whether it did so anywhere.
func (s *shrinker) leaveOut(n int) (shorter bool) {
	for at := 0; at+n <= len(s.best.Plan.Steps); {
		plan := s.best.Plan
		plan.Steps = slices.Delete(slices.Clone(plan.Steps), at, at+n)
		if !s.accept(plan) {
			at += n
			continue
		}
		shorter = true
	}
	return shorter
}

// simplify makes the world of a run simpler.
func (s *shrinker) simplify() {
	for _, change := range []func(*Plan){
		func(p *Plan) { p.HTTP2 = false },
		func(p *Plan) { p.Replicas = 1 },
		func(p *Plan) { p.Store = Transactional },
		func(p *Plan) { p.Contacts = 0 },
		func(p *Plan) { p.Contacts = min(p.Contacts, 3) },
		func(p *Plan) { s.eachClient(p, func(c *Client) { c.HTTP2 = false }) },
		func(p *Plan) { s.eachClient(p, func(c *Client) { c.Renews = false }) },
		func(p *Plan) { s.eachClient(p, func(c *Client) { c.MaxAttempts = 1 }) },
		func(p *Plan) { p.Clients = p.Clients[:1] },
	} {
		plan := s.best.Plan
		change(&plan)
		if fits(plan) && !equal(plan, s.best.Plan) {
			s.accept(plan)
		}
	}
}

func (*shrinker) eachClient(p *Plan, change func(*Client)) {
	p.Clients = slices.Clone(p.Clients)
	for i := range p.Clients {
		change(&p.Clients[i])
	}
}

func equal(a, b Plan) bool { return goText(a) == goText(b) }

// fits reports whether all that the steps name is there.
func fits(p Plan) bool {
	names := map[string]bool{"platform": true, "balancer": true}
	for i := range p.Clients {
		names[numberedName("client", i)] = true
	}
	for i := range p.Replicas {
		names[numberedName("replica", i)] = true
	}
	return !slices.ContainsFunc(p.Steps, func(s Step) bool {
		name, from := s.Do.about()
		return name != "" && !names[name] || from >= len(p.Clients)
	})
}

// accept takes a plan over if the same invariant does not hold in it.
func (s *shrinker) accept(plan Plan) bool {
	if s.left == 0 {
		return false
	}
	s.left--
	run := Simulate(s.t, plan)
	for _, v := range run.Violations {
		if v.Invariant == s.best.Violations[0].Invariant {
			s.best = run
			return true
		}
	}
	return false
}
