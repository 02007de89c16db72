package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const healthUsage = `Asks the platform that runs on this machine whether it is well, and fails if it is not: for the health checks of containers.

  mockserver health

`

// healthTimeout is how long an answer may take if nobody says otherwise.
const healthTimeout = 2 * time.Second

// health asks a server whether it is well. One that still loads its state does
// not answer yet.
func health(ctx context.Context, args []string, out io.Writer) error {
	var addr string
	flags := flag.NewFlagSet("mockserver health", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { _, _ = io.WriteString(out, healthUsage); flags.PrintDefaults() }
	addrFlag(flags, &addr, "`address` that the server listens on")
	timeout := flags.Duration("timeout", healthTimeout, "`time` that the answer may take")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *timeout <= 0 {
		return errors.New("-timeout: want more than 0")
	}
	base := "http://" + thisMachine(addr)
	within, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	err := askHealth(within, base, out)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%s does not answer within %v: %w", base, *timeout, err)
	}
	return err
}

func askHealth(ctx context.Context, base string, out io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/_mock/health", nil)
	if err != nil {
		return errors.New("-addr: want host:port")
	}
	response, err := new(http.Transport).RoundTrip(req) // no proxy, no redirect
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return err
	}
	if said := strings.TrimSpace(string(body)); response.StatusCode != http.StatusOK || !strings.Contains(said, `"ok"`) {
		return fmt.Errorf("%s is not well: %s %s", base, response.Status, printable(said))
	}
	_, err = fmt.Fprintln(out, base, "is well")
	return err
}

// thisMachine is where to ask a server that listens on an address which may mean
// all. It needs no name, which a container may have no way to resolve.
func thisMachine(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); host == "" || ip.Equal(net.IPv4zero) {
		host = "127.0.0.1"
	} else if ip.Equal(net.IPv6zero) {
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}
