// Package simulation runs the whole system in one bubble: the platform in memory,
// processes that call it by package client, replicas that receive its events by
// package webhook behind a balancer, and the network between them, which is net/http's
// own HTTP/1.1 and HTTP/2 over connections in memory. A seed writes a [Plan]: what the
// processes do, and what goes wrong meanwhile. Connections are refused, cut at any
// byte and slowed down; streams are reset and connections given up with any code;
// answers are announced by other statuses, have another length or another shape than
// they should; the platform has faults of its own, and a clock that jumps by hours; processes
// stand still for minutes, or die and come back with what they have on disk: the
// platform with its snapshot, an import with its checkpoint file, a replica with its
// database. When all is calm again, [Invariants] say what must be true. Each is a
// sentence of the documentation.
//
//	go test ./internal/tests/simulation                                  # some hundred seeds
//	go test ./internal/tests/simulation -run TestSeeds -seeds 5000       # as in the gate
//
// # How to read a failure
//
// A seed that fails is shrunk: steps are left out, and the world is made simpler, for
// as long as the same invariant does not hold. What is left is printed three times.
//
// First which invariant it is, and what was seen. Its sentence stands in
// invariants.go, with the file that it is from.
//
// Then the plan, as a test. Paste it into a file of any package of this module; it
// fails alone, always in the same way, and belongs beside the test that the mended
// code gets:
//
//	func TestFound(t *testing.T) {
//		simulation.Replay(t, simulation.Plan{
//			Seed:    0x3b8,
//			Clients: []simulation.Client{{HTTP2: true, MaxAttempts: 1, Timeout: 15 * time.Second}},
//			…
//			Steps: []simulation.Step{
//				{At: 14 * time.Second, Do: simulation.Reset{On: "client1", Code: 1, When: "answer"}},
//				{At: 15 * time.Second, Do: simulation.Send{}},
//			},
//		})
//	}
//
// Then the trace: virtual seconds, who, and what. "step" is the plan speaking; a
// trouble is armed then, and happens to what comes next on its link, which says so.
// "platform" tells each request when it has been answered: from which process, and
// with what. The line of a client tells what a call returned. "VIOLATED" is where an
// invariant was found not to hold; that can be long after the cause, as most are
// looked at in the end.
//
// # The same seed, the same run
//
// Time is that of [testing/synctest], and randomness that of [testing/cryptotest]:
// ids, secrets, jitter. All else that a seed decides is drawn by name (chance.go), so
// that no actor's luck depends on another's, and a step that is left out changes little
// for the others. Bytes arrive, requests leave and processes wake up each at an instant
// of its own, to the nanosecond: only one thing happens at a time, whatever the
// scheduler does. Where net/http itself wakes several at once, one processor without
// garbage collection keeps them in order. A plan given twice prints the same trace,
// byte for byte.
//
// # What it does not do
//
// The database of the replicas, the balancer and the files never fail. A server that
// says by REFUSED_STREAM, GOAWAY, 429 or Retry-After that it did nothing does not lie.
// Values of an answer are not replaced by others of their kind, which nobody could
// tell from right ones. Callbacks of an import take no time, as it holds a lock
// meanwhile, and a bubble does not take that for waiting.
package simulation
