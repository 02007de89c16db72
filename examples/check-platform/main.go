// Command check-platform compares a real platform with docs/decisions.md. Run
// it first with a real account:
//
//	go run ./examples/check-platform -base-url https://… -token …
//
// By default the command only reads. With -write it also creates a list, a contact and a
// template, but it sends no email and does not change other records. At the end, it
// deletes the contact and the template, and prints the records that remain, such as the
// list, because the API cannot delete lists. To look up a submitted email, set its id
// with -email.
//
// Without a base URL, the command checks an in-memory mock server. Each row of the
// printed table shows a decision from docs/decisions.md, and whether the checked server
// matches it. If the server differs, most rows also show whether the client can read
// the response.
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

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// options are the flags.
type options struct {
	baseURL, token, email string
	write                 bool
}

func main() {
	var o options
	flag.StringVar(&o.baseURL, "base-url", os.Getenv("EMAILPLATFORM_BASE_URL"), "base `URL` of the platform")
	flag.StringVar(&o.token, "token", os.Getenv("EMAILPLATFORM_TOKEN"), "access `token`")
	flag.StringVar(&o.email, "email", "", "`id` of a submitted email to look up")
	flag.BoolVar(&o.write, "write", false, "also create a list, a contact and a template")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "check-platform: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}

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
		demo := mockserver.Start(mockserver.Config{})
		defer demo.Close()
		email, err := fill(ctx, demo)
		if err != nil {
			return err
		}
		o = options{demo.URL(), demo.Token(), email, true}
		fmt.Fprintln(out, "Checking an in-memory mock server. Set -base-url and -token to check a platform.")
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
	c            *client.Client
	unauthorized *client.Client // with a token that the platform does not know
	write        bool

	// Ids of existing records; zero if there are none.
	list, contact, template, campaign int64
	workflow, webhook, email          string

	own       own      // records that this program created; it changes no others
	remaining []string // records that may remain on the platform
}

// own contains the ids of the created records. An id is 0 if its record was not created.
type own struct{ list, contact, template int64 }

// newPlatform returns the platform with the options o. If the HTTP client h is nil, it
// uses the default.
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
	unauthorized, err := client.New(cfg)
	return &platform{c: c, unauthorized: unauthorized, write: o.write, email: o.email}, err
}

// report runs all checks and writes the table.
func (p *platform) report(ctx context.Context, out io.Writer) error {
	if _, first := ask(ctx, p.c.Lists.List, client.ListListsParams{PerPage: 1}); first.status == 0 || first.status == http.StatusUnauthorized {
		return first.err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DECISION\tEXPECTED\tRESULT")
	counts := map[outcome]int{}
	for _, check := range p.checks() {
		v := check.try(ctx)
		counts[v.outcome]++
		fmt.Fprintf(w, "%s\t%s\t%s\n", check.decision, check.rule, v)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d match, %d differ, %d skipped\n", counts[matches], counts[differs], counts[skipped])
	for _, what := range p.remaining {
		fmt.Fprintln(out, "Not deleted:", what)
	}
	return ctx.Err()
}

// check is a row of the table.
type check struct {
	decision, rule string
	try            func(context.Context) verdict
}

// checks returns all rows. Rows that create records come first, because others use the
// records. Rows that remove the records come last.
func (p *platform) checks() []check {
	return slices.Concat(p.writing(p.creations()), p.readings(), p.conventions(), p.writing(p.removals()))
}

// writing returns rows that need -write.
func (p *platform) writing(rows []check) []check {
	if !p.write {
		for i := range rows {
			rows[i].try = func(context.Context) verdict { return verdict{skipped, "-write is not set"} }
		}
	}
	return rows
}

// needs returns a check. If the id is zero, the check is skipped, and the argument missing
// is the reason.
func needs[ID comparable](id *ID, missing string, try func(context.Context) verdict) func(context.Context) verdict {
	return func(ctx context.Context) verdict {
		if *id == *new(ID) {
			return verdict{skipped, missing}
		}
		return try(ctx)
	}
}

// demoRecords has one record of each kind.
const demoRecords = `{
	"lists": [{"list_id": 1, "name": "Newsletter"}],
	"campaigns": [{"name": "Spring", "list": "Newsletter", "sender": {"email": "hello@shop.example"},
		"content": {"subject": "Hello", "text": "Hello!"}}],
	"workflows": [{"name": "Welcome", "list": "Newsletter", "trigger": "subscribed", "sender": {"email": "hello@shop.example"},
		"content": {"subject": "Hello", "text": "Hello!"}}],
	"webhooks": [{"url": "http://127.0.0.1:9/", "events": ["Email.Bounced"]}],
	"suppressed_emails": ["gone@example.org"]
}`

// fill creates records for the demonstration, and returns the id of an email.
func fill(ctx context.Context, platform *mockserver.Server) (email string, err error) {
	if err := platform.Seed(strings.NewReader(demoRecords)); err != nil {
		return "", err
	}
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()})
	if err != nil {
		return "", err
	}
	submitted, err := c.Emails.Send(ctx, client.EmailSubmission{
		To: "ada@example.org", Sender: client.Sender{Email: "hello@shop.example"}, Content: client.EmailContent{Subject: "Hello", Text: "Hello!"},
	})
	return submitted.ID, err
}
