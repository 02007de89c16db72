// Package benchmarks compares the SDK with other SDKs, with net/http and JSON packages, and with code that a developer
// would write without an SDK:
//
//	go test -C internal/benchmarks -run '^$' -bench Decode   # some comparisons with one release
//	internal/benchmarks/run -bench Decode                    # with both, in a table beside the targets
//	internal/benchmarks/run                                  # all comparisons
//
// In each round the script runs all contenders, so that they meet the same noise. It compares the fastest samples, because
// other work on the machine only makes a sample slower. docs/performance.md describes the method.
//
// The package is a module of its own, so the root go.mod does not require the SDKs that it compares with.
package benchmarks
