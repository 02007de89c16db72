package events_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
)

func TestParseErrors(t *testing.T) {
	deep := strings.Repeat("[", 20000)
	for _, row := range []struct {
		name, body string
		path, want string
		offset     int64
		event      bool // the rest was read
	}{
		{name: "empty", want: "a value"},
		{
			name: "truncated",
			body: `{"event":"Email.Error","data":{"error":"inter`, path: "data.error",
			want: "the rest of a string", offset: 45,
		},
		{
			name: "too deep",
			body: `{"event":"x","data":` + deep, path: "data" + strings.Repeat("[0]", 66) + "…",
			want: "less nesting", offset: 10019,
		},
		{name: "array", body: `[]`, want: "an object", event: true},
		{name: "string", body: `"x"`, want: "an object", event: true},
		{name: "null", body: `null`, path: "event", want: "the name of an event", event: true},
		{name: "no event", body: `{"id":"1","data":{}}`, path: "event", want: "the name of an event", event: true},
		{name: "event empty", body: `{"event":""}`, path: "event", want: "the name of an event", event: true},
		{name: "event a number", body: `{"event":1}`, path: "event", want: "a string", offset: 9, event: true},
		{name: "event twice, a number", body: `{"event":"x","event":1}`, path: "event", want: "a string", offset: 21, event: true},
		{name: "event a number, and more", body: `{"ip":true,"event":1}`, path: "event", want: "the name of an event", event: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			ev, err := events.Parse([]byte(row.body))
			var pe *events.ParseError
			require.Nil(t, ev)
			require.ErrorAs(t, err, &pe)
			assert.Equal(t, row.path, pe.Path)
			assert.Equal(t, row.want, pe.Want)
			assert.Equal(t, row.offset, pe.Offset)
			text := err.Error()
			assert.True(t, strings.HasPrefix(text, "events: "))
			assert.Contains(t, text, "expected "+row.want)
			assert.Contains(t, text, row.path)
			assert.Equal(t, row.event, pe.Event != nil, "the event is %v", pe.Event)
			if pe.Event != nil {
				sameJSON(t, pe.Event.Raw(), []byte(row.body))
				sameJSON(t, marshal(t, pe.Event), []byte(row.body))
			}
		})
	}
}

// TestEnvelopeTypeMismatch: an envelope field of another type is zero, and the rest of the event is read.
func TestEnvelopeTypeMismatch(t *testing.T) {
	const integer, when = "a 64-bit integer", "a time in Unix seconds or as ISO 8601"
	for _, row := range []struct {
		member, value string
		path, want    string
		offset        int
	}{
		{member: "id", value: `{}`, path: "id", want: "a number or a string"},
		{member: "account_id", value: `"five"`, path: "account_id", want: integer},
		{member: "account_id", value: `1.5`, path: "account_id", want: integer},
		{member: "account_id", value: `9223372036854775808`, path: "account_id", want: integer},
		{member: "account_id", value: `[5]`, path: "account_id", want: "a number"},
		{member: "ip", value: `["192.0.2.1"]`, path: "ip", want: "a string"},
		{member: "user", value: `[]`, path: "user", want: "an object"},
		{member: "user", value: `{"id":"five","email":"a@b.c","account_id":2}`, path: "user.id", want: integer, offset: 6},
		{member: "user", value: `{"id":5,"email":2}`, path: "user.email", want: "a string", offset: 16},
		{member: "user", value: `{"id":5,"account_id":{}}`, path: "user.account_id", want: "a number", offset: 21},
		{member: "created_on", value: `"soon"`, path: "created_on", want: when},
		{member: "created_on", value: `true`, path: "created_on", want: when},
		{member: "timestamp", value: `[1700000000]`, path: "timestamp", want: when},
	} {
		t.Run(row.member+" "+row.value, func(t *testing.T) {
			before := `{"event":"Email.Error","` + row.member + `":`
			body := before + row.value + `,"data":{"error":"internal error; x"},"new":1}`
			ev := mustParse(t, []byte(body))
			var pe *events.ParseError
			if !errors.As(ev.Mismatch(), &pe) || pe.Path != row.path || pe.Want != row.want ||
				pe.Offset != int64(len(before)+row.offset) ||
				pe.Event != nil {
				t.Errorf("mismatch is %+v, want %q at %s", ev.Mismatch(), row.want, row.path)
			}
			d, ok := ev.Data.(*events.EmailErrored)
			require.True(t, ok)
			assert.Equal(t, "internal error; x", d.Error)
			assert.Empty(t, ev.ID)
			assert.Zero(t, ev.AccountID)
			assert.Empty(t, ev.IP)
			assert.True(t, ev.Time.IsZero())
			assert.Equal(t, body, string(marshal(t, ev)), "written as")
			ev.Data.(*events.EmailErrored).Error = "y"
			sameJSON(t, marshal(t, ev), []byte(before+row.value+`,"data":{"error":"y"},"new":1}`))
		})
	}
}

