package delivery

import (
	"fmt"
	"strconv"

	"example.com/emailplatform/webhook"
)

// Send delivers any body to a webhook, and returns the id of the delivery. It
// returns an error if the webhook does not exist.
func (d *Engine) Send(webhookID string, body []byte) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, _ := strconv.ParseInt(webhookID, 10, 64) // 0 belongs to no webhook
	q := d.queues[id]
	if q == nil || q.once {
		return "", fmt.Errorf("mockserver: no webhook %q", webhookID)
	}
	return d.pushLocked(q, ownEvent(q.hook.AccountID, body)), nil
}

// SendTo delivers a body once to a URL without a webhook.
func (d *Engine) SendTo(url string, secret webhook.Secret, body []byte) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pushLocked(d.targetLocked(url, secret), ownEvent(0, body))
}

// targetLocked returns the queue for a URL without a webhook. Its id belongs to
// no webhook.
func (d *Engine) targetLocked(to string, secret webhook.Secret) *queue {
	for _, q := range d.queues {
		if q.once && q.hook.URL == to && q.hook.Secret == secret.Reveal() && q.hook.Hash == secret.HashFunction() {
			return q
		}
	}
	d.lastTarget--
	q := newQueue(Webhook{ID: d.lastTarget, URL: to, Secret: secret.Reveal(), Hash: secret.HashFunction()}, d.history)
	q.once = true
	d.addLocked(q)
	return q
}
