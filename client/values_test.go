package client

import (
	"testing"
	"time"
)

func TestTimes(t *testing.T) {
	for field, want := range map[string]time.Time{
		`"delivered_on":1700000000`:   time.Date(2023, 11, 14, 22, 13, 20, 0, time.UTC),
		`"delivered_on":"1700000000"`: time.Date(2023, 11, 14, 22, 13, 20, 0, time.UTC),
		`"delivered_on":0`:            {},
		`"delivered_on":null`:         {},
		`"delivered_on":"soon"`:       {},
		`"status":"queued"`:           {},
	} {
		c := newTestClient(t, answer(200, "application/json", `{"id":"e-1",`+field+`}`))
		email, err := c.Emails.Get(t.Context(), "e-1")
		if err != nil || email.DeliveredOn != want {
			t.Errorf("%s: got %v, %v; want %v", field, email.DeliveredOn, err, want)
		}
	}
}
