package feed

import (
	"encoding/json"
	"testing"
)

func TestTell(t *testing.T) {
	var f Feed
	f.Tell(Message, func() any {
		t.Error("a record was made, and nobody listens")
		return nil
	})
	from, seq := f.Listen()
	if seq != 0 || !f.Heard() {
		t.Errorf("before the first change the number is %d, heard %v", seq, f.Heard())
	}
	f.Tell(Records, nil)
	f.Tell(Message, func() any { return map[string]int{"n": 7} })
	for _, want := range []string{`{"seq":1,"kind":"records"}`, `{"seq":2,"kind":"message","record":{"n":7}}`} {
		if got := <-from; string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f.Leave(from)
	f.Leave(from) // once more changes nothing
	if _, open := <-from; open || f.Heard() {
		t.Error("it left, and still listens")
	}
}

// One that falls behind is disconnected with what it has; the others go on.
func TestFallBehind(t *testing.T) {
	var f Feed
	slow, _ := f.Listen()
	quick, _ := f.Listen()
	for range MaxBehind + 1 {
		f.Tell(State, nil)
		<-quick
	}
	n := 0
	for range slow {
		n++
	}
	if n != MaxBehind {
		t.Errorf("it got %d changes before it was disconnected, want %d", n, MaxBehind)
	}
	f.Tell(State, nil)
	var last change
	if err := json.Unmarshal(<-quick, &last); err != nil || last.Seq != MaxBehind+2 {
		t.Errorf("the other one is at %d, %v; want %d", last.Seq, err, MaxBehind+2)
	}
	f.Leave(slow) // it is gone already
}

func TestClose(t *testing.T) {
	var f Feed
	before, _ := f.Listen()
	f.Close()
	after, _ := f.Listen()
	for name, from := range map[string]chan []byte{"before": before, "after": after} {
		if _, open := <-from; open {
			t.Errorf("who listens from %s the end is told something", name)
		}
	}
	if f.Heard() {
		t.Error("somebody is heard after the end")
	}
}

// A signal that is not taken stands for all that follow.
func TestWatch(t *testing.T) {
	var f Feed
	changed, stop := f.Watch()
	if !f.Heard() {
		t.Error("nobody is said to watch")
	}
	for range 3 {
		f.Tell(Message, func() any {
			t.Error("a record was made for somebody who only watches")
			return nil
		})
	}
	<-changed
	select {
	case <-changed:
		t.Error("there is a second signal, want one for all changes")
	default:
	}
	f.Tell(State, nil)
	<-changed
	stop()
	stop() // once more changes nothing
	if f.Heard() {
		t.Error("it stopped, and still watches")
	}
}

func TestWatchUntilTheEnd(t *testing.T) {
	var f Feed
	before, stop := f.Watch()
	f.Close()
	after, _ := f.Watch()
	for name, changed := range map[string]<-chan struct{}{"before": before, "after": after} {
		if _, open := <-changed; open {
			t.Errorf("who watches from %s the end gets a signal", name)
		}
	}
	stop()
	if f.Heard() {
		t.Error("somebody watches after the end")
	}
}