func TestNumericAndStringIDs(t *testing.T) {
	user := func(id, account int64) events.User {
		return events.User{ID: events.Value(id), AccountID: events.Value(account)}
	}
	for _, row := range []struct {
		body, id string
		account  int64
		user     events.User
	}{
		{`{"event":"x","id":3,"account_id":5,"user":{"id":31,"email":null,"account_id":5},"new":1}`, "3", 5, user(31, 5)},
		{`{"event":"x","id":"3","account_id":"5","user":{"id":"31","email":null,"account_id":"5"},"new":1}`, "3", 5, user(31, 5)},
		{`{"event":"x","user":{"id":-0,"email":null,"account_id":"0"}}`, "", 0, user(0, 0)},
	} {
		ev := mustParse(t, []byte(row.body))
		assert.Equal(t, row.id, ev.ID, row.body)
		assert.Equal(t, row.account, ev.AccountID, row.body)
		assert.Equal(t, row.user, ev.User, row.body)
		assert.NoError(t, ev.Mismatch(), row.body)
		assert.Equal(t, row.body, string(marshal(t, ev)), "written as")
		ev.User.Email = events.Value("a@b.c")
		sameJSON(t, marshal(t, ev), []byte(strings.Replace(row.body, `"email":null`, `"email":"a@b.c"`, 1)))
	}
	assert.NoError(t, (&events.Event{Name: "x"}).Mismatch(), "Mismatch of an event from a literal")
}

const shape = "an object with one of the fields campaign, automation, transactional_email and email"

var misfits = []struct {
	name, event, data string
	path, want        string
	recipient         string // if a part of the data could be read
}{
	{name: "no discriminator", event: "Email.Bounced", data: `{"bounce":{"category":"bounce_hb"}}`, path: "data", want: shape},
	{name: "discriminator null", event: "Email.Bounced", data: `{"campaign":null,"email":null}`, path: "data", want: shape},
	{name: "discriminator a string", event: "Email.ReportedAsSpam", data: `{"email":"a@b.c"}`, path: "data", want: shape, recipient: "a@b.c"},
	{name: "null", event: "Email.Error", data: `null`, path: "data", want: "an object"},
	{name: "array", event: "Contact.Removed", data: `[{"contact":{}}]`, path: "data", want: "an object"},
	{
		name:  "a number for a string, an object for an id",
		event: "Email.Bounced", data: `{"bounce":{"source_ip":7},"campaign":{"id":{}},"contact":{"email":"a@b.c"}}`,
		path: "data.campaign.id", want: "a number or a string", recipient: "a@b.c",
	},
	{
		name:  "a string for a bounce",
		event: "Email.Bounced", data: `{"bounce":"hard","campaign":{"id":1},"contact":{"email":"a@b.c"}}`,
		path: "data.bounce", want: "an object", recipient: "a@b.c",
	},
	{
		name:  "a number for the category of a bounce",
		event: "Email.Bounced", data: `{"bounce":{"category":5},"automation":{"id":1},"contact":{"email":"a@b.c"}}`,
		path: "data.bounce.category", want: "a string", recipient: "a@b.c",
	},
	{
		name:  "an object for the category of a bounce",
		event: "email.bounced", data: `{"transactional_email":{"id":"t1"},"contact":{"email":"a@b.c"},"bounce":{"category":{}}}`,
		path: "data.bounce.category", want: "a string", recipient: "a@b.c",
	},
	{
		name:  "an array for an address after more than ten mismatches",
		event: "Email.Rejected", data: `{"email":{"id":"e1"},"contact":{"tags":[1,2,3,4,5,6,7,8,9,10,11],"email":["a@b.c"]}}`,
		path: "data.contact.email", want: "a string",
	},
	{
		name:  "a number for an address",
		event: "Email.Opened", data: `{"email_id":"e1","email_address":7}`,
		path: "data.email_address", want: "a string",
	},
	{
		name:  "an object for the id of an email",
		event: "Email.Error", data: `{"email":{"id":{}},"error":"internal error; x"}`,
		path: "data.email.id", want: "a number or a string",
	},
	{
		name:  "a string for an email",
		event: "Email.Error", data: `{"email":"e1","error":"internal error; x"}`,
		path: "data.email", want: "an object",
	},
	{
		name:  "a string for the email of a contact",
		event: "Email.Rejected", data: `{"email":"e1","contact":{"email":"a@b.c"},"reason":"spam"}`,
		path: "data.email", want: "an object", recipient: "a@b.c",
	},
	{
		name:  "a boolean for the id of a contact",
		event: "Contact.Removed", data: `{"contact":{"id":true,"email":"a@b.c"},"list":{"id":1}}`,
		path: "data.contact.id", want: "a number or a string", recipient: "a@b.c",
	},
	{
		name:  "a string for an object",
		event: "Contact.Removed", data: `{"list":"42","contact":{"email":"a@b.c"}}`,
		path: "data.list", want: "an object", recipient: "a@b.c",
	},
}

