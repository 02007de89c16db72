package client

import (
	"bytes"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// TestResponseMemory compares the memory that a response needs with the limit in SECURITY.md.
func TestResponseMemory(t *testing.T) {
	const maxFactor = 16 // the buffer takes 4 of these
	const size = 1 << 19 // large enough to ignore what every response needs
	list := func(c *Client) error {
		_, err := c.Contacts.List(t.Context(), 1, ListContactsParams{})
		return err
	}
	get := func(c *Client) error {
		_, err := c.Contacts.Get(t.Context(), 1, 1)
		return err
	}
	imported := func(c *Client) error {
		_, err := c.Contacts.ImportBatch(t.Context(), 1, ImportBatch{Contacts: make([]ImportContact, 1)})
		return err
	}
	for name, tc := range map[string]struct {
		status            int
		head, again, tail string
		call              func(*Client) error
	}{
		"empty items":      {200, `{"data":[`, `{},`, `{}]}`, list},
		"null items":       {200, `{"data":[`, `null,`, `null]}`, list},
		"empty tags":       {200, `{"id":1,"tags":[`, `"",`, `""]}`, get},
		"short tags":       {200, `{"id":1,"tags":[`, `"a","b",`, `""]}`, get},
		"different tags":   {200, `{"id":1,"tags":[`, `"\u00e4","b\u00e4","abcdefghi",`, `""]}`, get},
		"empty attributes": {200, `{"id":1,"custom_attributes":[`, `{},`, `{}]}`, get},
		"attributes again": {200, `{`, `"custom_attributes":[{}],`, `"id":1}`, get},
		"tags of items":    {200, `{"data":[`, `{"tags":["","","","","","","","","","","","","","","","",""]},`, `{}]}`, list},
		"one of each":      {200, `{"data":[`, `{"tags":[""],"interests":[""],"custom_attributes":[{}]},`, `{}]}`, list},
		"not UTF-8":        {200, `{"id":1,"email":"`, "\xff", `"}`, get},
		"escapes":          {200, `{"id":1,"email":"`, `\u00e4`, `"}`, get},
		"empty errors":     {200, `{"imported":1,"errors":[`, `{},`, `{}]}`, imported},
		"locations":        {200, `{"imported":1,"errors":[{"loc":[`, `1,`, `0]}]}`, imported},
		"empty details":    {422, `{"detail":[`, `{},`, `{}]}`, get},
		"null details":     {422, `{"detail":[`, `null,`, `null]}`, get},
		"short details":    {422, `{"detail":[`, `{"msg":"m"},`, `{}]}`, get},
		"long location":    {422, `{"detail":[{"loc":[`, `1,`, `1],"msg":"m"}]}`, get},
		"one long detail":  {422, `{"detail":[{"msg":"`, `\u00e4`, `"}]}`, get},
		"a long text":      {422, `{"detail":"`, `ab`, `"}`, get},
		"the token":        {422, `{"detail":"`, testToken, `"}`, get},
	} {
		t.Run(name, func(t *testing.T) {
			body := tc.head + strings.Repeat(tc.again, size/len(tc.again)) + tc.tail
			as := roundTrip(func(*http.Request) (*http.Response, error) { return respond(tc.status, body), nil })
			c := newBubbleClient(t, nil, func(cfg *Config) {
				cfg.HTTPClient.Transport = as // as it is: what respells would count too
				cfg.Retry.MaxAttempts = 1
			})
			var err error
			all := allocated(func() { err = tc.call(c) })
			buffer := allocated(func() { _, _ = new(bytes.Buffer).ReadFrom(strings.NewReader(body)) }) // four times, or eight with -race
			if factor := float64(all-buffer) / float64(len(body)); factor > maxFactor-4 {
				t.Errorf("%.1f bytes are allocated for each byte of the response, and its buffer: %.200v", factor, err)
			}
			var e *Error
			if err != nil && !errors.As(err, &e) {
				t.Error(err)
			}
		})
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
