// Command quickstart does the main job of an email application: it imports
// contacts, sends emails, and handles events. It ends at the first failure, with an
// error of one line.
//
//	go run ./examples/quickstart
//
// Without settings it uses the mock server and 2,500 sample contacts, and
// simulates bounces, complaints and unsubscribes. -contacts FILE selects
// another CSV file. Its header row contains the column "email" and optionally
// "tags"; every other column is a custom attribute.
//
// With EMAILPLATFORM_BASE_URL and EMAILPLATFORM_TOKEN it uses that server, and
// skips simulated actions. It then sends real email, to six contacts of the
// file. The server must be able to reach the receiver that this program starts;
// if the printed address is not reachable, set -receiver-url.
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

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "quickstart: stopped:", err)
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	contacts    string // the file; empty is the sample
	receiverURL string // where the platform reaches the receiver; empty is its own address
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.contacts, "contacts", "", "a CSV `file` of contacts instead of the sample of 2,500")
	flags.StringVar(&o.receiverURL, "receiver-url", "", "`URL` at which the platform can reach this program's webhook receiver")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return o, nil
}

// run is the whole program, except the process around it.
func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	opts, err := parse(args, out)
	if err != nil {
		return err
	}
	p, err := choosePlatform(getenv)
	if err != nil {
		return err
	}
	defer p.close()
	c, err := client.New(client.Config{BaseURL: p.baseURL, Token: p.token, UserAgent: "quickstart/1.0"})
	if err != nil {
		return err
	}
	r := startReceiver(opts.receiverURL)
	defer r.close()
	t := &tour{Client: c, platform: p, receiver: r, out: out}
	t.say("Platform", "%s", p)
	return t.run(ctx, opts.contacts)
}

// platform is the server of the quickstart: one from the environment, or the
// mock server, which can simulate recipient actions.
type platform struct {
	baseURL string
	token   string
	mock    *mockserver.Server // nil for a server elsewhere
}

func choosePlatform(getenv func(string) string) (*platform, error) {
	p := &platform{baseURL: getenv("EMAILPLATFORM_BASE_URL"), token: getenv("EMAILPLATFORM_TOKEN")}
	switch {
	case p.baseURL != "" && p.token == "":
		return nil, errors.New("EMAILPLATFORM_BASE_URL is set but EMAILPLATFORM_TOKEN is not")
	case p.baseURL == "" && p.token != "":
		return nil, errors.New("EMAILPLATFORM_TOKEN is set but EMAILPLATFORM_BASE_URL is not")
	case p.baseURL == "":
		p.mock = mockserver.Start(mockserver.Config{})
		p.baseURL, p.token = p.mock.URL(), p.mock.Token()
	}
	return p, nil
}

func (p *platform) close() {
	if p.mock != nil {
		p.mock.Close()
	}
}

func (p *platform) String() string {
	if p.mock != nil {
		return p.baseURL + " (embedded, in memory)"
	}
	return p.baseURL
}
