package mockserver_test

import (
	"slices"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

// env returns the state.
func (p probe) env(t *testing.T) string {
	t.Helper()
	var state strings.Builder
	must(t, p.Snapshot(&state))
	return state.String()
}

// started returns a server that was changed after its baseline.
func started(t *testing.T) (p probe, start string) {
	t.Helper()
	p = seeded(t, stable, mockserver.Config{Targets: receiver(), RecordEvents: true})
	start = p.env(t)
	must(t, p.SetBaseline())
	p.mess(t)
	return p, start
}

// mess changes everything that a test can change.
func (p probe) mess(t *testing.T) {
	t.Helper()
	writer := p.as("writer")
	writer.must("POST", "/lists", `{"name":"Other"}`)
	writer.must("DELETE", "/lists/40/contacts/1001", nil)
	writer.must("POST", "/webhooks/80/archive", nil)
	writer.webhook("Email.Opened")
	p.open(writer.email("eve@example.com"))
	p.fired()
	p.SetLookupLimit(mockserver.LookupTokenBucket)
	p.inject(mockserver.Fault{Action: mockserver.FaultStatus, Operation: "listTags"})
	must(t, p.RevokeToken("reader"))
	must(t, p.Seed(strings.NewReader(`{"tokens":[{"token":"later"}]}`)))
}

// nothingLeft fails if anything except records is left.
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
	if a := p.do("GET", "/_mock/info", nil); !strings.Contains(a.text, `"lookup_limit":"min_interval"`) {
		t.Errorf("the limit of lookups is not as configured: %s", a.text)
	}
	if a := p.as("later").do("GET", "/lists", nil); a.status != 401 {
		t.Errorf("a token that was added later is answered %d, want 401", a.status)
	}
}

// Each reset restores the ids, secrets and tokens of the baseline.
func TestResetToBaseline(t *testing.T) {
	p, start := started(t)
	for i, reset := range []func(){p.Reset, func() { p.must("POST", "/_mock/reset", nil) }} {
		reset()
		p.nothingLeft(t)
		if got := p.env(t); got != start {
			t.Errorf("reset %d: the state is not that of the start:\n%s\nwant\n%s", i+1, got, start)
		}
		if a := p.as("reader").do("GET", "/lists/40", nil); a.status != 200 {
			t.Errorf("reset %d: a token of the start is answered %d, want 200", i+1, a.status)
		}
		p.mess(t)
	}
}

// Clear deletes everything, and Reset restores the baseline.
func TestClear(t *testing.T) {
	empty := newProbe(t, mockserver.Config{}).env(t)
	p, start := started(t)
	for i, forget := range []func(){p.Clear, func() { p.must("DELETE", "/_mock/state", nil) }} {
		forget()
		p.nothingLeft(t)
		if got := p.env(t); got != empty {
			t.Errorf("%d: there is more than in a new server: %s", i+1, got)
		}
		if a := p.as("writer").do("GET", "/lists", nil); a.status != 401 {
			t.Errorf("%d: a token of the start is answered %d, want 401", i+1, a.status)
		}
		p.Reset()
		if got := p.env(t); got != start {
			t.Errorf("%d: a reset does not go back to the start: %s", i+1, got)
		}
	}
	p.Clear()
	p.must("PUT", "/_mock/baseline", nil)
	p.Reset()
	if got := p.env(t); got != empty {
		t.Errorf("the start is not what it was set to: %s", got)
	}
}

// Faults, tokens and requests are not part of a snapshot.
func TestRestoreKeepsFaultsTokensRequests(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	before := p.env(t)
	p.inject(mockserver.Fault{Action: mockserver.FaultReset, Operation: "listTags"})
	must(t, p.Seed(strings.NewReader(`{"tokens":[{"token":"added"}]}`)))
	p.as("added").must("POST", "/lists", `{"name":"x"}`)
	must(t, p.Restore(strings.NewReader(before)))
	if len(p.Faults()) != 1 || len(p.Requests()) != 1 || strings.Contains(before, "added") {
		t.Errorf("%d faults and %d requests are left, want both as they were", len(p.Faults()), len(p.Requests()))
	}
	if a := p.as("added").must("GET", "/lists", nil); strings.Contains(a.text, `"x"`) {
		t.Errorf("the state was not restored: %s", a.text)
	}
}

