package events_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
)

// withUnknown adds fields to each object within v.
func withUnknown(v any, fields map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			withUnknown(inner, fields)
		}
		maps.Copy(v, fields)
	case []any:
		for _, inner := range v {
			withUnknown(inner, fields)
		}
	}
	return v
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return out
}

func TestUnknownFieldsArePreserved(t *testing.T) {
	unknown := map[string]any{"new": []any{1, nil, map[string]any{"n": 1e21}}, "new_null": nil, "Contact": "x"}
	for _, name := range deliveries(t) {
		t.Run(name, func(t *testing.T) {
			var parsed map[string]any
			require.NoError(t, json.Unmarshal(delivery(t, name), &parsed))
			body := marshal(t, withUnknown(parsed, unknown))
			ev := mustParse(t, body)
			if _, ok := ev.Data.(*events.Unknown); ok {
				t.Fatalf("unknown data: %+v", ev.Data)
			}
			assert.Equal(t, string(body), string(marshal(t, ev)))
		})
	}
}

func TestRoundTripIsExact(t *testing.T) {
	for _, body := range []string{
		`{"event":"New.Event","data":[1,{"a":null}],"more":true}`,
		`{"event":"New.Event"}`,
		`{"event":"Email.Bounced","data":null}`,
		`{"event":"Email.Bounced","data":{}}`,
		`{"event":"Email.Bounced"}`,
		`{"event":"Email.Rejected","data":"text"}`,
		`{"event":"Email.Rejected","data":{"contact":null,"list":null,"reason":null}}`,
		`{"event":"Contact.Removed","created_on":null,"user":null,"id":null,"data":{"contact":{"custom_attributes":null,` +
			`"bounces_count":null}}}`,
		`{"event":"Email.Opened","timestamp":"2025-11-20T15:32:00.000+02:00","data":{"list_id":42,"contact_id":9e2,` +
			`"opened_at":"2025-11-20T15:32:00+0200"}}`,
		`{"event":"Email.Opened","timestamp":"2025-11-20T15:32:00","data":{}}`,
		`{"event":"Email.Opened","timestamp":null,"data":{"opened_at":null}}`,
		`{"event":"Email.Opened","created_on":1763651060,"data":{}}`,
		`{"event":"Email.Error","timestamp":"2025-11-20T15:32:00Z","created_on":1763651060,"account_lineage":[1],"data":{}}`,
		`{"event":"Email.Error","created_on":-1,"data":{"event_time":-9223372036854775808}}`,
	} {
		t.Run(body, func(t *testing.T) {
			assert.Equal(t, body, string(marshal(t, mustParse(t, []byte(body)))))
		})
	}
}

