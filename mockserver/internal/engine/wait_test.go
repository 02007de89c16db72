package engine_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// WaitFor calls its function only after changes.
func TestWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := probe.New(t, mockserver.Config{})
		start := time.Now()
		var application sync.WaitGroup
		application.Go(func() {
			for range 3 {
				time.Sleep(time.Hour)
				p.Email("ada@example.org")
			}
		})
		defer application.Wait()
		calls := 0
		err := p.WaitFor(t.Context(), func() bool {
			calls++
			return len(p.OutboxTo("ADA@example.org")) == 3
		})
		require.NoError(t, err)
		if took := time.Since(start); took != 3*time.Hour {
			t.Errorf("Wait took %v, want the 3 h of the application", took)
		}
		if calls > 10 { // once, and after each message and each request
			t.Errorf("%d calls for three messages", calls)
		}
	})
}

func TestWaitForEnds(t *testing.T) {
	never := func() bool { return false }
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	p := probe.New(t, mockserver.Config{})
	assert.NoError(t, p.WaitFor(ended, func() bool { return true }), "a condition that is already true")
	err := p.WaitFor(ended, never)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, err, "wait: the condition was not met: context canceled")
	for name, end := range map[string]func(*mockserver.Server){
		"Close": (*mockserver.Server).Close, "Shutdown": func(s *mockserver.Server) { _ = s.Shutdown(t.Context()) },
	} {
		p := probe.New(t, mockserver.Config{})
		go end(p.Server)
		assert.ErrorContains(t, p.WaitFor(t.Context(), never), "server closed", name)
	}
}

// A wait or drain of one account does not wait for the receiver of another account.
func TestWaitForOneAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		p := probe.New(t, mockserver.Config{
			Tokens:         []mockserver.Token{{Value: "one"}, {Value: "two", UserID: 2, AccountID: 2}, {Value: "three", UserID: 3, AccountID: 3}},
			RetrySchedule:  []time.Duration{20 * time.Second},
			AttemptTimeout: time.Hour,
			Targets:        map[string]http.Handler{"app.test": new(probe.Receiver), "stuck.test": hang},
		})
		p.CauseDelivery()
		p.As("two").Post("/webhooks", `{"url":"http://stuck.test/","events":["SuppressedEmail.Added"]}`).OK()
		p.As("two").Post("/suppressed-emails", `{"email":"eve@example.org"}`).OK()
		_, err := p.SendEventTo("http://stuck.test/", check.Need(webhook.ParseSecret("s3cr3t", ""))(t), []byte(`{}`))
		require.NoError(t, err)
		const send = `{"url":"http://stuck.test/","secret":"s3cr3t","body":{},"account_id":`
		p.Post("/_mock/events", send+`3}`).OK()
		p.Post("/_mock/events", `{"url":"http://app.test/","secret":"s3cr3t","body":{},"account_id":1}`).OK()
		assert.Equal(t, 404, p.Post("/_mock/events", send+`5}`).Status, "an unknown account")
		assert.Equal(t, 422, p.Post("/_mock/events", `{"webhook_id":"1","body":{},"account_id":1}`).Status, "the webhook has an account")
		for body, status := range map[string]int{
			`{"account_id":3,"timeout_ms":5}`:                                                  504,
			`{"for":"delivery","account_id":3,"search":"stuck.test","count":2,"timeout_ms":5}`: 200,
			`{"account_id":1}`:                204,
			`{"account_id":1,"drain":true}`:   204,
			`{"account_id":2,"timeout_ms":5}`: 504,
			`{"timeout_ms":5}`:                504,
			`{"account_id":5}`:                404,
			`{"account_id":0}`:                422,
		} {
			p.Post("/_mock/wait", body).Has(status, "")
		}
		require.NoError(t, p.WaitAccount(t.Context(), 1))
		require.NoError(t, p.DrainAccount(t.Context(), 1))
		assert.Error(t, p.WaitAccount(t.Context(), 5), "WaitAccount accepts an unknown account")
	})
}

// If their context ends, Wait and Drain return. Close cancels attempts in progress.
func TestWaitEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inProgress atomic.Int32
		hang := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			inProgress.Add(1)
			<-r.Context().Done()
			inProgress.Add(-1)
		})
		p := probe.New(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": hang}})
		p.CauseDelivery()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.ErrorIs(t, p.Wait(ctx), context.DeadlineExceeded)
		ctx, cancel = context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := p.Drain(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "1 deliveries to webhook")
		p.Post("/suppressed-emails", `{"email":"b@example.org"}`).OK()
		synctest.Wait()
		if inProgress.Load() == 0 {
			t.Error("no attempt is in progress")
		}
		start := time.Now()
		p.Close() // cancels the attempt
		p.Close() // has no effect
		took := time.Since(start)
		synctest.Wait()
		assert.Zero(t, took, "the duration of Close")
		assert.Zero(t, inProgress.Load(), "the attempts in progress")
	})
}

// Drain on a closed server fails immediately and reports the pending deliveries.
func TestDrainClosedServer(t *testing.T) {
	for name, start := range map[string]func(func()){
		"closed before":  func(end func()) { end() },
		"closed because": func(end func()) { go end() },
	} {
		synctest.Test(t, func(t *testing.T) {
			h := &probe.Receiver{Status: func(int) int { return http.StatusInternalServerError }}
			p := probe.New(t, mockserver.Config{Targets: h.Targets(), RetrySchedule: []time.Duration{time.Hour}})
			p.CauseDelivery()
			require.NoError(t, p.Wait(t.Context()))
			start(p.Close)
			err := p.Drain(t.Context())
			assert.ErrorContains(t, err, "1 deliveries to webhook", name)
			assert.ErrorContains(t, err, "server closed", name)
		})
	}
}
