package client

import (
	"errors"
	"runtime"
)

// crash is a panic or a call to [runtime.Goexit]. The zero value means that the
// function returned normally.
type crash struct {
	panicked any
	exited   bool // by runtime.Goexit
}

func (c crash) none() bool { return c.panicked == nil && !c.exited }

// run calls f, and then calls done, even if f panics or exits.
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

// raise panics with the same value, or calls Goexit, on the calling
// goroutine.
func (c crash) raise() {
	switch {
	case c.panicked != nil:
		panic(c.panicked)
	case c.exited:
		runtime.Goexit()
	}
}

// errAbandoned is the error of an observed call or an import that a callback ended.
var errAbandoned = errors.New("a callback panicked or called runtime.Goexit")
