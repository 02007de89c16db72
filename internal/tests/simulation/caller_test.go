package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"example.com/emailplatform/client"
)

// caller is a process with a client.
type caller struct {
	sim    *simulation
	config Client
	proc   *process
	link   *link

	mu        sync.Mutex
	transport *http.Transport
	api       *client.Client
	newest    string // the id of the last email that the process knows
}

func newCaller(sim *simulation, n int) *caller {
	c := &caller{sim: sim, config: sim.plan.Clients[n]}
	name := fmt.Sprintf("client%d", n+1)
	c.proc = sim.newProcess(name, c.run)
	c.link = sim.newLink(name, c.proc, sim.platform.proc)
	return c
}

// tokens returns the tokens of the process.
func (c *caller) tokens() []string {
	return []string{"token-of-" + c.proc.name + "-7c1f", "token-of-" + c.proc.name + "-e80b"}
}

// run starts a life of the process, which begins without the memory of the previous life.
func (c *caller) run(*life) {
	httpTransport := transport(c.link, c.config.HTTP2)
	cfg := client.Config{
		BaseURL: "http://platform.test", AllowPlainHTTP: true, Token: c.tokens()[0],
		HTTPClient: &http.Client{Transport: &clientTransport{c, httpTransport}},
		Timeout:    c.config.Timeout,
		Retry:      client.RetryConfig{MaxAttempts: c.config.MaxAttempts},
	}
	if c.config.NewTokens {
		n := 0
		cfg.Token, cfg.TokenSource = "", func(context.Context) (client.Token, error) {
			n++
			return client.Token{Value: c.tokens()[n%2]}, nil
		}
	}
	api, err := client.New(cfg)
	if err != nil {
		c.sim.violate(ends, "%s: New: %v", c.proc.name, err)
		return
	}
	c.mu.Lock()
	c.transport, c.api = httpTransport, api
	c.mu.Unlock()
}

func (c *caller) client() *client.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.api
}

// call is a call of the client with its result.
type call struct {
	id    string
	what  string
	began time.Time
	took  time.Duration
	err   error
	ended bool // the call ended while the process was running

	mu    sync.Mutex
	tries []try
}

// hasResult reports whether the process got the result of the call.
func (d *call) hasResult() bool { return d != nil && d.ended }

type callKey struct{}

// do makes a call in a goroutine of the process, and passes the outcome to done. If the process is down, do returns
// nil.
func (c *caller) do(d *call, f func(context.Context, *client.Client) error, done func(*call)) *call {
	l := c.proc.life()
	if !l.lives() {
		c.sim.trace.add(c.proc.name, "%s %s: is down", d.id, d.what)
		return nil
	}
	c.sim.busy(d.id, func() {
		d.began = time.Now()
		err := f(context.WithValue(l.ctx, callKey{}, d), c.client())
		if !l.lives() {
			return
		}
		d.err, d.took, d.ended = err, time.Since(d.began), true
		c.sim.trace.add(c.proc.name, "%s %s: %v", d.id, d.what, err)
		c.sim.checkCall(d)
		done(d)
	})
	return d
}

// clientTransport sends the requests of a process, each at its own instant.
type clientTransport struct {
	c         *caller
	transport *http.Transport
}

// try is the result of one request of a call, as the transport observes it.
type try struct {
	connected bool
	status    int // status of a complete response
}

func (ct *clientTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	c := ct.c
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body) // reads from memory
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	request := fingerprint(r, body)
	name := fmt.Sprintf("request %s %x %d", c.proc.name, request, c.sim.record.countSent(request))
	time.Sleep(c.sim.chance.shortDelay(name))
	d, _ := r.Context().Value(callKey{}).(*call)
	t := try{connected: r.Context().Err() != nil} // with an ended context, a connection is possible
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { t.connected = true }})
	resp, err := ct.transport.RoundTrip(r.WithContext(ctx))
	time.Sleep(c.sim.chance.shortDelay(name + " back"))
	if err != nil {
		d.note(t)
		return nil, err
	}
	resp.Body = &responseBody{
		ReadCloser: resp.Body, broken: c.sim.chance.shortDelay(name + " broken"),
		complete: func() { t.status = resp.StatusCode }, done: sync.OnceFunc(func() { d.note(t) }),
	}
	return resp, nil
}

// note records a request.
func (d *call) note(t try) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tries = append(d.tries, t)
}

// responseBody is the body of a response.
type responseBody struct {
	io.ReadCloser

	broken   time.Duration // delay of an error
	complete func()
	done     func() // only the first call has an effect
}

func (body *responseBody) Read(b []byte) (int, error) {
	n, err := body.ReadCloser.Read(b)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		body.complete()
		body.done()
	default:
		time.Sleep(body.broken)
		body.done()
	}
	return n, err
}

func (body *responseBody) Close() error {
	body.done()
	return body.ReadCloser.Close()
}
