//go:build unix && !linux

package servers

import "syscall"

func bind(*syscall.SysProcAttr) {}