// TestDataTypeMismatch: if the data does not match its payload type, or an address, an id or a bounce cannot be read, the
// event contains the raw data, the error, and the fields that could be read.
func TestDataTypeMismatch(t *testing.T) {
	for _, row := range misfits {
		for _, body := range []string{
			`{"event":"` + row.event + `","data":` + row.data + `,"id":"1"}`,
			`{"id":"1","data":` + row.data + `,"event":"` + row.event + `"}`,
		} {
			t.Run(row.name, func(t *testing.T) {
				ev := mustParse(t, []byte(body))
				d, ok := ev.Data.(*events.Unknown)
				if !ok {
					t.Fatalf("data is %+v, want Unknown", ev.Data)
				}
				var pe *events.ParseError
				require.ErrorAs(t, d.Err, &pe)
				assert.Equal(t, row.path, pe.Path)
				assert.Equal(t, row.want, pe.Want)
				assert.Equal(t, row.data, string(d.Raw))
				assert.Equal(t, row.data, string(ev.RawData()))
				assert.Equal(t, row.recipient, ev.Recipient())
				assert.Equal(t, row.path == "data", d.Partial == nil)
				assert.Equal(t, "1", ev.ID)
				assert.Equal(t, body, string(marshal(t, ev)))
			})
		}
	}
}

func TestMissingData(t *testing.T) {
	for name, want := range map[events.Name]string{
		"Email.Error": "events: data: expected an object at offset 0", "New.Event": "<nil>",
	} {
		ev := mustParse(t, []byte(`{"event":"`+name+`"}`))
		d, ok := ev.Data.(*events.Unknown)
		require.True(t, ok, "%s", name)
		assert.Nil(t, d.Raw, "%s", name)
		assert.Equal(t, want, fmt.Sprint(d.Err), "%s", name)
		assert.Nil(t, ev.RawData(), "%s", name)
	}
}

