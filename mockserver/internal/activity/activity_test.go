package activity

import (
	"encoding/json"
	"testing"
)

func TestPublish(t *testing.T) {
	var f Feed
	f.Publish(Message, func() any {
		t.Error("a record was made without subscribers")
		return nil
	})
	from, seq := f.Subscribe()
	if seq != 0 || !f.Observed() {
		t.Errorf("before the first change the number is %d, observed %v", seq, f.Observed())
	}
	f.Publish(Records, nil)
	f.Publish(Message, func() any { return map[string]int{"n": 7} })
	for _, want := range []string{`{"seq":1,"kind":"records"}`, `{"seq":2,"kind":"message","record":{"n":7}}`} {
		if got := <-from; string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f.Unsubscribe(from)
	f.Unsubscribe(from) // once more changes nothing
	if _, open := <-from; open || f.Observed() {
		t.Error("still observed after Unsubscribe")
	}
}

// A slow subscriber is disconnected after the changes that it has. The others go on.
func TestSlowSubscriber(t *testing.T) {
	var f Feed
	slow, _ := f.Subscribe()
	quick, _ := f.Subscribe()
	for range MaxLag + 1 {
		f.Publish(State, nil)
		<-quick
	}
	n := 0
	for range slow {
		n++
	}
	if n != MaxLag {
		t.Errorf("it got %d changes before it was disconnected, want %d", n, MaxLag)
	}
	f.Publish(State, nil)
	var last change
	if err := json.Unmarshal(<-quick, &last); err != nil || last.Seq != MaxLag+2 {
		t.Errorf("the other one is at %d, %v; want %d", last.Seq, err, MaxLag+2)
	}
	f.Unsubscribe(slow) // it is gone already
}

func TestClose(t *testing.T) {
	var f Feed
	before, _ := f.Subscribe()
	f.Close()
	after, _ := f.Subscribe()
	for name, from := range map[string]chan []byte{"before": before, "after": after} {
		if _, open := <-from; open {
			t.Errorf("a subscriber from %s Close received a change", name)
		}
	}
	if f.Observed() {
		t.Error("observed after Close")
	}
}

// Several changes cause one signal until it is received.
func TestWatch(t *testing.T) {
	var f Feed
	changed, stop := f.Watch()
	if !f.Observed() {
		t.Error("not observed by a watcher")
	}
	for range 3 {
		f.Publish(Message, func() any {
			t.Error("a record was made for a watcher")
			return nil
		})
	}
	<-changed
	select {
	case <-changed:
		t.Error("there is a second signal, want one for all changes")
	default:
	}
	f.Publish(State, nil)
	<-changed
	stop()
	stop() // once more changes nothing
	if f.Observed() {
		t.Error("still observed after stop")
	}
}

func TestWatchUntilClose(t *testing.T) {
	var f Feed
	before, stop := f.Watch()
	f.Close()
	after, _ := f.Watch()
	for name, changed := range map[string]<-chan struct{}{"before": before, "after": after} {
		if _, open := <-changed; open {
			t.Errorf("a watcher from %s Close received a signal", name)
		}
	}
	stop()
	if f.Observed() {
		t.Error("observed after Close")
	}
}
