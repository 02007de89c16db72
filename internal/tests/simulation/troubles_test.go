package simulation

import (
	"fmt"
)

func (a Refuse) act(w *world, _ string)  { w.arm(a.On, a) }
func (a Silence) act(w *world, _ string) { w.arm(a.On, a) }
func (a Cut) act(w *world, _ string)     { w.arm(a.On, a) }
func (a Reset) act(w *world, _ string)   { w.arm(a.On, a) }
func (a GoAway) act(w *world, _ string)  { w.arm(a.On, a) }
func (a Handle) act(w *world, _ string)  { w.arm(a.Replica, a) }
func (a Slow) act(w *world, _ string)    { w.link(a.On).slowDown(a.By, a.For) }
func (a Skew) act(w *world, _ string)    { w.platform.setClock(a.By) }
func (a Stall) act(w *world, _ string)   { w.process(a.Process).stall(a.For) }

func (a Crash) act(w *world, _ string) {
	w.record.count(func(s *Stats) { s.Crashes++ })
	w.process(a.Process).crash(a.For)
}

func (a Fault) act(w *world, _ string) {
	if _, err := w.platform.now().Inject(a.Fault); err != nil {
		panic(fmt.Sprintf("simulation: %+v: %v", a, err))
	}
}

func (w *world) arm(on string, a Action) { w.link(on).arm(a) }

func (w *world) link(name string) *link {
	l := w.net.links[name]
	if l == nil {
		panic("simulation: there is no link " + name)
	}
	return l
}

func (w *world) process(name string) *process {
	p := w.processes[name]
	if p == nil {
		panic("simulation: there is no process " + name)
	}
	return p
}
