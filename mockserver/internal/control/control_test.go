package control_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/internal/tests/rawhttp"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

func TestMain(m *testing.M) { probe.Main(m) }

// controlFixture is a server with a webhook and a list. One email was sent to a contact of the list.
type controlFixture struct {
	probe.Probe
	list, contact, email, hook string
}

func newControlled(t *testing.T) controlFixture {
	receiver := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	p := probe.New(t, mockserver.Config{RecordEvents: true, Targets: map[string]http.Handler{
		"app.test": receiver, "127.0.0.1:9000": receiver,
	}})
	c := controlFixture{Probe: p}
	c.hook = p.Post("/webhooks", `{"url":"http://app.test/hook","events":["Email.Bounced","Email.Opened"]}`).OK().Text("webhook_id")
	c.list = p.List()
	c.contact = p.Contact(c.list, "ada@example.org")
	c.email = p.Email("ada@example.org")
	return c
}

// ids returns the ids of a list route.
func (c controlFixture) ids(path string) string {
	c.Helper()
	return strings.Join(c.Get(path).Column("id"), " ")
}

// A request with an invalid token is logged with its operation, and the error states the cause.
func TestControlRequestsWithInvalidToken(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	for header, want := range map[string]string{
		"":                      "the Authorization header is missing",
		"Basic b25lOg==":        "the Authorization header must have the form",
		"Bearer":                "the Authorization header must have the form",
		"Bearer a wrong secret": "the access token is missing or unknown",
	} {
		p.Delete("/_mock/state").OK()
		req := rawhttp.NewRequest(t, "GET", p.URL()+"/lists/7/contacts", "", "")
		req.Header["Authorization"] = []string{header}
		assert.NotContains(t, p.Send(req).Has(401, want).Body, "wrong secret", header)
		r := p.Requests()[0]
		assert.Equal(t, "listContacts", r.Operation, header)
		assert.Equal(t, 401, r.Status, header)
		assert.Nil(t, p.Get("/_mock/requests/"+r.ID).OK().Field("closest"), header)
	}
	p.As("wrong").Get("/nothing")
	if r := p.Requests(); r[len(r)-1].Operation != "" {
		t.Errorf("an unknown path is logged with the operation %s", r[len(r)-1].Operation)
	}
}

