package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// TestCollectLess: the GC percentage is 400 for a small heap and 100 for a large heap, unless GOGC is set.
func TestCollectLess(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	percent := func() uint64 {
		now := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(now)
		return now[0].Value.Uint64()
	}
	t.Setenv("GOGC", "50")
	if collectLess(); percent() != 100 {
		t.Errorf("with GOGC: %d, want no change", percent())
	}
	t.Setenv("GOGC", "")
	runtime.GC() // frees the heap of earlier tests
	collectLess()
	if runtime.GC(); percent() != 400 {
		t.Errorf("with a small heap: %d, want 400", percent())
	}
	records := make([]byte, 2*smallHeap)
	for percent() != 100 { // the check runs soon after a collection
		runtime.GC()
	}
	runtime.KeepAlive(records)
}
