package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

func decodeContests() []contest {
	return []contest{
		{name: "decode events", items: 6, unit: "deliveries", local: true, decodes: true, setup: func(*arena) ([]contender, error) {
			bodies, err := deliveries()
			return []contender{
				{name: "this SDK", op: func() error { return each(bodies, parse) }},
				{name: "encoding/json, one pass", want: byRelease(5, 4), op: func() error { return each(bodies, onePass) }},
				{name: "encoding/json, two passes, a type for each shape", want: byRelease(9, 6.5), op: func() error { return each(bodies, byShape) }},
				{name: "encoding/json, two passes, one type for all bounces", op: func() error { return each(bodies, twoPasses) }},
				{name: "json.Valid alone", want: byRelease(0, 0.6), op: func() error { return each(bodies, valid) }},
			}, err
		}},
		{name: "decode events, data before event", items: 6, unit: "deliveries", local: true, decodes: true, setup: func(*arena) ([]contender, error) {
			bodies, err := deliveries()
			if err != nil {
				return nil, err
			}
			reordered, err := dataFirst(bodies)
			return []contender{
				{name: "this SDK", op: func() error { return each(reordered, parse) }},
				{name: "this SDK, event first", want: 1 / 1.5, op: func() error { return each(bodies, parse) }},
			}, err
		}},
		{name: "decode a page", items: perPage, unit: "contacts", local: true, decodes: true, setup: pageDecoders},
	}
}

// byRelease returns a target: encoding/json of Go 1.27 and later, which stands on
// its second version, is twice as fast as the one before.
func byRelease(older, newer float64) float64 {
	if strings.HasPrefix(runtime.Version(), "go1.26") {
		return older
	}
	return newer
}

func parse(body []byte) error {
	_, err := events.Parse(body)
	return err
}

func valid(body []byte) error {
	if !json.Valid(body) {
		return errRefused
	}
	return nil
}

// dataFirst returns the bodies with their data before all other members.
func dataFirst(bodies [][]byte) (out [][]byte, err error) {
	for _, body := range bodies {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err != nil {
			return nil, err
		}
		data := members["data"]
		delete(members, "data")
		rest, err := json.Marshal(members)
		if err != nil {
			return nil, err
		}
		out = append(out, fmt.Appendf(nil, `{"data":%s,%s`, data, rest[1:]))
	}
	return out, nil
}

// pageDecoders read one page of contacts that is in memory already: ours with
// all that the client does around it, the other one with nothing around it.
func pageDecoders(a *arena) ([]contender, error) {
	body := ourPage(0)
	c, err := client.New(client.Config{BaseURL: "https://platform.example", Token: "t", HTTPClient: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body))}, nil
	})}})
	return []contender{
		{name: "this SDK, the whole call", op: func() error {
			_, err := c.Contacts.List(a.ctx, 1, client.ListContactsParams{PerPage: perPage})
			return err
		}},
		{name: "encoding/json alone", want: 4, op: func() error { return json.Unmarshal(body, new(client.ContactPage)) }},
	}, err
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
