package platform

import (
	"crypto/rand"
	"errors"
	"strings"

	"example.com/emailplatform/webhook"
)

func checkSecret(key string, hash webhook.HashFunction) error {
	if _, err := webhook.ParseSecret(key, string(hash)); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "webhook: "))
	}
	return nil
}

func newSecret() string { return "whsec-" + rand.Text() }
