package mockserver_test

import (
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

// what there is to see of a world, but for its messages.
func (p probe) world(t *testing.T) string {
	t.Helper()
	var state strings.Builder
	if err := p.Snapshot(&state); err != nil {
		t.Fatal(err)
	}
	return state.String()
}

// started returns a server that a test has made a mess of since the start.
func started(t *testing.T) (p probe, start string) {
	t.Helper()
	p = seeded(t, stable, mockserver.Config{Targets: receiver(), RecordEvents: true})
	start = p.world(t)
	if err := p.SetStart(); err != nil {
		t.Fatal(err)
	}
	p.mess(t)
	return p, start
}

// mess changes all that a test may change.
func (p probe) mess(t *testing.T) {
	t.Helper()
	writer := p.as("writer")
	writer.must("POST", "/lists", `{"name":"Other"}`)
	writer.must("DELETE", "/lists/40/contacts/1001", nil)
	writer.must("POST", "/webhooks/80/archive", nil)
	writer.webhook("Email.Opened")
	p.open(writer.email("eve@example.com"))
	p.fired()
	p.SetLookupLimit(mockserver.LookupBucket)
	if err := p.Inject(mockserver.Fault{Action: mockserver.FaultStatus, Times: 1}); err != nil {
		t.Fatal(err)
	}
	if err := p.RevokeToken("reader"); err != nil {
		t.Fatal(err)
	}
	if err := p.Seed(strings.NewReader(`{"tokens":[{"token":"later"}]}`)); err != nil {
		t.Fatal(err)
	}
}

// nothingLeft holds that a test left nothing but the state of records.
func (p probe) nothingLeft(t *testing.T) {
	t.Helper()
	for what, n := range map[string]int{
		"faults":     len(p.Faults()),
		"requests":   len(p.Requests()),
		"messages":   len(p.Outbox()),
		"deliveries": len(p.Deliveries()),
		"events":     len(p.Events()),
	} {
		if n != 0 {
			t.Errorf("there are %d %s, want none", n, what)
		}
	}
	if a := p.do("GET", "/_mock/info", nil); !strings.Contains(a.text, `"lookup_limit":"gap"`) {
		t.Errorf("the limit of lookups is not as configured: %s", a.text)
	}
	if a := p.as("later").do("GET", "/lists", nil); a.status != 401 {
		t.Errorf("a token that was added later is answered %d, want 401", a.status)
	}
}

// A reset goes back to the start, as often as there are tests: the same ids,
// secrets and tokens.
func TestResetGoesBackToTheStart(t *testing.T) {
	p, start := started(t)
	for i, reset := range []func(){p.Reset, func() { p.must("POST", "/_mock/reset", nil) }} {
		reset()
		p.nothingLeft(t)
		if got := p.world(t); got != start {
			t.Errorf("reset %d: the state is not that of the start:\n%s\nwant\n%s", i+1, got, start)
		}
		if a := p.as("reader").do("GET", "/lists/40", nil); a.status != 200 {
			t.Errorf("reset %d: a token of the start is answered %d, want 200", i+1, a.status)
		}
		p.mess(t)
	}
}

// What forgets everything leaves nothing of the start either, until a reset.
func TestClear(t *testing.T) {
	empty := newProbe(t, mockserver.Config{}).world(t)
	p, start := started(t)
	for i, forget := range []func(){p.Clear, func() { p.must("DELETE", "/_mock/state", nil) }} {
		forget()
		p.nothingLeft(t)
		if got := p.world(t); got != empty {
			t.Errorf("%d: there is more than in a new server: %s", i+1, got)
		}
		if a := p.as("writer").do("GET", "/lists", nil); a.status != 401 {
			t.Errorf("%d: a token of the start is answered %d, want 401", i+1, a.status)
		}
		p.Reset()
		if got := p.world(t); got != start {
			t.Errorf("%d: a reset does not go back to the start: %s", i+1, got)
		}
	}
	p.Clear()
	p.must("PUT", "/_mock/start", nil)
	p.Reset()
	if got := p.world(t); got != empty {
		t.Errorf("the start is not what it was set to: %s", got)
	}
}

// A seed says what there is; nothing happens.
func TestSeedFiresNothing(t *testing.T) {
	p := newProbe(t, mockserver.Config{Targets: receiver(), RecordEvents: true})
	p.webhook("Contact.Added", "SuppressedEmail.Added")
	if err := p.Seed(strings.NewReader(seedFile[:strings.LastIndex(seedFile, `{"account_id"`)])); err != nil {
		t.Fatal(err)
	}
	if events, deliveries := len(p.Events()), len(p.fired()); events+deliveries > 0 {
		t.Errorf("a seed fires %d events and %d deliveries, want none", events, deliveries)
	}
}

// Faults, tokens and requests are a test's and no part of a snapshot.
func TestRestoreLeavesWhatTestsSet(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	before := p.world(t)
	if err := p.Inject(mockserver.Fault{Action: mockserver.FaultReset, Operation: "listTags"}); err != nil {
		t.Fatal(err)
	}
	if err := p.Seed(strings.NewReader(`{"tokens":[{"token":"added"}]}`)); err != nil {
		t.Fatal(err)
	}
	p.as("added").must("POST", "/lists", `{"name":"x"}`)
	if err := p.Restore(strings.NewReader(before)); err != nil {
		t.Fatal(err)
	}
	if len(p.Faults()) != 1 || len(p.Requests()) != 1 || strings.Contains(before, "added") {
		t.Errorf("%d faults and %d requests are left, want both as they were", len(p.Faults()), len(p.Requests()))
	}
	if a := p.as("added").must("GET", "/lists", nil); strings.Contains(a.text, `"x"`) {
		t.Errorf("the state was not restored: %s", a.text)
	}
}

func TestRevokeTokenRoute(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	p.must("POST", "/_mock/tokens/revoke", map[string]string{"token": p.Token()})
	if a := p.do("GET", "/lists", nil); a.status != 401 {
		t.Errorf("a revoked token is answered %d, want 401", a.status)
	}
	a := p.do("POST", "/_mock/tokens/revoke", map[string]string{"token": "an unknown-secret"})
	if _, loc := a.detail(); a.status != 404 || loc != "[body token]" || strings.Contains(a.text, "unknown-secret") {
		t.Errorf("an unknown token: %d %s, want 404 that does not tell it", a.status, a.text)
	}
}
