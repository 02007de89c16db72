package mockserver_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

func TestMain(m *testing.M) { probe.Main(m) }

func TestUnknownHashFunction(t *testing.T) {
	defer func() {
		if got, want := recover(), `mockserver: Config.HashFunction must be sha256 or sha512, got "md5"`; got != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}()
	mockserver.New(mockserver.Config{HashFunction: "md5"}).Close()
}

// A server keeps its configuration if the caller changes the slices of the Config.
func TestConfigIsCopied(t *testing.T) {
	cfg := mockserver.Config{
		RetrySchedule: []time.Duration{time.Second}, AllowTargetNetworks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		AllowTargetHosts: []string{"a.test"},
	}
	p := probe.New(t, cfg)
	cfg.RetrySchedule[0], cfg.AllowTargetNetworks[0], cfg.AllowTargetHosts[0] = time.Hour, netip.MustParsePrefix("192.168.0.0/16"), "192.168.0.1"
	secret, err := webhook.ParseSecret("secret", "")
	require.NoError(t, err)
	_, err = p.SendEventTo("http://192.168.0.1/", secret, nil)
	require.NoError(t, err)
	require.NoError(t, p.Wait(t.Context()))
	if attempts := p.Deliveries()[0].Attempts; !strings.Contains(attempts[0].Error, "not a public address") {
		t.Errorf("%+v, want a blocked address", attempts)
	}
	if info := p.Get("/_mock/info").OK().Body; !strings.Contains(info, `"retry_schedule_ms":[1000]`) {
		t.Errorf("%s, want retry_schedule_ms 1000", info)
	}
}

// TestInfoEvents: the information lists the event of each sample once.
func TestInfoEvents(t *testing.T) {
	samples, err := mockserver.Samples()
	require.NoError(t, err)
	want := map[string]bool{}
	for _, s := range samples {
		want[string(s.Event)] = true
	}
	var info struct{ Events []string }
	require.NoError(t, json.Unmarshal([]byte(probe.New(t, mockserver.Config{}).Get("/_mock/info").OK().Body), &info))
	assert.ElementsMatch(t, slices.Collect(maps.Keys(want)), info.Events)
}

func TestLargeCampaign(t *testing.T) {
	p := probe.New(t, mockserver.Config{Targets: new(probe.Receiver).Targets()})
	list := p.List()
	var entries []string
	for i := range 1001 {
		entries = append(entries, fmt.Sprintf(`{"email":"user%d@example.org","custom_attributes":[{"name":"n","value":"%[1]d"}]}`, i))
	}
	for batch := range slices.Chunk(entries, 1000) {
		p.Post(list+"/contacts/import", `{"contacts":[`+strings.Join(batch, ",")+`]}`).OK()
	}
	p.Webhook(events.NameCampaignSent)
	campaign := p.Campaign(list, `"subject":"S","text":"Hello {{n}}"`)
	p.Post(campaign+"/schedule", `{"scheduled_for":1}`).OK()
	if got := p.Fired(); len(got) != 1 {
		t.Errorf("fired %v, want only Campaign.Sent", got)
	}
	box := p.Outbox()
	require.Len(t, box, 1001)
	assert.Equal(t, "Hello 1000", box[1000].Text)
}

// leaver is the response writer of a client that disconnects while the body is written.
type leaver struct {
	http.ResponseWriter
	statuses []int
}

func (l *leaver) WriteHeader(status int) { l.statuses = append(l.statuses, status) }

func (*leaver) Write([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestClientDisconnectsDuringResponse(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/lists", http.NoBody)
	req.Header.Set("Authorization", "Bearer "+p.Token())
	l := &leaver{ResponseWriter: httptest.NewRecorder()}
	p.ServeHTTP(l, req)
	if !slices.Equal(l.statuses, []int{http.StatusOK}) {
		t.Errorf("got the statuses %v, want one 200", l.statuses)
	}
}

// A client that reads the response only after it has sent a body that is too large gets the response.
func TestTooLargeBody(t *testing.T) {
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	body := make([]byte, 50<<20)
	for _, path := range []string{"/lists", "/_mock/events"} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(srv.URL(), "http://"))
		require.NoError(t, err)
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
			"Content-Length: %d\r\n\r\n", path, srv.Token(), len(body))
		require.NoError(t, err)
		_, err = conn.Write(body)
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		assert.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode)
		assert.NoError(t, errors.Join(res.Body.Close(), conn.Close()))
	}
}

