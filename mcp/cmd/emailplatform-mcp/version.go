package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version returns the release or the revision of the build, if known, and the
// Go version.
func version(build *debug.BuildInfo) string {
	release := "(unknown)"
	if build != nil && build.Main.Version != "" {
		release = build.Main.Version
	}
	return fmt.Sprintf("emailplatform-mcp %s%s, %s, %s/%s", release, revision(build), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// revision is set if the command was built in a checkout.
func revision(build *debug.BuildInfo) (text string) {
	if build == nil {
		return ""
	}
	for _, s := range build.Settings {
		switch {
		case s.Key == "vcs.revision":
			text = ", revision " + s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			text += " with changes" // the revision comes first, because settings are sorted
		}
	}
	return text
}
