package mailroom

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

const maxKeyBytes = 250 // of a key that the application chooses

// storable returns the text, or its hash if a [Store] cannot keep the text as a key or a Ref.
func storable(text string) string {
	if len(text) > maxKeyBytes || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "sha256:" + sha256Hex(text)
	}
	return text
}

func refOfAddress(address string) string { return "to:" + storable(normalizeAddress(address)) }

func refOfEmail(id string) string { return "id:" + storable(id) }

// replacedKey returns the key of the item that marks an email as replaced.
func replacedKey(emailID string) string { return sha256Hex("replaced " + emailID) }

// outcomeKey returns the key of the notice about the outcome of an email.
func outcomeKey(key string) string { return "send:" + key }

// normalizeAddress converts an address to the form that the store contains.
func normalizeAddress(address string) string { return strings.ToLower(strings.TrimSpace(address)) }

func sha256Hex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
