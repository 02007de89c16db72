package redisstore

import (
	"context"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/testservers"
)

// newRedis returns a client of the Redis of REDIS_ADDR.
func newRedis(t testing.TB) *redis.Client {
	t.Helper()
	return connect(t, testservers.Address(t, "REDIS_ADDR"))
}

func connect(t testing.TB, addr string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// network is a connection to Redis that can fail.
type network struct {
	t    testing.TB
	to   string
	l    net.Listener
	gate sync.RWMutex // held while nothing passes
	mu   sync.Mutex
	all  []net.Conn
}

// newNetwork returns a network, and a client whose connections go through it.
func newNetwork(t testing.TB) (*network, *redis.Client) {
	t.Helper()
	n := &network{t: t, to: newRedis(t).Options().Addr}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	n.l = l
	go n.accept()
	t.Cleanup(n.down)
	return n, connect(t, l.Addr().String())
}

func (n *network) accept() {
	for {
		in, err := n.l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", n.to)
		if err != nil {
			_ = in.Close()
			return
		}
		n.mu.Lock()
		n.all = append(n.all, in, out)
		n.mu.Unlock()
		go n.pass(out, in)
		go n.pass(in, out)
	}
}

func (n *network) pass(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buf := make([]byte, 16<<10)
	for {
		k, err := from.Read(buf)
		if err != nil {
			return
		}
		n.gate.RLock()
		_, err = to.Write(buf[:k])
		n.gate.RUnlock()
		if err != nil {
			return
		}
	}
}

// stall holds back all sent data until resume is called.
func (n *network) stall() (resume func()) {
	n.gate.Lock()
	return sync.OnceFunc(n.gate.Unlock)
}

// down closes all connections and refuses new connections.
func (n *network) down() {
	_ = n.l.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.all {
		_ = c.Close()
	}
}

// record keeps a log.
type record struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func newLog() (*slog.Logger, *record) {
	r := &record{}
	return slog.New(slog.NewTextHandler(r, nil)), r
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// TestMain discards the log of go-redis.
func TestMain(m *testing.M) {
	redis.SetLogger(silent{})
	os.Exit(m.Run())
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// counting counts the calls of scripts.
type counting struct {
	Client
	calls atomic.Int64
}

func (c *counting) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	c.calls.Add(1)
	return c.Client.EvalSha(ctx, sha, keys, args...)
}
