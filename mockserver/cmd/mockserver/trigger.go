package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/webhook"
)

const maxResponse = 4 << 10 // maximum number of printed bytes of a response

const triggerUsage = `Sends a signed event to a webhook receiver. It needs no running server.

  mockserver trigger Email.Bounced -variant workflow -set data.bounce.category=bounce_mb -url URL -secret SECRET
  mockserver trigger -list

Without -url it prints what it would send.

`

type triggerCommand struct {
	event, variant string
	url            *url.URL // nil prints the event
	secret         webhook.Secret
	set            []assignment
	list           bool
}

// trigger sends a sample of an event, with the changes from -set, to a
// receiver.
func trigger(ctx context.Context, args []string, out io.Writer) error {
	t, err := parseTrigger(args, out)
	if err != nil {
		return usageError{err}
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
		return usageError{err}
	}
	if t.url == nil {
		return t.print(out, body)
	}
	return t.send(ctx, out, body)
}

func parseTrigger(args []string, out io.Writer) (t triggerCommand, err error) {
	flags := newFlags("mockserver trigger", triggerUsage, out)
	flags.StringVar(&t.variant, "variant", "", "`variant` of the event, or the beginning of its name; see -list")
	flags.Func("set", "`path=value` to change, such as data.bounce.category=bounce_mb; a value that is not JSON is a string; may be repeated",
		func(text string) error {
			a, err := parseAssignment(text)
			t.set = append(t.set, a)
			return err
		})
	flags.Func("url", "`URL` of the receiver", func(text string) (err error) {
		t.url, err = contract.ParseURL(text)
		return err
	})
	secret := secretFlags(flags)
	flags.BoolVar(&t.list, "list", false, "list all events and their variants")
	if err := flags.parse(args); err != nil {
		return t, err
	}
	t.event = flags.Arg(0) // parsing stopped at the event
	if err := flags.parseAll(flags.Args()[min(1, flags.NArg()):]); err != nil {
		return t, err
	}
	if t.event == "" && !t.list {
		return t, errors.New("an event is required; see mockserver trigger -list")
	}
	t.secret, err = secret()
	if t.url == nil && errors.Is(err, errNoSecret) {
		err = nil
	}
	return t, err
}

func listSamples(out io.Writer, samples []mockserver.Sample) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "EVENT\tVARIANT\tDESCRIPTION")
	for _, s := range samples {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", s.Event, s.Variant, s.Summary)
	}
	return table.Flush()
}

func (t triggerCommand) body(samples []mockserver.Sample) ([]byte, error) {
	sample, err := find(samples, t.event, t.variant)
	if err != nil {
		return nil, err
	}
	body := []byte(sample.Body)
	for _, a := range t.set {
		if body, err = setField(body, a.path, a.value); err != nil {
			return nil, fmt.Errorf("-set or MOCKSERVER_TRIGGER_SET: %s: %w", strings.Join(a.path, "."), err)
		}
	}
	return body, nil
}

// find returns the sample of an event with the given variant. The variant may be
// shortened, so several variants can begin with the given text. Then find returns the
// sample of the shortest such variant.
func find(samples []mockserver.Sample, event, variant string) (mockserver.Sample, error) {
	var known, names []string
	var found *mockserver.Sample
	for _, s := range samples {
		names = append(names, string(s.Event))
		if !strings.EqualFold(string(s.Event), event) {
			continue
		}
		known = append(known, s.Variant)
		if strings.HasPrefix(s.Variant, variant) && (found == nil || len(s.Variant) < len(found.Variant)) {
			found = &s
		}
	}
	switch {
	case known == nil:
		return mockserver.Sample{}, fmt.Errorf("unknown event %q%s; see mockserver trigger -list", event, didYouMean("", event, names))
	case found == nil:
		return mockserver.Sample{}, fmt.Errorf("-variant or MOCKSERVER_TRIGGER_VARIANT: %s has no variant %q; the variants are %s",
			event, variant, strings.Join(known, ", "))
	}
	return *found, nil
}

func (t triggerCommand) print(out io.Writer, body []byte) error {
	if t.secret != (webhook.Secret{}) {
		signature, err := webhook.Sign(t.secret, body)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "%s: %s\n\n", webhook.DefaultSignatureHeader, signature)
	}
	_, err := fmt.Fprintf(out, "%s\n", body)
	return err
}

// send makes one attempt. Any response except 2xx is an error.
func (t triggerCommand) send(ctx context.Context, out io.Writer, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, delivery.DefaultTimeout)
	defer cancel()
	req, err := webhook.NewRequest(ctx, t.url.String(), t.secret, body)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "POST %s\n%s: %s\n\n%s\n\n", t.url.Redacted(),
		webhook.DefaultSignatureHeader, req.Header.Get(webhook.DefaultSignatureHeader), body)
	once := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	start := time.Now()
	res, err := once.Do(req) //nolint:gosec // the caller chooses the target
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	response, err := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	_, _ = fmt.Fprintf(out, "%s in %v\n", printable(res.Status), time.Since(start).Round(time.Millisecond))
	for line := range strings.Lines(string(response)) { // indented, because a line could resemble a line of this command
		_, _ = fmt.Fprintf(out, "  %s\n", printable(strings.TrimRight(line, "\r\n")))
	}
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("the receiver responded with %s, so the platform would retry", printable(res.Status))
	}
	return err
}

// assignment is a change to a JSON value, in the form path=value.
type assignment struct {
	path  []string
	value json.RawMessage
}

// parseAssignment parses path=value. If the value is not JSON, it is a string.
func parseAssignment(text string) (a assignment, err error) {
	if !utf8.ValidString(text) {
		return a, errors.New("must be UTF-8")
	}
	path, value, ok := strings.Cut(text, "=")
	a.path = strings.Split(path, ".")
	if !ok || slices.Contains(a.path, "") {
		return a, errors.New("must be path=value, such as data.bounce.category=bounce_mb")
	}
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(value)) == nil {
		a.value = compact.Bytes()
		return a, nil
	}
	a.value, err = json.Marshal(value)
	return a, err
}

// setField sets a field of an object, or an element of an array, in compact JSON, and
// does not change any other text. If the field is missing, setField adds it at the end.
func setField(value json.RawMessage, path []string, to json.RawMessage) (json.RawMessage, error) {
	if len(path) == 0 {
		return to, nil
	}
	array := value[0] == '['
	if !array && value[0] != '{' {
		return nil, fmt.Errorf("%s: the parent must be an object or an array", path[0])
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	_, _ = decoder.Token()
	n := 0
	for ; decoder.More(); n++ {
		name := strconv.Itoa(n)
		if !array {
			token, _ := decoder.Token()
			name, _ = token.(string)
		}
		var old json.RawMessage
		if err := decoder.Decode(&old); err != nil {
			return nil, err
		}
		if name == path[0] {
			end := int(decoder.InputOffset())
			changed, err := setField(old, path[1:], to)
			if err != nil {
				return nil, err
			}
			return slices.Concat(value[:end-len(old)], changed, value[end:]), nil
		}
	}
	switch {
	case len(path) > 1:
		return nil, fmt.Errorf("%s does not exist", path[0])
	case array && path[0] != strconv.Itoa(n):
		return nil, fmt.Errorf("%s must be between 0 and %d", path[0], n)
	case !array:
		name, _ := json.Marshal(path[0]) // never fails for a string
		to = slices.Concat(name, []byte(":"), to)
	}
	if n > 0 {
		to = append([]byte(","), to...)
	}
	end := len(value) - 1
	return slices.Concat(value[:end], to, value[end:]), nil
}