func TestControlRedirectsToSlash(t *testing.T) {
	w := httptest.NewRecorder()
	probe.New(t, mockserver.Config{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/_mock?token=x", nil))
	assert.Equal(t, http.StatusPermanentRedirect, w.Code)
	assert.Equal(t, "_mock/?token=x", w.Header().Get("Location"))
}

// A browser that requests the root is redirected to the console, if there is one. Other clients get an API response.
func TestConsole(t *testing.T) {
	for name, tt := range map[string]struct {
		console      http.Handler
		path, accept string
		want         int
	}{
		"browser":           {http.NotFoundHandler(), "/", "text/html,application/xhtml+xml", http.StatusSeeOther},
		"program":           {http.NotFoundHandler(), "/", "application/json", http.StatusUnauthorized},
		"without a console": {nil, "/", "text/html", http.StatusUnauthorized},
		"file":              {http.RedirectHandler("/", http.StatusTeapot), "/_mock/app.js", "*/*", http.StatusTeapot},
	} {
		p := probe.New(t, mockserver.Config{Console: tt.console})
		req := rawhttp.NewRequest(t, "GET", "http://127.0.0.1"+tt.path, "", "")
		req.Header.Set("Accept", tt.accept)
		rec := httptest.NewRecorder()
		p.ServeHTTP(rec, req)
		assert.Equal(t, tt.want, rec.Code, name)
		if tt.want == http.StatusSeeOther {
			assert.Equal(t, "_mock/", rec.Header().Get("Location"))
		}
	}
}

// changeReader reads the stream of changes as server-sent events.
type changeReader struct {
	testing.TB

	lines *bufio.Scanner
}

func streamOf(p probe.Probe, client *http.Client) changeReader {
	p.Helper()
	res, err := client.Do(rawhttp.NewRequest(p, "GET", p.URL()+"/_mock/stream", "", ""))
	require.NoError(p, err)
	p.Cleanup(func() { _ = res.Body.Close() })
	require.Equal(p, "text/event-stream", res.Header.Get("Content-Type"), "the stream")
	return changeReader{p, bufio.NewScanner(res.Body)}
}

// next returns the name and data of the next event, or empty strings at the end.
func (l changeReader) next() (name, data string) {
	for l.lines.Scan() {
		switch key, value, _ := strings.Cut(l.lines.Text(), ": "); {
		case key == "event":
			name = value
		case key == "data":
			data = value
		case key == "" && name != "":
			return name, data
		}
	}
	return "", ""
}

// until returns the record of the next change of the given kind.
func (l changeReader) until(kind string) map[string]any {
	l.Helper()
	for {
		name, data := l.next()
		if name == "" {
			l.Fatalf("the stream ended before a change of a %s", kind)
		}
		var c struct {
			Kind   string
			Record map[string]any
		}
		require.NoError(l, json.Unmarshal([]byte(data), &c), data)
		if c.Kind == kind {
			return c.Record
		}
	}
}

func TestControlStream(t *testing.T) {
	srv := mockserver.Start(mockserver.Config{RecordEvents: true, RetrySchedule: []time.Duration{time.Hour}})
	t.Cleanup(srv.Close)
	p := probe.Of(t, srv)
	for _, via := range []struct {
		name   string
		client *http.Client
	}{{"socket", http.DefaultClient}, {"in process", &http.Client{Transport: srv.Transport()}}} {
		t.Run(via.name, func(t *testing.T) {
			stream := streamOf(p, via.client)
			name, data := stream.next()
			require.Equal(t, "hello", name)
			assert.Contains(t, data, `"seq":`)
			id := p.Email("a@example.org")
			message := stream.until("message")
			assert.Equal(t, id, message["id"])
			assert.Nil(t, message["html"])
			request := stream.until("request")
			assert.Equal(t, "submitEmail", request["operation"])
			assert.Nil(t, request["body"])
			stream.until("records")
			require.NoError(t, p.Open(id))
			assert.Equal(t, 1.0, stream.until("message")["opens"]) //nolint:testifylint // 1.0 is exact
			event := stream.until("event")
			assert.Equal(t, "Email.Opened", event["event"])
			assert.Nil(t, event["body"])
			check.Need(p.SendEventTo("http://127.0.0.1:1/", check.Need(webhook.ParseSecret("s", ""))(t), []byte("{}")))(t)
			for _, state := range []string{"queued", "delivering", "failed"} {
				assert.Equal(t, state, stream.until("delivery")["state"])
			}
			p.MustInject(mockserver.Fault{Action: mockserver.FaultReset})
			stream.until("fault")
			p.Reset()
			stream.until("state")
		})
	}
}

// Shutdown and Close end open streams.
func TestControlStreamShutdown(t *testing.T) {
	for name, stop := range map[string]func(*mockserver.Server) error{
		"shutdown": func(s *mockserver.Server) error { return s.Shutdown(t.Context()) },
		"close":    func(s *mockserver.Server) error { s.Close(); return nil },
	} {
		srv := mockserver.Start(mockserver.Config{})
		t.Cleanup(srv.Close)
		stream := streamOf(probe.Of(t, srv), http.DefaultClient)
		stream.next()
		require.NoError(t, stop(srv))
		if event, data := stream.next(); event != "" {
			t.Errorf("%s: the stream continues with %s %s, want its end", name, event, data)
		}
	}
}

// The route returns when the record is created.
func TestWaitRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := probe.New(t, mockserver.Config{})
		start := time.Now()
		var application sync.WaitGroup
		application.Go(func() {
			for range 2 {
				time.Sleep(time.Second)
				p.Email("bob@example.org")
			}
		})
		defer application.Wait()
		response := p.Post("/_mock/wait", `{"for":"message","to":"BOB@example.org","count":2}`).OK()
		assert.Equal(t, 2*time.Second, time.Since(start))
		assert.EqualValues(t, 2, response.Int("total"))
	})
}

// TestInvalidWaitFilter: the error for a filter of other records names only filters that a wait accepts.
func TestInvalidWaitFilter(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	p.Post("/_mock/wait", `{"for":"request","to":"ada@example.org"}`).
		Has(422, "must be one of account_id, method, operation, search, status")
}

// A control body that is too large is rejected before it is read.
func TestControlBodyTooLarge(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	for route, limit := range map[string]int64{"PUT /_mock/state": 1 << 30, "POST /_mock/seed": 1 << 30, "POST /_mock/faults": 10 << 20} {
		method, path, _ := strings.Cut(route, " ")
		r := httptest.NewRequestWithContext(t.Context(), method, path, iotest.ErrReader(errors.New("the body was read")))
		r.ContentLength = limit + 1
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		assert.Equal(t, http.StatusRequestEntityTooLarge, w.Code, route)
		assert.Contains(t, w.Body.String(), fmt.Sprintf("larger than %d bytes", limit), route)
	}
}
