package redisstore

import (
	"crypto/rand"
	"fmt"
	"runtime"
	"testing"
)

// BenchmarkOnce handles events with several callers.
func BenchmarkOnce(b *testing.B) {
	for _, callers := range []int{2, 16, 64} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			o := NewOnce(newRedis(b), OnceOptions{})
			b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := o.Do(b.Context(), rand.Text(), succeed); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}
