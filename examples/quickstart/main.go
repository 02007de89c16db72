// Command quickstart does what most email applications do: it imports contacts, sends
// emails, and handles events. At the first failure, it ends with an error of one line.
//
//	go run ./examples/quickstart
//
// Without settings it uses the mock server and 2,500 sample contacts, and simulates
// bounces, complaints and unsubscribes. To use another CSV file, set -contacts FILE. Its
// header row contains the column "email" and optionally "tags"; every other column is a
// custom attribute.
//
// With EMAILPLATFORM_BASE_URL and EMAILPLATFORM_TOKEN, the command uses the platform with
// this URL. It then sends real email to six contacts of the file, and simulates no
// recipient actions.
//
// To get events, the command starts a receiver on this machine, creates a webhook with
// the URL of the receiver, and prints this URL. If the platform cannot reach the
// receiver, for example because this machine is in a private network, start a tunnel to
// the receiver, and set -receiver-url to the URL of the tunnel.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/signal"
	"syscall"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

func main() {
	file := flag.String("contacts", "", "a CSV `file` of contacts instead of the sample of 2,500")
	receiverURL := flag.String("receiver-url", "", "`URL` at which the platform can reach this program's webhook receiver")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "quickstart: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *file, *receiverURL, os.Getenv, os.Stdout)
	stop()
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "quickstart: stopped:", err)
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// run runs the program with the values of its flags, environment variables and an output.
func run(ctx context.Context, file, receiverURL string, getenv func(string) string, out io.Writer) error {
	cfg := client.Config{BaseURL: getenv("EMAILPLATFORM_BASE_URL"), Token: getenv("EMAILPLATFORM_TOKEN"), UserAgent: "quickstart/1.0"}
	t := &tour{out: out, arrived: make(chan *events.Event, 100), receiverURL: receiverURL}
	switch {
	case cfg.BaseURL != "" && cfg.Token == "":
		return errors.New("EMAILPLATFORM_BASE_URL is set but EMAILPLATFORM_TOKEN is not")
	case cfg.BaseURL == "" && cfg.Token != "":
		return errors.New("EMAILPLATFORM_TOKEN is set but EMAILPLATFORM_BASE_URL is not")
	case cfg.BaseURL == "":
		t.mock = mockserver.Start(mockserver.Config{})
		defer t.mock.Close()
		cfg.BaseURL, cfg.Token = t.mock.URL(), t.mock.Token()
		t.say("Platform", "%s (embedded, in memory)", cfg.BaseURL)
	default:
		t.say("Platform", "%s", cfg.BaseURL)
	}
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	t.Client = c
	// httptest chooses a free port, and uses IPv6 on machines without IPv4.
	t.receiver = httptest.NewUnstartedServer(nil)
	defer t.receiver.Close()
	return t.run(ctx, file)
}
