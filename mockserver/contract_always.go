//go:build contract

package mockserver

import "fmt"

// holdToContract enables the validation of every response and delivery against
// the OpenAPI document. With -tags contract no test can skip the validation. A
// violation without Config.OnViolation ends the program. The panic is on
// another goroutine, because net/http would recover it.
func holdToContract(cfg Config) Config {
	if cfg.OnViolation == nil {
		cfg.OnViolation = func(err error) {
			go panic(fmt.Sprintf("a violation of openapi.yaml: %v", err))
			select {}
		}
	}
	return cfg
}
