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
		return int64(usage.Maxrss) //nolint:unconvert // 32 bits on 32-bit systems
	default:
		return int64(usage.Maxrss) << 10 //nolint:unconvert // as above
	}
}
