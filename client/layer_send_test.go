package client

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
)

// http1Platform responds to HTTP/1.1 requests on in-memory connections. Use it only in a synctest bubble. In real
// time, net/http may not reuse the connection on a busy machine, because it waits at most 50 ms for the goroutine
// that wrote the request.
type http1Platform struct {
	*Client

	whole    int64  // number of requests that get the whole response
	response string // response to other requests, before the platform closes the connection
	requests atomic.Int64
	serving  sync.WaitGroup
	first    *cutConn
}

const http1Response = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{\"template_id\":1}"

// newHTTP1Platform returns a platform with its client. The argument room is the number of bytes that the client can
// write on its first connection; -1 means no limit.
func newHTTP1Platform(t *testing.T, whole, room int, response string) *http1Platform {
	t.Helper()
	p := &http1Platform{whole: int64(whole), response: response}
	dial := func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		c := &cutConn{Conn: here}
		c.room.Store(-1)
		if p.first == nil {
			p.first = c
			c.room.Store(int64(room))
		}
		p.serving.Go(func() { p.serve(there) })
		return c, nil
	}
	p.Client = newClient(t, "http://127.0.0.1", &http.Transport{DialContext: dial}, withoutPauses)
	return p
}

// serve responds to the requests on a connection until an error occurs or a response is incomplete.
func (p *http1Platform) serve(conn net.Conn) {
	defer conn.Close()
	for r := bufio.NewReader(conn); ; {
		if _, err := r.Peek(1); err != nil {
			return
		}
		response := http1Response
		if p.requests.Add(1) > p.whole {
			response = p.response
		}
		req, err := http.ReadRequest(r)
		if err == nil {
			_, err = io.Copy(io.Discard, req.Body)
		}
		if err == nil {
			_, err = io.WriteString(conn, response)
		}
		if err != nil || response != http1Response {
			return
		}
	}
}

// end returns the final number of requests.
func (p *http1Platform) end() int {
	p.CloseIdleConnections()
	p.serving.Wait()
	return int(p.requests.Load())
}

// cutConn is the client's side of a connection. It breaks when the client writes more bytes than the field room
// allows.
type cutConn struct {
	net.Conn
	room  atomic.Int64 // -1: no limit
	broke atomic.Bool
}

func (c *cutConn) Write(b []byte) (int, error) {
	room := int(c.room.Load())
	if room < 0 {
		return c.Conn.Write(b)
	}
	if len(b) <= room {
		c.room.Add(int64(-len(b)))
		return c.Conn.Write(b)
	}
	if room > 0 {
		_, _ = c.Conn.Write(b[:room])
	}
	c.broke.Store(true)
	_ = c.Close()
	return room, errors.New("connection reset")
}

// TestNoResendAfterCutHTTP1Response cuts the response at every byte, on a new connection and on a reused connection.
func TestNoResendAfterCutHTTP1Response(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for warm := range 2 {
			for cut := range len(http1Response) {
				for op := range kinds(nil) {
					cutResponse(t, cut, op, warm)
				}
			}
		}
	})
}

func cutResponse(t *testing.T, cut int, op string, warm int) {
	t.Helper()
	p := newHTTP1Platform(t, warm, -1, http1Response[:cut])
	for range warm {
		check.Need(p.Templates.Get(t.Context(), 1))(t)
	}
	err := kinds(p.Client)[op](t.Context())
	want := 3
	switch {
	case op == "create":
		want = 1
	case op == "read" && warm > 0 && cut == 0:
		want++ // net/http assumes that the connection was closed while idle, and resends a GET
	}
	if got := p.end() - warm; got != want {
		t.Errorf("%s, cut at byte %d after %d responses, arrived %d times, want %d", op, cut, warm, got, want)
	}
	require.Error(t, err)
	assert.Equal(t, op != "read", errors.Is(err, ErrOutcomeUnknown))
}

// TestNoResendAfterCutHTTP1Request cuts the connection at every byte of a create request, on a new connection and on
// a reused one. If no byte was written on the reused connection, net/http sends the request on another connection.
// If a byte was written, the request must not be sent a second time.
func TestNoResendAfterCutHTTP1Request(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for warm := range 2 {
			cut := 0
			for cutRequest(t, cut, warm) {
				cut++
			}
			if cut < 100 {
				t.Errorf("the request after %d responses has %d bytes, want more than 100", warm, cut)
			}
		}
	})
}

// cutRequest reports whether the request was longer than cut bytes.
func cutRequest(t *testing.T, cut, warm int) bool {
	t.Helper()
	room := cut
	if warm > 0 {
		room = -1
	}
	p := newHTTP1Platform(t, 10, room, "")
	for range warm {
		check.Need(p.Templates.Get(t.Context(), 1))(t)
		p.first.room.Store(int64(cut))
	}
	_, err := p.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
	got, broke := p.end()-warm, p.first.broke.Load()
	sent := !broke || cut == 0 && warm > 0
	want := 0
	if cut > 0 || sent {
		want = 1
	}
	if got != want {
		t.Errorf("a create that was cut at byte %d after %d responses arrived %d times, want %d", cut, warm, got, want)
	}
	if sent && err != nil || !sent && !errors.Is(err, ErrOutcomeUnknown) {
		t.Errorf("a create that was cut at byte %d after %d responses: %v", cut, warm, err)
	}
	return broke
}

