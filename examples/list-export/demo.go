package main

import (
	"context"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// startDemo returns a mock server for a first try.
func startDemo() *mockserver.Server { return mockserver.Start(mockserver.Config{}) }

// demoList makes a list with a few contacts and returns its id.
func demoList(srv *mockserver.Server) int64 {
	ctx := context.Background()
	c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token()})
	if err != nil {
		panic(err)
	}
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "Newsletter"})
	if err != nil {
		panic(err)
	}
	_, err = c.Contacts.Import(ctx, list.ID, client.ContactsFromSlice([]client.ImportContact{
		{Email: "ada@example.org", Tags: []string{"vip"}, CustomAttributes: client.Attributes{{Name: "first_name", Value: "Ada"}}},
		{Email: "bob@example.org", CustomAttributes: client.Attributes{{Name: "first_name", Value: "Bob"}}},
	}), client.ImportOptions{})
	if err != nil {
		panic(err)
	}
	return list.ID
}
