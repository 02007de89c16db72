package platform

import (
	"strings"

	"example.com/emailplatform/events"
)

// send sends a message and delivers it immediately.
func (t *tx) send(m *message) {
	m.Status, m.DeliveredOn = messageDelivered, t.unix()
	t.keep(m)
	t.simulate(m)
	t.account.outcomes.sent(m)
}

// keep stores a message for lookups.
func (t *tx) keep(m *message) {
	m.AccountID = t.account.ID
	t.p.addMessage(m)
	if t.p.Changes.Observed() {
		t.changed = append(t.changed, m)
	}
}

// MagicDomain is the domain of recipients that react automatically. Package
// mockserver documents the magic addresses.
const MagicDomain = "mock.test"

// magic returns the words in the local part of a magic address, or nil for
// other addresses.
func magic(address string) []string {
	local, domain, _ := strings.Cut(strings.ToLower(address), "@")
	if domain != MagicDomain {
		return nil
	}
	return strings.Split(local, "+")
}

// simulate performs the action of a magic recipient.
func (t *tx) simulate(m *message) {
	words := magic(m.To)
	if words == nil {
		return
	}
	user := t.user
	t.user, t.messageID = nil, m.ID // without a user, because the recipient acts
	defer func() { t.user, t.messageID = user, "" }()
	switch words[0] {
	case "bounce":
		category := events.BounceCategoryHard
		if len(words) > 1 {
			if named := events.BounceCategory("bounce_" + words[1]); KnownCategory(named) {
				category = named
			}
		}
		t.bounce(m, category, "")
	case "complaint":
		t.complain(m, "")
	case "open":
		t.open(m)
	case "click":
		t.click(m, "https://"+MagicDomain+"/")
	case "unsubscribe":
		_ = t.unsubscribe(m) // fails only if the message has no list contact
	case "global-unsubscribe":
		t.globalUnsubscribe(m)
	}
}
