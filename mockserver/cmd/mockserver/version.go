package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version names the release or the commit that the command was built from, as
// far as it was built in, and by what.
func version() string {
	release := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		release = info.Main.Version
	}
	return fmt.Sprintf("mockserver %s, %s, %s/%s", release, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
