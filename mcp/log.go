package mcp

import (
	"cmp"
	"context"
	"log/slog"
)

// problems returns a logger that omits the MCP SDK's records about sessions,
// because over HTTP each request is a session.
func problems(l *slog.Logger) *slog.Logger {
	return slog.New(warnings{cmp.Or(l, slog.Default()).Handler()})
}

type warnings struct{ slog.Handler }

func (h warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

func (h warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{h.Handler.WithAttrs(attrs)}
}

func (h warnings) WithGroup(name string) slog.Handler { return warnings{h.Handler.WithGroup(name)} }
