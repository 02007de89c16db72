package client

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestConfirmedWrites: if the response to a write does not confirm what the caller requested, and a GET does not confirm it
// either, the outcome is unknown.
func TestConfirmedWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Add(24 * time.Hour)
		campaign := func(status string, scheduled time.Time) string {
			return fmt.Sprintf(`{"campaign_id":7,"status":%q,"scheduled_for":%d}`, status, scheduled.Unix())
		}
		schedule := func(at time.Time) func(*Client) error {
			return func(c *Client) error {
				got, err := c.Campaigns.Schedule(t.Context(), 7, at)
				assert.Equal(t, int64(7), got.ID)
				return err
			}
		}
		send := func(c *Client) error { return last(c.Campaigns.Send(t.Context(), 7)) }
		optIn := func(c *Client) error {
			got, err := c.Contacts.Create(t.Context(), 1, ContactCreate{Email: "a@x", DoubleOptIn: true})
			assert.Equal(t, int64(7), got.ID)
			return err
		}
		const none, gone, delivering = `{"campaign_id":7}`, "", `{"campaign_id":7,"status":"delivering"}`
		hour := time.Hour
		for name, tc := range map[string]struct {
			call      func(*Client) error
			responses []string // an empty response is a 404
			fails     bool
		}{
			"time":                    {schedule(at), []string{campaign("scheduled", at)}, false},
			"time in the GET":         {schedule(at), []string{none, campaign("scheduled", at)}, false},
			"no time":                 {schedule(at), []string{none, none}, true},
			"GET fails":               {schedule(at), []string{none, gone}, true},
			"sent at once":            {schedule(at), []string{campaign("delivering", time.Now()), campaign("delivering", time.Now())}, true},
			"earlier":                 {schedule(at), []string{campaign("scheduled", at.Add(-hour)), campaign("scheduled", at.Add(-hour))}, true},
			"later":                   {schedule(at), []string{campaign("scheduled", at.Add(hour)), campaign("scheduled", at.Add(hour))}, true},
			"incomplete":              {schedule(at), []string{campaign("incomplete", at), campaign("incomplete", at)}, true},
			"in the past":             {schedule(time.Unix(1, 0)), []string{none, delivering}, false},
			"in the platform's past":  {schedule(time.Now().Add(time.Second)), []string{campaign("scheduled", time.Now().Add(30*time.Second))}, false},
			"the clock is far ahead":  {schedule(at), []string{fmt.Sprintf(`{"campaign_id":7,"status":"delivering","scheduled_for":%d,"updated_on":%[1]d}`, at.Add(hour).Unix())}, false},
			"send":                    {send, []string{delivering}, false},
			"send, status in the GET": {send, []string{none, delivering}, false},
			"send, no status":         {send, []string{none, none}, true},
			"send, still incomplete":  {send, []string{campaign("incomplete", at), campaign("incomplete", at)}, true},
			"send, scheduled later":   {send, []string{campaign("incomplete", at), campaign("scheduled", at)}, false},
			"opt-in":                  {optIn, []string{`{"id":7,"status":"pending"}`}, false},
			"opt-in in the GET":       {optIn, []string{`{"id":7}`, `{"id":7,"status":"pending"}`}, false},
			"opt-in ignored":          {optIn, []string{`{"id":7,"status":"active"}`, `{"id":7,"status":"active"}`}, true},
			"opt-in without a status": {optIn, []string{`{"id":7}`, `{"id":7}`}, true},
		} {
			var sent []string
			c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
				sent = append(sent, r.Method)
				body := tc.responses[len(sent)-1]
				if body == gone {
					return respond(404, ""), nil
				}
				return respond(200, body), nil
			})
			err := tc.call(c)
			assert.Equal(t, tc.fails, errors.Is(err, ErrOutcomeUnknown) && errors.Is(err, ErrInvalidResponse), "%s: %v", name, err)
			assert.Equal(t, tc.fails, err != nil, "%s: %v", name, err)
			assert.Equal(t, []string{"POST", "GET"}[:len(tc.responses)], sent, name)
		}
	})
}

// TestYearsBeyondJSON: JSON cannot represent years after 9999. If a number of seconds would mean a later year, the
// number is in milliseconds.
func TestYearsBeyondJSON(t *testing.T) {
	const list = `{"list_id":1,"name":"n","created_on":`
	for seconds, year := range map[string]int{
		"1700000000000": 2023, "253402300800": 1978, "253402300799": 9999, "-62167219200": 0, "-62167219201": 1,
	} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(200, list+seconds+"}"), nil })
		got, err := c.Lists.Get(t.Context(), 1)
		assert.NoError(t, err)
		assert.Equal(t, year, got.CreatedOn.Year(), "%s is %v", seconds, got.CreatedOn)
		_, err = got.CreatedOn.MarshalJSON()
		assert.NoError(t, err, seconds)
	}
}