var changes = []struct {
	name, body string
	change     func(ev *events.Event)
	want       string
}{
	{
		name: "a member of data",
		body: `{"event":"Email.Bounced","data":{"bounce":{"category":"bounce_sb","new":1},"campaign":{"id":7,"new":2},` +
			`"new":3},"new":4}`,
		change: func(ev *events.Event) { ev.Data.(*events.CampaignBounce).Bounce.Category = events.BounceCategoryHard },
		want: `{"event":"Email.Bounced","data":{"bounce":{"category":"bounce_hb","new":1},"campaign":{"id":7,"new":2},` +
			`"new":3},"new":4}`,
	},
	{
		name:   "to null",
		body:   `{"event":"Email.Bounced","data":{"bounce":{"id":7},"campaign":{"id":7,"new":2}}}`,
		change: func(ev *events.Event) { ev.Data.(*events.CampaignBounce).Bounce.ID = events.Null[int64]{} },
		want:   `{"event":"Email.Bounced","data":{"bounce":{"id":null},"campaign":{"id":7,"new":2}}}`,
	},
	{
		name: "to zero",
		body: `{"event":"Email.Error","data":{"error":"x","event_time":5,"new":1}}`,
		change: func(ev *events.Event) {
			d := ev.Data.(*events.EmailErrored)
			d.Error, d.EventTime = "", time.Time{}
		},
		want: `{"event":"Email.Error","data":{"error":"","event_time":0,"new":1}}`,
	},
	{
		name:   "a member that was absent",
		body:   `{"event":"Email.Error","data":{"new":1}}`,
		change: func(ev *events.Event) { ev.Data.(*events.EmailErrored).Email.ID = "01JD" },
		want:   `{"event":"Email.Error","data":{"new":1,"email":{"id":"01JD"}}}`,
	},
	{
		name:   "an object to absent",
		body:   `{"event":"Email.Rejected","data":{"contact":{"email":"a@b.c","new":1},"new":2}}`,
		change: func(ev *events.Event) { ev.Data.(*events.EmailRejected).Contact = nil },
		want:   `{"event":"Email.Rejected","data":{"new":2}}`,
	},
	{
		name: "an element of an array",
		body: `{"event":"Email.Rejected","data":{"contact":{"tags":["a","b"],"custom_attributes":[{"name":"n",` +
			`"value":"v","new":1}]}}}`,
		change: func(ev *events.Event) { ev.Data.(*events.EmailRejected).Contact.Tags[1] = "c" },
		want: `{"event":"Email.Rejected","data":{"contact":{"tags":["a","c"],"custom_attributes":[{"name":"n",` +
			`"value":"v","new":1}]}}}`,
	},
	{
		name: "the envelope",
		body: `{"event":"Email.Error","id":"1","created_on":1763651060,"user":{"id":3,"new":1},"data":{}}`,
		change: func(ev *events.Event) {
			ev.ID, ev.IP, ev.AccountID, ev.Time = "2", "192.0.2.1", 9, ev.Time.Add(time.Minute)
			ev.User.Email = events.Value("x@y.z")
		},
		want: `{"event":"Email.Error","id":"2","ip":"192.0.2.1","account_id":9,"created_on":1763651120,"user":{"id":3,` +
			`"email":"x@y.z","new":1},"data":{}}`,
	},
	{
		name:   "the general envelope",
		body:   `{"event":"Campaign.Sent","timestamp":"2025-11-20T15:00:00Z","data":{}}`,
		change: func(ev *events.Event) { ev.ID, ev.Time = "2", ev.Time.Add(time.Hour) },
		want:   `{"event":"Campaign.Sent","timestamp":"2025-11-20T16:00:00Z","id":"2","data":{}}`,
	},
	{
		name:   "the other envelope of an event",
		body:   `{"event":"Campaign.Sent","created_on":1763651060,"data":{}}`,
		change: func(ev *events.Event) { ev.Time = ev.Time.Add(time.Minute) },
		want:   `{"event":"Campaign.Sent","created_on":1763651120,"data":{}}`,
	},
	{
		name:   "a user that was null",
		body:   `{"event":"Email.Error","user":null,"data":{}}`,
		change: func(ev *events.Event) { ev.User.Email = events.Value("x@y.z") },
		want:   `{"event":"Email.Error","user":{"id":null,"email":"x@y.z","account_id":null},"data":{}}`,
	},
	{
		name:   "other data",
		body:   `{"event":"Email.Bounced","data":{"bounce":{},"campaign":{},"new":1}}`,
		change: func(ev *events.Event) { ev.Data = &events.EmailAPIBounce{Email: events.EmailRef{ID: "01JD"}} },
		want:   `{"event":"Email.Bounced","data":{"event_time":0,"email":{"id":"01JD"},"new":1}}`,
	},
	{
		name:   "unknown data",
		body:   `{"event":"New.Event","data":{"a":1},"new":2}`,
		change: func(ev *events.Event) { ev.Data.(*events.Unknown).Raw = json.RawMessage(`{"a":2}`) },
		want:   `{"event":"New.Event","data":{"a":2},"new":2}`,
	},
	{
		name: "no data",
		body: `{"event":"New.Event","data":{"a":1}}`, change: func(ev *events.Event) { ev.Data = nil },
		want: `{"event":"New.Event","data":null}`,
	},
	{
		name:   "of repeated members the last",
		body:   `{"event":"Email.Error","data":{"error":"a","error":"b","new":1}}`,
		change: func(ev *events.Event) { ev.Data.(*events.EmailErrored).EventTime = unix(1) },
		want:   `{"event":"Email.Error","data":{"error":"b","event_time":1,"new":1}}`,
	},
}

