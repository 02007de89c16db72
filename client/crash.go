package client

import "runtime"

// crash describes how a function ended without returning. The zero crash means that
// the function returned.
type crash struct {
	panicked any
	exited   bool // by runtime.Goexit
}

func (c crash) none() bool { return c.panicked == nil && !c.exited }

// run calls f and then passes to done how f ended. The caller's goroutine can then
// raise the crash.
func run(f func(), done func(crash)) {
	c := crash{exited: true}
	defer func() {
		if v := recover(); v != nil {
			c = crash{panicked: v}
		}
		done(c)
	}()
	f()
	c = crash{}
}

// raise ends the calling goroutine in the same way.
func (c crash) raise() {
	switch {
	case c.panicked != nil:
		panic(c.panicked)
	case c.exited:
		runtime.Goexit()
	}
}