// TestDuplicateAndReorderedFields: the last of duplicate fields counts, in any order.
func TestDuplicateAndReorderedFields(t *testing.T) {
	const suppressed = `{"suppressedEmail":{"email":"a@b.c"}}`
	for _, row := range []struct{ name, body, recipient string }{
		{name: "data first", body: `{"data":` + suppressed + `,"event":"SuppressedEmail.Added"}`, recipient: "a@b.c"},
		{
			name:      "event again",
			body:      `{"event":"Email.Error","data":` + suppressed + `,"event":"SuppressedEmail.Added"}`,
			recipient: "a@b.c",
		},
		{
			name:      "data again",
			body:      `{"data":{"suppressedEmail":{"email":"x"}},"event":"SuppressedEmail.Added","data":` + suppressed + `}`,
			recipient: "a@b.c",
		},
		{name: "bad data, then good", body: `{"event":"SuppressedEmail.Added","data":1,"data":` + suppressed + `}`, recipient: "a@b.c"},
		{
			name: "a member of data again",
			body: `{"event":"SuppressedEmail.Added","data":{"suppressedEmail":{"email":"x"},` +
				`"suppressedEmail":{"email":"a@b.c"}}}`,
			recipient: "a@b.c",
		},
		{name: "names have case", body: `{"event":"SuppressedEmail.Added","Event":"x","data":{"suppressedemail":{"email":"x"}}}`},
		{
			name:      "names may be escaped",
			body:      `{"\u0065vent":"SuppressedEmail.Added","data":{"suppressed\u0045mail":{"email":"a@b.c"}}}`,
			recipient: "a@b.c",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			ev := mustParse(t, []byte(row.body))
			d, ok := ev.Data.(*events.SuppressedEmailAdded)
			require.True(t, ok)
			assert.Equal(t, row.recipient, ev.Recipient())
			assert.Equal(t, row.recipient, d.SuppressedEmail.Email)
			sameJSON(t, marshal(t, ev), []byte(row.body))
		})
	}
}

// TestPayloadTypeWithMoreFields: additional fields do not change the payload type of a bounce or a complaint.
func TestPayloadTypeWithMoreFields(t *testing.T) {
	for data, want := range map[string]events.SendingType{
		`{"automation":{"id":1},"event_time":1,"email":{"id":"x"}}`:                events.SendingTypeEmailAPI,
		`{"event_time":1,"email":{"id":"x"},"bounce":{"category":"bounce_hb"}}`:    events.SendingTypeEmailAPI,
		`{"email":{"id":"x"},"bounce":{},"campaign":{}}`:                           events.SendingTypeCampaign,
		`{"automation":{},"bounce":{},"email":{"id":"x"}}`:                         events.SendingTypeWorkflow,
		`{"campaign":null,"automation":null,"bounce":{},"transactional_email":{}}`: events.SendingTypeTransactional,
		`{"campaign":{}}`: events.SendingTypeCampaign,
	} {
		complaint := strings.Replace(data, `"bounce"`, `"fbl"`, 1)
		for name, data := range map[string]string{"Email.Bounced": data, "Email.ReportedAsSpam": complaint} {
			if ev := mustParse(t, []byte(`{"event":"`+name+`","data":`+data+`}`)); ev.SendingType() != want {
				t.Errorf("%s %s: %+v, want the sending type %s", name, data, ev.Data, want)
			}
		}
	}
}

// TestTimesAsISO8601: a time with any of these formats is read. Offsets of 24 hours and more are invalid, because Go
// cannot write them.
func TestTimesAsISO8601(t *testing.T) {
	for text, want := range map[string]int64{
		"2025-11-20T15:04:20Z": 1763651060, "2025-11-20T17:04:20+02:00": 1763651060, "2025-11-20T17:04:20+0200": 1763651060,
		"2025-11-20T15:04:20": 1763651060, "2025-11-20T15:04:20.000Z": 1763651060, "2025-11-20T15:04:20.000": 1763651060,
		"2025-11-20T15:04:20+23:59": 1763564720, "2025-11-20T15:04:20-23:59": 1763737400,
		"2025-11-20T15:04:20+24:00": 0, "2025-11-20T15:04:20-24:00": 0,
	} {
		ev := mustParse(t, []byte(`{"event":"Contact.Added","timestamp":"`+text+`","data":{"added_at":"`+text+`"}}`))
		d, valid := ev.Data.(*events.ContactAdded)
		valid = valid && !d.AddedAt.IsZero()
		if valid != (want != 0) || valid != (ev.Mismatch() == nil) || valid == ev.Time.IsZero() {
			t.Errorf("%s: %+v, %v; want it to be valid: %v", text, ev, ev.Mismatch(), want != 0)
		} else if valid && (ev.Time.Unix() != want || d.AddedAt.Unix() != want) {
			t.Errorf("%s: %+v, want %d", text, ev, want)
		}
	}
}

