// Package webhooktest contains tests for deduplication stores that implement
// [webhook.Once].
//
// Run the tests for your own store, for example a store in a database:
//
//	func TestStore(t *testing.T) {
//		webhooktest.TestOnce(t, func(t *testing.T) webhook.Once { return newStore(t) })
//	}
//
// # What is tested
//
// [TestOnce] checks the rules of [webhook.Once] and three further rules:
//
//   - While the function runs for a key, the store does not block other keys, unless it
//     has one writer (see [OneWriter]).
//   - The store accepts at least 10,000 keys.
//   - If several callers use the same key concurrently, only one at a time runs the
//     function, and the function succeeds exactly once.
//
// [TestCrash] is for stores that several processes share. It tests that a store loses
// no event if the connection fails before the function runs, or before the store
// records a success or a failure.
//
// # What is not tested
//
// The tests do not check how long the store keeps keys, or how long it locks
// the key of a crashed process.
package webhooktest
