// Package clienttest contains tests for limiters that implement
// [client.LookupLimiter].
//
// Run the tests for your own limiter, for example a limiter that several
// processes share:
//
//	func TestLimiter(t *testing.T) {
//		clienttest.TestSharedLookupLimiter(t, func(t *testing.T) client.LookupLimiter { return newLimiter(t) })
//	}
//
// # What is tested
//
// The first slot starts immediately. Each later slot starts at least one second
// after the previous slot ends. The previous caller can require a longer
// interval. Only one caller holds the slot at a time. Callers acquire the slot
// in the order of their calls. If a context is canceled or expires while its
// caller waits, the call returns immediately with the context's error and does
// not delay other callers. If the context is canceled or expires after a caller
// has acquired a slot, the caller still holds the slot. Callers with different
// keys do not wait for each other.
//
// # What is not tested
//
// The tests do not check what happens if a process crashes or the shared
// storage is unavailable.
//
// # Time
//
// The tests take about six seconds, because slots are one second apart. In a
// testing/synctest bubble, the tests take no real time. The tests accept a slot
// that is up to one second late, because test machines may be busy. If a slot
// starts too early, the test fails.
package clienttest
