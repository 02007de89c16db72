// Package webhooktest proves that a store of handled events keeps the contract
// of [webhook.Once].
//
// An application that keeps its own store, say in a database that several
// processes share, runs the suite in a test:
//
//	func TestStore(t *testing.T) {
//		webhooktest.TestOnce(t, func(t *testing.T) webhook.Once { return newStore(t) })
//	}
//
// # What is proven
//
// A success is remembered. Keys become free again when the function fails or
// panics, also when its context has been cancelled by then. A duplicate in
// flight is refused at once, and nobody waits for another key. Keys are
// compared byte for byte; they hold any bytes, at least 10,000 of them. A
// context that is done runs nothing; the function's context is the caller's or
// derived from it. Of many callers at once exactly one succeeds, and no two are
// inside at a time.
//
// [TestCrash] proves of a store that several processes share that nothing is
// lost when one of them loses its way to it: between handling and remembering,
// before a failure is known, and before anything began.
//
// # What is not
//
// How long a store remembers, and how long it keeps the key of a process that
// was killed.
package webhooktest
