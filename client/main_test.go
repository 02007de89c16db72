package client

import (
	"log/slog"
	"os"
	"testing"
)

// TestMain discards the log records of clients without a logger, in all tests of this package.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}