// A revoked token is rejected until a reset. Errors do not contain tokens.
func TestRevokeToken(t *testing.T) {
	p := newProbe(t, mockserver.Config{Tokens: []mockserver.Token{{Value: "one"}, {Value: "two"}}})
	for name, revoke := range map[string]func(){
		"method": func() { must(t, p.RevokeToken("one")) },
		"route":  func() { p.must("POST", "/_mock/tokens/revoke", map[string]string{"token": "one"}) },
	} {
		revoke()
		for token, want := range map[string]int{"one": 401, "two": 200} {
			if a := p.as(token).do("GET", "/lists", nil); a.status != want {
				t.Errorf("%s: got %d for the token %s, want %d", name, a.status, token, want)
			}
		}
		for _, token := range []string{"one", "unknown-secret", ""} {
			if err := p.RevokeToken(token); err == nil || token != "" && strings.Contains(err.Error(), token) {
				t.Errorf("%s: RevokeToken(%q): got %v, want an error without the token", name, token, err)
			}
		}
		p.Reset()
		if a := p.do("GET", "/lists", nil); a.status != 200 {
			t.Errorf("%s: got %d after a reset, want 200", name, a.status)
		}
	}
	a := p.do("POST", "/_mock/tokens/revoke", map[string]string{"token": "unknown-secret"})
	if _, loc := a.detail(); a.status != 404 || loc != "[body token]" || strings.Contains(a.text, "unknown-secret") {
		t.Errorf("unknown token: got %d %s, want 404 without the token", a.status, a.text)
	}
}

// neighbors returns a server with two accounts that were changed after the baseline.
func neighbors(t *testing.T) probe {
	t.Helper()
	p := seeded(t, stable, mockserver.Config{Targets: receiver(), RecordEvents: true})
	p.list()
	must(t, p.SetBaseline())
	p.mess(t)
	p.webhook("Email.Opened")
	p.open(p.email("eve@example.com"))
	p.fired()
	if _, err := p.Inject(mockserver.Fault{AccountID: 2, Action: mockserver.FaultDrop}); err != nil { // removed with the account
		t.Fatal(err)
	}
	return p
}

// A reset of one account does not change other accounts.
func TestResetAccount(t *testing.T) {
	resets := map[string]func(p probe) error{
		"by the method": func(p probe) error { return p.ResetAccount(2) },
		"by the route":  func(p probe) error { p.must("POST", "/_mock/reset?account_id=2", nil); return nil },
	}
	for name, reset := range resets {
		t.Run(name, func(t *testing.T) {
			p := neighbors(t)
			before := p.must("GET", "/lists", nil).text
			for range 2 { // again changes nothing
				must(t, reset(p))
			}
			if r := p.Requests(); len(r) == 0 || slices.ContainsFunc(r, func(r mockserver.Request) bool { return r.AccountID == 2 }) ||
				len(p.Faults()) != 1 {
				t.Errorf("%d requests and %d faults are left, want those of the other account", len(r), len(p.Faults()))
			}
			for path, want := range map[string]string{
				"/lists/40/contacts/1001": `"status":"active"`,
				"/webhooks/80":            `"secret":"a secret of ours"`,
				"/lists":                  `"count":2`,
				"/webhooks":               `"count":2`,
			} {
				if a := p.as("reader").must("GET", path+"?with_count=true", nil); !strings.Contains(a.text, want) {
					t.Errorf("%s has no %s: %s", path, want, a.text)
				}
			}
			p.onlyAccount1(t)
			if got := p.must("GET", "/lists", nil).text; got != before {
				t.Errorf("the other account has %s, want %s", got, before)
			}
			if a := p.as("later").do("GET", "/lists", nil); a.status != 200 {
				t.Errorf("a token of the other account is answered %d, want 200", a.status)
			}
		})
	}
}

