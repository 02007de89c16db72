package main

import (
	"context"

	"golang.org/x/oauth2/clientcredentials"

	"example.com/emailplatform/client"
)

// tokens returns a token source for the credentials of an OAuth 2 client.
//
// It fetches a new token on each call. Do not use cfg.TokenSource, because it caches a
// token until the token expires, even if the token has been revoked.
func tokens(cfg *clientcredentials.Config) client.TokenSource {
	return func(ctx context.Context) (client.Token, error) {
		t, err := cfg.Token(ctx)
		if err != nil {
			return client.Token{}, err
		}
		return client.Token{Value: t.AccessToken, Expiry: t.Expiry}, nil
	}
}
