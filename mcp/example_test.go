package mcp_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mcp"
	"example.com/emailplatform/mockserver"
)

// This example connects an assistant in memory to a server for one account.
func Example() {
	ctx := context.Background()
	platform := mockserver.New(mockserver.Config{})
	defer platform.Close()
	c, err := client.New(client.Config{
		BaseURL:    platform.URL(),
		Token:      platform.Token(),
		HTTPClient: &http.Client{Transport: platform.Transport()},
	})
	if err != nil {
		log.Fatal(err)
	}

	here, there := sdk.NewInMemoryTransports()
	go func() { _ = mcp.NewServer(c, mcp.Options{}).Run(ctx, there) }()

	assistant := sdk.NewClient(&sdk.Implementation{Name: "assistant", Version: "1"}, nil)
	session, err := assistant.Connect(ctx, here, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	result, err := session.CallTool(ctx, &sdk.CallToolParams{
		Name:      "tags",
		Arguments: map[string]any{"operation": "list"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Content[0].(*sdk.TextContent).Text)
	// Output: Tags, 50 per page. Page 1: 0 of 0; this is the last page.
}

// This example serves many callers, each with its own token.
func ExampleHandler() {
	handler, err := mcp.NewHandler(client.Config{BaseURL: "https://api.example.com"}, mcp.Options{
		AllowedHosts: []string{"mcp.example.com"},
	})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/mcp", handler)

	// A request without a token is rejected with a challenge:
	request := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "https://mcp.example.com/mcp", nil)
	response := httptest.NewRecorder()
	http.DefaultServeMux.ServeHTTP(response, request)
	fmt.Println(response.Code, response.Header().Get("WWW-Authenticate"))
	// Output: 401 Bearer
}