func TestErrorsOmitContent(t *testing.T) {
	for _, body := range []string{
		`{"event":"x","id":{"secret":"hunter2"}}`,
		`{"event":"x","user":"hunter2"}`,
		`{"event":{"name":"hunter2"}}`,
		`{"event":"hunter2","data":"hunter2`,
	} {
		ev, err := events.Parse([]byte(body))
		if err == nil {
			err = ev.Mismatch()
		}
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

func TestEventIsIndependentOfBody(t *testing.T) {
	body := delivery(t, "campaign_bounce")
	ev := mustParse(t, body)
	want := marshal(t, ev)
	clear(body)
	assert.Equal(t, string(want), string(marshal(t, ev)))
	assert.Equal(t, "ada@example.org", ev.Recipient())
	clear(ev.Raw())
	clear(ev.RawData())
	assert.Equal(t, string(want), string(marshal(t, ev)), "a change to the result of Raw changes the event")
}

// TestParseMemory: the memory for any body is proportional to its length.
func TestParseMemory(t *testing.T) {
	const size = 1 << 20
	const maxFactor, free = 12, 256 << 10 // SECURITY.md lists them
	for name, body := range map[string]string{
		"deep arrays":       `{"event":"x","data":` + strings.Repeat("[", size),
		"deep objects":      `{"event":"x","data":` + strings.Repeat(`{"a":`, size/5),
		"many members":      `{"event":"Email.Error","data":{` + strings.Repeat(`"error":1,`, size/10) + `"error":2}}`,
		"many datas":        `{` + strings.Repeat(`"data":{"error":1},`, size/20) + `"event":"Email.Error"}`,
		"many bad datas":    `{"event":"Email.Error",` + strings.Repeat(`"data":1,`, size/9) + `"data":2}`,
		"many events":       `{"data":{},` + strings.Repeat(`"event":"Email.Error",`, size/20) + `"event":"x"}`,
		"long name":         `{"event":"x","` + strings.Repeat("n", size) + `":tru}`,
		"long string":       `{"event":"x","id":"` + strings.Repeat("s", size),
		"long number":       `{"event":"x","created_on":` + strings.Repeat("9", size) + `}`,
		"many escapes":      `{"event":"x","id":"` + strings.Repeat(`\u0000`, size/6) + `x`,
		"not UTF-8":         `{"event":"x","user":"` + strings.Repeat("\xff", size) + `"}`,
		"many empty":        `{"event":"x","data":[` + strings.Repeat("{},", size/3) + `{}]`,
		"white space":       `{"event":` + strings.Repeat(" ", size) + `1}`,
		"commas":            `{"event":"x"` + strings.Repeat(",", size) + `}`,
		"many strings":      `{"event":"Email.Rejected","data":{"contact":{"tags":[` + strings.Repeat(`"",`, size/3) + `""]}}}`,
		"other type arrays": `{"event":"Email.Rejected","data":{"contact":{"tags":[` + strings.Repeat("1,", size/2) + `1]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			text := []byte(body)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if ev, err := events.Parse(text); err == nil && ev.Data == nil {
				t.Error("neither data nor an error")
			}
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > maxFactor*uint64(len(text))+free {
				t.Errorf("%d bytes allocated for %d bytes", n, len(text))
			}
		})
	}
}

// TestConcurrentReads parses bodies and reads events at the same time. The race
// detector checks that no method changes an event.
func TestConcurrentReads(t *testing.T) {
	for _, name := range deliveries(t) {
		body := delivery(t, name)
		ev := mustParse(t, body)
		read := func() []any {
			bounce, ok := ev.Bounce()
			text, err := ev.MarshalJSON()
			return []any{
				ev.Recipient(), ev.EmailID(), ev.ListID(), ev.ContactID(), ev.CampaignID(), ev.SendingType(), bounce, ok, string(text), err,
				string(ev.RawData()), ev.Mismatch(),
			}
		}
		want := read()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				assert.Equal(t, want, read(), name)
				again, err := events.Parse(body)
				require.NoError(t, err, name)
				assert.Equal(t, ev, again, name)
			})
		}
		all.Wait()
	}
}
