package mockserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// Without validation, handlers report the errors that they detect themselves.
func TestSkipValidation(t *testing.T) {
	p := newProbe(t, mockserver.Config{SkipValidation: true})
	list := p.list()
	for _, row := range []struct{ method, path, body, loc string }{
		{method: "POST", path: "/lists", body: `{"name":5}`, loc: "[body name]"},
		{method: "POST", path: list + "/contacts", body: `{"email":"ada"}`, loc: "[body email]"},
		{method: "GET", path: "/lists/abc", loc: "[path list_id]"},
		{method: "GET", path: "/lists?page=x", loc: "[query page]"},
		{method: "GET", path: "/lists?per_page=101", loc: "[query per_page]"},
		{method: "GET", path: list + "/contacts?filter=email", loc: "[query filter]"},
		{method: "GET", path: "/suppressed-emails?filter=email", loc: "[query filter]"},
	} {
		a := p.do(row.method, row.path, row.body)
		if _, loc := a.detail(); a.status != 422 || loc != row.loc {
			t.Errorf("%s %s: %d %s, want 422 at %s", row.method, row.path, a.status, a.text, row.loc)
		}
	}
}

func TestUnknownHashFunction(t *testing.T) {
	defer func() {
		if got, want := recover(), `mockserver: Config.HashFunction must be sha256 or sha512, got "md5"`; got != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}()
	mockserver.New(mockserver.Config{HashFunction: "md5"}).Close()
}

// A path with .. or // is unknown, and not redirected.
func TestPathsAreNotCleaned(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	for _, path := range []string{"//lists", "/lists/../lists", "/./lists", "/lists/.", "/lists/1/contacts/.."} {
		a := p.do("GET", path, nil)
		if kind, loc := a.detail(); a.status != 404 || kind != "not_found" || loc != "[path]" {
			t.Errorf("%s: %d %s, want 404", path, a.status, a.text)
		}
	}
	if a := p.do("POST", "/v2//emails", "{}"); a.status != 404 {
		t.Errorf("a POST: %d %s, want 404", a.status, a.text)
	}
}

// A malformed query is an error, because ignoring it would select everything.
func TestMalformedQuery(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	for _, query := range []string{"page=%zz", "page=1;per_page=2"} {
		a := p.do("GET", "/lists?"+query, nil)
		if _, loc := a.detail(); a.status != 422 || loc != "[query]" || !strings.Contains(a.text, "malformed: ") {
			t.Errorf("%s: %d %s, want 422", query, a.status, a.text)
		}
	}
}

func TestLargeCampaign(t *testing.T) {
	p := newProbe(t, mockserver.Config{Targets: receiver()})
	list := p.list()
	var entries []string
	for i := range 1001 {
		entries = append(entries, fmt.Sprintf(`{"email":"user%d@example.org","custom_attributes":[{"name":"n","value":"%[1]d"}]}`, i))
	}
	for batch := range slices.Chunk(entries, 1000) {
		p.must("POST", list+"/contacts/import", `{"contacts":[`+strings.Join(batch, ",")+`]}`)
	}
	p.webhook(events.NameCampaignSent)
	campaign := p.campaign(list, `"subject":"S","text":"Hello {{n}}"`)
	p.must("POST", campaign+"/schedule", `{"scheduled_for":1}`)
	if got := p.fired(); len(got) != 1 {
		t.Errorf("fired %v, want Campaign.Sent alone", got)
	}
	box := p.Outbox()
	if len(box) != 1001 || box[1000].Text != "Hello 1000" {
		t.Errorf("%d sent, want 1001, the last with its own text", len(box))
	}
}

// leaver is a client that disconnects while the body is written.
type leaver struct {
	http.ResponseWriter
	statuses []int
}

func (l *leaver) WriteHeader(status int) { l.statuses = append(l.statuses, status) }

func (*leaver) Write([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestClientDisconnectsDuringResponse(t *testing.T) {
	srv := mockserver.New(mockserver.Config{OnViolation: func(err error) { t.Errorf("a violation: %v", err) }})
	defer srv.Close()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/lists", http.NoBody)
	req.Header.Set("Authorization", "Bearer "+srv.Token())
	l := &leaver{ResponseWriter: httptest.NewRecorder()}
	srv.ServeHTTP(l, req)
	if len(l.statuses) != 1 || l.statuses[0] != http.StatusOK {
		t.Errorf("it was answered %v, want one 200", l.statuses)
	}
}

// pipes is a listener for connections in memory.
type pipes struct {
	incoming chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.incoming:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (*pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial() net.Conn {
	near, far := net.Pipe()
	p.incoming <- far
	return near
}

// An idle connection does not delay Shutdown.
func TestShutdownUnusedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{incoming: make(chan net.Conn), closed: make(chan struct{})}
		srv := mockserver.StartOn(l, mockserver.Config{})
		defer srv.Close()
		conn := l.dial()
		synctest.Wait()
		began := time.Now()
		if err := srv.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took >= time.Second { // net/http looks again within milliseconds
			t.Errorf("it took %v", took)
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the connection: %v, want its end", err)
		}
	})
}

// A stalled request delays Shutdown until the context ends. The error names the running requests.
func TestShutdownReportsRunningRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{incoming: make(chan net.Conn), closed: make(chan struct{})}
		srv := mockserver.StartOn(l, mockserver.Config{})
		defer srv.Close()
		for range 12 {
			conn := l.dial()
			defer func() { _ = conn.Close() }()
			if _, err := io.WriteString(conn, "POST /_mock/seed HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := srv.Shutdown(ctx)
		want := "mockserver: shutdown: still running: 12 POST /_mock/seed: context deadline exceeded"
		if err == nil || err.Error() != want || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}
