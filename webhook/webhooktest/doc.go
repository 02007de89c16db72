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
// The store records a success. It releases the key if the function fails or
// panics, even if the context has been canceled. While the function runs for a
// key, the store rejects duplicates immediately and does not block other keys.
// It compares keys byte by byte, accepts any bytes, and stores at least 10,000
// keys. If the context is already canceled, the store does not call the
// function. The function receives the caller's context or a derived context. If
// several callers use the same key concurrently, only one at a time runs the
// function, and exactly one call succeeds.
//
// [TestCrash] is for stores that several processes share. TestCrash tests that a
// store loses no event if the connection fails before the function runs, or before
// the store records a success or a failure.
//
// # What is not tested
//
// The tests do not check how long the store keeps keys, or how long it locks
// the key of a crashed process.
package webhooktest
