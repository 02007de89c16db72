package mockserver_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"example.com/emailplatform/mockserver"
)

// BenchmarkSnapshot saves a state of 1,000,000 messages while somebody asks the
// platform one thing after the other, reads and writes. stall-ms is the longest
// that one of them took, under 50; peak is the most memory of the heap that was
// in use while it was saved, in times of what the state itself takes, under 2;
// left is the same after it, 1. Saving takes under 5 s.
func BenchmarkSnapshot(b *testing.B) {
	before := heap()
	p := newProbe(b, mockserver.Config{SkipValidation: true})
	for i := range 1_000_000 {
		p.email(fmt.Sprintf("user%d@example.org", i))
	}
	state := heap() - before
	name := filepath.Join(b.TempDir(), "state.json")
	for b.Loop() {
		done, stall := make(chan struct{}), make(chan time.Duration)
		go func() { stall <- longest(p, done) }()
		top := watchHeap(done)
		saveTo(b, p.Server, name)
		close(done)
		b.ReportMetric(float64((<-stall).Microseconds())/1000, "stall-ms")
		b.ReportMetric(float64(<-top-before)/float64(state), "peak")
	}
	b.ReportMetric(float64(heap()-before)/float64(state), "left")
	b.ReportMetric(float64(state)/(1<<20), "state-MiB")
	runtime.KeepAlive(p)
}

func saveTo(b *testing.B, srv *mockserver.Server, name string) {
	b.Helper()
	file, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	out := bufio.NewWriter(file)
	if err := srv.Snapshot(out); err != nil {
		b.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
}

// longest asks until done and returns the longest time that an answer took.
func longest(p probe, done <-chan struct{}) (most time.Duration) {
	for i := 0; ; i++ {
		select {
		case <-done:
			return most
		default:
		}
		start := time.Now()
		if i%2 == 0 {
			p.do("GET", "/lists", nil)
		} else {
			p.email("again@example.org")
		}
		most = max(most, time.Since(start))
		time.Sleep(time.Millisecond)
	}
}

// watchHeap looks at the heap every few milliseconds until done, and tells the
// most that was in use.
func watchHeap(done <-chan struct{}) <-chan int64 {
	top := make(chan int64)
	go func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		most := int64(0)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			metrics.Read(sample)
			most = max(most, int64(sample[0].Value.Uint64()))
			select {
			case <-done:
				tick.Stop()
				top <- most
				return
			case <-tick.C:
			}
		}
	}()
	return top
}

// BenchmarkFollow writes what changes beside 1,000,000 messages, four times a second
// for five seconds, while requests are made one after the other. stall-ms is the
// longest that one of them took, under 50; write-ms is the longest that writing the
// changes took.
func BenchmarkFollow(b *testing.B) {
	p := newProbe(b, mockserver.Config{SkipValidation: true})
	for i := range 1_000_000 {
		p.email(fmt.Sprintf("user%d@example.org", i))
	}
	f := p.Follow()
	defer f.Close()
	if err := f.Write(io.Discard); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		done, stall := make(chan struct{}), make(chan time.Duration)
		go func() { stall <- longest(p, done) }()
		var write time.Duration
		for range 20 {
			time.Sleep(250 * time.Millisecond)
			start := time.Now()
			if err := f.Write(io.Discard); err != nil {
				b.Fatal(err)
			}
			write = max(write, time.Since(start))
		}
		close(done)
		b.ReportMetric(float64((<-stall).Microseconds())/1000, "stall-ms")
		b.ReportMetric(float64(write.Microseconds())/1000, "write-ms")
	}
}
