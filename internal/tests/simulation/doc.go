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
//	go test ./internal/tests/simulation                                         # 100 plans, as .ci/run does
//	go test ./internal/tests/simulation -run TestInvariants -rapid.checks 5000  # as .ci/soak does
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
//   - The time is the virtual time of [testing/synctest], so it does not depend on the
//     speed of the machine.
//   - All random values depend only on the seed of the plan. Ids, secrets and jitter come
//     from [testing/cryptotest] with this seed. Each other value, for example a latency,
//     is calculated from the seed and the name of the value (type chance), and not from
//     the number of values that were drawn before. Therefore, when rapid omits a step to
//     shorten a failing plan, the values of the other steps stay the same.
//   - Arrivals of bytes, requests and wake-ups almost never happen at the same virtual
//     nanosecond, so their times determine their order.
//   - If net/http wakes several goroutines at the same time, they run in a fixed order,
//     because the simulation uses one processor and turns off the garbage collection.
//
// # Limits
//
// Some things are not simulated. The replicas' database, the load balancer and the files never fail. Imports,
// iterations and the interval between lookups have their own tests in package client.
//
// With some faults, the platform processes a request and then rejects it with a 4xx status, although section 7 of
// docs/decisions.md excludes this. The invariants do not count the emails of these requests. Every other email must be
// sent at most once.
package simulation
