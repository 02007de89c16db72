package conformance_test

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
)

// Access tokens that the mock server accepts in all tests.
const (
	owner        = "token-of-owner"
	sameOwner    = "other-token-of-owner"   // another token of the same user
	colleague    = "token-of-colleague"     // another user of the same account
	reader       = "token-of-reader"        // read-only
	otherAccount = "token-of-other-account" // another account

	ownerUser = `{"id":31,"email":"ops@shop.example","account_id":1204}`
	noUser    = `{"id":null,"email":null,"account_id":null}`
)

func people() []mockserver.Token {
	return []mockserver.Token{
		{Value: owner, UserID: 31, UserEmail: "ops@shop.example", AccountID: 1204},
		{Value: sameOwner, UserID: 31, UserEmail: "ops@shop.example", AccountID: 1204},
		{Value: colleague, UserID: 32, UserEmail: "dev@shop.example", AccountID: 1204},
		{Value: reader, UserID: 33, UserEmail: "audit@shop.example", AccountID: 1204, ReadOnly: true},
		{Value: otherAccount, UserID: 41, UserEmail: "ops@rival.example", AccountID: 2000},
	}
}

// fixture is a server with a receiver. Every response and every delivered body is validated against openapi.yaml.
type fixture struct {
	probe.Probe

	receiver   *listener
	suppressed int // number of addresses that suppress has added
}

// withFixture runs a test with a fixture in a synctest bubble.
func withFixture(test func(f *fixture), configure ...func(*mockserver.Config)) func(*testing.T) {
	return func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(setup(t, configure...)) })
	}
}

func setup(t testing.TB, configure ...func(*mockserver.Config)) *fixture {
	r := &listener{t: t, secrets: map[string]string{}}
	cfg := mockserver.Config{Tokens: people(), Targets: map[string]http.Handler{"hook.test": r}}
	for _, c := range configure {
		c(&cfg)
	}
	return &fixture{Probe: probe.New(t, cfg), receiver: r}
}

// eventNames returns the names of all events in openapi.yaml, sorted.
func eventNames() (names []string) {
	doc, err := document()
	if err != nil {
		panic(err)
	}
	for _, name := range doc.Components.Schemas["EventName"].Value.Enum {
		names = append(names, name.(string))
	}
	slices.Sort(names)
	return names
}
