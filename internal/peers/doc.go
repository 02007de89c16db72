// Command peers measures this SDK beside others, beside plain net/http and
// beside what a program without an SDK would do, and prints one table:
//
//	go run -C internal/peers .              # everything, about five minutes
//	go run -C internal/peers . -only verify # the comparisons whose names hold a text
//
// # How it measures
//
// All contenders of all comparisons are set up first, and then take turns,
// twenty rounds of them. A turn is a few slices of some milliseconds, and the
// fastest slice of all rounds is what counts: noise of the machine only ever
// makes a slice slower, and hits every contender alike. The ratio is the time of
// the other one divided by ours: over 1 we are the faster. A slice hardly ever
// holds a garbage collection, which is kind to those who allocate much.
//
// Each gets what it is made for: the same bytes where it takes any, otherwise
// bodies of its own format, with members of that format and exactly as long.
// The program's test lets every contender do its work once.
//
// It is a module of its own, so that the peers stay out of the root go.mod.
package main
