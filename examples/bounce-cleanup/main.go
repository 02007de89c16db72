// Command bounce-cleanup tags or unsubscribes the contacts of a list whose last
// email bounced hard.
//
//	EMAILPLATFORM_BASE_URL=… EMAILPLATFORM_TOKEN=… \
//	go run ./examples/bounce-cleanup -list 81 -action tag -tag bounced-hard
//
// A hard bounce means that the mailbox does not exist; sending to it again
// harms the sender's reputation. Soft bounces (a full mailbox, a busy server)
// are ignored, and so are contacts that are deleted while the command runs.
// -dry-run only prints. Repeating the command is safe. Without the two variables it
// runs with the mock server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

func main() {
	var j job
	flag.Int64Var(&j.listID, "list", 0, "`id` of the list; requires EMAILPLATFORM_BASE_URL and EMAILPLATFORM_TOKEN; without them, a demo runs")
	j.action = "tag"
	flag.Func("action", "`action`: tag or unsubscribe (default tag)", j.setAction)
	flag.StringVar(&j.tag, "tag", "bounced-hard", "the tag that the action tag adds")
	flag.BoolVar(&j.dryRun, "dry-run", false, "only print what would be done")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "bounce-cleanup: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, j)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bounce-cleanup:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, j job) error {
	cfg := client.Config{BaseURL: os.Getenv("EMAILPLATFORM_BASE_URL"), Token: os.Getenv("EMAILPLATFORM_TOKEN")}
	if cfg.BaseURL == "" && j.listID != 0 {
		return errors.New("EMAILPLATFORM_BASE_URL is not set")
	}
	if cfg.BaseURL == "" {
		platform := mockserver.Start(mockserver.Config{})
		defer platform.Close()
		if err := fill(ctx, platform, "bounce+hb@mock.test", "bounce+sb@mock.test", "fine@example.org"); err != nil {
			return err
		}
		cfg.BaseURL, cfg.Token, j.listID = platform.URL(), platform.Token(), 1
	}
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	j.Client, j.out = c, os.Stdout
	return j.run(ctx)
}

// job is one clean-up.
type job struct {
	*client.Client
	out    io.Writer
	listID int64
	action string
	tag    string
	dryRun bool
}

func (j *job) setAction(action string) error {
	if action != "tag" && action != "unsubscribe" {
		return errors.New("must be tag or unsubscribe")
	}
	j.action = action
	return nil
}

func (j job) run(ctx context.Context) error {
	bounced, err := j.bouncedHard(ctx)
	if err != nil {
		return err
	}
	for _, contact := range bounced {
		fmt.Fprintf(j.out, "%s %q, bounces: %d\n", j.action, contact.Email, contact.BouncesCount)
	}
	fmt.Fprintf(j.out, "contacts that bounced hard: %d\n", len(bounced))
	switch {
	case j.dryRun:
		return nil
	case j.action == "unsubscribe":
		return j.unsubscribe(ctx, bounced)
	}
	return j.tagAll(ctx, bounced)
}

// bouncedHard returns the contacts before any of them changes. It uses no filter, so
// it misses none while others unsubscribe.
func (j job) bouncedHard(ctx context.Context) ([]client.Contact, error) {
	var bounced []client.Contact
	for contact, err := range j.Contacts.All(ctx, j.listID, client.ListContactsParams{WithCount: true}) {
		if err != nil {
			return nil, err
		}
		done := contact.Status == events.ContactStatusUnsubscribed || contact.Status == events.ContactStatusDeleted ||
			j.action == "tag" && slices.Contains(contact.Tags, j.tag)
		if contact.LastBounceType == "hard" && !done {
			bounced = append(bounced, contact)
		}
	}
	return bounced, nil
}

func (j job) unsubscribe(ctx context.Context, contacts []client.Contact) error {
	for _, contact := range contacts {
		if err := j.Contacts.Unsubscribe(ctx, j.listID, contact.ID); err != nil && !errors.Is(err, client.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (j job) tagAll(ctx context.Context, contacts []client.Contact) error {
	for chunk := range slices.Chunk(contacts, 500) {
		tagging := client.ContactTagging{Tags: []string{j.tag}}
		for _, contact := range chunk {
			tagging.ContactIDs = append(tagging.ContactIDs, contact.ID)
		}
		err := j.Contacts.Tag(ctx, j.listID, tagging)
		switch {
		case errors.Is(err, client.ErrNotFound) && len(chunk) > 1: // one was deleted, and none is tagged
			half := len(chunk) / 2
			err = errors.Join(j.tagAll(ctx, chunk[:half]), j.tagAll(ctx, chunk[half:]))
		case errors.Is(err, client.ErrNotFound):
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fill creates list 1 for the demonstration.
func fill(ctx context.Context, platform *mockserver.Server, addresses ...string) error {
	err := platform.Seed(strings.NewReader(`{"lists": [{"list_id": 1, "name": "Newsletter", "policy_accepted": true}]}`))
	if err != nil {
		return err
	}
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()})
	if err != nil {
		return err
	}
	for _, address := range addresses {
		if _, err := c.Contacts.Create(ctx, 1, client.ContactCreate{Email: address}); err != nil {
			return err
		}
		if _, err := c.Emails.Send(ctx, client.EmailSubmission{
			To:      address,
			ListID:  1,
			Sender:  client.Sender{Email: "hello@shop.example"},
			Content: client.EmailContent{Subject: "Hello", Text: "Hello!"},
		}); err != nil {
			return err
		}
	}
	return platform.Wait(ctx) // until the emails have bounced
}
