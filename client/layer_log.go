package client

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"
)

// withRequestLog writes a log record for each request, and a warning for the first ignored
// value and for each omitted parameter of each operation.
func withRequestLog(next handler, l *slog.Logger) handler {
	var warned sync.Map
	return func(ctx context.Context, c *call) error {
		c.logger = cmp.Or(l, slog.Default()) // logRetry uses it too, after a request
		if !c.logger.Enabled(ctx, slog.LevelDebug) {
			err := next(ctx, c)
			c.warn(ctx, &warned)
			return err
		}
		started := time.Now()
		err := next(ctx, c)
		attrs := append(c.attrs(), slog.Duration("duration", time.Since(started)))
		if err != nil {
			attrs = append(attrs, slog.Any("error", err))
		}
		c.logger.LogAttrs(ctx, slog.LevelDebug, "platform request", attrs...)
		c.warn(ctx, &warned)
		return err
	}
}

func (c *call) warn(ctx context.Context, warned *sync.Map) {
	if c.droppedParameter != "" {
		c.warnOnce(ctx, warned, c.droppedParameter, "refused parameter omitted", slog.String("parameter", c.droppedParameter))
	}
	if c.ignoredValue != nil {
		c.warnOnce(ctx, warned, "", "response value ignored", slog.Any("error", c.ignoredValue))
	}
}

func (c *call) warnOnce(ctx context.Context, warned *sync.Map, parameter, message string, about slog.Attr) {
	if _, again := warned.LoadOrStore([...]string{c.op, parameter}, true); !again {
		c.logger.LogAttrs(ctx, slog.LevelWarn, message, append(c.attrs(), about)...)
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