var lives = flag.Int("lives", 3, "how many platforms TestLifecycleLeaks starts and closes, one after another")

// TestLifecycleLeaks starts a server, a client and a receiver over sockets. It imports contacts while responses are
// lost, delivers an event for each contact to a receiver that fails, and closes everything. It fails if memory or
// goroutines leak.
func TestLifecycleLeaks(t *testing.T) {
	var first footprint
	for i := range *lives + 1 {
		liveOnce(t, uint64(i)+1)
		if i == 0 { // one-time allocations are complete
			first = settled(first)
		}
	}
	last := settled(first)
	if last.goroutines > first.goroutines {
		t.Errorf("%d goroutines before, %d after", first.goroutines, last.goroutines)
	}
	if last.heap > first.heap+4<<20 {
		t.Errorf("%d bytes in use before, %d after", first.heap, last.heap)
	}
}

// footprint is the memory and the goroutines of an idle process.
type footprint struct {
	heap       uint64
	goroutines int
}

// settled measures the process when it has as few goroutines as before, or after 2 s.
func settled(before footprint) (f footprint) {
	for range 200 {
		if f.goroutines = runtime.NumGoroutine(); f.goroutines <= before.goroutines {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	runtime.GC()
	runtime.GC() // a sync.Pool keeps its values for one collection
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.heap = m.HeapAlloc
	return f
}

func liveOnce(t *testing.T, seed uint64) {
	ctx := t.Context()
	srv := mockserver.Start(mockserver.Config{
		SkipValidation: true, FaultSeed: seed, RetrySchedule: slices.Repeat([]time.Duration{5 * time.Millisecond}, 100),
	})
	defer srv.Close()
	var received atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if received.Add(1)%10 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer receiver.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c, err := client.New(client.Config{
		BaseURL: srv.URL(), Token: srv.Token(), HTTPClient: &http.Client{Transport: transport}, Logger: slog.New(slog.DiscardHandler),
		Retry: client.RetryConfig{MaxAttempts: 20, Budget: -1, BaseDelay: time.Millisecond, MaxDelay: 5 * time.Millisecond},
	})
	require.NoError(t, err)
	_, err = c.Webhooks.Create(ctx, client.WebhookCreate{URL: receiver.URL, Events: []events.Name{events.NameContactAdded}})
	require.NoError(t, err)
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "L"})
	require.NoError(t, err)
	_, err = srv.Inject(
		mockserver.Fault{Operation: "importContacts", Probability: 0.2, Action: mockserver.FaultReset, AfterProcessing: true},
		mockserver.Fault{Operation: "importContacts", Probability: 0.3, Action: mockserver.FaultReset},
		mockserver.Fault{Operation: "listContacts", Probability: 0.1, Action: mockserver.FaultStatus, Status: 502},
	)
	require.NoError(t, err)
	contacts := make([]client.ImportContact, 1000)
	for i := range contacts {
		contacts[i].Email = fmt.Sprintf("c%d@example.com", i)
	}
	options := client.ImportOptions{BatchSize: 100, Concurrency: 4}
	_, err = c.Contacts.Import(ctx, list.ID, client.ContactsFromSlice(contacts), options)
	require.NoError(t, err)
	for _, err := range c.Contacts.All(ctx, list.ID, client.ListContactsParams{PerPage: 100}, client.Prefetch(3)) {
		require.NoError(t, err)
	}
	require.NoError(t, srv.Drain(ctx))
	if n := received.Load(); n < int64(len(contacts)) {
		t.Errorf("seed %d: %d deliveries, want at least one for each contact", seed, n)
	}
}

func TestHTTPClient(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	a, b := p.HTTPClient(), p.HTTPClient()
	if a.Timeout = time.Second; b.Timeout != 0 {
		t.Error("HTTPClient returns the same client again")
	}
	for _, base := range []string{p.URL(), "http://platform.test"} {
		res, err := b.Get(base + "/_mock/health")
		require.NoError(t, err)
		_ = res.Body.Close()
		assert.Equal(t, http.StatusOK, res.StatusCode, base)
	}
}
