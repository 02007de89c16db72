package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"example.com/emailplatform/mockserver"
)

// platform is the process of the mock server, whose snapshot survives a crash.
type platform struct {
	sim  *simulation
	proc *process

	mu       sync.Mutex
	srv      *mockserver.Server
	http     *http.Server
	snapshot []byte
}

func newPlatform(sim *simulation) *platform {
	p := &platform{sim: sim}
	p.proc = sim.newProcess("platform", p.run)
	p.proc.end = p.save
	return p
}

// run starts a life with the state of the snapshot, if there is one.
func (p *platform) run(l *life) {
	cfg := mockserver.Config{
		Tokens:    p.sim.tokens(),
		Targets:   map[string]http.Handler{receiverHost: p.sim.receiver},
		FaultSeed: p.sim.plan.Seed + 1,
		// Concurrent deliveries are reproducible, because the receiver gives each delivery its own instant.
		DeliveryConcurrency: max(1, p.sim.plan.Concurrency),
	}
	srv := mockserver.New(cfg)
	if p.snapshot != nil {
		if err := srv.Restore(bytes.NewReader(p.snapshot)); err != nil {
			p.sim.violate(snapshots, "%v", err)
		}
	}
	if off := time.Until(srv.Now()); off.Abs() > time.Millisecond {
		p.sim.violate(snapshots, "the clock of a platform that starts again is off by %v", off)
	}
	p.mu.Lock()
	p.srv = srv
	p.http = serve(p.proc, &platformHandler{p: p, life: l, srv: srv})
	p.mu.Unlock()
}

// save stores the snapshot of a killed platform.
func (p *platform) save() {
	p.snapshot = p.state()
	p.mu.Lock()
	srv, server := p.srv, p.http
	p.mu.Unlock()
	go func() {
		_ = server.Close()
		srv.Close()
	}()
}

// now returns the server of this life.
func (p *platform) now() *mockserver.Server {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.srv
}

// serve serves HTTP/1.1 and HTTP/2 for a process until its life ends.
func serve(p *process, h http.Handler) *http.Server {
	s := &http.Server{
		Handler:           h,
		Protocols:         new(http.Protocols),
		ErrorLog:          log.New(io.Discard, "", 0),
		ReadHeaderTimeout: time.Minute,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c.(*end).conn)
		},
	}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	port := p.listener()
	go func() { _ = s.Serve(port) }()
	return s
}

type connKey struct{}

// state returns a snapshot.
func (p *platform) state() []byte {
	var b bytes.Buffer
	if err := p.now().Snapshot(&b); err != nil {
		p.sim.violate(snapshots, "%v", err)
	}
	return b.Bytes()
}

// platformHandler is the HTTP handler of the platform.
type platformHandler struct {
	p    *platform
	life *life
	srv  *mockserver.Server
}

func (h *platformHandler) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	c := r.Context().Value(connKey{}).(*conn)
	sim := h.p.sim
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method == "PRI" {
		panic(http.ErrAbortHandler) // an incomplete request, or an HTTP/2 preface
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	arrival, known := sim.record.countArrival(r, body)
	if !known {
		sim.violate(neverTwice, "%s %s arrives once more than %s has sent it", r.Method, r.URL.Path, c.link.name)
	}
	name := fmt.Sprintf("arrival %x %d", arrival.request, arrival.n)
	time.Sleep(sim.chance.shortDelay(name))
	if !h.life.lives() {
		panic(http.ErrAbortHandler)
	}
	rw.Header()["Date"] = []string{h.srv.Now().UTC().Format(http.TimeFormat)}
	recorder := &statusRecorder{ResponseWriter: rw}
	defer func() {
		sim.trace.add("platform", "%s: %s %s: %s", c.link.name, r.Method, r.URL.RequestURI(), recorder)
	}()
	subject := subjectOf(body)
	before := h.sent(subject)
	h.srv.ServeHTTP(recorder, r)
	if rejects(recorder.status) && h.sent(subject) > before {
		sim.record.countInconsistent(subject)
	}
}

// sent returns the number of emails with the given subject.
func (h *platformHandler) sent(subject string) (n int) {
	for _, m := range h.srv.Outbox() {
		if m.Subject == subject {
			n++
		}
	}
	return n
}

// subjectOf returns the subject of a submission, which is the name of its step, or "" for another request.
func subjectOf(body []byte) string {
	var submission struct {
		Content struct {
			Subject string `json:"subject"`
		} `json:"content"`
	}
	_ = json.Unmarshal(body, &submission) // a request without a body has no subject
	return submission.Content.Subject
}

// fingerprint identifies equal requests.
func fingerprint(r *http.Request, body []byte) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, r.Method+" "+r.URL.RequestURI()+" ")
	_, _ = h.Write(body)
	return h.Sum64()
}

// statusRecorder records the status of a response.
type statusRecorder struct {
	http.ResponseWriter

	status int
}

func (w *statusRecorder) WriteHeader(status int) {
	if w.status < 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusRecorder) Write(b []byte) (int, error) {
	if w.status < 200 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap supports [http.ResponseController].
func (w *statusRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *statusRecorder) String() string {
	if w.status == 0 {
		return "no response"
	}
	return strconv.Itoa(w.status)
}
