//go:build race

package conformance_test

// raceDetector makes everything some ten times slower.
const raceDetector = true
