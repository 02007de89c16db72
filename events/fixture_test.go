package events_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
)

// readDeliveries returns the examples of openapi.yaml by name.
func readDeliveries(t testing.TB) (all map[string]json.RawMessage) {
	t.Helper()
	file, err := os.ReadFile("testdata/deliveries.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(file, &all))
	return all
}

// deliveries returns the names of the deliveries in testdata, sorted.
func deliveries(t testing.TB) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(readDeliveries(t)))
}

// delivery returns the body of a delivery in testdata.
func delivery(t testing.TB, name string) []byte {
	t.Helper()
	body := readDeliveries(t)[name]
	require.NotNil(t, body, name)
	return body
}

func mustParse(t testing.TB, body []byte) *events.Event {
	t.Helper()
	ev, err := events.Parse(body)
	require.NoError(t, err)
	return ev
}

// sameJSON fails the test unless a and b are the same JSON value.
func sameJSON(t testing.TB, a, b []byte) {
	t.Helper()
	var va, vb any
	require.NoError(t, errors.Join(json.Unmarshal(a, &va), json.Unmarshal(b, &vb)), "in %s or %s", a, b)
	assert.Equal(t, vb, va, "not the same JSON value:\n%s\n%s", a, b)
}

// fieldsOf returns an event with the exported fields of ev, but without its body.
func fieldsOf(ev *events.Event) events.Event {
	return events.Event{ID: ev.ID, Name: ev.Name, Time: ev.Time, AccountID: ev.AccountID, User: ev.User, IP: ev.IP, Data: ev.Data}
}

// compact returns the body of a delivery in testdata as the platform would send it.
func compact(tb testing.TB, name string) []byte {
	tb.Helper()
	var b bytes.Buffer
	require.NoError(tb, json.Compact(&b, delivery(tb, name)))
	return b.Bytes()
}

// dataFirst returns body with its data before all other fields.
func dataFirst(tb testing.TB, body []byte) []byte {
	tb.Helper()
	var members map[string]json.RawMessage
	require.NoError(tb, json.Unmarshal(body, &members))
	data := members["data"]
	delete(members, "data")
	return fmt.Appendf(nil, `{"data":%s,%s`, data, marshal(tb, members)[1:])
}
