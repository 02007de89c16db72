package mockserver_test

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
)

func TestRecipientErrors(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	list := p.List()
	p.Post(list+"/contacts/"+p.Contact(list, "ada@example.org")+"/unsubscribe", nil).OK()
	rejected := p.Email("ada@example.org")
	for name, err := range map[string]error{
		"unknown email":    p.Open("nothing"),
		"rejected email":   p.Open(rejected),
		"deletion":         p.DeleteMessage("nothing"),
		"restoration":      p.RestoreMessage("nothing"),
		"unknown category": p.Bounce(p.Email("bob@example.org"), "bounce_xx"),
	} {
		assert.Regexp(t, "^mockserver: ", err, name)
	}
}

// Checks returns the problems of one message, and an error for a deleted one.
func TestChecks(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	id := p.Email("ada@example.org", "Hello {{name}}")
	found, err := p.Checks(id)
	require.NoError(t, err)
	var names []string
	for _, f := range found {
		assert.NotEmpty(t, f.Text)
		names = append(names, f.Check)
	}
	assert.Contains(t, names, "empty_tag")
	require.NoError(t, p.DeleteMessage(id))
	_, err = p.Checks(id)
	assert.EqualError(t, err, fmt.Sprintf("mockserver: check the message: message %q does not exist", id))
}

// TestConcurrentMethods calls methods concurrently and modifies their results.
func TestConcurrentMethods(t *testing.T) {
	p := probe.New(t, mockserver.Config{RecordEvents: true})
	const email = `{"email":"open@mock.test","sender":{"email":"a@example.org"},"content":{"subject":"S","text":"T"}}`
	calls := []func(){
		func() { p.Post("/v2/emails", email).OK() },
		func() {
			for _, m := range p.Outbox() {
				clear(m.Headers)
			}
		},
		func() {
			for _, r := range p.Requests() {
				clear(r.Body)
			}
		},
		func() {
			for _, e := range p.Events() {
				clear(e.Body)
			}
		},
		func() {
			rules, err := p.Inject(mockserver.Fault{Operation: "listTags", Action: mockserver.FaultReset})
			if assert.NoError(t, err) {
				assert.NoError(t, p.RemoveFault(rules[0].ID))
			}
			clear(p.Faults())
		},
		func() {
			assert.NoError(t, errors.Join(p.Advance(t.Context(), time.Second), p.Snapshot(io.Discard), p.Wait(t.Context())))
		},
		func() { clear(p.Deliveries()); p.SetLookupLimit(mockserver.LookupTokenBucket); _ = p.Clock() },
	}
	var all sync.WaitGroup
	for _, call := range calls {
		for range 2 {
			all.Go(func() {
				for range 20 {
					call()
				}
			})
		}
	}
	all.Wait()
	messages, requests := p.Outbox(), p.Requests()
	require.Len(t, messages, 40)
	require.NotEmpty(t, messages[0].Headers)
	assert.NotEmpty(t, messages[0].Headers[0].Name)
	assert.Equal(t, email, string(requests[0].Body))
}
