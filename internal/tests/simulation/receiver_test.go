package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// receiverHost is the host of the webhook.
const receiverHost = "receiver.test"

// receiver is a load balancer with replicas. Its links can fail, but the load balancer cannot.
type receiver struct {
	sim      *simulation
	balancer *process
	replicas []*replica

	mu   sync.Mutex
	seen map[uint64]int // number of deliveries of each body
}

// replica is a process that receives events.
type replica struct {
	sim       *simulation
	proc      *process
	link      *link
	transport *http.Transport
	http      *http.Server

	mu      sync.Mutex
	calls   int
	running map[string]bool // keys in progress in this life
	handled map[string]bool // keys handled in this life
}

func newReceiver(sim *simulation) *receiver {
	rc := &receiver{sim: sim, seen: map[uint64]int{}}
	rc.balancer = sim.newProcess("balancer", func(*life) {})
	rc.balancer.start()
	for i := range sim.plan.Replicas {
		r := &replica{sim: sim}
		name := fmt.Sprintf("replica%d", i+1)
		r.proc = sim.newProcess(name, r.run)
		r.proc.end = r.close
		r.link = sim.newLink(name, rc.balancer, r.proc)
		r.transport = transport(r.link, sim.plan.HTTP2)
		rc.replicas = append(rc.replicas, r)
	}
	return rc
}

// transport returns an HTTP transport that connects over a link. It uses HTTP/2 if http2 is true,
// and HTTP/1.1 otherwise.
func transport(l *link, http2 bool) *http.Transport {
	t := &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) },
		Protocols:           new(http.Protocols),
		MaxIdleConnsPerHost: 4,
		IdleConnTimeout:     90 * time.Second,
	}
	t.Protocols.SetHTTP1(!http2)
	t.Protocols.SetUnencryptedHTTP2(http2)
	return t
}

// ServeHTTP forwards a delivery to a replica, or to the next one if that replica cannot be reached.
func (rc *receiver) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	id := fingerprint(r, body)
	rc.mu.Lock()
	rc.seen[id]++
	name := fmt.Sprintf("delivery %x %d", id, rc.seen[id])
	rc.mu.Unlock()
	time.Sleep(rc.sim.chance.shortDelay(name))
	first := rc.sim.chance.upTo(len(rc.replicas), name)
	for i := range rc.replicas {
		resp, err := rc.replicas[(first+i)%len(rc.replicas)].forward(r, body)
		if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
			continue
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		response, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		rw.WriteHeader(resp.StatusCode)
		_, _ = rw.Write(response)
		return
	}
	rw.WriteHeader(http.StatusBadGateway)
}

func (r *replica) forward(in *http.Request, body []byte) (*http.Response, error) {
	out, err := http.NewRequestWithContext(in.Context(), http.MethodPost, "http://"+receiverHost+"/hook", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header = in.Header.Clone()
	return r.transport.RoundTrip(out)
}

// run starts a life of a replica.
func (r *replica) run(l *life) {
	r.mu.Lock()
	r.running, r.handled = map[string]bool{}, map[string]bool{}
	r.mu.Unlock()
	handle := func(ctx context.Context, e *events.Event) error { return r.handle(ctx, l, e) }
	h := webhook.NewHandler(r.sim.verifier, handle, webhook.Options{Once: r.sim.store.session(r.proc, l), Logger: slog.New(slog.DiscardHandler)})
	server := serve(r.proc, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		recorder := &statusRecorder{ResponseWriter: rw}
		defer func() { r.sim.trace.add(r.proc.name, "responds with %s", recorder) }()
		h.ServeHTTP(recorder, req)
	}))
	r.mu.Lock()
	r.http = server
	r.mu.Unlock()
}

// close ends the server of a life.
func (r *replica) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	go func(s *http.Server) { _ = s.Close() }(r.http)
}

