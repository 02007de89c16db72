//go:build contract

package mockserver

import "fmt"

// holdToContract holds every answer and every delivery of every server of the
// program against the document: with -tags contract no test can forget that. A
// violation nobody asked to hear of ends the program, from a goroutine of its own
// because net/http would recover it, and before the program could end well.
func holdToContract(cfg Config) Config {
	if cfg.OnViolation == nil {
		cfg.OnViolation = func(err error) {
			go panic(fmt.Sprintf("a violation of openapi.yaml: %v", err))
			select {}
		}
	}
	return cfg
}
