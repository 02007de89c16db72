package world

import (
	"bytes"
	"compress/gzip"
	"errors"

	"example.com/emailplatform/mockserver/internal/access"
)

// start is the state that a reset goes back to.
type start struct {
	state  []byte // a snapshot, compressed
	tokens []access.Token
}

// SetStart makes what there is now the state that a reset goes back to.
func (w *World) SetStart() error {
	var state bytes.Buffer
	to, _ := gzip.NewWriterLevel(&state, gzip.BestSpeed) // a level that there is
	if err := errors.Join(w.Snapshot(to), to.Close()); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.start = &start{state: state.Bytes(), tokens: w.Access.Added()}
	return nil
}

// Reset goes back to the start.
func (w *World) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.start == nil {
		w.clear()
		return
	}
	w.leaveTest()
	if state, err := gzip.NewReader(bytes.NewReader(w.start.state)); err == nil {
		_ = w.Platform.Restore(state) // it was restorable when it was kept; a closed server has none to lose
	}
	w.Access.Reset(w.start.tokens...) // by the clock of the start
}

// Clear forgets everything but the configuration, and the start.
func (w *World) Clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clear()
}

func (w *World) clear() {
	w.leaveTest()
	w.Platform.Reset()
	w.Access.Reset() // by the clock as it is now
}

// leaveTest leaves nothing that a test has set or seen, beside the state.
func (w *World) leaveTest() {
	w.Faults.Remove("")
	w.Platform.SetLookups(w.Lookups)
	w.API.Log.Clear()
}
