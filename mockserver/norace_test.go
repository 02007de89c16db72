//go:build !race

package mockserver_test

const raceDetector = false
