// Command oauth2 calls the platform with tokens of golang.org/x/oauth2. The client
// requests a new token before the current one expires, and after a revocation. The
// command starts its own mock server and token endpoint.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2/clientcredentials"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

func main() {
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "oauth2: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	platform := mockserver.Start(mockserver.Config{})
	defer platform.Close()
	authorization := &endpoint{platform: platform}
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
		fmt.Println(name, "was created; tokens issued:", authorization.count())
	}
	if err := authorization.revoke(); err != nil {
		return err
	}
	list, err := c.Lists.Find(ctx, "Readers")
	if err != nil {
		return err
	}
	fmt.Printf("%q was found after the token was revoked; tokens issued: %d\n", list.Name, authorization.count())
	return nil
}

// The credentials that the token endpoint accepts.
const (
	clientID     = "shop"
	clientSecret = "demo-only"
)

// endpoint issues tokens for the mock server, like an authorization server with
// the client credentials grant. (RFC 6749, section 4.4.)
type endpoint struct {
	platform *mockserver.Server

	mu     sync.Mutex
	issued []string
}

const tokenLife = time.Hour

// ServeHTTP implements http.Handler.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if id != clientID || secret != clientSecret || r.FormValue("grant_type") != "client_credentials" {
		http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	token := fmt.Sprintf("token-%d", len(e.issued)+1)
	seed := fmt.Sprintf(`{"tokens": [{"token": %q, "expires_in_ms": %d}]}`, token, tokenLife.Milliseconds())
	if err := e.platform.Seed(strings.NewReader(seed)); err != nil {
		http.Error(w, `{"error":"server_error"}`, http.StatusInternalServerError)
		return
	}
	e.issued = append(e.issued, token)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // the client may have disconnected
		"access_token": token, "token_type": "Bearer", "expires_in": int(tokenLife.Seconds()),
	})
}

// count returns the number of issued tokens.
func (e *endpoint) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.issued)
}

// revoke ends the last token early.
func (e *endpoint) revoke() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.platform.RevokeToken(e.issued[len(e.issued)-1])
}
