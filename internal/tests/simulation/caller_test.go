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

// caller is a process that calls the platform.
type caller struct {
	w     *world
	setup Client
	proc  *process
	link  *link

	mu     sync.Mutex
	way    *http.Transport
	api    *client.Client
	emails []string       // ids that it was told
	sent   map[uint64]int // how often a request has left
}

func newCaller(w *world, n int) *caller {
	c := &caller{w: w, setup: w.plan.Clients[n], sent: map[uint64]int{}}
	name := fmt.Sprintf("client%d", n+1)
	c.proc = w.newProcess(name, c.run)
	c.link = w.newLink(name, c.proc, w.platform.proc)
	return c
}

func (c *caller) token() string { return "token-of-" + c.proc.name + "-7c1f" }

// run begins a life. The memory of the previous life is lost.
func (c *caller) run(*life) {
	way := transport(c.link, c.setup.HTTP2)
	cfg := client.Config{
		BaseURL: "http://platform.test", AllowPlainHTTP: true, Token: c.token(),
		HTTPClient: &http.Client{Transport: &outlet{c, way}},
		Timeout:    c.setup.Timeout,
		Retry:      client.RetryConfig{MaxAttempts: c.setup.MaxAttempts},
	}
	if c.setup.Renews {
		cfg.Token, cfg.TokenSource = "", c.renew()
	}
	api, err := client.New(cfg)
	if err != nil {
		c.w.violate(ends, "%s: New: %v", c.proc.name, err)
		return
	}
	c.mu.Lock()
	c.way, c.api = way, api
	c.mu.Unlock()
}

// renew is a source whose first token is stale.
func (c *caller) renew() client.TokenSource {
	asked := 0
	return func(ctx context.Context) (client.Token, error) {
		asked++
		if err := pause(ctx, c.w.chance.brief(fmt.Sprintf("renew %s %d", c.proc.name, asked))); err != nil {
			return client.Token{}, err
		}
		if asked == 1 {
			return client.Token{Value: "stale-" + c.token()}, nil
		}
		return client.Token{Value: c.token()}, nil
	}
}

func (c *caller) client() *client.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.api
}

// call is one call of the client, and what came of it.
type call struct {
	id    string
	what  string
	waits bool // it is several calls, or waits for its turn
	began time.Time
	took  time.Duration
	err   error
	ended bool // and somebody was there to hear of it

	mu    sync.Mutex
	tries []try
}

// heard reports whether the process lived to hear what came of the call, if it was made.
func (d *call) heard() bool { return d != nil && d.ended }

type callKey struct{}

// do makes a call in a goroutine of the process's life, and hands the outcome to
// done. It returns nil if the process is down.
func (c *caller) do(id, what string, f func(context.Context, *client.Client) error, done func(*call)) *call {
	return c.begin(&call{id: id, what: what}, f, done)
}

// await is do for what is several calls, or waits for its turn.
func (c *caller) await(id, what string, f func(context.Context, *client.Client) error, done func(*call)) {
	c.begin(&call{id: id, what: what, waits: true}, f, done)
}

func (c *caller) begin(d *call, f func(context.Context, *client.Client) error, done func(*call)) *call {
	l := c.proc.life()
	if !l.lives() {
		c.w.trace.add(c.proc.name, "%s %s: is down", d.id, d.what)
		return nil
	}
	c.w.busy(d.id, func() {
		c.proc.ready(d.id)
		d.began = time.Now()
		err := f(context.WithValue(l.ctx, callKey{}, d), c.client())
		if !l.lives() {
			return
		}
		d.err, d.took, d.ended = err, time.Since(d.began), true
		c.w.trace.add(c.proc.name, "%s %s: %v", d.id, d.what, err)
		c.w.checkCall(c, d)
		if done != nil {
			done(d)
		}
	})
	return d
}

// knows keeps the id of an email.
func (c *caller) knows(email string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.emails = append(c.emails, email)
}

// newest returns the id of the email that the process was told last.
func (c *caller) newest() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.emails) == 0 {
		return ""
	}
	return c.emails[len(c.emails)-1]
}

// outlet is where requests leave a process: each at an instant of its own, and not while the process stands still.
type outlet struct {
	c   *caller
	way *http.Transport
}

// try is a request of a call, as the process's own transport saw it.
type try struct {
	connected bool
	status    int // of an answer that came whole
}

// RoundTrip implements [http.RoundTripper].
func (o *outlet) RoundTrip(r *http.Request) (*http.Response, error) {
	c := o.c
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body) // of memory
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	name := c.nameOf(fingerprint(r, body))
	c.proc.ready(name)
	time.Sleep(c.w.chance.brief(name))
	c.w.record.leaves(fingerprint(r, body))
	d, _ := r.Context().Value(callKey{}).(*call)
	t := try{connected: r.Context().Err() != nil} // then nobody can know that there was no connection
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { t.connected = true }})
	resp, err := o.way.RoundTrip(r.WithContext(ctx))
	time.Sleep(c.w.chance.brief(name + " back"))
	if err != nil {
		d.note(t)
		return nil, err
	}
	resp.Body = &inlet{
		ReadCloser: resp.Body, broken: c.w.chance.brief(name + " broken"),
		whole: func() { t.status = resp.StatusCode }, done: sync.OnceFunc(func() { d.note(t) }),
	}
	return resp, nil
}

// nameOf names a request that leaves to chance.
func (c *caller) nameOf(request uint64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent[request]++
	return fmt.Sprintf("outlet %s %x %d", c.proc.name, request, c.sent[request])
}

// note keeps what came of a request.
func (d *call) note(t try) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tries = append(d.tries, t)
}

// inlet is the body of an answer on its way in.
type inlet struct {
	io.ReadCloser

	broken time.Duration // how much later a failure is seen
	whole  func()
	done   func() // does nothing the second time
}

func (i *inlet) Read(b []byte) (int, error) {
	n, err := i.ReadCloser.Read(b)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		i.whole()
		i.done()
	default:
		time.Sleep(i.broken)
		i.done()
	}
	return n, err
}

// Close implements [io.Closer].
func (i *inlet) Close() error {
	i.done()
	return i.ReadCloser.Close()
}
