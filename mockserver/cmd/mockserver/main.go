// Command mockserver runs the in-memory mock server, with a web console at /_mock/.
//
//	mockserver [serve] [flags]                  runs it
//	mockserver trigger EVENT [flags]            sends an event, signed, to a receiver; needs no server
//	mockserver verify --secret S --signature X  verifies the signature of the body on standard input
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
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the next signal ends the process immediately
	err := run(ctx, os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "mockserver:", err)
		os.Exit(1)
	}
}

// run runs a subcommand. The default is serve.
func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "help":
			return run(ctx, append(args[1:], "-h"), out)
		case "serve":
			args = args[1:]
		case "trigger":
			return trigger(ctx, args[1:], out)
		case "verify":
			return verify(args[1:], os.Stdin, out)
		case "health":
			return health(ctx, args[1:], out)
		}
	}
	return serve(ctx, args, out)
}
