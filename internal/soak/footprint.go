package main

import (
	"fmt"
	"runtime"
	"time"
)

// footprint is what the process holds when nothing is under way.
type footprint struct {
	heap       uint64
	goroutines int
}

// settled waits until connections that were closed are gone.
func settled() (f footprint) {
	f.goroutines = runtime.NumGoroutine()
	for range 50 {
		time.Sleep(10 * time.Millisecond)
		f.goroutines = min(f.goroutines, runtime.NumGoroutine())
	}
	runtime.GC()
	runtime.GC() // what a sync.Pool held outlives the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.heap = m.HeapAlloc
	return f
}

func (f footprint) since(before footprint) string {
	const mib = 1 << 20
	return fmt.Sprintf("%.1f → %.1f MiB, %d → %d goroutines", float64(before.heap)/mib, float64(f.heap)/mib, before.goroutines, f.goroutines)
}

// leaks returns what is there that was not there before.
func (f footprint) leaks(before footprint) (lost []string) {
	if f.goroutines > before.goroutines {
		lost = append(lost, fmt.Sprintf("%d goroutines stay behind", f.goroutines-before.goroutines))
	}
	if f.heap > before.heap+4<<20 {
		lost = append(lost, fmt.Sprintf("%d MiB of memory stay in use", (f.heap-before.heap)>>20))
	}
	return lost
}