func TestChangesAreWritten(t *testing.T) {
	for _, row := range changes {
		t.Run(row.name, func(t *testing.T) {
			ev := mustParse(t, []byte(row.body))
			row.change(ev)
			got := marshal(t, ev)
			sameJSON(t, got, []byte(row.want))
			sameJSON(t, marshal(t, *ev), []byte(row.want)) // of a copy too

			// The output parses as the changed event.
			again := mustParse(t, got)
			sameJSON(t, marshal(t, again), []byte(row.want))
		})
	}
}

func TestMarshalInvalidTime(t *testing.T) {
	ev := mustParse(t, []byte(`{"event":"Campaign.Sent","timestamp":"2025-11-20T15:00:00Z","data":{}}`))
	ev.Time = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	if text, err := ev.MarshalJSON(); err == nil {
		t.Errorf("the year 10000 is written as %q", text)
	}
}

// TestBuiltEnvelope: the name of a built event determines its envelope.
func TestBuiltEnvelope(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 5e8, time.UTC)
	compliance := func(name events.Name, createdOn int, data string) string {
		return fmt.Sprintf(`{"id":"","event":%q,"account_id":0,"account_lineage":null,"ip":"","user":{"id":null,"email":null,`+
			`"account_id":null},"created_on":%d,"data":%s}`, name, createdOn, data)
	}
	for _, row := range []struct {
		name string
		ev   events.Event
		want string
	}{
		{
			name: "compliance",
			ev:   events.Event{Name: events.NameEmailError, Time: at, Data: &events.EmailErrored{}},
			want: compliance(events.NameEmailError, 1795176000, `{"error":"","event_time":0,"email":{"id":""}}`),
		},
		{
			name: "general",
			ev:   events.Event{Name: events.NameCampaignSent, Time: at, Data: &events.CampaignSent{SentAt: at}},
			want: `{"event":"Campaign.Sent","timestamp":"2026-11-20T12:00:00.5Z","data":{"campaign_id":null,"list_id":null,` +
				`"name":"","sent_at":"2026-11-20T12:00:00.5Z"}}`,
		},
		{name: "zero time, no data", ev: events.Event{Name: "New.Event"}, want: compliance("New.Event", 0, "null")},
		{
			name: "a nil payload",
			ev:   events.Event{Name: events.NameEmailError, Data: (*events.EmailErrored)(nil)},
			want: compliance(events.NameEmailError, 0, "null"),
		},
		{
			name: "unknown data",
			ev:   events.Event{Name: "New.Event", Data: &events.Unknown{Raw: json.RawMessage(`[1]`)}},
			want: compliance("New.Event", 0, "[1]"),
		},
	} {
		t.Run(row.name, func(t *testing.T) { sameJSON(t, marshal(t, row.ev), []byte(row.want)) })
	}
	if _, err := json.Marshal(events.Event{Data: &events.Unknown{Raw: json.RawMessage(`{`)}}); err == nil {
		t.Error("data that is not JSON was written")
	}
}

func TestIDs(t *testing.T) {
	for _, row := range []struct {
		id         events.ID
		json, text string
		number     int64
		fits       bool
	}{
		{id: events.IntID(42), json: `42`, text: "42", number: 42, fits: true},
		{id: events.StringID("42"), json: `"42"`, text: "42", number: 42, fits: true},
		{id: events.StringID("a\"b"), json: `"a\"b"`, text: `a"b`},
		{id: events.StringID(""), json: `""`},
		{id: events.IntID(0), json: `0`, text: "0", fits: true},
		{id: events.IntID(-9), json: `-9`, text: "-9", number: -9, fits: true},
		{id: events.ID{}, json: `null`},
	} {
		t.Run(row.json, func(t *testing.T) {
			var back events.ID
			err := json.Unmarshal([]byte(row.json), &back)
			got := string(marshal(t, row.id))
			assert.Equal(t, row.json, got)
			require.NoError(t, err)
			assert.Equal(t, row.id, back)
			n, fits := row.id.Int64()
			if row.id.String() != row.text || fits != row.fits || fits && n != row.number || row.id.IsZero() != (row.json == "null") {
				t.Errorf("%q, %d, %v, zero: %v; want %+v", row.id.String(), n, fits, row.id.IsZero(), row)
			}
		})
	}
	for _, pair := range []struct {
		a, b  events.ID
		equal bool
	}{
		{events.IntID(42), events.StringID("42"), true},
		{events.IntID(42), events.IntID(7), false},
		{events.ID{}, events.ID{}, true},
		{events.ID{}, events.StringID(""), false},
	} {
		assert.Equal(t, pair.equal, pair.a.Equal(pair.b), "%+v", pair)
		assert.Equal(t, pair.equal, pair.b.Equal(pair.a), "%+v", pair)
	}
	if reflect.TypeFor[events.ID]().Comparable() {
		t.Error("IDs can be compared with ==")
	}
	var id events.ID
	err := json.Unmarshal([]byte(`123456789012345678901234567890`), &id)
	require.NoError(t, err)
	assert.Equal(t, "123456789012345678901234567890", id.String())
}

