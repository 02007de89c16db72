package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"golang.org/x/sync/errgroup"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

const (
	connections   = 8
	perConnection = 40 // requests in an operation
)

func receiverContests() []contest {
	return []contest{{name: "receive over a socket", items: connections * perConnection, unit: "deliveries", setup: func(a *arena) ([]contender, error) {
		secret := webhook.Secret{Key: hookSecret}
		verifier, err := webhook.NewVerifier(secret)
		if err != nil {
			return nil, err
		}
		requests, err := rawRequests(a.ctx, secret)
		if err != nil {
			return nil, err
		}
		ours := webhook.NewHandler(verifier, func(context.Context, *events.Event) error { return nil }, webhook.Options{
			Once: webhook.NewMemoryOnce(webhook.MemoryOnceOptions{MaxEntries: len(requests) / 2}), // so that each event is new
		})
		var contenders []contender
		for _, c := range []struct {
			name    string
			handler http.Handler
			want    float64
		}{
			{"this SDK, each event once", ours, 0},
			{"by hand, two passes, no memory of events", http.HandlerFunc(naiveReceiver), 0},
			{"a handler that discards the body", http.HandlerFunc(discard), 0.65},
		} {
			op, err := a.sender(c.handler, requests)
			if err != nil {
				return nil, err
			}
			contenders = append(contenders, contender{name: c.name, op: op, want: c.want})
		}
		return contenders, nil
	}}}
}

func discard(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusNoContent)
}

func naiveReceiver(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || naiveVerify([]byte(hookSecret), body, r.Header.Get("X-Service-Signature")) != nil || twoPasses(body) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// rawRequests writes deliveries as they go over the wire, each of an event of its own.
func rawRequests(ctx context.Context, secret webhook.Secret) (requests [][]byte, err error) {
	bodies, err := deliveries()
	if err != nil {
		return nil, err
	}
	for i := range 6 * connections * perConnection {
		body := string(bodies[i%len(bodies)])
		body = strings.TrimSuffix(body, "}") + fmt.Sprintf(`,"id":"5c0b1e6e-3f0e-4a52-9d5a-%012d"}`, i)
		req, err := webhook.NewRequest(ctx, "http://127.0.0.1/", secret, []byte(body))
		if err != nil {
			return nil, err
		}
		var raw bytes.Buffer
		if err := req.Write(&raw); err != nil {
			return nil, err
		}
		requests = append(requests, raw.Bytes())
	}
	return requests, nil
}

// sender serves h, and returns what sends the next of the requests to it over
// several connections.
func (a *arena) sender(h http.Handler, requests [][]byte) (op func() error, err error) {
	srv := a.serve(h)
	type line struct {
		net.Conn
		answers *bufio.Reader
		next    int
	}
	var lines []*line
	for i := range connections {
		conn, err := new(net.Dialer).DialContext(a.ctx, "tcp", srv.Listener.Addr().String())
		if err != nil {
			return nil, err
		}
		a.cleanup = append(a.cleanup, func() { _ = conn.Close() })
		lines = append(lines, &line{conn, bufio.NewReader(conn), i * len(requests) / connections})
	}
	return func() error {
		var group errgroup.Group
		for _, l := range lines {
			group.Go(func() error {
				for range perConnection {
					if err := exchange(l.Conn, l.answers, requests[l.next%len(requests)]); err != nil {
						return err
					}
					l.next++
				}
				return nil
			})
		}
		return group.Wait()
	}, nil
}

func exchange(conn net.Conn, answers *bufio.Reader, request []byte) error {
	if _, err := conn.Write(request); err != nil {
		return err
	}
	for { // up to the empty line: a 204 has no body
		line, err := answers.ReadSlice('\n')
		switch {
		case err != nil:
			return err
		case len(line) == 2:
			return nil
		case bytes.HasPrefix(line, []byte("HTTP/")) && !bytes.Contains(line, []byte(" 204 ")):
			return fmt.Errorf("%s", line)
		}
	}
}
