// Command release rehearses a release of all modules of this repository, and
// proves that others can use what it would publish:
//
//	go run ./internal/tools/release
//
// It copies the work tree, gives it the path github.com/acme/emailplatform,
// commits and tags it as a release does, and has the go command fetch it from
// there, as any proxy of modules would. From then on that proxy is all that is
// known of it. With an empty module cache,
//
//   - a program for each module is built with what go get brings, and the
//     quickstart is run outside of the repository; what comes with client,
//     events and webhook is held against testdata/modules.txt
//   - go install makes the commands, which say their version
//   - each package has what a page of documentation needs
//   - gorelease finds nothing wrong, and incompatible changes since the last
//     release are told in CHANGELOG.md; a deliberate one is refused
//   - goreleaser makes the binaries, which say their version; -binaries=false
//     leaves that out
//
// What others' modules these need comes from the module cache, or from GOPROXY.
//
//	go run ./internal/tools/release -prepare v0.2.0   # before a release: CHANGELOG.md, versions that modules require
//	go run ./internal/tools/release -notes v0.2.0     # what CHANGELOG.md says of it
//	go run ./internal/tools/release -push v0.2.0      # tags the commit for all modules, and pushes one tag at a time
//	go run ./internal/tools/release -tagged v0.2.0    # whether the commit has all tags
//	go run ./internal/tools/release -update           # writes testdata/modules.txt
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
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

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	prepared := flags.String("prepare", "", "write this `version` into CHANGELOG.md and the go.mod files")
	notes := flags.String("notes", "", "print what CHANGELOG.md says of this `version`")
	complete := flags.String("tagged", "", "find what the commit lacks to be this `version` of all modules")
	publish := flags.String("push", "", "tag the commit as this `version` of all modules, and push the tags to origin")
	update := flags.Bool("update", false, "write "+golden)
	binaries := flags.Bool("binaries", true, "make the binaries, too")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("%q is not a flag", flags.Arg(0))
	case *prepared != "":
		return prepare(ctx, ".", *prepared)
	case *complete != "":
		return tagged(ctx, ".", *complete)
	case *publish != "":
		return push(ctx, ".", *publish)
	case *notes != "":
		return printNotes(*notes)
	}
	return rehearse(ctx, *update, *binaries)
}

// rehearse makes a release of the work tree where nobody sees it.
func rehearse(ctx context.Context, update, binaries bool) (err error) {
	dir, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := newStage(ctx, dir)
	if err != nil {
		return err
	}
	if err := errors.Join(s.whole(), s.releaseLast(ctx)); err != nil {
		return err
	}
	if err := s.release(ctx); err != nil {
		return err
	}
	if err := tagged(ctx, s.repo, s.next); err != nil {
		return err
	}
	steps := []func(context.Context) error{
		func(ctx context.Context) error { return s.use(ctx, update) }, s.install, s.document, s.compare, s.refuse,
	}
	if binaries {
		steps = append(steps, s.binaries)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}
