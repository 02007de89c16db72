package client

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
)

func newPayload(t *testing.T, e *encoder, b body) *payload {
	t.Helper()
	c := &call{request: request{body: b}}
	require.NoError(t, e.encode(c))
	return c.payload
}

// TestPayloadReferenceCount: the memory of a body is released after the call has ended and the last reader is closed.
func TestPayloadReferenceCount(t *testing.T) {
	p := newPayload(t, newEncoder(), &ListCreate{Name: "Customers"})
	var open []io.ReadCloser
	for range 3 {
		r, err := p.open()
		require.NoError(t, err)
		open = append(open, r)
	}
	p.release() // the call is over
	for i, r := range open {
		if p.writer == nil {
			t.Fatalf("the memory is released while %d readers are open", len(open)-i)
		}
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.Equal(t, `{"name":"Customers"}`, string(got))
		for range 2 { // a second Close has no effect
			assert.NoError(t, r.Close())
		}
		if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, errBodyGone) {
			t.Errorf("a closed body reads %d bytes, %v", n, err)
		}
	}
	if p.writer != nil {
		t.Error("the memory is not released")
	}
	if r, err := p.open(); !errors.Is(err, errBodyGone) {
		t.Errorf("a body is opened after the call: %v, %v", r, err)
	}
}

// TestPayloadAfterClose: a transport can close an unread body, and then send it on another connection. Therefore, a
// read after such a Close must succeed until the call ends. If any byte was read before Close, later reads must fail.
// Otherwise, the transport would send only the rest of the body, or an empty body.
func TestPayloadAfterClose(t *testing.T) {
	const whole = `{"name":"Customers"}`
	for name, tc := range map[string]struct {
		read int  // bytes before Close
		over bool // the call ends before the body is read again
		want string
		err  error
	}{
		"nothing was read":                      {0, false, whole, nil},
		"a part was read":                       {1, false, "", errBodyGone},
		"the whole was read":                    {len(whole), false, "", errBodyGone},
		"nothing was read and the call is over": {0, true, "", errBodyGone},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPayload(t, newEncoder(), &ListCreate{Name: "Customers"})
			r, err := p.open()
			require.NoError(t, err)
			check.Need(io.ReadFull(r, make([]byte, tc.read)))(t)
			_ = r.Close()
			if tc.over {
				p.release()
			}
			if got, err := io.ReadAll(r); string(got) != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("got %q, %v, want %q, %v", got, err, tc.want, tc.err)
			}
		})
	}
}

// TestPayloadReadAgain: a body that is read after Close keeps its memory until the next Close, even if the call ends
// before that.
func TestPayloadReadAgain(t *testing.T) {
	p := newPayload(t, newEncoder(), &ListCreate{Name: "Customers"})
	r, err := p.open()
	require.NoError(t, err)
	_ = r.Close()
	first := make([]byte, 1)
	check.Need(r.Read(first))(t)
	p.release() // the call is over
	if p.writer == nil {
		t.Fatal("the memory is released during the second reading")
	}
	if rest, err := io.ReadAll(r); err != nil || string(first)+string(rest) != `{"name":"Customers"}` {
		t.Errorf("got %s%s, %v", first, rest, err)
	}
	_ = r.Close()
	if p.writer != nil {
		t.Error("the memory is not released")
	}
}

// TestGetBody: a transport can read a body again with GetBody, for example if an idle connection was closed.
func TestGetBody(t *testing.T) {
	var again func() (io.ReadCloser, error)
	c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		assert.Equal(t, int64(len(`{"name":"Customers"}`)), r.ContentLength, "the length")
		again = r.GetBody
		fresh, err := r.GetBody()
		require.NoError(t, err)
		for _, body := range []io.ReadCloser{r.Body, fresh} {
			if got, err := io.ReadAll(body); err != nil || string(got) != `{"name":"Customers"}` {
				t.Errorf("got %s, %v", got, err)
			}
			_ = body.Close()
		}
		return respond(201, `{"list_id":1}`), nil
	}, func(cfg *Config) { cfg.BaseURL = "http://127.0.0.1" }) // with https, the client omits GetBody
	check.Need(c.Lists.Create(t.Context(), ListCreate{Name: "Customers"}))(t)
	if _, err := again(); !errors.Is(err, errBodyGone) {
		t.Errorf("a body is created after the call: %v", err)
	}
}

// closeSignal is a connection that reports when it is closed.
type closeSignal struct {
	net.Conn
	closed chan struct{}
	once   sync.Once
}

func (c *closeSignal) Close() error {
	defer c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// TestUnusableConnection makes an HTTP/2 connection unusable after net/http has
// chosen it for a request and before it begins a stream. net/http then closes the
// body and sends the same request, with the same body, on another connection.
func TestUnusableConnection(t *testing.T) {
	created := make(chan string, 10)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.ProtoMajor != 2 {
			t.Errorf("%s %s: got %q, %v", r.Proto, r.Method, body, err)
		}
		if r.Method == http.MethodPost {
			created <- string(body)
		}
		respondWith(http.StatusOK, "application/json", `{"template_id":1}`)(w, r)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	tr := srv.Client().Transport.(*http.Transport)
	tr.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return &closeSignal{Conn: conn, closed: make(chan struct{})}, err
	}
	c := newClient(t, srv.URL, tr, withoutRetries)
	get := func() {
		if _, err := c.Templates.Get(t.Context(), 1); err != nil {
			t.Error(err)
		}
	}
	get() // net/http shares an HTTP/2 connection only after its first request

	chosen := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if chosen++; chosen > 1 {
			return
		}
		conn := info.Conn.(*tls.Conn)
		_ = conn.SetReadDeadline(time.Unix(1, 0)) // net/http treats any failed read as the end of the connection
		<-conn.NetConn().(*closeSignal).closed
		get() // opens the other connection
	}})
	check.Need(c.Templates.Create(ctx, TemplateCreate{Name: "n"}))(t)
	body, more := <-created, len(created)
	assert.Equal(t, `{"name":"n"}`, body)
	assert.Zero(t, more)
	if chosen != 2 {
		t.Errorf("net/http used %d connections, want 2: the test no longer makes net/http reuse a body", chosen)
	}
}
