package delivery

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver/record"
	"example.com/emailplatform/webhook"
)

// TestRetriesFollowTheSchedule: no attempt of the schedule is left out, and none is made after it.
func TestRetriesFollowTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var attempts []time.Duration
		e := engineTo(t, func(w http.ResponseWriter, _ *http.Request) {
			attempts = append(attempts, time.Since(start))
			w.WriteHeader(http.StatusInternalServerError)
		})
		e.schedule = DefaultRetrySchedule()
		e.Open(hook)
		id, err := e.Send(hook.Name(), []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		var want []time.Duration
		var at time.Duration
		for _, wait := range append([]time.Duration{0}, DefaultRetrySchedule()...) {
			at += wait
			want = append(want, at)
		}
		if fmt.Sprint(attempts) != fmt.Sprint(want) {
			t.Errorf("attempts after %v, want %v", attempts, want)
		}
		if r := e.Record(id); r.State != record.DeliveryFailed {
			t.Errorf("the delivery is %s, want %s", r.State, record.DeliveryFailed)
		}
	})
}

// TestRetriesAreIdentical: each attempt has the same body and the same signature.
func TestRetriesAreIdentical(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const body = `{"event":"Email.Opened"}`
		signature, err := webhook.Sign(parsed(hook.Secret, hook.Hash), []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		attempts := 0
		e := engineTo(t, func(w http.ResponseWriter, r *http.Request) {
			attempts++
			got, err := io.ReadAll(r.Body)
			if err != nil || string(got) != body || r.Header.Get(webhook.DefaultSignatureHeader) != signature {
				t.Errorf("attempt %d: %q, %v, signed with %q; want %q signed with %q",
					attempts, got, err, r.Header.Get(webhook.DefaultSignatureHeader), body, signature)
			}
			w.WriteHeader(http.StatusInternalServerError)
		})
		e.Open(hook)
		if _, err := e.Send(hook.Name(), []byte(body)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if attempts != 2 {
			t.Errorf("%d attempts, want 2", attempts)
		}
	})
}
