package main

import (
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// start returns a mock server and a shop that uses it. Requests and deliveries
// are function calls, without sockets.
func start(t *testing.T) (*mockserver.Server, *shop) {
	t.Helper()
	platform := mockserver.New(mockserver.Config{})
	t.Cleanup(platform.Close)
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()})
	check(t, err)
	return platform, &shop{platform: c}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestConfirm(t *testing.T) {
	platform, s := start(t)
	check(t, s.confirm(t.Context(), "A-17", "ada@example.org"))
	mail := platform.Outbox()[0]
	if mail.To != "ada@example.org" || mail.Subject != "Your order A-17" || mail.Text != "Thank you for order A-17." {
		t.Errorf("sent %+v", mail)
	}
}
