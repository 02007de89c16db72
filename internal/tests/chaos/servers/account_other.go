//go:build !linux

package servers

import "os/exec"

// account is the user that runs a server. On this system, it is always the current user.
type account struct{}

func unprivileged() *account { return nil }

func give(string, *account) error { return nil }

// Bind does nothing on this system.
func Bind(*exec.Cmd) {}

func own(*exec.Cmd, *account) {}
