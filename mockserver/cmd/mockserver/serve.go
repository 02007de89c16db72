package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/console"
)

const serveUsage = `Runs the mock server, with a web console at /_mock/.

  mockserver [serve] [flags]    runs the server until it receives a signal
  mockserver trigger            sends a signed event to a webhook receiver; see -h
  mockserver verify             verifies a webhook signature; see -h
  mockserver health             checks whether a server on this machine is healthy; see -h

`

// grace is the maximum time that requests and deliveries in progress can take
// after a signal.
const grace = 5 * time.Second

func serve(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	o, err := parseServe(args, out)
	if err != nil {
		return usageError{err}
	}
	if o.showVersion {
		build, _ := debug.ReadBuildInfo()
		_, err := fmt.Fprintln(out, version(build))
		return err
	}
	return serveUntil(ctx, o, in, out)
}

// serveUntil runs the server until ctx ends.
func serveUntil(ctx context.Context, o options, in io.Reader, out io.Writer) (err error) {
	log, records := newLog(o.log == "json", out)
	o.config.RecordEvents = true
	o.config.Console = console.Handler()
	o.config.Logger = records
	if !o.quiet {
		o.config.OnRequest = log.request
	}
	isDefault := func(t mockserver.Token) bool { return t.Value == mockserver.DefaultToken }
	listener, err := listenHeld(ctx, o.addr, slices.ContainsFunc(o.config.Tokens, isDefault))
	if err != nil {
		return err
	}
	if err := removeReadyFile(o.readyFile); err != nil { // now no other server has the address
		return errors.Join(about("ready-file", err), listener.Close())
	}
	raiseGCPercent()
	srv := mockserver.StartOn(listener, o.config)
	defer srv.Close()
	state, err := openState(o.state, o.config.Logger)
	if err != nil {
		return about("state", err)
	}
	defer func() { err = errors.Join(err, state.close()) }()
	if err := fill(srv, state, o.seed); err != nil {
		return err
	}
	if o.sharedFile() { // checked again, because the state file exists now, and can have several names
		return usageError{errSharedFile}
	}
	now := readyNow(srv, listener.Addr())
	if err := now.write(o.readyFile); err != nil {
		return about("ready-file", err)
	}
	defer now.remove(o.readyFile)
	log.welcome(now)   // after everything that may fail, because the reader can now send requests
	listener.release() // last, when everything is ready
	if o.exitOnStdinClose {
		ctx = untilEOF(ctx, in)
	}
	<-ctx.Done()
	return stop(srv)
}

// untilEOF returns a context that ends with ctx or at the end of the input. If the input
// is a pipe from another process, the input ends when that process exits or is killed.
func untilEOF(ctx context.Context, input io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, input)
	}()
	return ctx
}

// fill adds the seed, makes it the baseline, loads the state, and begins to save
// changes.
func fill(srv *mockserver.Server, state *stateFile, seed string) error {
	if seed != "" {
		file, err := os.Open(seed)
		if err == nil {
			if err = errors.Join(srv.Seed(file), srv.SetBaseline(), file.Close()); err != nil {
				err = fmt.Errorf("%s: %w", seed, err)
			}
		}
		if err != nil {
			return about("seed", err)
		}
	}
	if err := state.load(srv); err != nil {
		return about("state", err)
	}
	state.keep()
	return nil
}

// stop waits for requests and deliveries in progress, and then saves the state, even if
// a request does not end in time. Deliveries that have not ended are saved as pending.
func stop(srv *mockserver.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err := srv.Shutdown(ctx)
	if err == nil {
		_ = srv.Wait(ctx)
	}
	return err
}

// version returns the release and the Go version. For a build in a checkout, it returns
// the revision instead of the release.
func version(build *debug.BuildInfo) string {
	release := "(unknown)"
	if build != nil && build.Main.Version != "" {
		release = build.Main.Version
	}
	return fmt.Sprintf("mockserver %s, %s, %s/%s", release, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// heldListener accepts connections only after it is released. Until then, clients that
// connect wait.
type heldListener struct {
	net.Listener
	released <-chan struct{}
	release  func()
}

// listenHeld listens before the server is ready, to detect early that an address is in
// use. If the only token is the default token, which is public, listenHeld accepts only
// loopback addresses.
func listenHeld(ctx context.Context, address string, defaultToken bool) (l heldListener, err error) {
	to, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return l, about("addr", err)
	}
	if defaultToken && !to.IP.IsLoopback() {
		return l, usageError{fmt.Errorf("-token or MOCKSERVER_TOKEN is required because other machines can reach %s, and the default token %s is public",
			address, mockserver.DefaultToken)}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", to.String())
	if err != nil {
		return l, about("addr", err)
	}
	released := make(chan struct{})
	return heldListener{listener, released, sync.OnceFunc(func() { close(released) })}, nil
}

// Accept implements [net.Listener].
func (l heldListener) Accept() (net.Conn, error) {
	<-l.released
	return l.Listener.Accept()
}

// Close implements [net.Listener].
func (l heldListener) Close() error {
	defer l.release() // only after the listener is closed
	return l.Listener.Close()
}
