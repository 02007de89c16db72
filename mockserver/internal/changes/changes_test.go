package changes

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPublish(t *testing.T) {
	var f Feed
	f.Publish(Message, func() any {
		t.Error("a record was made without subscribers")
		return nil
	})
	from, seq := f.Subscribe()
	if seq != 0 || !f.Observed() {
		t.Errorf("before the first change, the sequence number is %d, observed %v", seq, f.Observed())
	}
	f.Publish(Records, nil)
	f.Publish(Message, func() any { return map[string]int{"n": 7} })
	f.PublishNew(Message, func() any { return map[string]int{"n": 8} })
	for _, want := range []string{
		`{"seq":1,"kind":"records"}`, `{"seq":2,"kind":"message","record":{"n":7}}`, `{"seq":3,"kind":"message","new":true,"record":{"n":8}}`,
	} {
		assert.Equal(t, want, string(<-from))
	}
	f.Unsubscribe(from)
	f.Unsubscribe(from) // a second call changes nothing
	if _, open := <-from; open || f.Observed() {
		t.Error("still observed after Unsubscribe")
	}
}

// A slow subscriber is disconnected after its queued changes, but other subscribers
// continue.
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
		t.Errorf("the subscriber got %d changes before it was disconnected, want %d", n, MaxLag)
	}
	f.Publish(State, nil)
	var last change
	if err := json.Unmarshal(<-quick, &last); err != nil || last.Seq != MaxLag+2 {
		t.Errorf("the other subscriber is at %d, %v; want %d", last.Seq, err, MaxLag+2)
	}
	f.Unsubscribe(slow) // the feed has already removed it
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

// Each change closes the channel of all waiting callers. The end of the feed closes it too.
func TestChanged(t *testing.T) {
	var f Feed
	for name, change := range map[string]func(){
		"Publish": func() {
			f.Publish(Message, func() any { t.Error("a record was made for a waiting caller"); return nil })
		},
		"Close": f.Close,
	} {
		f.closed = false
		changed, open := f.Changed()
		if same, _ := f.Changed(); !open || same != changed || !f.Observed() {
			t.Errorf("%s: not observed by a waiting caller", name)
		}
		change()
		select {
		case <-changed:
		default:
			t.Errorf("%s is not reported as a change", name)
		}
		if f.Observed() {
			t.Errorf("observed after %s", name)
		}
	}
	f.Close()
	if _, open := f.Changed(); open || f.Observed() {
		t.Error("open or observed after Close")
	}
}
