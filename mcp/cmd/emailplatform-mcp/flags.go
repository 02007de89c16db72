package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
)

// settings contains the values of flags and environment variables.
type settings struct {
	baseURL      string
	token        string
	http         string
	allowedHosts []string
	concurrent   int
	demo         bool
	version      bool
}

const usage = `Gives AI assistants access to the email platform over the Model Context Protocol.

  emailplatform-mcp [-base-url URL] [-token TOKEN]    over standard input and output
  emailplatform-mcp [-base-url URL] -http ADDRESS     over HTTP, at the path /mcp
  emailplatform-mcp -demo [-http ADDRESS]             with a built-in mock server
  emailplatform-mcp -version                          prints the version

`

func parse(args []string, getenv func(string) string, out io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("emailplatform-mcp", flag.ContinueOnError)
	f.SetOutput(io.Discard) // the help would hide an error
	f.StringVar(&s.baseURL, "base-url", "", "the platform's base `URL` (default $EMAILPLATFORM_BASE_URL)")
	f.StringVar(&s.token, "token", "", "access `token`; prefer $EMAILPLATFORM_TOKEN, because other users of the machine can see flags. "+
		"It cannot be used with -http, where each caller sends its own token")
	f.StringVar(&s.http, "http", "", "serve HTTP on this `address`, such as 127.0.0.1:8808, instead of standard input and output")
	f.Func("allow-host", "host `name` that HTTP requests may use for the server, in addition to localhost; may be repeated", func(name string) error {
		s.allowedHosts = append(s.allowedHosts, name)
		return nil
	})
	f.IntVar(&s.concurrent, "max-concurrent", 0, "maximum `number` of concurrent HTTP requests; the server responds to others with 503 (default 64)")
	f.BoolVar(&s.demo, "demo", false, "use a built-in mock server with a sample list; its data is lost at exit")
	f.BoolVar(&s.version, "version", false, "print the version and exit")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		f.SetOutput(out)
		_, _ = fmt.Fprint(out, usage)
		f.PrintDefaults()
		return s, err
	} else if err != nil {
		return s, fmt.Errorf("%w; see emailplatform-mcp -h", err)
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q; see emailplatform-mcp -h", f.Arg(0))
	}
	if s.version {
		return s, nil
	}
	if err := s.check(); err != nil {
		return s, err
	}
	if s.demo {
		return s, nil
	}
	s.baseURL = cmp.Or(s.baseURL, getenv("EMAILPLATFORM_BASE_URL"))
	s.token = cmp.Or(s.token, getenv("EMAILPLATFORM_TOKEN"))
	switch {
	case s.baseURL == "":
		return s, errors.New("the base URL is required: set EMAILPLATFORM_BASE_URL or -base-url, or use -demo to try the server")
	case s.http == "" && s.token == "":
		return s, errors.New("EMAILPLATFORM_TOKEN is not set")
	}
	return s, nil
}

// check returns an error for flags that cannot be combined.
func (s settings) check() error {
	switch {
	case s.demo && (s.baseURL != "" || s.token != ""):
		return errors.New("-demo cannot be used with -base-url or -token, because it has its own platform and token")
	case s.http != "" && s.token != "":
		return errors.New("-token cannot be used with -http, because each caller sends its own token")
	case s.http == "" && s.concurrent != 0:
		return errors.New("-max-concurrent requires -http")
	case s.http == "" && len(s.allowedHosts) > 0:
		return errors.New("-allow-host requires -http")
	case s.http != "" && !listensLocally(s.http) && len(s.allowedHosts) == 0:
		const text = "%s can be reached from other machines, so -allow-host is required; also use TLS, because callers send access tokens"
		return fmt.Errorf(text, s.http)
	}
	return nil
}

// listensLocally reports whether a listen address is reachable only from this
// machine.
func listensLocally(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return true // net.Listen returns the error later
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}
