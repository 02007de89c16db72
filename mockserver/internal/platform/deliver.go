package platform

import (
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
)

// newMessage returns a message without a recipient.
func (t *tx) newMessage(by events.SendingType, from api.Sender, content api.MessageContent) *message {
	return &message{ID: UUID(), SentBy: by, From: from, Content: content, SubmittedOn: t.unix()}
}

func (t *tx) deliver(m *message) {
	m.Status, m.DeliveredOn = messageDelivered, t.unix()
	t.storeMessage(m)
	t.simulateTestAddress(m)
	t.account.counts.addMessage(m)
}

func (t *tx) storeMessage(m *message) {
	m.AccountID = t.account.ID
	t.p.addMessage(m)
	if t.p.Changes.Observed() {
		t.added = append(t.added, m)
	}
}
