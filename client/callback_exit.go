package client

import (
	"errors"
	"runtime"
)

// callbackExit is a panic of a callback, or its call to [runtime.Goexit]. The zero value means that the
// function returned normally.
type callbackExit struct {
	panicked any
	exited   bool // by runtime.Goexit
}

func (c callbackExit) none() bool { return c.panicked == nil && !c.exited }

// runCallback calls f, and then calls done, even if f panics or exits.
func runCallback(f func(), done func(callbackExit)) {
	c := callbackExit{exited: true}
	defer func() {
		if v := recover(); v != nil {
			c = callbackExit{panicked: v}
		}
		done(c)
	}()
	f()
	c = callbackExit{}
}

// raise panics with the same value, or calls Goexit, on the calling
// goroutine.
func (c callbackExit) raise() {
	switch {
	case c.panicked != nil:
		panic(c.panicked)
	case c.exited:
		runtime.Goexit()
	}
}

// errAbandoned is the error of an observed call or an import that a callback ended.
var errAbandoned = errors.New("a callback panicked or called runtime.Goexit")
