package delivery

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"example.com/emailplatform/mockserver/internal/inprocess"
	"example.com/emailplatform/mockserver/model"
)

// DefaultTimeout is the maximum duration of an attempt.
const DefaultTimeout = 10 * time.Second

// maxResponse is the maximum size of a response body in the log, in bytes.
const maxResponse = 4 << 10

// webhookClient sends deliveries to handlers in this process, or over guarded
// connections.
type webhookClient struct {
	network *http.Transport
	timeout time.Duration // of an attempt

	mu       sync.RWMutex
	handlers map[string]http.Handler // by host, in lower case
}

func newWebhookClient(o Options, g *targetGuard) *webhookClient {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	c := &webhookClient{
		timeout:  o.Timeout,
		handlers: map[string]http.Handler{},
		network: &http.Transport{
			DialContext:            g.dial,
			DisableCompression:     true,
			MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConnsPerHost:    o.Concurrency,
		},
	}
	for host, handler := range o.Targets {
		c.setHandler(host, handler)
	}
	return c
}

// setHandler sets the handler in this process for a host, or removes it if the handler
// is nil.
func (c *webhookClient) setHandler(host string, handler http.Handler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if host = strings.ToLower(host); handler == nil {
		delete(c.handlers, host)
	} else {
		c.handlers[host] = handler
	}
}

// post makes one attempt, without following redirects. It returns the status and the
// beginning of the response body, or an error.
func (c *webhookClient) post(
	ctx context.Context, to string, header http.Header, body []byte,
) (status int, response, problem string) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return 0, "", err.Error()
	}
	req.Header = header
	if user := req.URL.User; user != nil { // http.Client does the same, but a transport ignores it
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	var via http.RoundTripper = c.network
	if handler := c.handler(req.URL); handler != nil {
		via = inprocess.Transport{Handler: handler}
	}
	res, err := via.RoundTrip(req)
	if err != nil {
		return 0, "", c.describe(err)
	}
	defer func() { _ = res.Body.Close() }()
	read, err := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	if errors.Is(err, context.DeadlineExceeded) { // ignore other errors, because the status is known
		problem = c.describe(err)
	}
	return res.StatusCode, string(read), problem
}

// postWithFault simulates an attempt with a fault. If the fault occurs after processing, it
// first sends the delivery with post.
func (c *webhookClient) postWithFault(
	ctx context.Context, f model.Fault, post func() (int, string, string),
) (status int, response, problem string) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	select {
	case <-time.After(f.Delay):
	case <-ctx.Done(): // canceled if the rule was removed
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return 0, "", c.describe(ctx.Err())
		}
	}
	if f.AfterProcessing {
		post()
	}
	if f.Action == model.FaultHang {
		<-ctx.Done()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return 0, "", c.describe(ctx.Err())
		}
	}
	if f.Action == model.FaultHang || f.Action == model.FaultReset {
		return 0, "", "connection lost, injected by a fault rule"
	}
	return cmp.Or(f.Status, http.StatusServiceUnavailable), f.Body[:min(len(f.Body), maxResponse)], ""
}

// handler returns the handler in this process for a URL, or nil if there is none. It
// treats a host without a port like the host with the default port of the URL's scheme.
func (c *webhookClient) handler(to *url.URL) http.Handler {
	c.mu.RLock()
	defer c.mu.RUnlock()
	host, port := strings.ToLower(to.Host), to.Port()
	usual := map[string]string{"http": "80", "https": "443"}[to.Scheme]
	if handler := c.handlers[host]; handler != nil || port != "" && port != usual {
		return handler
	}
	name := strings.TrimSuffix(strings.TrimSuffix(host, port), ":")
	if handler := c.handlers[name]; handler != nil {
		return handler
	}
	return c.handlers[name+":"+usual]
}

func (c *webhookClient) describe(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("no response within %v", c.timeout)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return err.Error()
}
