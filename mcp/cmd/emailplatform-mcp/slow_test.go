package main

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/internal/tests/slowpeers"
	"example.com/emailplatform/mcp"
	"example.com/emailplatform/mockserver"
)

// TestSlowCallers: slow callers without a valid token do not prevent the calls of others.
func TestSlowCallers(t *testing.T) {
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	slowpeers.Survive(t, 3*time.Minute, func(ctx context.Context, l net.Listener) error {
		platform := mockserver.New(mockserver.Config{})
		defer platform.Close()
		handler, err := mcp.NewHandler(client.Config{BaseURL: platform.URL(), HTTPClient: platform.HTTPClient()}, mcp.Options{})
		require.NoError(t, err)
		return serve(ctx, l, handler, io.Discard)
	},
		slowpeers.Post("/mcp", "made-up", list),
		slowpeers.Post("/mcp", "", list), // rejected before the body is read
		slowpeers.Post("/elsewhere", "made-up", list),
	)
}
