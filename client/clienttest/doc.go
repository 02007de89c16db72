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
// The tests check the rules of [client.LookupLimiter] and three further rules:
//
//   - The first slot starts immediately.
//   - If the context is canceled or expires after a caller has acquired a slot, the
//     caller still holds the slot.
//   - Callers with different keys do not wait for each other.
//
// # What is not tested
//
// The tests do not check what happens if a process crashes or the shared
// storage is unavailable.
//
// # Time
//
// A limiter grants one slot per second, so the tests take about six seconds. In a testing/synctest
// bubble, they take no real time. If a slot starts too early, the test fails. A slot may start up to
// one second late, because test machines may be busy.
package clienttest
