package client

import (
	"errors"
	"net/http"
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
		c := newTestClient(t, respondWith(200, "application/json", `{"id":"e-1",`+field+`}`))
		email, err := c.Emails.Get(t.Context(), "e-1")
		if err != nil || email.DeliveredOn != want {
			t.Errorf("%s: got %v, %v; want %v", field, email.DeliveredOn, err, want)
		}
	}
}

// TestNumericIDs: an id can be a number or text.
func TestNumericIDs(t *testing.T) {
	for id, want := range map[string]string{
		`18858926273619457`: "18858926273619457", `"e-1"`: "e-1", `42.0`: "42", `4e1`: "40", `-1`: "-1", `1.5`: "1.5", `123456789012345678901`: "123456789012345678901",
	} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			return respond(201, `{"id":`+id+`,"status":"queued"}`), nil
		})
		if e, err := c.Emails.Send(t.Context(), EmailSubmission{}); err != nil || e.ID != want {
			t.Errorf("Send: id %q, %v, want %q", e.ID, err, want)
		}
		if e, err := c.Emails.SendLegacy(t.Context(), TransactionalSubmission{}); err != nil || e.ID != want {
			t.Errorf("SendLegacy: id %q, %v, want %q", e.ID, err, want)
		}
	}
}

// TestNullLists: null is an empty list, unless the response contains an error or counts items.
func TestNullLists(t *testing.T) {
	for body, good := range map[string]bool{
		`{"data":null}`: true, `{"data":null,"pagination":{"page":1,"per_page":50,"count":0}}`: true, `{"data": null , "pagination":null}`: true,
		`{"data":null,"pagination":{"count":3}}`: false, `{"data":null,"detail":[{"msg":"no"}]}`: false, `{"data":{}}`: false, `{"data":""}`: false, `null`: false,
	} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(200, body), nil }, withoutRetries)
		names, err := collect(t, c, ListTagsParams{})
		if len(names) != 0 || (err == nil) != good {
			t.Errorf("All of %s: %v, %v", body, names, err)
		}
		if _, err := c.Lists.Find(t.Context(), "n"); errors.Is(err, ErrNotFound) != good {
			t.Errorf("Find in %s: %v", body, err)
		}
	}
}
