package main

import (
	"context"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// startDemo returns a mock server with a list of three contacts: one bounced
// hard, one bounced soft, and one did not bounce.
func startDemo(ctx context.Context) (*mockserver.Server, int64, error) {
	platform := mockserver.Start(mockserver.Config{})
	listID, err := fill(ctx, platform)
	if err != nil {
		platform.Close()
	}
	return platform, listID, err
}

func fill(ctx context.Context, platform *mockserver.Server) (int64, error) {
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()})
	if err != nil {
		return 0, err
	}
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "Newsletter"})
	if err != nil {
		return 0, err
	}
	if err := c.Lists.AcceptPolicy(ctx, list.ID); err != nil {
		return 0, err
	}
	for address, category := range map[string]events.BounceCategory{
		"gone@example.org": mockserver.HardBounce,
		"full@example.org": events.BounceCategoryMailboxFull,
		"fine@example.org": "",
	} {
		if err := sendTo(ctx, c, platform, list.ID, address, category); err != nil {
			return 0, err
		}
	}
	return list.ID, nil
}

func sendTo(ctx context.Context, c *client.Client, platform *mockserver.Server, listID int64, address string, bounce events.BounceCategory) error {
	if _, err := c.Contacts.Create(ctx, listID, client.ContactCreate{Email: address}); err != nil {
		return err
	}
	email, err := c.Emails.Send(ctx, client.EmailSubmission{
		To:      address,
		ListID:  listID,
		Sender:  client.Sender{Email: "hello@shop.example"},
		Content: client.EmailContent{Subject: "Hello", Text: "Hello!"},
	})
	if err != nil || bounce == "" {
		return err
	}
	return platform.Bounce(email.ID, bounce)
}
