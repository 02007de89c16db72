//go:build !contract

package mockserver

// holdToContract does nothing, so only Config.OnViolation enables the
// validation of responses.
func holdToContract(cfg Config) Config { return cfg }
