package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"example.com/emailplatform/client"
)

// pagesAlone is how many pages the other process serves.
const pagesAlone = 100

// clientContests have the server in a process of its own, and count the processor
// time of this one alone.
func clientContests() []contest {
	if !canTellProcessorTime {
		return nil
	}
	return []contest{{
		name: "iterate, the client's processor time", items: pagesAlone * perPage, unit: "items",
		slice: 400 * time.Millisecond, // in which garbage is collected, however large the heap is
		setup: func(a *arena) ([]contender, error) {
			url, err := startPages(a)
			if err != nil {
				return nil, err
			}
			c, err := client.New(client.Config{BaseURL: url, Token: "t"})
			if err != nil {
				return nil, err
			}
			spent := cpuOf(os.Getpid())
			return []contender{
				{name: "this SDK", spent: spent, op: func() error { return ourPages(a.ctx, c, pagesAlone*perPage, 0) }},
				{name: "net/http, bodies discarded", spent: spent, want: 0.65, op: func() error {
					return rawPages(a.ctx, a.client, url, pagesAlone)
				}},
				{name: "net/http, encoding/json", spent: spent, op: func() error {
					return byHandPages(a.ctx, a.client, url, pagesAlone*perPage)
				}},
			}, nil
		},
	}}
}

// startPages has another process of this program serve the pages.
func startPages(a *arena) (url string, err error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(a.ctx, program, "-serve-pages") //nolint:gosec // this program
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	p := &process{Cmd: cmd}
	a.cleanup = append(a.cleanup, p.stop)
	line, err := bufio.NewReader(out).ReadString('\n')
	return strings.TrimSpace(line), err
}

// servePages serves the pages until the context ends, and says first where.
func servePages(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	srv := &http.Server{Handler: newPages(pagesAlone), ReadHeaderTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	return srv.Serve(listener)
}
