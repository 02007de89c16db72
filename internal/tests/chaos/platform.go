package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// platform is the one in memory, which refuses a lookup that comes less than a
// second after the one before it, and sees who looks up when.
type platform struct {
	srv   *httptest.Server
	mock  *mockserver.Server
	email string

	mu      sync.Mutex
	refused int
	at      []arrival
	hold    func(process string) <-chan struct{} // nil delays no process
	arrived chan struct{}                        // has room for one
}

// arrival is a lookup that got a response.
type arrival struct {
	process string
	at      time.Time
}

func newPlatform(ctx context.Context) (*platform, error) {
	p := &platform{mock: mockserver.New(mockserver.Config{Lookups: mockserver.LookupMinInterval}), arrived: make(chan struct{}, 1)}
	p.srv = httptest.NewServer(p)
	c, err := client.New(client.Config{BaseURL: p.srv.URL, Token: p.mock.Token()})
	if err != nil {
		return nil, err
	}
	email, err := c.Emails.Send(ctx, client.EmailSubmission{
		To: "ann@example.com", Sender: client.Sender{Email: "s@example.com"}, Content: client.EmailContent{Subject: "S", Text: "T"},
	})
	p.email = email.ID
	return p, err
}

func (p *platform) close() {
	p.srv.Close()
	p.mock.Close()
}

// ServeHTTP notes when a lookup comes, by the User-Agent of its process.
func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	answer := &statusWriter{ResponseWriter: w}
	process, _, _ := strings.Cut(r.UserAgent(), "/")
	lookup := r.Method == http.MethodGet
	if lookup {
		if held := p.held(process); held != nil {
			p.note(process, at)
			select {
			case <-held:
			case <-r.Context().Done():
			}
			return
		}
	}
	p.mock.ServeHTTP(answer, r)
	if !lookup {
		return
	}
	if answer.status == http.StatusTooManyRequests {
		p.mu.Lock()
		p.refused++
		p.mu.Unlock()
		return
	}
	p.note(process, at)
}

func (p *platform) held(process string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hold == nil {
		return nil
	}
	return p.hold(process)
}

func (p *platform) note(process string, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = append(p.at, arrival{process, at})
	select {
	case p.arrived <- struct{}{}:
	default:
	}
}

func (p *platform) lookups() ([]arrival, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clip(p.at), p.refused
}

// until waits for the lookups that arrive to be enough.
func (p *platform) until(ctx context.Context, enough func([]arrival) bool) error {
	for {
		if at, _ := p.lookups(); enough(at) {
			return nil
		}
		select {
		case <-p.arrived:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}
