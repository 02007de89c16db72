package webhook_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

func TestVerifyAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("under the race detector sync.Pool drops states at random")
	}
	body := make([]byte, 1024)
	for _, hash := range []webhook.HashFunction{webhook.SHA256, webhook.SHA512} {
		s := parsed("whsec_of_this_year", hash)
		v, signature := newVerifier(t, parsed("whsec_of_last_year", hash), s), sign(s, body)
		allocs := testing.AllocsPerRun(1000, func() {
			if v.Verify(body, signature) != nil {
				t.Fatal("refused")
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations, want 0", hash, allocs)
		}
	}
}

// BenchmarkVerify stands beside BenchmarkSHA256, which is what no verification
// can do without.
func BenchmarkVerify(b *testing.B) {
	body := bytes.Repeat([]byte("x"), 1024)
	v, signature := newVerifier(b, secret), sign(secret, body)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if err := v.Verify(body, signature); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSHA256(b *testing.B) {
	body := bytes.Repeat([]byte("x"), 1024)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		sha256.Sum256(body)
	}
}

// sixDeliveries are events of six kinds and both envelopes.
func sixDeliveries(b *testing.B) (bodies [][]byte) {
	for _, name := range []string{
		"campaign_bounce", "transactional_bounce", "email_api_bounce", "contact_removed_by_link",
		"email_unsubscribed", "email_opened",
	} {
		body, err := os.ReadFile("../events/testdata/" + name + ".json")
		if err != nil {
			b.Fatal(err)
		}
		bodies = append(bodies, body)
	}
	return bodies
}

// BenchmarkVerifyAndParse does six deliveries in each operation.
func BenchmarkVerifyAndParse(b *testing.B) {
	bodies := sixDeliveries(b)
	v, signatures := newVerifier(b, secret), make([]string, len(bodies))
	size := 0
	for i, body := range bodies {
		signatures[i] = sign(secret, body)
		size += len(body)
	}
	b.ReportAllocs()
	b.SetBytes(int64(size))
	for b.Loop() {
		for i, body := range bodies {
			if err := v.Verify(body, signatures[i]); err != nil {
				b.Fatal(err)
			}
			if _, err := events.Parse(body); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkReceiver stands beside BenchmarkDiscard: the same requests over the
// same connections to a handler that throws them away.
func BenchmarkReceiver(b *testing.B) {
	var handled atomic.Int64
	benchmarkServer(b, webhook.NewHandler(newVerifier(b, secret), func(context.Context, *events.Event) error {
		handled.Add(1)
		return nil
	}, webhook.Options{Once: webhook.NewMemoryOnce(webhook.MemoryOnceOptions{MaxEntries: 1000})}))
	b.ReportMetric(float64(handled.Load())/float64(b.N), "handled/op")
}

func BenchmarkDiscard(b *testing.B) {
	benchmarkServer(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	}))
}

// benchmarkServer sends requests made beforehand over eight connections for
// each processor, so that the machine is busy.
func benchmarkServer(b *testing.B, h http.Handler) {
	srv := httptest.NewServer(h)
	defer srv.Close()
	requests := rawRequests(b, 2000) // more than the store remembers: each is handled
	var next atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", srv.Listener.Addr().String())
		if err != nil {
			b.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		answers := bufio.NewReader(conn)
		for pb.Next() {
			if err := exchange(conn, answers, requests[int(next.Add(1))%len(requests)]); err != nil {
				b.Error(err)
				return
			}
		}
	})
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

// rawRequests writes n deliveries as they go over the wire, each of an event of
// its own.
func rawRequests(b *testing.B, n int) (requests [][]byte) {
	bodies := sixDeliveries(b)
	for i := range n {
		body := string(bodies[i%len(bodies)])
		body = strings.TrimSuffix(strings.TrimSpace(body), "}") + fmt.Sprintf(`, "id": "5c0b1e6e-3f0e-4a52-9d5a-%012d"}`, i)
		req, err := webhook.NewRequest(b.Context(), "http://127.0.0.1/", secret, []byte(body))
		if err != nil {
			b.Fatal(err)
		}
		var raw bytes.Buffer
		if err := req.Write(&raw); err != nil {
			b.Fatal(err)
		}
		requests = append(requests, raw.Bytes())
	}
	return requests
}
