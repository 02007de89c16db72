package mockserver_test

import (
	"slices"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

// started returns a server that was changed after its baseline, and the baseline as text.
func started(t *testing.T) (p probe, start string) {
	t.Helper()
	p = seeded(t, stable, mockserver.Config{Targets: receiver(), RecordEvents: true})
	start = snapshotOf(t, p.Server)
	must(t, p.SetBaseline())
	p.mess(t)
	return p, start
}

// mess changes records, settings, faults and tokens.
func (p probe) mess(t *testing.T) {
	t.Helper()
	writer := p.as("writer")
	writer.must("POST", "/lists", `{"name":"Other"}`)
	writer.must("DELETE", "/lists/40/contacts/1001", nil)
	writer.must("POST", "/webhooks/80/archive", nil)
	writer.webhook("Email.Opened")
	must(t, p.Open(writer.email("eve@example.com")))
	p.fired()
	p.SetLookupLimit(mockserver.LookupTokenBucket)
	p.inject(mockserver.Fault{Action: mockserver.FaultStatus, Operation: "listTags"})
	must(t, p.RevokeToken("reader"))
	must(t, p.Seed(strings.NewReader(`{"tokens":[{"token":"later"}]}`)))
}

// wantEmpty fails the test if logs, messages, faults, settings or tokens remain after a reset.
func (p probe) wantEmpty(t *testing.T) {
	t.Helper()
	if n := len(p.Faults()) + len(p.Requests()) + len(p.Outbox()) + len(p.Deliveries()) + len(p.Events()); n != 0 {
		t.Errorf("there are %d faults, requests, messages, deliveries and events, want none", n)
	}
	if a := p.do("GET", "/_mock/info", nil); !strings.Contains(a.text, `"lookup_limit":"min_interval"`) {
		t.Errorf("the lookup limit is not the configured one: %s", a.text)
	}
	p.wantStatus("later", "/lists", 401) // a token that was added later
}

// wantStatus sends a GET with a token.
func (p probe) wantStatus(token, path string, status int) {
	p.t.Helper()
	if a := p.as(token).do("GET", path, nil); a.status != status {
		p.t.Errorf("GET %s with the token %s: %d, want %d", path, token, a.status, status)
	}
}

// Each reset restores the ids, secrets and tokens of the baseline.
func TestResetToBaseline(t *testing.T) {
	p, start := started(t)
	for i, reset := range []func(){p.Reset, func() { p.must("POST", "/_mock/reset", nil) }} {
		reset()
		p.wantEmpty(t)
		if got := snapshotOf(t, p.Server); got != start {
			t.Errorf("reset %d: the state is not the baseline:\n%s\nwant\n%s", i+1, got, start)
		}
		p.wantStatus("reader", "/lists/40", 200)
		p.mess(t)
	}
}

// Clear deletes everything, and Reset restores the baseline.
func TestClear(t *testing.T) {
	empty := snapshotOf(t, newProbe(t, mockserver.Config{}).Server)
	p, start := started(t)
	for i, forget := range []func(){p.Clear, func() { p.must("DELETE", "/_mock/state", nil) }} {
		forget()
		p.wantEmpty(t)
		if got := snapshotOf(t, p.Server); got != empty {
			t.Errorf("%d: the state is not empty: %s", i+1, got)
		}
		p.wantStatus("writer", "/lists", 401)
		p.Reset()
		if got := snapshotOf(t, p.Server); got != start {
			t.Errorf("%d: a reset does not restore the baseline: %s", i+1, got)
		}
	}
	p.Clear()
	p.must("PUT", "/_mock/baseline", nil)
	p.Reset()
	if got := snapshotOf(t, p.Server); got != empty {
		t.Errorf("a reset does not restore the new baseline: %s", got)
	}
}

// Faults, tokens and requests are not part of a snapshot.
func TestRestoreKeepsFaultsTokensRequests(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	before := snapshotOf(t, p.Server)
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
	for _, revoke := range []func(){
		func() { must(t, p.RevokeToken("one")) },
		func() { p.must("POST", "/_mock/tokens/revoke", map[string]string{"token": "one"}) },
	} {
		revoke()
		p.wantStatus("one", "/lists", 401)
		p.wantStatus("two", "/lists", 200)
		for _, token := range []string{"one", "unknown-secret", ""} {
			if err := p.RevokeToken(token); err == nil || token != "" && strings.Contains(err.Error(), token) {
				t.Errorf("RevokeToken(%q): got %v, want an error without the token", token, err)
			}
		}
		p.Reset()
		p.wantStatus("one", "/lists", 200)
	}
	a := p.do("POST", "/_mock/tokens/revoke", map[string]string{"token": "unknown-secret"})
	if _, loc := a.detail(); a.status != 404 || loc != "[body token]" || strings.Contains(a.text, "unknown-secret") {
		t.Errorf("unknown token: got %d %s, want 404 without the token", a.status, a.text)
	}
}

// neighbors returns a server with two accounts. Both were changed after the baseline.
func neighbors(t *testing.T) probe {
	t.Helper()
	p := seeded(t, stable, mockserver.Config{Targets: receiver(), RecordEvents: true})
	p.list()
	must(t, p.SetBaseline())
	p.mess(t)
	p.webhook("Email.Opened")
	must(t, p.Open(p.email("eve@example.com")))
	p.fired()
	if _, err := p.Inject(mockserver.Fault{AccountID: 2, Action: mockserver.FaultDrop}); err != nil { // the reset removes this rule
		t.Fatal(err)
	}
	return p
}

// A reset of one account does not change other accounts.
func TestResetAccount(t *testing.T) {
	for name, reset := range map[string]func(p probe){
		"method": func(p probe) { must(t, p.ResetAccount(2)) },
		"route":  func(p probe) { p.must("POST", "/_mock/reset?account_id=2", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			p := neighbors(t)
			before := p.must("GET", "/lists", nil).text
			reset(p)
			reset(p) // changes nothing
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
			p.wantStatus("later", "/lists", 200) // a token of the other account
		})
	}
}

// onlyAccount1 checks that only one message and one delivery of account 1 are left, and that new ids are unique.
func (p probe) onlyAccount1(t *testing.T) {
	t.Helper()
	messages, deliveries := p.Outbox(), p.Deliveries()
	if len(messages) != 1 || messages[0].AccountID != 1 || len(deliveries) != 1 || deliveries[0].AccountID != 1 {
		t.Fatalf("got the messages %+v and the deliveries %+v, want those of account 1", messages, deliveries)
	}
	if slices.ContainsFunc(p.Events(), func(e mockserver.FiredEvent) bool { return e.AccountID != 1 }) {
		t.Errorf("got %+v, want the events of account 1", p.Events())
	}
	p.wantStatus("", "/_mock/deliveries/dlv-1", 404) // a delivery of account 2
	if err := p.Redeliver("dlv-1"); err == nil {
		t.Error("a deleted delivery is delivered again")
	}
	must(t, p.Redeliver(deliveries[0].ID))
	must(t, p.Restore(strings.NewReader(snapshotOf(t, p.Server))))
	must(t, p.Open(messages[0].ID))
	p.fired()
	if n := len(p.Deliveries()); n != 2 || p.Deliveries()[1].ID == deliveries[0].ID {
		t.Errorf("the next delivery is %+v", p.Deliveries()[n-1])
	}
}

func TestClearAccount(t *testing.T) {
	p := neighbors(t)
	p.must("DELETE", "/_mock/state?account_id=2", nil)
	p.wantStatus("writer", "/lists", 401)
	p.wantStatus("later", "/lists", 200)
	must(t, p.Seed(strings.NewReader(stable))) // the deleted ids can be used again
	must(t, p.ClearAccount(1))
	if a := p.must("GET", "/lists?with_count=true", nil); !strings.Contains(a.text, `"count":0`) {
		t.Errorf("the first account has %s, want nothing", a.text)
	}
}

func TestResetUnknownAccount(t *testing.T) {
	p := neighbors(t)
	for id, want := range map[string]int{"77": 404, "0": 422, "x": 422, "": 422} {
		for _, status := range []int{
			p.do("POST", "/_mock/reset?account_id="+id, nil).status, p.do("DELETE", "/_mock/state?account_id="+id, nil).status,
		} {
			if status != want {
				t.Errorf("account %q: %d, want %d", id, status, want)
			}
		}
	}
	if p.ResetAccount(77) == nil || p.ClearAccount(77) == nil {
		t.Error("an unknown account was reset")
	}
	p.wantStatus("writer", "/lists/40", 200)
}

// After Clear, another account can use ids of the baseline. A reset of the account then fails.
func TestResetAccountWithTakenIDs(t *testing.T) {
	p := neighbors(t)
	for _, id := range []string{"1001", "40"} { // ids of a contact and a list
		p.Clear()
		must(t, p.Seed(strings.NewReader(`{"lists":[{"name":"x","list_id":`+id+`}]}`)))
		a := p.do("POST", "/_mock/reset?account_id=2", nil)
		if a.status != 409 || !strings.Contains(a.text, "another account now has the id "+id) {
			t.Errorf("got %d %s, want 409", a.status, a.text)
		}
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
