package delivery

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver/record"
)

// since describes what was changed between two cuts: ids, places and what is held.
func since(now, earlier *Cut) (out []string) {
	earlier.Release()
	for x := range now.Since(earlier) {
		out = append(out, fmt.Sprintf("%s %s %d %v", x.ID, x.State, x.Place, x.Held))
	}
	slices.Sort(out)
	return out
}

// What is held back and then overtaken has changed.
func TestCutOfWhatIsOvertaken(t *testing.T) {
	e := engineTo(t, func(http.ResponseWriter, *http.Request) {})
	e.Open(hook)
	e.Archive(hook.ID, true) // nothing is attempted
	if _, err := e.faults.Add([]record.Fault{{Action: record.FaultReorder, Delay: time.Hour, Times: 1}}); err != nil {
		t.Fatal(err)
	}
	first := e.Take(nil)
	send(t, e, "held")
	second := e.Take(nil)
	if got, want := since(second, first), []string{"dlv-1 queued 0 true"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	send(t, e, "next")
	third := e.Take(nil)
	defer third.Release()
	want := []string{"dlv-1 queued 2 false", "dlv-2 queued 1 false"}
	if got := since(third, second); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Of a long line, what has moved up alone has not changed; when somebody leaves
// the middle of it, all have other places, in their order.
func TestCutOfALongLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan int)
		e := engineTo(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(<-answer) })
		e.Open(hook)
		for range 100 {
			send(t, e, "{}")
		}
		synctest.Wait() // the first is being attempted
		first := e.Take(nil)
		answer <- http.StatusOK
		synctest.Wait()
		send(t, e, "{}")
		second := e.Take(nil)
		want := []string{"dlv-1 delivered 0 false", "dlv-101 queued 100 false", "dlv-2 delivering 0 false"}
		if got := since(second, first); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if err := e.Redeliver("dlv-50"); err != nil {
			t.Fatal(err)
		}
		third := e.Take(nil)
		moved := since(third, second)
		if len(moved) != 99 || !slices.Contains(moved, "dlv-3 queued 101 false") || !slices.Contains(moved, "dlv-50 queued 199 false") {
			t.Errorf("%d have moved: %q", len(moved), moved)
		}
		fourth := e.Take(nil)
		if got := since(fourth, third); len(got) != 0 {
			t.Errorf("nothing has happened, and this changed: %q", got)
		}
		fourth.Release()
		for range 100 {
			answer <- http.StatusOK
		}
	})
}

// Of a line that has become shorter, with another at its front that was there, all
// have other places.
func TestCutOfAShorterLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan int)
		e := engineTo(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(<-answer) })
		e.Open(hook)
		for range 4 {
			send(t, e, "{}")
		}
		synctest.Wait()
		first := e.Take(nil)
		if err := e.Redeliver("dlv-2"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			answer <- http.StatusOK
			synctest.Wait()
		}
		second := e.Take(nil)
		defer second.Release()
		want := []string{"dlv-1 delivered 0 false", "dlv-2 queued 4 false", "dlv-3 delivered 0 false", "dlv-4 delivering 0 false"}
		if got := since(second, first); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		for range 2 {
			answer <- http.StatusOK
		}
	})
}

// A cut tells whether anything has been done since.
func TestCutIsNow(t *testing.T) {
	e := engineTo(t, func(http.ResponseWriter, *http.Request) {})
	e.Open(hook)
	e.Archive(hook.ID, true) // nothing is attempted
	c := e.Take(nil)
	defer c.Release()
	if !c.IsNow() {
		t.Error("nothing has been done, and it is not now")
	}
	send(t, e, "{}")
	if c.IsNow() {
		t.Error("something has been done, and it is still now")
	}
}

func send(t *testing.T, e *Engine, body string) {
	t.Helper()
	if _, err := e.Send("7", []byte(body)); err != nil {
		t.Fatal(err)
	}
}