// handle is the handler function of the application.
func (r *replica) handle(ctx context.Context, l *life, e *events.Event) error {
	d, ok := webhook.FromContext(ctx)
	if !ok {
		r.sim.violate(exactlyOnce, "the context of the function holds no delivery")
	}
	defer r.enter(d.Key)()
	how, _ := take[Handle](r.link, nil)
	if how.How != "" {
		r.sim.trace.add(r.proc.name, "%s %s: %s", e.Name, d.Key, how.How)
	}
	r.mu.Lock()
	r.calls++
	name := fmt.Sprint(r.proc.name, " ", r.calls)
	r.mu.Unlock()
	if err := pause(ctx, r.sim.chance.between(0, time.Second, "handling "+name)); err != nil {
		return err
	}
	if how.How == Hangs {
		time.Sleep(how.For) // even if the caller has stopped waiting
	}
	if how.How == DiesBeforeEffect {
		r.proc.crash(how.For)
	}
	if !l.lives() {
		return errDead
	}
	switch how.How {
	case Fails:
		return errors.New("not now")
	case Panics:
		panic("a bug in the application")
	}
	r.sim.store.recordEffect(ctx, d.Key)
	if how.How == DiesAfterEffect {
		r.proc.crash(how.For)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handled[d.Key] = true
	return nil
}

// enter checks that in one life, a replica neither handles the same event concurrently nor handles
// it again.
func (r *replica) enter(key string) func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running[key] {
		r.sim.violate(exactlyOnce, "%s is called for %s twice at a time", r.proc.name, key)
	}
	if r.handled[key] && r.sim.plan.Store == InMemory { // with other stores, the commit may have failed
		r.sim.violate(exactlyOnce, "%s is called again for %s, which it has handled", r.proc.name, key)
	}
	r.running[key] = true
	running := r.running
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(running, key)
	}
}

// store is the database of the replicas, with the effects of their functions. It does not fail.
type store struct {
	sim *simulation

	mu      sync.Mutex
	locks   map[string]*life // owners of keys in progress
	handled map[string]bool
	effects map[string]int
}

// session returns the store for a life of a process.
func (s *store) session(p *process, l *life) webhook.Once {
	if s.sim.plan.Store == InMemory {
		return webhook.NewMemoryOnce(webhook.MemoryOnceOptions{})
	}
	return &session{s, p, l}
}

// recordEffect records the effect of the function.
func (s *store) recordEffect(ctx context.Context, key string) {
	if tx, ok := ctx.Value(txKey{}).(*int); ok {
		*tx++
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.effects[key]++
}

// session is a connection to the database.
type session struct {
	*store
	p *process
	l *life
}

type txKey struct{}

func (s *session) Do(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error) {
	if handled, err := s.begin(ctx, key); handled || err != nil {
		return false, err
	}
	defer s.unlock(key)
	tx := new(int)
	if err := fn(context.WithValue(ctx, txKey{}, tx)); err != nil {
		return true, err
	}
	name := fmt.Sprintf("commit %s %s %d", s.p.name, key, s.l.n)
	time.Sleep(s.sim.chance.shortDelay(name))
	return true, s.commit(ctx, key, *tx)
}

func (s *session) begin(ctx context.Context, key string) (handled bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch owner := s.locks[key]; {
	case !s.l.lives():
		return false, errDead
	case s.handled[key]:
		return true, nil
	case owner != nil && owner.lives():
		return false, webhook.ErrInFlight
	}
	s.locks[key] = s.l
	return false, nil
}

// commit stores the key and the effects, unless the process was killed or the context has ended.
func (s *session) commit(ctx context.Context, key string, effects int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.l.lives() || s.locks[key] != s.l {
		return errDead // the transaction has ended with the connection
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.handled[key] = s.sim.plan.Store != withoutKeys
	s.effects[key] += effects
	return nil
}

// unlock unlocks the key. A process that died has already lost its lock.
func (s *session) unlock(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.locks[key] == s.l {
		delete(s.locks, key)
	}
}
