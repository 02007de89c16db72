package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// compareMemory imports few and many contacts, and tells how much memory was
// in use at most, beyond what was before.
func compareMemory(ctx context.Context, out *report) error {
	a := newArena(ctx)
	defer a.close()
	importers, err := newImporters(a, 0, inFlight)
	if err != nil {
		return err
	}
	const few, many, most = 10_000, 1_000_000, 10_000_000
	fmt.Fprintln(out, "memory: the most in use during an import, beyond what was before (client and server)")
	for i, im := range importers {
		sizes := []int{few, many}
		if i == 0 { // ours
			sizes = append(sizes, most)
		}
		fmt.Fprintf(out, "  %-45s", im.name)
		var least, last float64
		for j, n := range sizes {
			peak, err := peakOf(ctx, im, n)
			if err != nil {
				return fmt.Errorf("%s: %w", im.name, err)
			}
			if last = peak; j == 0 {
				least = peak
			}
			fmt.Fprintf(out, " %8d contacts %4.1f MiB", n, peak)
		}
		if i == 0 {
			fmt.Fprintf(out, ", more: %s", out.atMost("memory of an import of 10,000,000 contacts beyond that of 10,000", "%.1f MiB", 6, last-least))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out)
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
