package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver"
)

// TestOrder: the status of the response is 422 if the address has bounced, and
// 502 if the outcome of the email is unknown.
func TestOrder(t *testing.T) {
	platform, s := start(t)
	post := func(order, address string) int {
		form := url.Values{"order": {order}, "email": {address}}
		r := httptest.NewRequest(http.MethodPost, "/orders", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		s.order(w, r)
		return w.Code
	}
	s.bounced.Store("gone@example.org", true)
	if got := []int{post("A-17", "ada@example.org"), post("A-18", "gone@example.org")}; got[0] != 200 || got[1] != 422 {
		t.Errorf("got %v, want 200 and 422", got)
	}
	_, err := platform.Inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultReset, Times: 1})
	check(t, err)
	if got := post("A-19", "ada@example.org"); got != 502 {
		t.Errorf("got %d, want 502", got)
	}
}

// TestServe: the server ends when its context ends.
func TestServe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, &http.Server{Addr: "127.0.0.1:0", ReadTimeout: time.Second}) }()
	cancel()
	check(t, <-ended)
}

// TestDemonstrate runs the program without settings.
func TestDemonstrate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { check(t, demonstrate(t.Context())) })
}
