package main

import (
	"context"

	"golang.org/x/oauth2/clientcredentials"

	"example.com/emailplatform/client"
)

// tokens returns a token source for the credentials of an OAuth 2 client.
//
// It fetches a new token on each call, and the client caches the token and replaces it
// in time. Do not use cfg.TokenSource here. Such a source caches a token until the
// token expires, so after an early revocation it would keep returning the revoked
// token.
func tokens(cfg *clientcredentials.Config) client.TokenSource {
	return func(ctx context.Context) (client.Token, error) {
		t, err := cfg.Token(ctx)
		if err != nil {
			return client.Token{}, err
		}
		return client.Token{Value: t.AccessToken, Expiry: t.Expiry}, nil
	}
}
