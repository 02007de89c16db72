package platform

import (
	"cmp"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/delivery"
)

// oneOfEach is a state with an account that has one resource of each kind.
const oneOfEach = `{"version":4,"last_id":9,"accounts":[{"account_id":1,
	"templates":[{"template_id":1,"name":"T"}],
	"lists":[{"list_id":2,"name":"L"}],
	"campaigns":[{"campaign_id":3,"name":"C","status":"incomplete"}],
	"workflows":[{"workflow_id":4,"name":"W","status":"active","list_id":2}],
	"webhooks":[{"id":5,"account_id":1,"url":"http://app.test/","secret":"s","hash_function":"sha256"}],
	"suppressed_emails":[{"email":"s@example.org"}]}]}`

// TestResourceKinds: for each collection of an account, a state and its snapshot contain the resources. The overview
// counts these resources, and their ids are in use.
func TestResourceKinds(t *testing.T) {
	p := restored(t, oneOfEach)
	a := p.accounts[1]
	counts, state := reflect.ValueOf(p.Overview(1, 0, 0).Resources), reflect.ValueOf(a.snapshot().state())
	for f, v := range reflect.ValueOf(a).Elem().Fields() {
		if _, ok := reflect.TypeAssert[interface{ len() int }](reflect.NewAt(f.Type, v.Addr().UnsafePointer())); !ok {
			continue
		}
		name := cmp.Or(map[string]string{"Suppression": "Suppressed"}[f.Name], f.Name)
		keys := v.FieldByName("byKey").MapKeys()
		if !assert.Len(t, keys, 1, "account.%s: in oneOfEach, and in restoring.restoreAccount (restore.go)", f.Name) {
			continue
		}
		if keys[0].CanInt() {
			assert.True(t, a.hasID(keys[0].Int()), "account.%s: in account.hasID (ids.go)", f.Name)
		}
		if saved := state.FieldByName(name); assert.True(t, saved.IsValid(), "account.%s: in accountState (snapshot.go)", f.Name) {
			assert.Equal(t, 1, saved.Len(), "account.%s: in accountSnapshot (snapshot.go)", f.Name)
		}
		if count := counts.FieldByName(name); assert.True(t, count.IsValid(), "account.%s: in Resources (overview.go)", f.Name) {
			assert.EqualValues(t, 1, count.Int(), "account.%s: in Overview.addLocked (overview.go)", f.Name)
		}
	}
}

// TestMessageCounts: count and add change each field of MessageCounts.
func TestMessageCounts(t *testing.T) {
	var o MessageCounts
	o.count(&message{Status: messageBounced, Opens: 1, Clicks: 1, Unsubscribed: true, GlobalUnsubscribed: true, ReportedAsSpam: true}, 1)
	once := reflect.ValueOf(o)
	o.add(o)
	for f, sum := range reflect.ValueOf(o).Fields() {
		assert.EqualValues(t, 1, once.FieldByIndex(f.Index).Int(), "MessageCounts.%s in count (messagecounts.go)", f.Name)
		assert.EqualValues(t, 2, sum.Int(), "MessageCounts.%s in add (overview.go)", f.Name)
	}
}

// TestMessageFields: each field of the forms of a message is set. The other forms embed one of these forms.
func TestMessageFields(t *testing.T) {
	var m message
	fill(reflect.ValueOf(&m).Elem())
	assert.Empty(t, unset(reflect.ValueOf(m.toAPI())), "fields of api.Email in message.toAPI (message.go)")
	m.WorkflowID, m.SentBy = 0, events.SendingTypeWorkflow // so Confirmation is set
	assert.Equal(t, []string{"WorkflowID"}, unset(reflect.ValueOf(m.rendered("/"))), "fields of model.Message in message.withoutContent (render.go)")
	m.Deleted = false
	p := restored(t, oneOfEach)
	p.addMessage(&m)
	assert.Equal(t, []string{"Message.WorkflowID"}, unset(reflect.ValueOf(*p.Message(m.ID))), "fields of MessageDetails in Platform.Message (outbox.go)")
}

// TestWebhookFields: each field of the response for a webhook is set.
func TestWebhookFields(t *testing.T) {
	var h delivery.Webhook
	fill(reflect.ValueOf(&h).Elem())
	assert.Equal(t, []string{"HashFunction"}, unset(reflect.ValueOf(hookWire(&h))), "fields of api.Webhook in hookWire (webhook.go)")
	assert.Empty(t, unset(reflect.ValueOf(hookSummary(&h))), "fields of api.WebhookSummary in hookSummary (webhook.go)")
}

// fill sets all fields of a value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("https://shop.example/")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		v.SetInt(3)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field)
		}
	}
}

// unset returns the fields of a struct, and of structs in it, that have the zero value.
func unset(v reflect.Value) (names []string) {
	for f, field := range v.Fields() {
		if field.IsZero() {
			names = append(names, f.Name)
		} else if field.Kind() == reflect.Struct && field.Type() != reflect.TypeFor[time.Time]() {
			for _, name := range unset(field) {
				names = append(names, f.Name+"."+name)
			}
		}
	}
	return names
}
