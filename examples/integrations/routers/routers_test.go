package routers

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/gofiber/fiber/v3"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

const body = `{"id":"0d0b5a2e-5d0c-4c5e-9d8f-3f1f0a6c7b11","event":"Email.Opened","created_on":1760000000,"data":{}}`

var errFailed = errors.New("the database is down")

// TestHandler: each framework passes deliveries to the function, and the statuses of the handler to the platform.
func TestHandler(t *testing.T) {
	for name, serve := range map[string]func(*testing.T, http.Handler) string{
		"chi": func(t *testing.T, hook http.Handler) string {
			r := chi.NewRouter()
			withChi(r, hook)
			return start(t, r)
		},
		"gin": func(t *testing.T, hook http.Handler) string {
			r := newGin()
			withGin(r, hook)
			return start(t, r)
		},
		"echo": func(t *testing.T, hook http.Handler) string {
			e := newEcho()
			withEcho(e, hook)
			return start(t, e)
		},
		"fiber": startFiber,
	} {
		t.Run(name, func(t *testing.T) {
			var handle atomic.Pointer[func(context.Context) error]
			verifier, secret := keys(t)
			hook := webhook.NewHandler(verifier, func(ctx context.Context, _ *events.Event) error { return (*handle.Load())(ctx) },
				webhook.Options{Timeout: time.Minute, Logger: slog.New(slog.DiscardHandler)})
			url := serve(t, hook)

			for _, step := range []struct {
				name   string
				handle func(context.Context) error
				status int
			}{
				{"panic", func(context.Context) error { panic("test") }, 500},
				{"abort", func(context.Context) error { panic(http.ErrAbortHandler) }, 500},
				{"error", func(context.Context) error { return errFailed }, 500},
				{"deadline of Options.Timeout", func(ctx context.Context) error {
					if _, ok := ctx.Deadline(); !ok {
						return nil
					}
					return errFailed
				}, 500},
				{"success", func(context.Context) error { return nil }, 204},
				{"duplicate", func(context.Context) error { return errFailed }, 204},
			} {
				handle.Store(&step.handle)
				if got := send(t, url, secret); got != step.status && (step.name != "abort" || got != aborted) {
					t.Errorf("%s: status %d, want %d", step.name, got, step.status)
				}
			}
			handle.Store(new(func(context.Context) error { t.Error("a forged delivery was handled"); return nil }))
			if got := send(t, url, otherSecret(t)); got != http.StatusUnauthorized {
				t.Errorf("a forged delivery: status %d, want 401", got)
			}
		})
	}
}

// TestMiddleware: the next handler gets verified deliveries with their bodies, and no others.
func TestMiddleware(t *testing.T) {
	verifier, secret := keys(t)
	verified := webhook.Middleware(verifier, webhook.Options{Timeout: time.Minute, Logger: slog.New(slog.DiscardHandler)})
	var calls atomic.Int32
	handle := func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		d, ok := webhook.FromContext(r.Context())
		got, err := io.ReadAll(r.Body)
		if !ok || d.Event.Name != "Email.Opened" || err != nil || string(got) != body || r.Context().Err() != nil {
			t.Errorf("the delivery is %+v, %t, its body %q, %v, its context %v", d, ok, got, err, r.Context().Err())
		}
		w.WriteHeader(http.StatusAccepted)
	}
	r := chi.NewRouter()
	chiMiddleware(r, verified, handle)
	e := newEcho()
	echoMiddleware(e, verified, func(c echo.Context) error { handle(c.Response(), c.Request()); return nil })
	g := newGin()
	g.POST("/hook", ginMiddleware(verified), func(c *gin.Context) { handle(c.Writer, c.Request) })
	for name, router := range map[string]http.Handler{"chi": r, "gin": g, "echo": e} {
		t.Run(name, func(t *testing.T) {
			calls.Store(0)
			url := start(t, router)
			if got := send(t, url, secret); got != http.StatusAccepted || calls.Load() != 1 {
				t.Errorf("status %d after %d calls, want 202 after 1", got, calls.Load())
			}
			if got := send(t, url, otherSecret(t)); got != http.StatusUnauthorized || calls.Load() != 1 {
				t.Errorf("a forged delivery: status %d after %d calls, want 401 after 1", got, calls.Load())
			}
		})
	}
}

// newGin returns an engine that recovers from panics, like gin.Default, but writes no log.
func newGin() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.RecoveryWithWriter(io.Discard))
	return r
}

func newEcho() *echo.Echo {
	e := echo.New()
	e.Logger.SetOutput(io.Discard)
	e.Use(middleware.Recover())
	return e
}

func start(t *testing.T, h http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

func startFiber(t *testing.T, hook http.Handler) string {
	t.Helper()
	app := fiber.New()
	withFiber(app, hook)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- app.Listener(ln, fiber.ListenConfig{DisableStartupMessage: true}) }()
	t.Cleanup(func() { // without app.Shutdown, which has a data race with the contexts of earlier requests
		if err := errors.Join(ln.Close(), <-served); err != nil {
			t.Error(err)
		}
	})
	return "http://" + ln.Addr().String()
}

func keys(t *testing.T) (*webhook.Verifier, webhook.Secret) {
	t.Helper()
	secret, err := webhook.ParseSecret("secret-of-the-webhook", "sha256")
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		t.Fatal(err)
	}
	return verifier, secret
}

func otherSecret(t *testing.T) webhook.Secret {
	t.Helper()
	secret, err := webhook.ParseSecret("secret-of-an-attacker", "sha256")
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

const aborted = 0

// send sends a signed delivery and returns the status, or aborted if the server closed the connection.
func send(t *testing.T, url string, secret webhook.Secret) int {
	t.Helper()
	r, err := webhook.NewRequest(t.Context(), url+"/hook", secret, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return aborted
	}
	defer func() { _ = res.Body.Close() }()
	return res.StatusCode
}
