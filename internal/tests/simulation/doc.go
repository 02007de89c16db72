// Package simulation runs the whole system in one bubble: the mock server, processes that call it with package client,
// replicas that receive its events with package webhook, and the network between them, which is net/http's own
// HTTP/1.1 and HTTP/2 over connections in memory. The package consists of tests only.
//
// A seed determines a Plan: what the processes do, and what goes wrong. Connections are refused, never established, or
// cut at any byte. The platform injects faults of its own. Calls are canceled while they wait for the rate limiter.
// Processes die and restart with what they have on disk: the platform with its snapshot, a replica with its database. At
// the end, when nothing goes wrong anymore, the invariants must hold.
//
//	go test ./internal/tests/simulation                                  # 60 seeds
//	go test ./internal/tests/simulation -run TestSeeds -seeds 5000       # as .ci/run does
//
// # How to read a failure
//
// A plan that fails is shortened: steps are omitted for as long as the same invariant does not hold. The failure then
// prints the invariant and what was seen, the plan as Go code, and the trace: virtual seconds, the actor, and what it
// did. A "step" line is the plan. A "platform" line is a response to a request. A "client" line is the result of a
// call. To repeat the failure, call Explore with the printed plan in a test of this package.
//
// # The same seed, the same run
//
// Time is the virtual time of [testing/synctest], and ids, secrets and jitter come from [testing/cryptotest]. All other
// random values are drawn by name (grammar_test.go), so an omitted step changes little for the other actors. Bytes
// arrive, requests leave and processes wake up each at its own instant, to the nanosecond, so only one thing happens at
// a time. Where net/http itself wakes several goroutines, a single processor without garbage collection keeps them in
// order. A plan that runs twice prints the same trace, byte for byte.
//
// # What it does not do
//
// The database of the replicas, the load balancer and the files never fail. A server that reports by 429 or
// Retry-After that it did nothing does not lie. Imports, iterations and the interval between lookups have tests of their own in
// package client, because they need one client and one fault at a time.
package simulation
