//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package main

// lock locks nothing: it is for systems that have no lock that ends with its
// process.
func lock(string) (unlock func() error, err error) { return func() error { return nil }, nil }

// syncFolder does nothing on systems without a known method.
func syncFolder(string) error { return nil }
