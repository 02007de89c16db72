//go:build !linux

package servers

import "os/exec"

// account is the user that runs a server. On this system, it is always the current user.
type account struct{}

func unprivileged() *account { return nil }

func changeOwner(string, *account) error { return nil }

// Bind does nothing on this system.
func Bind(*exec.Cmd) {}

func runAs(*exec.Cmd, *account) {}
