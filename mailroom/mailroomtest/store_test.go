package mailroomtest_test

import (
	"testing"
	"time"

	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/mailroom/mailroomtest"
	"example.com/emailplatform/webhook"
	"example.com/emailplatform/webhook/webhooktest"
)

func TestMemoryStore(t *testing.T) {
	s := mailroom.NewMemoryStore()
	mailroomtest.TestStore(t, func(*testing.T) mailroom.Store { return s })
	webhooktest.TestOnce(t, func(*testing.T) webhook.Once { return mailroom.NewOnce(s, time.Hour) }, webhooktest.OneWriter)
}
