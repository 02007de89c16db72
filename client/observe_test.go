package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
)

// observations records the calls of Config.Observe and of its Observers.
type observations struct {
	mu    sync.Mutex
	begun []string
	retry []Observation
	end   []Observation
}

func (o *observations) observe(ctx context.Context, call Call) (context.Context, Observer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begun = append(o.begun, call.Op)
	note := func(to *[]Observation) func(Observation) {
		return func(ob Observation) {
			o.mu.Lock()
			defer o.mu.Unlock()
			*to = append(*to, ob)
		}
	}
	return WithHeader(ctx, "X-Operation", call.Op), Observer{Retry: note(&o.retry), End: note(&o.end)}
}

func TestObserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o observations
		requests := 0
		c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			assert.Equal(t, "getTemplate", r.Header.Get("X-Operation"), "sent without the context that Observe returned")
			time.Sleep(time.Second)
			switch requests++; requests {
			case 1:
				return respond(429, "", "Retry-After", "7", "X-Request-Id", "one"), nil
			case 2:
				return nil, errors.New("lost")
			}
			return respond(200, `{"template_id":1}`, "X-Request-Id", "three"), nil
		}, func(cfg *Config) { cfg.Observe, cfg.Retry.BaseDelay = o.observe, -1 })
		check.Need(c.Templates.Get(t.Context(), 1))(t)
		require.Len(t, o.begun, 1)
		require.Len(t, o.retry, 2)
		require.Len(t, o.end, 1)
		first, second, end := o.retry[0], o.retry[1], o.end[0]
		assert.ErrorIs(t, first.Err, ErrRateLimited)
		require.Error(t, second.Err)
		assert.NoError(t, end.Err)
		first.Err, second.Err = nil, nil
		want := Observation{Op: "getTemplate", Attempts: 1, StatusCode: 429, RequestID: "one", Duration: time.Second, Pause: first.Pause}
		assert.Equal(t, want, first)
		assert.GreaterOrEqual(t, first.Pause, 7*time.Second)
		assert.LessOrEqual(t, first.Pause, 8*time.Second)
		want = Observation{Op: "getTemplate", Attempts: 2, Duration: 2*time.Second + first.Pause}
		if second != want {
			t.Errorf("second retry %+v, want %+v", second, want)
		}
		want = Observation{Op: "getTemplate", Attempts: 3, StatusCode: 200, RequestID: "three", Duration: 3*time.Second + first.Pause}
		if end != want {
			t.Errorf("end %+v, want %+v", end, want)
		}
	})
}

// TestObserveLookups: observations contain the time in the queue and the retries of lookups.
func TestObserveLookups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o observations
		requests := 0
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			if requests++; requests == 2 {
				return respond(429, ""), nil
			}
			return respond(200, `{"id":"1"}`), nil
		}, func(cfg *Config) { cfg.Observe = o.observe })
		for range 2 {
			check.Need(c.Emails.Get(t.Context(), "1"))(t)
		}
		require.Len(t, o.end, 2)
		assert.Zero(t, o.end[0].Queued)
		assert.Equal(t, lookupGap, o.end[1].Queued.Round(time.Microsecond))
		assert.Equal(t, o.end[1].Queued+lookupGap, o.end[1].Duration)
		require.Len(t, o.retry, 1)
		assert.Equal(t, lookupGap, o.retry[0].Pause)
		assert.Equal(t, 429, o.retry[0].StatusCode)
	})
}

func TestObserveEveryEnd(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	abandon := WithResponseHook(t.Context(), func(Response) { panic("stop") })
	for name, tc := range map[string]struct {
		ctx      context.Context
		id       int64
		attempts int
		retries  int
		is       error
	}{
		"rejected before it is sent": {t.Context(), -1, 0, 0, ErrValidation},
		"canceled":                   {canceled, 1, 0, 0, context.Canceled},
		"not accepted":               {t.Context(), 1, 2, 1, ErrUnauthorized},
		"a callback panics":          {abandon, 1, 1, 0, errAbandoned},
	} {
		var o observations
		var asked atomic.Int64
		c := newTestClient(t, respondWith(401, "application/json", ""), withSource(func(context.Context) (Token, error) {
			return Token{Value: strings.Repeat(testToken, int(asked.Add(1)))}, nil
		}), func(cfg *Config) { cfg.Observe = o.observe })
		func() {
			defer func() { _ = recover() }()
			_, err := c.Templates.Get(tc.ctx, tc.id)
			if len(o.end) == 1 && !errors.Is(o.end[0].Err, err) {
				t.Errorf("%s: ended with %v, the caller got %v", name, o.end[0].Err, err)
			}
		}()
		if len(o.end) != 1 || o.end[0].Outcome() != OutcomeFailed || !errors.Is(o.end[0].Err, tc.is) || o.end[0].Attempts != tc.attempts || len(o.retry) != tc.retries {
			t.Errorf("%s: ends %+v, retries %+v, want an end with %v after %d attempts", name, o.end, o.retry, tc.is, tc.attempts)
		}
		hidesToken(t, o.end, o.retry)
	}
}

