package main

import (
	"context"
	"net"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// demonstrate runs the server with the mock server until three events were
// delivered.
func demonstrate(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	platform := mockserver.Start(mockserver.Config{})
	defer platform.Close()
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token()})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	hook, err := c.Webhooks.Create(ctx, client.WebhookCreate{
		URL:    "http://" + listener.Addr().String() + "/hook",
		Events: []events.Name{events.NameEmailBounced, events.NameSuppressedEmailAdded, events.NameEmailOpened},
	})
	if err != nil {
		return err
	}
	verifier, err := verifierOf([]string{hook.Secret.Reveal()})
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- serve(ctx, listener, webhook.NewHandler(verifier, handle, webhook.Options{})) }()
	err = makeEvents(ctx, c, platform)
	stop()
	if serveErr := <-served; err == nil {
		err = serveErr
	}
	return err
}

// makeEvents has an email opened, another one bounce, and an address suppressed.
func makeEvents(ctx context.Context, c *client.Client, platform *mockserver.Server) error {
	for address, act := range map[string]func(id string) error{
		"ada@example.org": platform.Open,
		"bob@example.org": func(id string) error { return platform.Bounce(id, mockserver.HardBounce) },
	} {
		email, err := c.Emails.Send(ctx, client.EmailSubmission{
			To:      address,
			Sender:  client.Sender{Email: "hello@shop.example"},
			Content: client.EmailContent{Subject: "Hello", Text: "Hello!"},
		})
		if err != nil {
			return err
		}
		if err := act(email.ID); err != nil {
			return err
		}
	}
	if _, err := c.SuppressedEmails.Add(ctx, "bob@example.org"); err != nil {
		return err
	}
	return platform.Wait(ctx)
}
