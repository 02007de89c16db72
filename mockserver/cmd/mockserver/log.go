package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"example.com/emailplatform/mockserver"
)

// requestLog writes the output of the server: its base URL, followed by a line for each
// request to the API.
type requestLog interface {
	welcome(ready)
	request(mockserver.Request)
}

// newLog returns a request log, and a logger in the same format.
func newLog(asJSON bool, out io.Writer) (requestLog, *slog.Logger) {
	w := &logWriter{out: out, hold: asJSON}
	if asJSON {
		records := slog.New(slog.NewJSONHandler(w, nil))
		return jsonLog{records, w}, records
	}
	return textLog{w}, slog.New(slog.NewTextHandler(w, nil))
}

// logWriter writes whole lines. If hold is set, it buffers the lines until
// release is called.
type logWriter struct {
	mu   sync.Mutex
	out  io.Writer
	hold bool
	held bytes.Buffer
}

func (w *logWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hold {
		return w.held.Write(b)
	}
	return w.out.Write(b)
}

func (w *logWriter) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hold = false
	_, _ = w.held.WriteTo(w.out)
}

// jsonLog writes JSON records, for programs. The first record has the message "ready"
// and the fields of [ready].
type jsonLog struct {
	*slog.Logger
	w *logWriter
}

func (l jsonLog) welcome(r ready) {
	defer l.w.release()
	slog.New(slog.NewJSONHandler(l.w.out, nil)).Info("ready",
		"base_url", r.BaseURL, "console_url", r.ConsoleURL, "token", r.Token, "fault_seed", r.FaultSeed, "pid", r.PID)
}

func (l jsonLog) request(r mockserver.Request) {
	l.Info("request", "id", r.ID, "method", r.Method, "path", r.Path, "query", r.Query, "operation", r.Operation,
		"account_id", r.AccountID, "status", r.Status,
		"duration_ms", float64(r.Duration)/float64(time.Millisecond), "fault", r.Fault, "response", string(r.Response))
}

// textLog is for people.
type textLog struct{ out io.Writer }

func (l textLog) welcome(r ready) {
	_, _ = fmt.Fprintf(l.out, `Email API           %s
access token        %s
console             %s
fault seed          %d

Try:  curl -H 'Authorization: Bearer %s' %s/lists

`, r.BaseURL, r.Token, r.ConsoleURL, r.FaultSeed, r.Token, r.BaseURL)
}

// request writes a line:
//
//	15:04:05.000  201  POST   /v2/emails                submitEmail  1.2ms
func (l textLog) request(r mockserver.Request) {
	target, status, notes := r.Path, strconv.Itoa(r.Status), ""
	if r.Query != "" {
		target += "?" + r.Query
	}
	if r.Status == 0 {
		status = "lost"
	}
	if r.Fault != "" {
		notes += "  by " + r.Fault
	}
	if r.Status >= 400 {
		notes += "  " + strings.TrimSpace(string(r.Response))
	}
	_, _ = fmt.Fprintf(l.out, "%s  %-4s %-6s %-40s %s  %v%s\n", r.Time.Format("15:04:05.000"), status, r.Method,
		printable(target), cmp.Or(r.Operation, "-"), r.Duration.Round(10*time.Microsecond), printable(notes))
}

// printable replaces control characters, because clients choose the text and
// could otherwise control the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}
