//go:build race

package mockserver_test

// raceDetector makes everything some ten times slower.
const raceDetector = true
