package simulation

import (
	"fmt"
)

func (a Refuse) act(w *world, _ string)  { w.arm(a.On, a) }
func (a Silence) act(w *world, _ string) { w.arm(a.On, a) }
func (a Cut) act(w *world, _ string)     { w.arm(a.On, a) }
func (a Reset) act(w *world, _ string)   { w.arm(a.On, a) }
func (a GoAway) act(w *world, _ string)  { w.arm(a.On, a) }
func (a Inform) act(w *world, _ string)  { w.arm(a.On, a) }
func (a Length) act(w *world, _ string)  { w.arm(a.On, a) }
func (a Shape) act(w *world, _ string)   { w.arm(a.On, a) }
func (a Handle) act(w *world, _ string)  { w.arm(a.Replica, a) }
func (a Slow) act(w *world, _ string)    { w.link(a.On).slowDown(a.By, a.For) }
func (a Skew) act(w *world, _ string)    { w.platform.setClock(a.By) }
func (a Stall) act(w *world, _ string)   { w.process(a.Process).stall(a.For) }

func (a Crash) act(w *world, _ string) {
	w.record.count(func(s *Stats) { s.Crashes++ })
	w.process(a.Process).crash(a.For)
}

func (a Fault) act(w *world, _ string) {
	if err := w.platform.now().Inject(a.Fault); err != nil {
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

func (a Send) about() (string, int)        { return "", a.From }
func (React) about() (string, int)         { return "", 0 }
func (a Lookup) about() (string, int)      { return "", a.From }
func (a Create) about() (string, int)      { return "", a.From }
func (a Import) about() (string, int)      { return "", a.From }
func (a Unsubscribe) about() (string, int) { return "", a.From }
func (a Export) about() (string, int)      { return "", a.From }
func (a Refuse) about() (string, int)      { return a.On, 0 }
func (a Silence) about() (string, int)     { return a.On, 0 }
func (a Cut) about() (string, int)         { return a.On, 0 }
func (a Slow) about() (string, int)        { return a.On, 0 }
func (a Reset) about() (string, int)       { return a.On, 0 }
func (a GoAway) about() (string, int)      { return a.On, 0 }
func (a Inform) about() (string, int)      { return a.On, 0 }
func (a Length) about() (string, int)      { return a.On, 0 }
func (a Shape) about() (string, int)       { return a.On, 0 }
func (Fault) about() (string, int)         { return "", 0 }
func (Skew) about() (string, int)          { return "", 0 }
func (a Crash) about() (string, int)       { return a.Process, 0 }
func (a Stall) about() (string, int)       { return a.Process, 0 }
func (a Handle) about() (string, int)      { return a.Replica, 0 }