// TestUnmarshalJSON: a variable does not change if its new value cannot be read. TestExampleDeliveries
// writes the values.
func TestUnmarshalJSON(t *testing.T) {
	id, null, actionContext := events.IntID(1), events.Value(int64(7)), events.ActionContext{Timestamp: unix(5)}
	event := *mustParse(t, []byte(`{"event":"x"}`))
	for _, row := range []struct {
		v      any
		text   string
		failed bool
		want   string
	}{
		{v: &id, text: `true`, failed: true, want: `1`},
		{v: &id, text: `{}`, failed: true, want: `1`},
		{v: &id, text: `"2"`, want: `"2"`},
		{v: &null, text: `"7"`, failed: true, want: `7`},
		{v: &null, text: `8`, want: `8`},
		{v: &null, text: `null`, want: `null`},
		{v: &actionContext, text: `{"timestamp":"now"}`, failed: true, want: `{"timestamp":5,"ip":null,"user_agent":null}`},
		{v: &actionContext, text: `{"timestamp":6}`, want: `{"timestamp":6,"ip":null,"user_agent":null}`},
		{v: &actionContext, text: `{"timestamp":null}`, want: `{"timestamp":null,"ip":null,"user_agent":null}`},
		{v: new(events.EmailErrored), text: `{"event_time":0}`, want: `{"event_time":0,"error":"","email":{"id":""}}`},
		{v: new([]events.Null[string]), text: `[null,""]`, want: `[null,""]`},
		{v: new(events.Unknown), text: `{"a":1}`, want: `{"a":1}`},
		{v: &event, text: `{"event":1}`, failed: true, want: `{"event":"x"}`},
		{v: &event, text: `{"event":"y","new":1}`, want: `{"event":"y","new":1}`},
	} {
		err := json.Unmarshal([]byte(row.text), row.v)
		if got := string(marshal(t, row.v)); (err != nil) != row.failed {
			t.Errorf("%T: %s read as %s, error %v, want one: %v", row.v, row.text, got, err, row.failed)
		}
		sameJSON(t, marshal(t, row.v), []byte(row.want))
	}
}

// TestZeroTimes: the Unix time 0 is the zero time.
func TestZeroTimes(t *testing.T) {
	ev := mustParse(t, []byte(`{"event":"Email.Error","created_on":0,"data":{"event_time":0}}`))
	d, ok := ev.Data.(*events.EmailErrored)
	require.True(t, ok)
	assert.True(t, d.EventTime.IsZero())
	assert.True(t, ev.Time.IsZero())
}

// TestInvalidUTF8: as in encoding/json, invalid bytes become U+FFFD.
func TestInvalidUTF8(t *testing.T) {
	ev := events.Event{ID: "\xff", Name: events.NameEmailError, Data: &events.EmailErrored{Error: "<\xff\xfe>"}}
	again := mustParse(t, marshal(t, ev))
	d, ok := again.Data.(*events.EmailErrored)
	require.True(t, ok)
	assert.Equal(t, "\ufffd", again.ID)
	assert.Equal(t, "<\ufffd\ufffd>", d.Error)
	assert.True(t, utf8.Valid(again.Raw()))
}
