// Package signature finds out what a wrong signature was made of.
package signature

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"example.com/emailplatform/webhook"
)

// Diagnose tells how somebody came to a signature that is not the one of this
// body and secret: which of the usual mistakes gives just that value. It is empty
// if the signature is right. The answer holds neither the secret nor any
// signature. A secret that is empty or has an unknown hash function is an answer
// as well.
func Diagnose(secret webhook.Secret, body []byte, signature string) string {
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		return strings.TrimPrefix(err.Error(), "webhook: secret 1: ")
	}
	if verifier.Verify(body, signature) == nil {
		return ""
	}
	if reason := misshapen(secret, body, signature); reason != "" {
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
	if signature == hex.EncodeToString(plainSum(body)) || signature == base64.StdEncoding.EncodeToString(plainSum(body)) {
		return "It is a plain hash of the body, without the secret: compute an HMAC."
	}
	return "None of the usual mistakes: see which webhook the secret belongs to, and that these are the bytes that were delivered."
}

func plainSum(body []byte) []byte {
	sum := sha256.Sum256(body)
	return sum[:]
}

// signs reports whether the signature is the one of the secret and the body.
func signs(secret webhook.Secret, body []byte, signature string) bool {
	verifier, err := webhook.NewVerifier(secret)
	return err == nil && verifier.Verify(body, signature) == nil
}

// misshapen finds the right value in another encoding.
func misshapen(secret webhook.Secret, body []byte, signature string) string {
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
	case strings.TrimSpace(signature) != signature:
		return misshapenOr(secret, body, strings.TrimSpace(signature), "The right value with white space around it.")
	}
	if _, value, ok := strings.Cut(signature, "="); ok && (strings.HasPrefix(signature, "sha256=") || strings.HasPrefix(signature, "sha512=")) {
		return misshapenOr(secret, body, value, "The right value behind a prefix: the platform sends none.")
	}
	if _, value, ok := strings.Cut(signature, ":"); ok {
		return misshapenOr(secret, body, strings.TrimSpace(value), "The right value behind the name of its header.")
	}
	return ""
}

// misshapenOr judges what is left of a signature without what surrounds it.
func misshapenOr(secret webhook.Secret, body []byte, signature, reason string) string {
	if signs(secret, body, signature) {
		return reason
	}
	return misshapen(secret, body, signature)
}

// mistake is what a signature may have been made of instead.
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
		{secret, nil, "Computed over nothing: the body had been read before."},
		{secret, append(bytes.Clone(body), '\n'), "Computed over the body and a line feed."},
		{secret, trimmed, "Computed over the body without the line feed at its end: perhaps it was added to this copy."},
		{secret, append([]byte("\xef\xbb\xbf"), body...), "Computed over the body behind a byte order mark."},
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
		out = append(out, mistake{secret, again, "Computed over JSON that was decoded and encoded again: use the bytes as they came."})
	}
	return out
}
