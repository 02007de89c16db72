//go:build contract

package mockserver

import "fmt"

// holdToContract enables the validation of every response and delivery against the
// OpenAPI document. With -tags contract, all servers validate, so no test can skip
// this. If Config.OnViolation is nil, a violation causes a panic that ends the program.
// The panic is on a new goroutine, because net/http would recover a panic on the
// handler's goroutine.
func holdToContract(cfg Config) Config {
	if cfg.OnViolation == nil {
		cfg.OnViolation = func(err error) {
			go panic(fmt.Sprintf("violation of openapi.yaml: %v", err))
			select {}
		}
	}
	return cfg
}
