package platform

import (
	"crypto/rand"
	"encoding/hex"
)

// UUID returns a random UUID (version 4), the id of an email or an event.
func UUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// newSecret returns the secret of a new webhook.
func newSecret() string { return "whsec-" + rand.Text() }
