// Package webhooktest contains tests for deduplication stores that implement
// [webhook.Once].
//
// Run the tests for your own store, for example a database that several
// processes share:
//
//	func TestStore(t *testing.T) {
//		webhooktest.TestOnce(t, func(t *testing.T) webhook.Once { return newStore(t) })
//	}
//
// # What is tested
//
// The store records a success. It releases the key if the function fails or
// panics, even if the context is canceled by then. It rejects a duplicate in
// flight immediately, and different keys do not block each other. It compares
// keys byte for byte, accepts any bytes, and holds at least 10,000 keys. If the
// context is done, it does not call the function. The function's context is the
// caller's context or derived from it. Of concurrent callers, exactly one
// succeeds, and only one at a time runs the function.
//
// [TestCrash] tests that a store that several processes share loses no event if
// one of them loses its connection: before or after the function, or before its
// failure is recorded.
//
// # What is not tested
//
// How long the store keeps keys, and how long it locks the key of a crashed
// process.
package webhooktest
