// Package clienttest contains tests for limiters that implement
// [client.LookupLimiter].
//
// Run the tests for your own limiter, for example one that several processes
// share:
//
//	func TestLimiter(t *testing.T) {
//		clienttest.TestSharedLookupLimiter(t, func(t *testing.T) client.LookupLimiter { return newLimiter(t) })
//	}
//
// # What is tested
//
// The first slot starts immediately. Each next slot starts at least one second
// after the end of the previous slot, or later if its holder requires that.
// Only one caller holds the slot, and callers get it in the order of their
// calls. If a context ends in the queue, the wait ends immediately with the
// context's error and does not delay other callers. If the context ends while
// the slot is held, the slot does not change. Different keys do not wait for
// each other.
//
// # What is not tested
//
// The tests do not check the slot of a crashed process, or the behavior if the
// shared storage is unavailable.
//
// # Time
//
// Slots are one second apart, so the suite takes about six seconds and little
// processor time. In a bubble of testing/synctest it takes no time. A slot can
// be up to one second late, because test machines may be busy. A slot that is
// early fails the test.
package clienttest
