// Command check-platform compares a real platform with docs/decisions.md. Run
// it first with a real account:
//
//	go run ./examples/check-platform -base-url https://… -token …
//
// By default it only reads. With -write it also creates a list, a contact and a
// template. It sends nothing, changes only what it created, and removes the contact
// and the template again. It names what may stay on the platform, which includes the
// list, because lists cannot be deleted. -email is the id of a submitted email to
// look up.
//
// Each row of the table is a decision and its result on the platform. A
// difference is not a failure: the client reads both response formats, and the
// row reports it. Without flags the command checks the mock server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"example.com/emailplatform/client"
)

// options are the flags.
type options struct {
	baseURL, token, email string
	write                 bool
}

func main() {
	var o options
	flag.StringVar(&o.baseURL, "base-url", os.Getenv("EMAILPLATFORM_BASE_URL"), "the `address` of the platform")
	flag.StringVar(&o.token, "token", os.Getenv("EMAILPLATFORM_TOKEN"), "an access `token`")
	flag.StringVar(&o.email, "email", "", "the `id` of a submitted email to look up")
	flag.BoolVar(&o.write, "write", false, "also make a list, a contact and a template")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "check-platform:", err)
		os.Exit(1)
	}
}

// run checks the platform of o, or the mock server, and writes the table.
func run(ctx context.Context, out io.Writer, o options) error {
	if o.baseURL == "" {
		demo, email, err := startDemo(ctx)
		if err != nil {
			return err
		}
		defer demo.Close()
		o = options{demo.URL(), demo.Token(), email, true}
		fmt.Fprintln(out, "Asking the platform in memory; -base-url and -token ask another.")
	}
	if o.token == "" {
		return errors.New("-token or EMAILPLATFORM_TOKEN is missing")
	}
	p, err := newPlatform(o, nil)
	if err != nil {
		return err
	}
	return p.report(ctx, out)
}

// platform is the platform to check, and the data collected so far.
type platform struct {
	c      *client.Client
	nobody *client.Client // with a token that the platform does not know
	write  bool

	// What there is to read.
	list, contact, template, campaign int64
	workflow, webhook, email          string

	own   own      // what was made here, all that is ever changed
	stays []string // what was made and not removed
}

// own holds ids; 0 is that it was not made.
type own struct{ list, contact, template int64 }

// newPlatform returns the platform of o. h is the HTTP client; nil is a default.
func newPlatform(o options, h *http.Client) (*platform, error) {
	cfg := client.Config{
		BaseURL: o.baseURL, Token: o.token, UserAgent: "check-platform", HTTPClient: h,
		Retry:         client.RetryConfig{MaxAttempts: 1}, // to get each response
		LookupLimiter: client.NoLookupLimit{},             // the platform's own limit is being checked
	}
	c, err := client.New(cfg)
	if err != nil {
		return nil, err
	}
	cfg.Token = "nobody"
	nobody, err := client.New(cfg)
	return &platform{c: c, nobody: nobody, write: o.write, email: o.email}, err
}

// report runs all checks and writes the table.
func (p *platform) report(ctx context.Context, out io.Writer) error {
	if first := ask(ctx, func(ctx context.Context) error {
		_, err := p.c.Lists.List(ctx, client.ListListsParams{PerPage: 1})
		return err
	}); first.status == 0 || first.status == http.StatusUnauthorized {
		return first.err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DECISION\tWHAT IT SAYS\tTHIS PLATFORM")
	counts := map[outcome]int{}
	for _, check := range checks() {
		v := check.verdict(ctx, p)
		counts[v.outcome]++
		fmt.Fprintf(w, "%s\t%s\t%s\n", check.decision, check.says, v)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d hold, %d differ, %d were not tried.\n", counts[holds], counts[differs], counts[notTried])
	for _, what := range p.stays {
		fmt.Fprintln(out, "What stays:", what)
	}
	return ctx.Err()
}

// outcome is the result of a check.
type outcome string

const (
	holds    outcome = "holds"
	differs  outcome = "differs"
	notTried outcome = "not tried"
)

// verdict is an outcome and what there is to say about it.
type verdict struct {
	outcome
	note string
}

// String returns for example "differs: 200 in place of 204". What the platform
// said does nothing to the table, or to the terminal.
func (v verdict) String() string {
	if v.note == "" {
		return string(v.outcome)
	}
	return string(v.outcome) + ": " + strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return '\ufffd'
		}
		return r
	}, v.note)
}

// check is a row of the table.
type check struct {
	decision, says string
	writes         bool
	try            func(context.Context, *platform) verdict
}

func (c check) verdict(ctx context.Context, p *platform) verdict {
	if c.writes && !p.write {
		return verdict{notTried, "-write is not set"}
	}
	return c.try(ctx, p)
}

// checks returns all rows. Rows that create records come first, because others
// use them; rows that remove them come last.
func checks() []check { return slices.Concat(creations(), readings(), conventions(), removals()) }
