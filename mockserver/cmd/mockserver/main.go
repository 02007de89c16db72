// Command mockserver runs the in-memory mock server, with a web console at /_mock/.
//
//	mockserver [serve] [flags]                  runs it
//	mockserver trigger EVENT [flags]            sends an event, signed, to a receiver; needs no server
//	mockserver verify -secret S -signature X    verifies the signature of the body on standard input
//	mockserver health                           checks whether a server runs here, for containers
//	mockserver help [trigger|verify|health]     lists the flags
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"syscall"
)

func main() {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signals = append(signals, syscall.SIGHUP) // the terminal was closed
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	context.AfterFunc(ctx, func() {
		// A shell and the system both send SIGHUP when a terminal is closed, and the reader of the log may end too.
		signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
		stop() // the next other signal ends the process immediately
	})
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "mockserver:", err)
		os.Exit(exitCode(err))
	}
}

// exitCode returns 2 if the arguments are invalid, like the commands of Go.
func exitCode(err error) int {
	if _, ok := errors.AsType[usageError](err); ok {
		return 2
	}
	return 1
}

// run runs a subcommand, or serve if there is none.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "help":
			return run(ctx, append(args[1:], "-h"), in, out)
		case "serve":
			args = args[1:]
		case "trigger":
			return trigger(ctx, args[1:], out)
		case "verify":
			return verify(args[1:], in, out)
		case "health":
			return health(ctx, args[1:], out)
		default:
			if !strings.HasPrefix(args[0], "-") {
				hint := didYouMean("", args[0], []string{"serve", "trigger", "verify", "health", "help"})
				return usageError{fmt.Errorf("unknown command %q%s; see mockserver -h", args[0], hint)}
			}
		}
	}
	return serve(ctx, args, in, out)
}

// smallHeap is the maximum number of bytes of live data in a small heap.
const smallHeap = 16 << 20

// raiseGCPercent makes garbage collection less frequent, which saves a tenth of the processor time.
// Between collections, the heap grows to five times its size instead of twice its size. To keep
// memory use low, this applies only while the live data is small. The environment variable GOGC
// takes precedence.
func raiseGCPercent() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		checkHeap(0)
	}
}

// checkHeap runs after each collection until the live data is no longer small.
func checkHeap(int) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(live); live[0].Value.Uint64() > smallHeap {
		debug.SetGCPercent(100)
		return
	}
	runtime.AddCleanup(new([8]int), checkHeap, 0) // runs after the next collection, because nothing refers to the array
}
