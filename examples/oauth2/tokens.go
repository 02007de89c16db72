package main

import (
	"context"

	"golang.org/x/oauth2/clientcredentials"

	"example.com/emailplatform/client"
)

// tokens makes a source for client.Config of an OAuth 2 client's credentials.
//
// It asks the token endpoint anew each time, and leaves it to the client to
// keep a token and to replace it in time. cfg.TokenSource(ctx) would keep it
// too, until it ends, and have no way to learn of a 401: a token that is
// revoked early would be given again and again.
func tokens(cfg *clientcredentials.Config) client.TokenSource {
	return client.FreshTokens(func(ctx context.Context) (client.Token, error) {
		t, err := cfg.Token(ctx)
		if err != nil {
			return client.Token{}, err
		}
		return client.Token{Value: t.AccessToken, Expiry: t.Expiry}, nil
	})
}
