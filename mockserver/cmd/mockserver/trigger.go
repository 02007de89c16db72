package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

const (
	// secretVariable holds the secret for those who keep it out of the process list.
	secretVariable = "WEBHOOK_SECRET"
	// triggerTimeout is how long a receiver may take, as the platform allows.
	triggerTimeout = 10 * time.Second
	maxAnswer      = 4 << 10 // bytes of an answer that are shown
)

const triggerUsage = `Sends an event, signed, to a receiver of webhooks. It needs no server.

  mockserver trigger Email.Bounced --variant workflow --set data.bounce.category=bounce_mb --url URL --secret SECRET
  mockserver trigger --list

Without --url it prints what it would send.

`

// triggering is what the flags of trigger say.
type triggering struct {
	event, variant, url string
	secret              webhook.Secret
	set                 []assignment
	list                bool
}

// trigger sends an event of the document, perhaps changed, to a receiver.
func trigger(ctx context.Context, args []string, out io.Writer) error {
	t, err := parseTrigger(args, out)
	if err != nil {
		return err
	}
	samples, err := mockserver.Samples()
	if err != nil {
		return err
	}
	if t.list {
		return listSamples(out, samples)
	}
	body, err := t.body(samples)
	if err != nil {
		return err
	}
	if t.url == "" {
		return t.print(out, body)
	}
	return t.send(ctx, out, body)
}

func parseTrigger(args []string, out io.Writer) (triggering, error) {
	var t triggering
	flags := flag.NewFlagSet("mockserver trigger", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { _, _ = io.WriteString(out, triggerUsage); flags.PrintDefaults() }
	flags.StringVar(&t.variant, "variant", "", "`shape` of the event, or how its name begins; see --list")
	const set = "`path=value` to change, such as data.bounce.category=bounce_mb; JSON, or else a string; may be repeated"
	flags.Func("set", set, func(text string) error {
		a, err := parseAssignment(text)
		t.set = append(t.set, a)
		return err
	})
	flags.StringVar(&t.url, "url", "", "`URL` of the receiver")
	secretFlags(flags, &t.secret)
	flags.BoolVar(&t.list, "list", false, "list all events and their variants")
	err := flags.Parse(args)
	rest := flags.Args()
	if err == nil && len(rest) > 0 { // the event; flag stops there
		t.event = rest[0]
		err = flags.Parse(rest[1:])
		rest = flags.Args()
	}
	if err != nil {
		return t, err
	}
	switch {
	case len(rest) > 0:
		return t, fmt.Errorf("unexpected argument %q", rest[0])
	case t.event == "" && !t.list:
		return t, errors.New("which event? See mockserver trigger --list")
	case t.url != "" && t.secret.Key == "":
		return t, errors.New("--secret: want the webhook's secret, here or in " + secretVariable)
	}
	return t, nil
}

// secretFlags are the flags of a webhook's secret.
func secretFlags(flags *flag.FlagSet, secret *webhook.Secret) {
	secret.Key = os.Getenv(secretVariable)
	flags.Func("secret", "the webhook's `secret`; "+secretVariable+" if not given", func(text string) error {
		secret.Key = text
		return nil
	})
	secret.Hash = webhook.SHA256
	flags.Func("hash", "the webhook's `hash_function`, sha256 or sha512 (default sha256)", func(text string) error {
		secret.Hash = webhook.Hash(text)
		if secret.Hash != webhook.SHA256 && secret.Hash != webhook.SHA512 {
			return errors.New("want sha256 or sha512")
		}
		return nil
	})
}

func listSamples(out io.Writer, samples []mockserver.Sample) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "EVENT\tVARIANT\tWHAT HAPPENED")
	for _, s := range samples {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", s.Event, s.Variant, s.Summary)
	}
	return table.Flush()
}

// body finds the sample and changes it.
func (t triggering) body(samples []mockserver.Sample) ([]byte, error) {
	sample, err := find(samples, t.event, t.variant)
	if err != nil {
		return nil, err
	}
	body := []byte(sample.Body)
	for _, a := range t.set {
		if body, err = setMember(body, a.path, a.value); err != nil {
			return nil, fmt.Errorf("--set %s: %w", strings.Join(a.path, "."), err)
		}
	}
	return body, nil
}

// find returns the sample of an event: the variant of that name, or the shortest
// whose name begins so.
func find(samples []mockserver.Sample, event, variant string) (mockserver.Sample, error) {
	var known []string
	var found *mockserver.Sample
	for _, s := range samples {
		if !strings.EqualFold(s.Event, event) {
			continue
		}
		known = append(known, s.Variant)
		if strings.HasPrefix(s.Variant, variant) && (found == nil || len(s.Variant) < len(found.Variant)) {
			found = &s
		}
	}
	switch {
	case known == nil:
		return mockserver.Sample{}, fmt.Errorf("no event %q: see mockserver trigger --list", event)
	case found == nil:
		return mockserver.Sample{}, fmt.Errorf("%s has no variant %q: want %s", event, variant, strings.Join(known, ", "))
	}
	return *found, nil
}

// print shows what would be sent.
func (t triggering) print(out io.Writer, body []byte) error {
	if t.secret.Key != "" {
		signature, err := webhook.Sign(t.secret, body)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "%s: %s\n\n", webhook.DefaultSignatureHeader, signature)
	}
	_, err := fmt.Fprintf(out, "%s\n", body)
	return err
}

// send makes one attempt. Anything but 2xx is an error, as for the platform.
func (t triggering) send(ctx context.Context, out io.Writer, body []byte) error {
	target, err := url.Parse(t.url)
	if err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Hostname() == "" {
		return errors.New("--url: want an absolute http or https URL")
	}
	ctx, cancel := context.WithTimeout(ctx, triggerTimeout)
	defer cancel()
	req, err := webhook.NewRequest(ctx, t.url, t.secret, body)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "POST %s\n%s: %s\n\n%s\n\n", target.Redacted(),
		webhook.DefaultSignatureHeader, req.Header.Get(webhook.DefaultSignatureHeader), body)
	once := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	start := time.Now()
	res, err := once.Do(req) //nolint:gosec // where to is for the caller to say
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	_, _ = fmt.Fprintf(out, "%s in %v\n%s\n", res.Status, time.Since(start).Round(time.Millisecond), answer)
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("the receiver answered %s: the platform would deliver it again", res.Status)
	}
	return err
}
