package markdown

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAnchor(t *testing.T) {
	for heading, want := range map[string]string{
		"2.8. `POST /emails`":                 "28-post-emails",
		"`GET /_mock/outbox/{id}/html`":       "get-_mockoutboxidhtml",
		"Café, Ünïcode":                       "café-ünïcode",
		"use a proxy, my own CA, or HTTP/2 …": "use-a-proxy-my-own-ca-or-http2-",
	} {
		assert.Equal(t, want, Anchor(heading))
	}
}

func TestItem(t *testing.T) {
	assert.Equal(t, "- `id`: string\n", Item("`id`", "string", ""))
	assert.Equal(t, "- `id`: string. Id of the event.\n", Item("`id`", "string", "Id of the event."))
	assert.Equal(t, "- `id`: string; id of the event\n", Item("`id`", "string", "id of the event"))
}