// TestCompressedResponses: the client reads a response that the transport left compressed with gzip, and names any other
// content encoding.
func TestCompressedResponses(t *testing.T) {
	compressed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = io.WriteString(w, text)
		_ = w.Close()
		return b.String()
	}
	list := compressed(`{"list_id":42}`)
	for name, tc := range map[string]struct {
		status         int
		body, encoding string
		want           string // in the error
	}{
		"gzip": {200, list, "gzip", ""}, "no header": {200, list, "", ""}, "other name": {200, list, "x-gzip", ""},
		"not compressed": {200, `{"list_id":42}`, "gzip", ""}, "truncated": {200, list[:len(list)-9], "gzip", "truncated"},
		"unknown":  {200, "\x0b\x02", "br", `content encoding "br"`},
		"too long": {200, compressed(strings.Repeat(" ", 2000)), "gzip", "response too large"},
		"error":    {422, compressed(`{"detail":[{"msg":"no such list"}]}`), "gzip", "no such list"},
	} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			return respond(tc.status, tc.body, "Content-Encoding", tc.encoding), nil
		}, withoutRetries, func(cfg *Config) { cfg.MaxResponseBytes = 1000 })
		got, err := c.Lists.Get(t.Context(), 42)
		if tc.want == "" && (err != nil || got.ID != 42) || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestMaxResponseBytes: the limit applies with and without a Content-Length.
func TestMaxResponseBytes(t *testing.T) {
	const body = `{"list_id":7,"name":"n"}`
	for name, announce := range map[string]http.HandlerFunc{
		"announced":     func(http.ResponseWriter, *http.Request) {},
		"not announced": func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() },
	} {
		for limit, want := range map[int64]error{int64(len(body)): nil, int64(len(body)) - 1: ErrInvalidResponse} {
			c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
				announce(w, r)
				_, _ = io.WriteString(w, body)
			}, func(cfg *Config) { cfg.MaxResponseBytes = limit })
			if _, err := c.Lists.Get(t.Context(), 7); !errors.Is(err, want) {
				t.Errorf("%s, %d bytes with a limit of %d: %v, want %v", name, len(body), limit, err, want)
			}
		}
	}
}

// TestRedirectHidesSecrets: errors contain a Location without its query, fragment and user.
func TestRedirectHidesSecrets(t *testing.T) {
	for location, want := range map[string]string{
		"/login?session=1": "to /login", "https://[/x?session=1": "to https://[/x", "%zz?session=1": "to %zz", ":?session=1": "to :",
		"https://x/#session=1": "to https://x/", "https://user:session@x/y?z": "to https://x/y", "//session@x": "to //x", "https://x/a@b": "to https://x/a@b",
		"?session=1": "to ", "#session": "to ", "https://@x/": "to https://x/",
	} {
		var header string
		c := newBubbleClient(t, inOrder(respond(302, "", "Location", location)))
		ctx := WithResponseHook(t.Context(), func(r Response) { header = r.Header.Get("Location") })
		err := kinds(c)["create"](ctx)
		assert.ErrorIs(t, err, ErrInvalidResponse, location)
		assert.ErrorContains(t, err, want, location)
		assert.NotContains(t, err.Error(), "session", location)
		assert.Equal(t, location, header, "the Location in WithResponseHook")
	}
}

func TestCanceledInFlight(t *testing.T) {
	for _, op := range []string{"read", "update", "delete", "state", "create"} {
		t.Run(op, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var requests atomic.Int64
			c := newTestClient(t, func(_ http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				_, _ = io.Copy(io.Discard, r.Body)
				cancel()
				<-r.Context().Done()
			})
			err := kinds(c)[op](ctx)
			assert.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, op != "read", errors.Is(err, ErrOutcomeUnknown))
			assert.EqualValues(t, 1, requests.Load())
		})
	}
}

func TestAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests int
		c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			if requests++; requests == 1 {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return respond(200, `{"template_id":1}`), nil
		}, func(cfg *Config) { cfg.Timeout = 7 * time.Second; cfg.Retry.BaseDelay = -1 })
		start := time.Now()
		if _, err := c.Templates.Get(t.Context(), 1); err != nil || time.Since(start) != 7*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		requests = 0
		_, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorIs(t, err, ErrOutcomeUnknown)
		assert.ErrorContains(t, err, "no response within 7s")
	})
}

// closing is a response body that records whether it was read and closed.
type closing struct {
	io.Reader
	read, closed bool
}

func (c *closing) Read(b []byte) (int, error) {
	c.read = true
	return c.Reader.Read(b)
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// TestResponseBodyIsClosed: the client closes each response body, because a connection cannot be reused while the
// body is open. The client does not read the body of a 101 response, because that body never ends.
func TestResponseBodyIsClosed(t *testing.T) {
	for name, row := range map[string]struct {
		status int
		body   string
		read   bool
	}{
		"read whole":          {200, `{"template_id":1}`, true},
		"an error":            {400, `{}`, true},
		"too large":           {200, strings.Repeat(" ", 100), true},
		"switching protocols": {101, "", false},
	} {
		body := &closing{Reader: strings.NewReader(row.body)}
		c := newClient(t, "https://example.com", roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: row.status, ContentLength: -1, Body: body}, nil
		}), withoutRetries, func(cfg *Config) { cfg.MaxResponseBytes = 50 })
		_, err := c.Templates.Get(t.Context(), 1)
		assert.True(t, body.closed, name)
		assert.Equal(t, row.read, body.read, name)
		if row.status == 101 && !errors.Is(err, ErrInvalidResponse) {
			t.Errorf("%s: got %v, want ErrInvalidResponse", name, err)
		}
	}
}
