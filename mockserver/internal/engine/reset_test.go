package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
)

// Each method has the same effect as its route.
func TestResetMethods(t *testing.T) {
	changed := func() probe.Probe {
		p := probe.New(t, mockserver.Config{Now: time.Unix(1_800_000_000, 0), FreezeClock: true})
		require.NoError(t, p.Seed(strings.NewReader(`{"account_id":2,"tokens":[{"token":"two"}],"lists":[{"name":"News"}]}`)))
		require.NoError(t, p.SetBaseline())
		for _, token := range []string{p.Token(), "two"} {
			p.As(token).Post("/lists", `{"name":"Later"}`).OK()
		}
		return p
	}
	for route, method := range map[string]func(p probe.Probe) error{
		"POST /_mock/reset":                func(p probe.Probe) error { p.Reset(); return nil },
		"POST /_mock/reset?account_id=2":   func(p probe.Probe) error { return p.ResetAccount(2) },
		"DELETE /_mock/state":              func(p probe.Probe) error { p.Clear(); return nil },
		"DELETE /_mock/state?account_id=2": func(p probe.Probe) error { return p.ClearAccount(2) },
	} {
		p, q := changed(), changed()
		require.NoError(t, method(p))
		verb, path, _ := strings.Cut(route, " ")
		q.Do(verb, path, nil).OK()
		if got, want := p.State(), q.State(); got != want {
			t.Errorf("%s: %s", route, difference(want, got))
		}
		assert.Error(t, p.ResetAccount(77), "an unknown account")
		assert.Error(t, p.ClearAccount(77), "an unknown account")
	}
}

// After a reset of one account, the deliveries of other accounts can be repeated, and new ids are unique.
func TestResetAccountDeliveries(t *testing.T) {
	tokens := []mockserver.Token{{Value: "one"}, {Value: "two", AccountID: 2}}
	p := probe.New(t, mockserver.Config{Targets: new(probe.Receiver).Targets(), Tokens: tokens})
	p.As("two").CauseDelivery()
	require.NoError(t, p.Wait(t.Context()))
	p.CauseDelivery()
	require.NoError(t, p.Wait(t.Context()))
	require.NoError(t, p.ResetAccount(2))
	assert.Error(t, p.Redeliver("dlv-1"), "a deleted delivery is delivered again")
	require.NoError(t, p.Redeliver("dlv-2"))
	require.NoError(t, p.Restore(strings.NewReader(p.State())))
	p.Post("/suppressed-emails", `{"email":"b@example.org"}`).OK()
	added := events.NameSuppressedEmailAdded
	require.Equal(t, []events.Name{added, added}, p.Fired())
	assert.NotEqual(t, "dlv-2", p.Deliveries()[1].ID)
}

// After a reset of its account, a scheduled campaign is no longer pending work.
func TestResetAccountCampaigns(t *testing.T) {
	p := waiting(t)
	require.NotZero(t, p.Clock().Next)
	require.NoError(t, p.ResetAccount(1))
	assert.Zero(t, p.Clock().Next, "%s", p.Clock().What)
}

// Faults, tokens and requests are not part of a snapshot.
func TestRestoreKeepsFaultsTokensRequests(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	before := p.State()
	p.MustInject(mockserver.Fault{Action: mockserver.FaultReset, Operation: "listTags"})
	require.NoError(t, p.Seed(strings.NewReader(`{"tokens":[{"token":"added"}]}`)))
	p.As("added").Post("/lists", `{"name":"x"}`).OK()
	require.NoError(t, p.Restore(strings.NewReader(before)))
	assert.Len(t, p.Faults(), 1)
	assert.Len(t, p.Requests(), 1)
	assert.NotContains(t, before, "added")
	assert.NotContains(t, p.As("added").Get("/lists").OK().Body, `"x"`, "the state was not restored")
}
