package simulation

import (
	"bytes"
	"log"
	"log/slog"
	"strings"
	"sync"
)

// runLog collects what all processes log, at every level.
type runLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements [io.Writer].
func (l *runLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *runLog) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (l *runLog) plain() *log.Logger { return log.New(l, "", 0) }

// shows reports whether a text stands in the log.
func (l *runLog) shows(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.b.String(), text)
}
