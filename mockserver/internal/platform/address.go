package platform

import "example.com/emailplatform/events"

// MagicDomain is the domain of recipients that react automatically.
const MagicDomain = "mock.test"

// TestAddress is an address in the domain [MagicDomain].
type TestAddress struct {
	Address string `json:"address" doc:"the address; a plus sign and any text can follow the part before @"`
	Effect  string `json:"effect" doc:"the action of the recipient"`

	act func(t *tx, m *message, word string) // word is the text after the first plus sign
}

// TestAddresses returns all test addresses.
func TestAddresses() []TestAddress {
	return []TestAddress{
		{
			"bounce@" + MagicDomain,
			"bounces with the category bounce_hb, a hard bounce; bounce+sb@ bounces with bounce_sb, and so on for each category",
			(*tx).bounceAs,
		},
		{"complaint@" + MagicDomain, "reports the message as spam", func(t *tx, m *message, _ string) { t.complain(m, "") }},
		{"error@" + MagicDomain, "makes POST /v2/emails fail with an internal error", func(*tx, *message, string) {}}, // see internalError
		{"open@" + MagicDomain, "opens the message", func(t *tx, m *message, _ string) { t.open(m) }},
		{"click@" + MagicDomain, "clicks a link", func(t *tx, m *message, _ string) { t.click(m, "https://"+MagicDomain+"/") }},
		{"unsubscribe@" + MagicDomain, "unsubscribes from the list", func(t *tx, m *message, _ string) { _ = t.unsubscribe(m) }}, // fails without a list contact
		{"global-unsubscribe@" + MagicDomain, "unsubscribes from all email", func(t *tx, m *message, _ string) { t.globalUnsubscribe(m) }},
	}
}

func (t *tx) bounceAs(m *message, word string) {
	category := events.BounceCategory("bounce_" + word)
	if !knownCategory(category) {
		category = events.BounceCategoryHard
	}
	t.bounce(m, category, "")
}
