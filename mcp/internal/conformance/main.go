// Command conformance runs the MCP server with a mock server for the protocol's
// conformance suite, and prints the URL. It adds an access token to each
// request, because the suite cannot send one.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mcp"
	"example.com/emailplatform/mockserver"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run() error {
	platform := mockserver.New(mockserver.Config{})
	defer platform.Close()
	handler, err := mcp.NewHandler(client.Config{
		BaseURL:    platform.URL(),
		HTTPClient: &http.Client{Transport: platform.Transport()},
	}, mcp.Options{})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	server := &http.Server{
		ReadTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+platform.Token())
			handler.ServeHTTP(w, r)
		}),
	}
	return server.Serve(listener)
}
