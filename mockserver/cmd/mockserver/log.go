package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"

	"example.com/emailplatform/mockserver"
)

// requestLog is what the command says while it runs: where it is, then a line
// for each request to the API.
type requestLog interface {
	welcome(ready)
	request(mockserver.Request)
}

// newLog returns a log, and what else the platform has to say in the same form.
func newLog(asJSON bool, out io.Writer) (requestLog, *slog.Logger) {
	if asJSON {
		held := &heldBack{out: out}
		records := slog.New(slog.NewJSONHandler(held, nil))
		return jsonLog{records, held}, records
	}
	text := &textLog{out: out}
	return text, slog.New(slog.NewTextHandler(text, nil))
}

// logForm is the flag -log.
func (o *options) logForm(text string) error {
	o.json = text == "json"
	if !o.json && text != "text" {
		return errors.New("want text or json")
	}
	return nil
}

// jsonLog writes what programs read. Its first record says "ready" and has the
// members of [ready].
type jsonLog struct {
	*slog.Logger
	held *heldBack
}

func (l jsonLog) welcome(r ready) {
	defer l.held.release()
	slog.New(slog.NewJSONHandler(l.held.out, nil)).Info("ready",
		"base_url", r.BaseURL, "console_url", r.ConsoleURL, "token", r.Token, "fault_seed", r.FaultSeed, "pid", r.PID)
}

func (l jsonLog) request(r mockserver.Request) {
	l.Info("request", "id", r.ID, "method", r.Method, "path", r.Path, "query", r.Query, "operation", r.Operation,
		"account_id", r.AccountID, "status", r.Status,
		"duration_ms", float64(r.Duration)/float64(time.Millisecond), "fault", r.Fault, "answer", string(r.Answer))
}

// heldBack keeps what is said before it is released, such as of a state that is
// loaded, for then.
type heldBack struct {
	mu    sync.Mutex
	out   io.Writer
	early bytes.Buffer
	free  bool
}

func (h *heldBack) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.free {
		return h.out.Write(b)
	}
	return h.early.Write(b)
}

func (h *heldBack) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free = true
	_, _ = h.early.WriteTo(h.out)
}

// textLog writes what people read, a line at a time.
type textLog struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements [io.Writer] for the log of what goes wrong.
func (l *textLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

// welcome says where the platform is and how to ask it something.
func (l *textLog) welcome(r ready) {
	_, _ = fmt.Fprintf(l, `The platform is at  %s
access token        %s
console             %s
seed of faults      %d

Try:  curl -H 'Authorization: Bearer %s' %s/lists

`, r.BaseURL, r.Token, r.ConsoleURL, r.FaultSeed, r.Token, r.BaseURL)
}

// request writes a line for a request to the API:
//
//	15:04:05.000  201  POST   /v2/emails                submitEmail  1.2ms
func (l *textLog) request(r mockserver.Request) {
	operation := r.Operation
	if operation == "" {
		operation = "-"
	}
	target := r.Path
	if r.Query != "" {
		target += "?" + r.Query
	}
	status := fmt.Sprint(r.Status)
	if r.Status == 0 {
		status = "lost"
	}
	notes := ""
	if r.Fault != "" {
		notes += "  by " + r.Fault
	}
	if r.Status >= 400 {
		notes += "  " + strings.TrimSpace(string(r.Answer))
	}
	_, _ = fmt.Fprintf(l, "%s  %-4s %-6s %-40s %s  %v%s\n", r.Time.Format("15:04:05.000"), status, r.Method,
		printable(target), operation, r.Duration.Round(10*time.Microsecond), printable(notes))
}

// printable keeps what clients send from steering the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}
