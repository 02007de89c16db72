// Package random makes what nobody can guess: the ids of emails and events, and the
// secrets of webhooks.
package random

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
)

// UUID returns a random UUID (version 4), as emails and events have it.
func UUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// Secret returns the secret of a new webhook.
func Secret() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // never fails
	return "whsec-" + base64.RawURLEncoding.EncodeToString(b[:])
}
