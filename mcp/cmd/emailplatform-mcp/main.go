// Command emailplatform-mcp is an MCP server (Model Context Protocol) for the
// email platform. AI assistants use it to call the platform.
//
//	emailplatform-mcp -base-url https://api.example.com          # stdio, the token from EMAILPLATFORM_TOKEN
//	emailplatform-mcp -http 127.0.0.1:8808                       # http://127.0.0.1:8808/mcp, each caller with its own token
//	emailplatform-mcp -demo                                      # with a mock server and a sample list
//
// Standard output contains only protocol messages.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mcp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2) // package flag has printed the error
	case err != nil:
		fmt.Fprintln(os.Stderr, "emailplatform-mcp:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage")

// run serves until ctx ends or, over stdio, until the input ends.
func run(ctx context.Context, args []string, getenv func(string) string, in io.ReadCloser, out, errs io.Writer) error {
	s, err := parse(args, getenv, errs)
	if err != nil {
		return err
	}
	if s.version {
		build, _ := debug.ReadBuildInfo()
		_, err := fmt.Fprintln(out, version(build))
		return err
	}
	log := slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelWarn}))
	cfg := client.Config{BaseURL: s.baseURL, UserAgent: "emailplatform-mcp", MaxResponseBytes: maxAnswer}
	if s.demo {
		platform, err := startDemo(ctx)
		if err != nil {
			return err
		}
		defer platform.Close()
		cfg.BaseURL, cfg.HTTPClient = platform.URL(), platform.client()
		s.token = platform.Token()
		_, _ = fmt.Fprintf(errs, "Using the built-in platform. It has a sample list with the id %d. The access token is %s.\n", platform.listID, s.token)
	}
	if s.http != "" {
		handler, err := mcp.NewHandler(cfg, mcp.Options{AllowedHosts: s.allowedHosts, MaxConcurrent: s.concurrent, Logger: log})
		if err != nil {
			return err
		}
		return serve(ctx, s.http, handler, errs)
	}
	cfg.Token = s.token
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	err = mcp.NewServer(c, mcp.Options{Logger: log}).Run(ctx, stdio(ctx, in, out))
	if ctx.Err() != nil { // the program was stopped
		return nil
	}
	return err
}

// maxAnswer is the maximum size of a response from the platform. A page of 100
// contacts is much smaller.
const maxAnswer = 1 << 20
