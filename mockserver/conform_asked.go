//go:build !contract

package mockserver

// conform leaves it to the program whether answers are held against the document.
func conform(cfg Config) Config { return cfg }
