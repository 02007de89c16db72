// Package benchmarks compares the SDK with other SDKs, with net/http and JSON packages, and with code that a developer
// would write without an SDK. docs/performance.md describes the commands and the method. The package is a separate
// module, so that the root go.mod does not require the other SDKs.
package benchmarks
