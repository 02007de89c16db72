package main

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"

	"example.com/emailplatform/mockserver"
)

// requestLog writes what people read while the server runs, a line at a time.
type requestLog struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements [io.Writer] for the log of what goes wrong.
func (l *requestLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

// welcome says where the platform is and how to ask it something.
func (l *requestLog) welcome(srv *mockserver.Server, addr net.Addr) {
	base := "http://" + reachable(addr.String())
	_, _ = fmt.Fprintf(l, `The platform is at  %s
access token        %s
console             %s
seed of faults      %d

Try:  curl -H 'Authorization: Bearer %s' %s/lists

`, base, srv.Token(), consoleURL(base, srv.Token(), addr), srv.FaultSeed(), srv.Token(), base)
}

// consoleURL is where the console is, and the control routes below it. Off
// loopback they want a token: following the link keeps it in a cookie.
func consoleURL(base, token string, addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		return base + "/_mock/"
	}
	return base + "/_mock/?token=" + url.QueryEscape(token)
}

// reachable names an address that can be asked, also for one that means all.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return address
}

// request writes a line for a request to the API:
//
//	15:04:05.000  201  POST   /v2/emails                submitEmail  1.2ms
func (l *requestLog) request(r mockserver.Request) {
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
