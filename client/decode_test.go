package client

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strconv"
	"testing"
	"time"

	"example.com/emailplatform/internal/json/jsonscan"
)

// TestGeneratedDecoders: each generated decoder reads the output of encoding/json for a value with all fields
// set.
func TestGeneratedDecoders(t *testing.T) {
	readsBack(t, readTemplate)
	readsBack(t, readTemplatePage)
	readsBack(t, readList)
	readsBack(t, readListPage)
	readsBack(t, readContact)
	readsBack(t, readContactPage)
	readsBack(t, readTagPage)
	readsBack(t, func(c *jsonscan.Cursor) ImportResult { return readImportResponse(c).ImportResult })
	readsBack(t, readSubmittedEmail)
	readsBack(t, readEmail)
	readsBack(t, readTransactionalReceipt)
	readsBack(t, readCampaign)
	readsBack(t, readCampaignPage)
	readsBack(t, readWorkflow)
	readsBack(t, readWorkflowPage)
	readsBack(t, readSuppressedEmail)
	readsBack(t, readSuppressedEmailPage)
	readsBack(t, readWebhook)
	readsBack(t, readWebhookPage)
}

func readsBack[T any](t *testing.T, read func(*jsonscan.Cursor) T) {
	t.Helper()
	var want T
	n := 0
	fill(reflect.ValueOf(&want).Elem(), &n)
	text, err := json.Marshal(want)
	fatal(t, err)
	text = bytes.ReplaceAll(text, []byte(redacted), []byte("shown")) // a Secret leaves itself out
	var plain T
	fatal(t, json.Unmarshal(text, &plain))
	c := jsonscan.New(string(inUnixSeconds(text)))
	got := read(c)
	if err := c.End(); err != nil || !reflect.DeepEqual(got, plain) || n == 0 {
		t.Errorf("%T: %v\ngot  %+v\nwant %+v", got, err, got, plain)
	}
}

// inUnixSeconds replaces the times of a JSON text by Unix seconds.
func inUnixSeconds(text []byte) []byte {
	return regexp.MustCompile(`"1970-[^"]*Z"`).ReplaceAllFunc(text, func(quoted []byte) []byte {
		at, err := time.Parse(`"`+time.RFC3339+`"`, string(quoted))
		if err != nil {
			panic(err)
		}
		return strconv.AppendInt(nil, at.Unix(), 10)
	})
}

func TestWebhookJSONOmitsSecret(t *testing.T) {
	text, err := json.Marshal(Webhook{Secret: NewSecret("s")})
	fatal(t, err)
	var back Webhook
	if err := json.Unmarshal(text, &back); err == nil || back.Secret != (Secret{}) {
		t.Errorf("%s became the secret %q: %v", text, back.Secret.Reveal(), err)
	}
}

// fill sets each field of v to a different value.
func fill(v reflect.Value, n *int) {
	*n++
	if v.Type() == reflect.TypeFor[Secret]() {
		v.Set(reflect.ValueOf(NewSecret("text")))
		return
	}
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Unix(int64(*n), 0).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text " + string(rune('a'+*n%26)) + "\u00e4")
	case reflect.Int64, reflect.Int:
		v.SetInt(int64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Tag.Get("json") != "-" {
				fill(v.Field(i), n)
			}
		}
	default:
		panic("client: no value for " + v.Type().String())
	}
}

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
