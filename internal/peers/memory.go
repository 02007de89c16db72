package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// compareMemory imports few and many contacts, and tells how much memory was
// in use at most, beyond what was before.
func compareMemory(ctx context.Context) error {
	a := &arena{ctx: ctx}
	defer a.close()
	importers, err := newImporters(a, 0, inFlight)
	if err != nil {
		return err
	}
	const few, many = 10_000, 1_000_000
	fmt.Println("memory: the most in use during an import, beyond what was before (client and server)")
	for _, im := range importers {
		var peaks []float64
		for _, n := range []int{few, many} {
			peak, err := peakOf(ctx, im, n)
			if err != nil {
				return fmt.Errorf("%s: %w", im.name, err)
			}
			peaks = append(peaks, peak)
		}
		fmt.Printf("  %-29s %d contacts %.1f MiB, %d contacts %.1f MiB\n", im.name, few, peaks[0], many, peaks[1])
	}
	fmt.Println()
	return nil
}

// peakOf looks ten times while the import takes its contacts.
func peakOf(ctx context.Context, im importer, n int) (mib float64, err error) {
	before := heapInUse()
	var mu sync.Mutex
	var peak uint64
	err = im.run(ctx, n, func(i int) {
		if i%(n/10) != 0 {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		peak = max(peak, heapInUse())
	})
	return max(0, float64(int64(peak)-int64(before))/(1<<20)), err
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC() // what a sync.Pool held outlives the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
