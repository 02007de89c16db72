// Package clienttest proves that a limiter of lookups keeps the contract of
// [client.LookupLimiter].
//
// An application that has a limiter of its own, say one that several processes
// share, runs the suite in a test:
//
//	func TestLimiter(t *testing.T) {
//		clienttest.TestSharedLookupLimiter(t, func(t *testing.T) client.LookupLimiter { return newLimiter(t) })
//	}
//
// # What is proven
//
// The first turn comes at once, each next one at least a second after the one
// before has ended, or longer if that one asks for it. Nobody has a turn beside
// another. Turns are given in the order in which they were asked for. A context
// that ends in the queue ends the wait at once, with its own error, and costs
// the others nothing; one that ends during the turn ends nothing. Other keys do
// not wait.
//
// # What is not
//
// What becomes of the turn of a process that died, and what a limiter does when
// it cannot reach what it shares with the others: these depend on it.
//
// # Time
//
// Turns are a second apart, so that the suite takes about six seconds of time and
// hardly any of the processor. Within a bubble of testing/synctest it takes none.
// What comes too late by less than a second passes: machines that run tests are
// busy. What comes too early by anything fails.
package clienttest
