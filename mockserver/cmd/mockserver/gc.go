package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// smallHeap is the maximum number of bytes of live data in a small heap.
const smallHeap = 16 << 20

// collectLess makes garbage collection less frequent, which saves a tenth of
// the processor time. While the live data is small, the heap can grow to five
// times its size between collections instead of twice its size. The environment
// variable GOGC takes precedence.
func collectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		checkHeap(0)
	}
}

// checkHeap runs after each collection until the live data is no longer small.
func checkHeap(int) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(live); live[0].Value.Uint64() > smallHeap {
		debug.SetGCPercent(100)
		return
	}
	runtime.AddCleanup(new([8]int), checkHeap, 0) // runs after the next collection, because nothing refers to the array
}
