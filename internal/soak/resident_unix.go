//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// maxResident returns the most bytes of memory that a process held.
func maxResident(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin":
		return usage.Maxrss
	default:
		return usage.Maxrss << 10
	}
}
