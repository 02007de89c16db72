// Package simulation runs the whole system in one bubble: the mock server, processes that use package client, replicas
// that use package webhook, and net/http's HTTP/1.1 and HTTP/2 over in-memory connections. The package consists of
// tests only.
//
// The package rapid draws a random Plan, which contains the operations and these faults:
//
//   - Connections are refused, time out, or break at any byte.
//   - The platform injects its own faults.
//   - Calls are canceled while they wait for the rate limiter.
//   - Processes crash and restart with their files: the platform with its snapshot, and
//     a replica with its database.
//
// After the last step, the faults end, and the invariants must hold: for example, no event is lost.
//
//	go test ./internal/tests/simulation                                              # 100 plans
//	go test ./internal/tests/simulation -run TestInvariants -rapid.checks 3000       # as .ci/run does
//
// # How to read a failure
//
// If a plan fails, rapid shortens it. The output contains the violated invariant, the plan as Go code, and the trace
// with virtual times. In the trace, a "step" line is a step of the plan, a "platform" line is a response to a request,
// and a "client" line is the result of a call. To repeat the failure, use the flag that the output names, or call
// Simulate with the printed plan in a test of this package.
//
// # The same plan, the same run
//
// Two runs of a plan print the same trace, byte by byte, for these reasons:
//
//   - Time is the virtual time of [testing/synctest], and ids, secrets and jitter come
//     from [testing/cryptotest].
//   - All other random values have names (plan_test.go), so an omitted step changes
//     little for the other actors.
//   - Each arrival of bytes, request and wake-up has its own virtual nanosecond.
//   - If net/http wakes several goroutines, a single processor without garbage
//     collection keeps their order.
//
// # Limits
//
// Some things are not simulated. The replicas' database, the load balancer and the files never fail. Imports,
// iterations and the interval between lookups have their own tests in package client.
//
// Some faults process a request and then reject it with a 4xx status, although section 7 of docs/decisions.md excludes
// this. The invariants do not count the emails of these requests. Every other email must be sent at most once.
package simulation
