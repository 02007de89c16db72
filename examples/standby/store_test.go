package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/examples/faulttest"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

var check = faulttest.Check

// onHandler sends requests to a handler without a socket.
type onHandler struct{ http.Handler }

func (h onHandler) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

// TestStandby: the standby stores the events of a long maintenance. Afterwards, the receiver handles each event
// once, even if responses were lost, the standby crashed during a write, and the replay was repeated.
func TestStandby(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slog.SetDefault(slog.New(slog.DiscardHandler))
		platform := mockserver.New(mockserver.Config{})
		defer platform.Close()
		c := faulttest.Client(t, platform)
		hook, err := c.Webhooks.Create(t.Context(), client.WebhookCreate{
			URL: "http://shop.test/hook", Events: []events.Name{events.NameSuppressedEmailAdded},
		})
		check(t, err)
		v, err := verifierOf([]string{hook.Secret.Reveal()})
		check(t, err)
		handled := map[string]int{}
		failing := false
		receiver := webhook.NewHandler(v, func(_ context.Context, ev *events.Event) error {
			if handled[ev.Recipient()]++; failing {
				handled[ev.Recipient()]--
				return errors.New("the database is down")
			}
			return nil
		}, webhook.Options{})
		file, err := os.Create(filepath.Join(t.TempDir(), "deliveries.jsonl"))
		check(t, err)
		defer file.Close()
		suppress := func(n int) {
			_, err := c.SuppressedEmails.Add(t.Context(), fmt.Sprintf("a%02d@example.org", n))
			check(t, err)
			check(t, platform.Wait(t.Context()))
		}

		platform.SetTarget("shop.test", losing(receiver)) // the event is handled, but the response is lost
		suppress(0)
		platform.SetTarget("shop.test", losing(store(v, file)))
		for n := 1; n < 20; n++ {
			suppress(n)
			time.Sleep(2 * time.Hour)
		}
		_, err = file.WriteString("\n{\"body\":\"eyJldmVudCI6") // a crash while writing
		check(t, err)
		suppress(20)
		check(t, platform.Drain(t.Context()))

		text, err := os.ReadFile(file.Name())
		check(t, err)
		toReceiver := &http.Client{Transport: onHandler{receiver}}
		failing = true
		if _, err := replay(t.Context(), toReceiver, bytes.NewReader(text), "http://shop.test/hook"); err == nil {
			t.Error("replay does not report that the receiver failed")
		}
		failing = false
		for range 2 {
			if n, err := replay(t.Context(), toReceiver, bytes.NewReader(text), "http://shop.test/hook"); err != nil || n < 21 {
				t.Errorf("%d deliveries, %v", n, err)
			}
		}
		for n := range 21 {
			if times := handled[fmt.Sprintf("a%02d@example.org", n)]; times != 1 {
				t.Errorf("event %d was handled %d times", n, times)
			}
		}
		for _, d := range platform.Deliveries() {
			if d.State != mockserver.DeliveryDelivered {
				t.Errorf("delivery %s is %s", d.ID, d.State)
			}
		}
	})
}

// losing loses every third response, beginning with the first.
func losing(h http.Handler) http.Handler {
	var mu sync.Mutex
	n := 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if n++; n%3 == 1 {
			h.ServeHTTP(httptest.NewRecorder(), r)
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// TestForgedIsNotStored: the standby stores only deliveries with a valid signature.
func TestForgedIsNotStored(t *testing.T) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	v, err := verifierOf([]string{"secret"})
	check(t, err)
	file, err := os.Create(filepath.Join(t.TempDir(), "deliveries.jsonl"))
	check(t, err)
	defer file.Close()
	err = post(t.Context(), &http.Client{Transport: onHandler{store(v, file)}}, "http://shop.test/hook", stored{[]byte(`{"event":"X"}`), "forged"})
	if info, statErr := file.Stat(); err == nil || statErr != nil || info.Size() != 0 {
		t.Errorf("%v, %v, %d bytes", err, statErr, info.Size())
	}
}

// TestReplayFollowsNoRedirect: if the receiver responds with a redirect, replay returns an error, because the
// redirect's target does not handle the event.
func TestReplayFollowsNoRedirect(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/hook", http.RedirectHandler("/login", http.StatusFound))
	mux.HandleFunc("/login", func(http.ResponseWriter, *http.Request) {})
	c := receiver()
	c.Transport = onHandler{mux}
	file := strings.NewReader(`{"body":"e30=","signature":"s"}` + "\n")
	if n, err := replay(t.Context(), c, file, "http://shop.test/hook"); err == nil || n != 0 {
		t.Errorf("%d deliveries, %v", n, err)
	}
}
