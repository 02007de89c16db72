// Package signature explains wrong signatures.
package signature

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"example.com/emailplatform/webhook"
)

// Diagnose returns the mistake that results in a wrong signature of a body, if it is
// a common one. It is empty if the signature is right. The text contains neither the
// secret nor a signature. It also reports an invalid secret.
func Diagnose(secret webhook.Secret, body []byte, signature string) string {
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		return strings.TrimPrefix(err.Error(), "webhook: secret 1: ")
	}
	if verifier.Verify(body, signature) == nil {
		return ""
	}
	if reason := misencoded(secret, body, signature); reason != "" {
		return reason
	}
	raw, _ := hex.DecodeString(signature)
	unhexed := base64.StdEncoding.EncodeToString(raw)
	for _, m := range mistakes(secret, body) {
		switch {
		case signs(m.secret, m.body, signature):
			return m.reason
		case signs(m.secret, m.body, unhexed):
			return m.reason + " It is also in hexadecimal: encode it as base64."
		}
	}
	sum := sha256.Sum256(body)
	if signature == hex.EncodeToString(sum[:]) || signature == base64.StdEncoding.EncodeToString(sum[:]) {
		return "It is a plain hash of the body, without the secret: compute an HMAC."
	}
	return "None of the common mistakes: check that the secret is that of this webhook, and that these are the bytes that were delivered."
}

// signs reports whether the signature is the one of the secret and the body.
func signs(secret webhook.Secret, body []byte, signature string) bool {
	verifier, err := webhook.NewVerifier(secret)
	return err == nil && verifier.Verify(body, signature) == nil
}

// misencoded finds the right value in another encoding, or with something around it.
func misencoded(secret webhook.Secret, body []byte, signature string) string {
	text, _ := webhook.Sign(secret, body) // Diagnose has checked the secret
	right, _ := base64.StdEncoding.DecodeString(text)
	switch {
	case signature == "":
		return "There is no signature."
	case strings.EqualFold(signature, hex.EncodeToString(right)):
		return "The right value in hexadecimal: encode it as base64."
	case signature == base64.RawStdEncoding.EncodeToString(right):
		return "The right value without its padding (=)."
	case signature == base64.URLEncoding.EncodeToString(right), signature == base64.RawURLEncoding.EncodeToString(right):
		return "The right value in the URL alphabet of base64: use the standard one."
	case signature == base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString(right))):
		return "The base64 of the hexadecimal text: encode the bytes themselves."
	}
	inner, reason := strings.TrimSpace(signature), "The right value with white space around it."
	if prefix, value, _ := strings.Cut(inner, "="); inner == signature && (prefix == "sha256" || prefix == "sha512") {
		inner, reason = value, "The right value after a prefix: the platform sends none."
	} else if _, value, ok := strings.Cut(inner, ":"); inner == signature && ok {
		inner, reason = strings.TrimSpace(value), "The right value after the name of its header."
	}
	if inner == signature {
		return ""
	}
	if inner == text {
		return reason
	}
	return misencoded(secret, body, inner)
}

// mistake is an input that a signature may have been computed from by mistake.
type mistake struct {
	secret webhook.Secret
	body   []byte
	reason string
}

func mistakes(secret webhook.Secret, body []byte) []mistake {
	with := func(key string) webhook.Secret { return webhook.Secret{Key: key, Hash: secret.Hash} }
	other := webhook.Secret{Key: secret.Key, Hash: webhook.SHA512}
	if secret.Hash == webhook.SHA512 {
		other.Hash = webhook.SHA256
	}
	trimmed := bytes.TrimRight(body, "\r\n")
	out := []mistake{
		{other, body, "Made with " + string(other.Hash) + ": the webhook's hash_function says otherwise."},
		{with(secret.Key + "\n"), body, "The secret has a line feed at its end."},
		{with(strings.TrimSpace(secret.Key)), body, "The secret given here has white space around it."},
		{secret, nil, "Computed over nothing: the body had already been read."},
		{secret, append(bytes.Clone(body), '\n'), "Computed over the body and a line feed."},
		{secret, trimmed, "Computed over the body without the line feed at its end: perhaps it was added to this copy."},
		{secret, append([]byte("\xef\xbb\xbf"), body...), "Computed over the body after a byte order mark."},
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if key, err := encoding.DecodeString(secret.Key); err == nil {
			out = append(out, mistake{with(string(key)), body, "The secret was decoded from base64: use its characters as they are."})
		}
	}
	if key, err := hex.DecodeString(secret.Key); err == nil {
		out = append(out, mistake{with(string(key)), body, "The secret was decoded from hexadecimal: use its characters as they are."})
	}
	for _, again := range reencoded(body) {
		out = append(out, mistake{secret, again, "Computed over JSON that was decoded and encoded again: use the bytes that were delivered."})
	}
	return out
}
