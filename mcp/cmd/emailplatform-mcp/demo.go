package main

import (
	"context"
	"net/http"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

type demo struct {
	*mockserver.Server
	listID int64 // id of the sample list
}

// startDemo returns a mock server with a list of sample contacts.
func startDemo(ctx context.Context) (demo, error) {
	d := demo{Server: mockserver.New(mockserver.Config{})}
	var err error
	if d.listID, err = d.fill(ctx); err != nil {
		d.Close()
		return demo{}, err
	}
	return d, nil
}

// client returns an HTTP client that calls the mock server in process.
func (d demo) client() *http.Client { return &http.Client{Transport: d.Transport()} }

func (d demo) fill(ctx context.Context) (listID int64, err error) {
	c, err := client.New(client.Config{BaseURL: d.URL(), Token: d.Token(), HTTPClient: d.client()})
	if err != nil {
		return 0, err
	}
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "Newsletter"})
	if err != nil {
		return 0, err
	}
	_, err = c.Contacts.ImportBatch(ctx, list.ID, client.ImportBatch{Contacts: []client.ImportContact{
		demoContact("ada@example.com", "Ada", "vip", "beta"),
		demoContact("grace@example.com", "Grace", "beta"),
		demoContact("alan@example.com", "Alan"),
	}})
	return list.ID, err
}

func demoContact(email, firstName string, tags ...string) client.ImportContact {
	return client.ImportContact{
		Email:            email,
		CustomAttributes: client.Attributes{{Name: "first_name", Value: firstName}},
		Tags:             tags,
	}
}
