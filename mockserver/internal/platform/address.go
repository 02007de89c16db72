package platform

import (
	"strings"

	"example.com/emailplatform/events"
)

// TestDomain is the domain of recipients that react automatically.
const TestDomain = "mock.test"

// TestAddress is an address in the domain [TestDomain].
type TestAddress struct {
	Address string `json:"address" doc:"the address; a plus sign and any text can follow the part before @"`
	Effect  string `json:"effect" doc:"the action of the recipient"`

	act func(t *tx, m *message, word string) // word is the text after the first plus sign
}

// TestAddresses returns all test addresses.
func TestAddresses() []TestAddress {
	return []TestAddress{
		{
			"bounce@" + TestDomain,
			"bounces with the category bounce_hb, a hard bounce; bounce+sb@ bounces with bounce_sb, and so on for each category",
			(*tx).bounceAs,
		},
		{"complaint@" + TestDomain, "reports the message as spam", func(t *tx, m *message, _ string) { t.complain(m, "") }},
		{"error@" + TestDomain, "makes POST /v2/emails fail with an internal error", func(*tx, *message, string) {}}, // see internalError
		{"open@" + TestDomain, "opens the message", func(t *tx, m *message, _ string) { t.open(m) }},
		{"click@" + TestDomain, "clicks a link", func(t *tx, m *message, _ string) { t.click(m, "https://"+TestDomain+"/") }},
		{"unsubscribe@" + TestDomain, "unsubscribes from the list", func(t *tx, m *message, _ string) { _ = t.unsubscribe(m) }}, // fails without a list contact
		{"global-unsubscribe@" + TestDomain, "unsubscribes from all email", func(t *tx, m *message, _ string) { t.globalUnsubscribe(m) }},
	}
}

func (t *tx) bounceAs(m *message, word string) {
	category := events.BounceCategory("bounce_" + word)
	if !knownCategory(category) {
		category = events.BounceCategoryHard
	}
	t.bounce(m, category, "")
}

// testAddressWords returns the words in the local part of a test address, or nil for
// other addresses.
func testAddressWords(address string) []string {
	local, domain, _ := strings.Cut(strings.ToLower(address), "@")
	if domain != TestDomain {
		return nil
	}
	return strings.Split(local, "+")
}

// simulateTestAddress simulates the actions of a recipient with a test address.
func (t *tx) simulateTestAddress(m *message) {
	words := testAddressWords(m.To)
	if words == nil {
		return
	}
	caller := t.caller
	t.caller, t.messageID = nil, m.ID // without a user, because the recipient acts
	defer func() { t.caller, t.messageID = caller, "" }()
	for _, a := range TestAddresses() {
		if a.Address == words[0]+"@"+TestDomain {
			a.act(t, m, strings.Join(words[1:min(2, len(words))], ""))
		}
	}
}
