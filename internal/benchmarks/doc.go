// Package benchmarks compares the SDK with other SDKs, with net/http and JSON packages, and with code that a developer
// would write without an SDK:
//
//	go test -C internal/benchmarks -run '^$' -bench Decode   # some comparisons with one release
//	internal/benchmarks/run -bench Decode                    # with both, in a table beside the targets
//	internal/benchmarks/run                                  # all comparisons
//
// docs/performance.md describes the method.
//
// The package is a separate module, so the root go.mod does not require the other SDKs.
package benchmarks
