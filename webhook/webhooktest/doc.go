// Package webhooktest proves that a store of handled events keeps the contract of [webhook.Once].
//
// An application that keeps its own store, say in a database that several processes share, runs the suite in a test:
//
//	func TestStore(t *testing.T) {
//		webhooktest.TestOnce(t, func(t *testing.T) webhook.Once { return newStore(t) })
//	}
//
// # What is proven
//
// A success is remembered. Keys become free again when the function fails or panics, also when its context has been
// cancelled by then. A duplicate in flight is refused at once, and nobody waits for another key. Keys are compared byte
// for byte. A context that is done runs nothing; the function's context is the caller's or derived from it. Of many
// callers at once exactly one succeeds, and no two are inside at a time.
//
// # What is not
//
// How long a store remembers, what becomes of the keys of a process that died, and how it answers when it is down: these
// depend on the store. A store that is down must return an error, never nil.
package webhooktest
