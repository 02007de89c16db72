package client

import (
	"cmp"
	"context"
	"log/slog"
	"time"
)

// withRequestLog writes a log record for each request.
func withRequestLog(next handler, l *slog.Logger) handler {
	return func(ctx context.Context, c *call) error {
		c.logger = cmp.Or(l, slog.Default()) // logRetry uses it too, after a request
		if !c.logger.Enabled(ctx, slog.LevelDebug) {
			return next(ctx, c)
		}
		started := time.Now()
		err := next(ctx, c)
		attrs := append(c.attrs(), slog.Duration("duration", time.Since(started)))
		if e, ok := topLevelError(err); ok {
			now := *e // a copy, because the outer layers change e later
			attrs = append(attrs, slog.Any("error", &now))
		} else if err != nil {
			attrs = append(attrs, slog.Any("error", err))
		}
		c.logger.LogAttrs(ctx, slog.LevelDebug, "platform request", attrs...)
		return err
	}
}

func (c *call) logRetry(ctx context.Context, err error, delay time.Duration) {
	l := cmp.Or(c.logger, slog.Default())
	if !l.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := append(c.attrs(), slog.Duration("delay", delay), slog.Any("error", err))
	l.LogAttrs(ctx, slog.LevelInfo, "retrying platform request", attrs...)
}

func (c *call) attrs() []slog.Attr {
	attrs := []slog.Attr{
		slog.String("op", c.op),
		slog.String("method", c.method),
		slog.String("path", redact(c.path, c.token)),
		slog.Int("attempt", c.attempts),
		slog.Int("status", c.status),
	}
	if c.requestID != "" {
		attrs = append(attrs, slog.String("request_id", c.requestID))
	}
	return attrs
}