// TestObserveCalls: the client observes each page and each import batch as a call. An Observer can be empty.
func TestObserveCalls(t *testing.T) {
	var o observations
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			respondWith(200, "application/json", `{"imported":1}`)(w, r)
			return
		}
		respondWith(200, "application/json", `{"data":[],"pagination":{"page":1}}`)(w, r)
	}, func(cfg *Config) {
		cfg.Observe = func(ctx context.Context, call Call) (context.Context, Observer) {
			ctx, _ = o.observe(ctx, call)
			return ctx, Observer{}
		}
	})
	check.Need(c.Contacts.Import(t.Context(), 1, numbered(3, 0), ImportOptions{BatchSize: 1}))(t)
	for _, err := range c.Lists.All(t.Context(), ListListsParams{}) {
		t.Error(err)
	}
	want := "importContacts importContacts importContacts listLists"
	assert.Equal(t, want, strings.Join(o.begun, " "), "observed")
}

// TestLogger makes a call with three attempts, and compares its log records with the documentation of
// Config.Logger. Without a logger, each call uses the current slog.Default.
func TestLogger(t *testing.T) {
	request, retry := "platform request", "retrying platform request"
	for name, tc := range map[string]struct {
		level slog.Level
		own   bool     // Config.Logger is set
		want  []string // messages of the records
	}{
		"debug":   {slog.LevelDebug, true, []string{request, retry, request, retry, request}},
		"info":    {slog.LevelInfo, true, []string{retry, retry}},
		"warn":    {slog.LevelWarn, true, nil},
		"default": {slog.LevelDebug, false, []string{request, retry, request, retry, request}},
	} {
		var log bytes.Buffer
		logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: tc.level}))
		c := newTestClient(t, respondWith(503, "text/html", "<h1>down</h1>"), func(cfg *Config) {
			if tc.own {
				cfg.Logger = logger
			}
		})
		before := slog.Default()
		if !tc.own {
			slog.SetDefault(logger)
		}
		_, _ = c.Templates.Get(t.Context(), 1)
		slog.SetDefault(before)
		var got []string
		for line := range strings.Lines(log.String()) {
			got = append(got, checkRecord(t, line))
		}
		assert.Equal(t, tc.want, got, "%s: records", name)
	}
}

func TestLoggerOfSuccess(t *testing.T) {
	var log bytes.Buffer
	c := newTestClient(t, respondWith(200, "application/json", `{"template_id":1}`), func(cfg *Config) {
		cfg.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	check.Need(c.Templates.Get(t.Context(), 1))(t)
	assert.Equal(t, 1, strings.Count(log.String(), "\n"))
	assert.NotContains(t, log.String(), "error")
}

// checkRecord checks the keys and values of a log record and returns its message.
func checkRecord(t *testing.T, line string) string {
	t.Helper()
	var record map[string]any
	require.NoError(t, json.Unmarshal([]byte(line), &record))
	message := record["msg"].(string)
	want := []string{"attempt", "duration", "error", "level", "method", "msg", "op", "path", "request_id", "status", "time"}
	if message == "retrying platform request" {
		want[1] = "delay"
		slices.Sort(want)
	}
	assert.Equal(t, want, slices.Sorted(maps.Keys(record)), message)
	if record["op"] != "getTemplate" || record["method"] != "GET" || record["path"] != "/templates/1" ||
		record["status"] != 503.0 || record["request_id"] != "req-1" {
		t.Errorf("record %s", line)
	}
	return message
}

// TestRequestIDIsUTF8: a header can contain any bytes, but exporters of logs and traces require UTF-8.
func TestRequestIDIsUTF8(t *testing.T) {
	var o observations
	var hook Response
	c := newTestClient(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "caf\xe9")
		w.WriteHeader(http.StatusNotFound)
	}, func(cfg *Config) { cfg.Observe = o.observe })
	_, err := c.Lists.Get(WithResponseHook(t.Context(), func(r Response) { hook = r }), 1)
	e, _ := errors.AsType[*Error](err)
	require.Len(t, o.end, 1)
	assert.Equal(t, []string{"caf\uFFFD", "caf\uFFFD", "caf\uFFFD"}, []string{e.RequestID, o.end[0].RequestID, hook.RequestID})
}
