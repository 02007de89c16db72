// Command mockserver runs the platform in memory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"example.com/emailplatform/mockserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "mockserver:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mockserver", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:8026", "`address` to listen on")
	token := flags.String("token", mockserver.DefaultToken, "access `token` that is known")
	quiet := flags.Bool("quiet", false, "log no requests")
	if err := flags.Parse(args); err != nil {
		return err
	}
	cfg := mockserver.Config{Tokens: []mockserver.Token{{Token: *token}}}
	if !*quiet {
		cfg.OnRequest = func(r mockserver.Request) { logRequest(out, r) }
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", *addr)
	if err != nil {
		return err
	}
	srv := mockserver.New(cfg)
	defer srv.Close()
	base := "http://" + listener.Addr().String()
	_, _ = fmt.Fprintf(out, "The platform is at %s\ntoken: %s\n", base, *token)
	_, _ = fmt.Fprintf(out, "try: curl -H 'Authorization: Bearer %s' %s/lists\n", *token, base)
	return serve(ctx, listener, srv)
}

// serve answers until ctx ends, and then what has been asked before.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return server.Shutdown(grace)
}

func logRequest(out io.Writer, r mockserver.Request) {
	operation := r.Operation
	if operation == "" {
		operation = "-"
	}
	_, _ = fmt.Fprintf(out, "%s %d %-6s %s %s %v\n",
		r.Time.Format("15:04:05.000"), r.Status, r.Method, r.Path, operation, r.Duration.Round(time.Microsecond))
}
