// Command release rehearses a release of all modules of this repository, and
// proves that others can use what it would publish:
//
//	go run ./internal/tools/release
//
// It copies the work tree, gives the copy the path github.com/acme/emailplatform, and commits and tags it as a release. The
// go command downloads it from there, as a module proxy does. With an empty module cache,
//
//   - a program for each module builds with what go get downloads, and the quickstart runs outside of the repository
//   - go install builds the commands, which print their version
//   - npm installs the npm package in an empty project, where it starts the mock server
//   - gorelease finds no error, and CHANGELOG.md names incompatible changes since the last release
//   - goreleaser builds the binaries, which print their version; -binaries=false omits that
//
// Modules of others come from the module cache or from GOPROXY.
//
//	go run ./internal/tools/release -prepare v0.2.0   # before a release: CHANGELOG.md, versions that modules require
//	go run ./internal/tools/release -notes v0.2.0     # the section of CHANGELOG.md
//	go run ./internal/tools/release -push v0.2.0      # tags the commit for all modules, and pushes one tag at a time
//	go run ./internal/tools/release -tagged v0.2.0    # checks that the commit has all tags
//	go run ./internal/tools/release -npm v0.2.0       # packs the npm packages with the binaries in dist, and adds their checksums
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"example.com/emailplatform/internal/tools/try"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	defer try.Catch(&err)
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	prepared := flags.String("prepare", "", "write this `version` into CHANGELOG.md and the go.mod files")
	described := flags.String("notes", "", "print the section of CHANGELOG.md for this `version`")
	complete := flags.String("tagged", "", "check that the commit has the tags of this `version` for all modules")
	publish := flags.String("push", "", "tag the commit as this `version` of all modules, and push the tags to origin")
	npm := flags.String("npm", "", "pack the npm packages of this `version` with the binaries in dist, into dist/npm, and add them to dist/checksums.txt")
	binaries := flags.Bool("binaries", true, "build the binaries")
	try.OK(flags.Parse(args))
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("%q is not a flag", flags.Arg(0))
	case *prepared != "":
		return prepare(ctx, ".", *prepared)
	case *complete != "":
		tagged(ctx, ".", *complete)
	case *publish != "":
		return push(ctx, ".", *publish)
	case *npm != "":
		packReleased(ctx, try.Get(filepath.Abs(".")), *npm)
	case *described != "":
		fmt.Println(notes(".", *described))
	default:
		return rehearse(ctx, *binaries)
	}
	return nil
}

// rehearse makes a release of the work tree in a private copy.
func rehearse(ctx context.Context, binaries bool) (err error) {
	dir := try.Get(os.MkdirTemp("", "release-"))
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	defer try.Catch(&err)
	s := newStage(ctx, dir)
	if s.last != "" { // base of the comparison
		s.release(ctx, s.last, s.last)
	}
	s.release(ctx, "HEAD", s.next)
	tagged(ctx, s.repo, s.next)
	s.use(ctx)
	s.install(ctx)
	s.npm(ctx)
	s.compare(ctx)
	if binaries {
		s.binaries(ctx)
	}
	return nil
}
