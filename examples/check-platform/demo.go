package main

import (
	"context"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// startDemo returns a mock server with one record of each kind, and the id of
// an email.
func startDemo(ctx context.Context) (platform *mockserver.Server, email string, err error) {
	platform = mockserver.Start(mockserver.Config{})
	if email, err = fill(ctx, platform); err != nil {
		platform.Close()
	}
	return platform, email, err
}

func fill(ctx context.Context, platform *mockserver.Server) (email string, err error) {
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()})
	if err != nil {
		return "", err
	}
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "Newsletter"})
	if err != nil {
		return "", err
	}
	sender := client.Sender{Email: "hello@shop.example"}
	message := client.MessageContent{Subject: "Hello", Text: "Hello!"}
	if _, err := c.Campaigns.Create(ctx, client.CampaignCreate{Name: "Spring", ListID: list.ID, Sender: sender, Content: message}); err != nil {
		return "", err
	}
	if _, err := c.Workflows.Create(ctx, client.WorkflowCreate{
		Name: "Welcome", ListID: list.ID, Trigger: client.WorkflowTriggerSubscribed, Sender: sender, Content: message,
	}); err != nil {
		return "", err
	}
	if _, err := c.Webhooks.Create(ctx, client.WebhookCreate{URL: "http://127.0.0.1:9/", Events: []events.Name{events.NameEmailBounced}}); err != nil {
		return "", err
	}
	if _, err := c.SuppressedEmails.Add(ctx, "gone@example.org"); err != nil {
		return "", err
	}
	submitted, err := c.Emails.Send(ctx, client.EmailSubmission{
		To: "ada@example.org", Sender: sender, Content: client.EmailContent{Subject: "Hello", Text: "Hello!"},
	})
	return submitted.ID, err
}
