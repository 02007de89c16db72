// Command oauth2 calls the platform with tokens of golang.org/x/oauth2. The
// client replaces them before they expire, and after a revocation. It runs with
// the mock server and a token endpoint, and ends.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"time"

	"golang.org/x/oauth2/clientcredentials"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	platform := mockserver.Start(mockserver.Config{})
	defer platform.Close()
	authorization := &endpoint{platform: platform, life: time.Hour}
	issuer := httptest.NewServer(authorization)
	defer issuer.Close()

	c, err := client.New(client.Config{
		BaseURL: platform.URL(),
		TokenSource: tokens(&clientcredentials.Config{
			ClientID: clientID, ClientSecret: clientSecret, TokenURL: issuer.URL,
		}),
	})
	if err != nil {
		return err
	}
	for _, name := range []string{"Customers", "Readers"} {
		if _, err := c.Lists.Create(ctx, client.ListCreate{Name: name}); err != nil {
			return err
		}
		fmt.Println(name, "is created; tokens so far:", authorization.count())
	}
	if err := authorization.revoke(); err != nil {
		return err
	}
	list, err := c.Lists.Find(ctx, "Readers")
	if err != nil {
		return err
	}
	fmt.Println(list.Name, "is found though the token was revoked; tokens so far:", authorization.count())
	return nil
}