// onlyAccount1 checks that only records of account 1 are left, and that new ids are unique.
func (p probe) onlyAccount1(t *testing.T) {
	t.Helper()
	for _, m := range p.Outbox() {
		if m.AccountID != 1 {
			t.Errorf("message %s is left", m.ID)
		}
	}
	for _, e := range p.Events() {
		if e.AccountID != 1 {
			t.Errorf("event %s is left", e.ID)
		}
	}
	all := p.Deliveries()
	if len(all) != 1 || all[0].AccountID != 1 || len(p.Outbox()) != 1 {
		t.Fatalf("the deliveries left are %+v, want that of account 1", all)
	}
	if a := p.do("GET", "/_mock/deliveries/dlv-1", nil); a.status != 404 {
		t.Errorf("a delivery that is forgotten is answered %d, want 404", a.status)
	}
	if err := p.Redeliver("dlv-1"); err == nil {
		t.Error("a delivery that is forgotten is delivered again")
	}
	if err := p.Redeliver(all[0].ID); err != nil {
		t.Error(err)
	}
	if err := p.Restore(strings.NewReader(p.env(t))); err != nil {
		t.Fatalf("a state that forgot an account cannot be restored: %v", err)
	}
	p.open(p.Outbox()[0].ID)
	p.fired()
	if n := len(p.Deliveries()); n != 2 || p.Deliveries()[1].ID == all[0].ID {
		t.Errorf("the next delivery is %+v", p.Deliveries()[n-1])
	}
}

func TestClearAccount(t *testing.T) {
	p := neighbors(t)
	p.must("DELETE", "/_mock/state?account_id=2", nil)
	for token, want := range map[string]int{"writer": 401, "later": 200} {
		if a := p.as(token).do("GET", "/lists", nil); a.status != want {
			t.Errorf("%s: %d, want %d", token, a.status, want)
		}
	}
	if err := p.Seed(strings.NewReader(stable)); err != nil {
		t.Errorf("what the account had cannot be seeded again: %v", err)
	}
	must(t, p.ClearAccount(1))
	if a := p.must("GET", "/lists?with_count=true", nil); !strings.Contains(a.text, `"count":0`) {
		t.Errorf("the first account has %s, want nothing", a.text)
	}
}

func TestResetUnknownAccount(t *testing.T) {
	p := neighbors(t)
	for _, route := range []string{"POST /_mock/reset", "DELETE /_mock/state"} {
		method, path, _ := strings.Cut(route, " ")
		for id, want := range map[string]int{"77": 404, "0": 422, "x": 422, "": 422} {
			if a := p.do(method, path+"?account_id="+id, nil); a.status != want {
				t.Errorf("%s of account %q: %d %s, want %d", route, id, a.status, a.text, want)
			}
		}
	}
	if p.ResetAccount(77) == nil || p.ClearAccount(77) == nil {
		t.Error("an account that there is not is reset")
	}
	if a := p.as("writer").do("GET", "/lists/40", nil); a.status != 200 {
		t.Errorf("an account is gone: %d", a.status)
	}
}

// After Clear, ids start at 1, so another account may have the ids of a baseline.
func TestResetAccountWithTakenIDs(t *testing.T) {
	p := neighbors(t)
	p.Clear()
	must(t, p.Seed(strings.NewReader(`{"lists":[{"name":"x","list_id":40}]}`)))
	a := p.do("POST", "/_mock/reset?account_id=2", nil)
	if a.status != 409 || !strings.Contains(a.text, "another account now has the id 40") {
		t.Errorf("got %d %s, want 409", a.status, a.text)
	}
	if a := p.must("GET", "/lists/40", nil); !strings.Contains(a.text, `"x"`) {
		t.Errorf("the other account has %s", a.text)
	}
	p.Clear()
	p.must("POST", "/_mock/reset?account_id=2", nil)
	if a := p.as("reader").must("GET", "/lists/40", nil); !strings.Contains(a.text, "News") {
		t.Errorf("the account has %s", a.text)
	}
}
