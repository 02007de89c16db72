package webhook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// FuzzHandler compares the handler with an HMAC that was computed without this package.
func FuzzHandler(f *testing.F) {
	body := []byte(eventBody)
	good := sign(secret, body)
	f.Add(http.MethodPost, body, good, "", false, true)
	f.Add(http.MethodPost, body, good, good, true, false)
	f.Add(http.MethodPost, body, "", "", false, false)
	f.Add(http.MethodPost, body, good[:43], "", false, false)
	f.Add(http.MethodPost, []byte(`{"event":"Email.Bounced","data":{"email":{"id":[]}}}`), "", "", false, true)
	f.Add(http.MethodPost, []byte(`{"event":"Email.ReportedAsSpam","id":"\u0000","created_on":1e99}`), "", "", false, true)
	f.Add(http.MethodGet, []byte("{}"), good, "", false, true)
	f.Fuzz(func(t *testing.T, method string, body []byte, first, second string, two, sign bool) {
		mac := hmac.New(sha256.New, []byte(secret.Reveal()))
		mac.Write(body)
		genuine := base64.StdEncoding.EncodeToString(mac.Sum(nil))
		if sign {
			first = genuine
		}
		mayCall := method == http.MethodPost && !two && first == genuine
		calls := 0
		h := webhook.NewHandler(newVerifier(t, secret), func(ctx context.Context, ev *events.Event) error {
			calls++
			if d, ok := webhook.FromContext(ctx); !ok || !bytes.Equal(d.Body, body) || d.Key == "" || ev.Name == "" {
				t.Errorf("delivery %+v, event %+v", d, ev)
			}
			return nil
		}, webhook.Options{Logger: slog.New(slog.DiscardHandler)})

		var code int
		for range 2 { // the second time it is a duplicate
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", io.NopCloser(bytes.NewReader(body)))
			req.Method = method
			req.Header[webhook.DefaultSignatureHeader] = []string{first, second}[:1]
			if two {
				req.Header[webhook.DefaultSignatureHeader] = []string{first, second}
			}
			code = serve(h, req).Code
		}
		switch {
		case calls > 1:
			t.Errorf("called %d times", calls)
		case calls == 1 && !mayCall:
			t.Error("a forgery is accepted")
		case calls == 1 && code != http.StatusNoContent, calls == 0 && code < 400:
			t.Errorf("%d calls, status %d", calls, code)
		case mayCall && calls == 0 && !slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge}, code):
			t.Errorf("status %d for a valid delivery", code)
		}
	})
}
