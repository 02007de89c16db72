package platform

import (
	"cmp"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
)

// oneOfEach is a state with an account that has one resource of each kind.
const oneOfEach = `{"version":4,"last_id":9,"accounts":[{"account_id":1,
	"templates":[{"template_id":1,"name":"T"}],
	"lists":[{"list_id":2,"name":"L"}],
	"campaigns":[{"campaign_id":3,"name":"C","status":"incomplete"}],
	"workflows":[{"workflow_id":4,"name":"W","status":"active","list_id":2}],
	"webhooks":[{"id":5,"account_id":1,"url":"http://app.test/","secret":"s","hash_function":"sha256"}],
	"suppressed_emails":[{"email":"s@example.org"}]}]}`

// TestResourceKinds: for each collection of an account, a state and its snapshot contain the resources, their ids are
// taken, and they are counted.
func TestResourceKinds(t *testing.T) {
	p := restored(t, oneOfEach)
	a := p.accounts[1]
	counts, state := reflect.ValueOf(p.Overview(1, 0, 0).Resources), reflect.ValueOf(a.state())
	for f, v := range reflect.ValueOf(a).Elem().Fields() {
		if _, ok := reflect.TypeAssert[interface{ len() int }](reflect.NewAt(f.Type, v.Addr().UnsafePointer())); !ok {
			continue
		}
		name := cmp.Or(map[string]string{"Suppression": "Suppressed"}[f.Name], f.Name)
		keys := v.FieldByName("byKey").MapKeys()
		if !assert.Len(t, keys, 1, "account.%s: in oneOfEach, and in restoring.account (restore.go)", f.Name) {
			continue
		}
		if keys[0].CanInt() {
			assert.True(t, a.has(keys[0].Int()), "account.%s: in account.has (ids.go)", f.Name)
		}
		if saved := state.FieldByName(name); assert.True(t, saved.IsValid(), "account.%s: in accountState (snapshot.go)", f.Name) {
			assert.Equal(t, 1, saved.Len(), "account.%s: in account.state (snapshot.go)", f.Name)
		}
		if count := counts.FieldByName(name); assert.True(t, count.IsValid(), "account.%s: in Resources (views.go)", f.Name) {
			assert.EqualValues(t, 1, count.Int(), "account.%s: in Overview.addLocked (views.go)", f.Name)
		}
	}
}

// TestOutcomeFields: count and add change each field of an Outcome.
func TestOutcomeFields(t *testing.T) {
	var o Outcome
	o.count(&message{Status: messageBounced, Opens: 1, Clicks: 1, Unsubscribed: true, GlobalUnsubscribed: true, ReportedAsSpam: true}, 1)
	once := reflect.ValueOf(o)
	o.add(o)
	for f, sum := range reflect.ValueOf(o).Fields() {
		assert.EqualValues(t, 1, once.FieldByIndex(f.Index).Int(), "Outcome.%s in count (outcome.go)", f.Name)
		assert.EqualValues(t, 2, sum.Int(), "Outcome.%s in add (views.go)", f.Name)
	}
}
