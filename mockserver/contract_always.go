//go:build contract

package mockserver

import "fmt"

// holdToContract validates every response and delivery of every server against
// the OpenAPI document. With -tags contract no test can skip that. A violation
// without Config.OnViolation ends the program. It does so from another
// goroutine, because net/http would recover the panic, and before the program
// can succeed.
func holdToContract(cfg Config) Config {
	if cfg.OnViolation == nil {
		cfg.OnViolation = func(err error) {
			go panic(fmt.Sprintf("a violation of openapi.yaml: %v", err))
			select {}
		}
	}
	return cfg
}
