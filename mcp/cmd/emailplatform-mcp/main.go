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
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mcp"
	"example.com/emailplatform/mockserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "emailplatform-mcp:", err)
		if _, ok := errors.AsType[usageError](err); ok {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// usageError is an error in the arguments or the environment.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// run serves until ctx ends or, over stdio, until the input ends.
func run(ctx context.Context, args []string, getenv func(string) string, in io.ReadCloser, out, errs io.Writer) error {
	s, err := parse(args, getenv, out)
	if err != nil {
		return usageError{err}
	}
	if s.version {
		build, _ := debug.ReadBuildInfo()
		_, err := fmt.Fprintln(out, version(build))
		return err
	}
	log := slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelWarn}))
	cfg := client.Config{BaseURL: s.baseURL, UserAgent: "emailplatform-mcp", MaxResponseBytes: maxResponse}
	if s.demo {
		platform := mockserver.New(mockserver.Config{})
		defer platform.Close()
		cfg.BaseURL, cfg.HTTPClient = platform.URL(), platform.HTTPClient()
		s.token = platform.Token()
		if err := platform.Seed(strings.NewReader(sampleList)); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(errs, "Using the built-in mock server. It has a sample list with the id 1. The access token is %s.\n", s.token)
	}
	if s.http != "" {
		handler, err := mcp.NewHandler(cfg, mcp.Options{AllowedHosts: s.allowedHosts, MaxConcurrent: s.concurrent, Logger: log})
		if err != nil {
			return usageError{err}
		}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.http)
		_, invalid := errors.AsType[*net.AddrError](err)
		if _, unknown := errors.AsType[*net.DNSError](err); invalid || unknown {
			return usageError{fmt.Errorf("-http: %w", err)}
		}
		if err != nil {
			return err
		}
		return serve(ctx, listener, handler, errs)
	}
	cfg.Token = s.token
	c, err := client.New(cfg)
	if err != nil {
		return usageError{err}
	}
	return converse(ctx, mcp.NewServer(c, mcp.Options{Logger: log}), stdio(ctx, in, out))
}

// converse serves one session until the session or ctx ends. It does not use [sdk.Server.Run], which would log the
// end of ctx as an error.
func converse(ctx context.Context, server *sdk.Server, transport sdk.Transport) error {
	session, err := server.Connect(ctx, transport, nil)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = session.Close() })()
	if err := session.Wait(); ctx.Err() == nil {
		return err
	}
	return nil
}

// maxResponse is the maximum size of a response from the platform. A page of 100
// contacts is much smaller.
const maxResponse = 1 << 20

// version returns the release and the Go version. For a build in a checkout, it returns
// the revision instead of the release.
func version(build *debug.BuildInfo) string {
	if build == nil {
		build = new(debug.BuildInfo)
	}
	return fmt.Sprintf("emailplatform-mcp %s, %s, %s/%s",
		cmp.Or(build.Main.Version, "(unknown)"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// serve serves /mcp until ctx ends, and then waits for the calls in progress.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, errs io.Writer) error {
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	server := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      90 * time.Second, // longer than the longest call
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	_, _ = fmt.Fprintf(errs, "Serving MCP at http://%s/mcp\n", listener.Addr())
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	defer func() { _ = server.Close() }() // ends the calls that Shutdown does not wait for
	return server.Shutdown(stopping)
}

// sampleList is the data of -demo in the format of [mockserver.Server.Seed].
const sampleList = `{"lists": [{"list_id": 1, "name": "Newsletter", "contacts": [
	{"email": "ada@example.com", "custom_attributes": [{"name": "first_name", "value": "Ada"}], "tags": ["vip", "beta"]},
	{"email": "grace@example.com", "custom_attributes": [{"name": "first_name", "value": "Grace"}], "tags": ["beta"]},
	{"email": "alan@example.com", "custom_attributes": [{"name": "first_name", "value": "Alan"}]}
]}]}`
