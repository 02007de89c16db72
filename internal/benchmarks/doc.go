// Command peers measures this SDK beside others, beside plain net/http and
// beside what a program without an SDK would do, with both releases of Go that are
// supported, and prints all figures and a table of the targets:
//
//	go run -C internal/benchmarks .              # everything, some eight minutes
//	go run -C internal/benchmarks . -only verify # the comparisons whose names hold a text
//	go run -C internal/benchmarks . -write       # and put them into docs/performance.md
//
// The older release measures only what encoding/json decides.
//
// # How it measures
//
// What happens on one goroutine is measured first, before servers fill the memory.
// All contenders are set up first, and then take turns, four rounds of them in
// each of five runs. A turn is some slices of a few milliseconds or less, and the
// fastest slice of all rounds is what counts: noise of the machine only ever makes
// a slice slower, and hits every contender alike. The ratio is the time of the
// other one divided by ours: over 1 we are the faster. A target is met that four
// of the five runs meet, each by its own fastest slices. A slice hardly ever holds
// a garbage collection, which is kind to those who allocate much. Where a server is
// a process of its own, processor time is measured too: that of the server alone,
// or of the client alone.
//
// A mock that is a command is started anew for each turn, which is one slice of 2000
// requests after as many to get warm, and the mean of the turns counts: stripe-mock
// looks through its routes in an order that is another one after each start, for the
// GET through 111 to 245, for the POST through 1 to 91. And its garbage is collected
// once in some 500 requests to GET, which shorter slices may escape.
//
// Each gets what it is made for: the same bytes where it takes any, otherwise
// bodies of its own format, with members of that format and exactly as long.
// The program's test lets every contender do its work once.
//
// It is a module of its own, so that the peers stay out of the root go.mod.
package main
