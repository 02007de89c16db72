// Package benchmarks compares the SDK with other SDKs, with net/http and JSON packages, and with code that a developer
// would write without an SDK. The script run measures all comparisons with both supported releases of Go:
//
//	internal/benchmarks/run                      # all comparisons, 10 rounds
//	internal/benchmarks/run -bench Decode -rounds 3
//	go test -C internal/benchmarks -run '^$' -bench Scale -benchtime 1x -timeout 0
//
// A round runs each benchmark once, so that all contenders meet the same noise. The script compares the fastest rounds,
// because other work on the machine only makes a round slower, and checks the ratios against targets.txt.
//
// The package is a module of its own, so the root go.mod does not require the SDKs that it compares with.
package benchmarks
