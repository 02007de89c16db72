package delivery

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"example.com/emailplatform/mockserver/internal/activity"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/record"
)

// Whatever a delivery knows is in a snapshot, and there again once that was
// restored. A field that is not is named.
func TestSnapshotHoldsEveryField(t *testing.T) {
	derived := map[string]bool{
		"webhookID": true, // from WebhookID
		"ID":        true, // by its place
		"n":         true, // the same
	}
	typ := reflect.TypeFor[delivery]()
	for _, f := range reflect.VisibleFields(typ) {
		if f.Anonymous || derived[f.Name] {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			d := newDelivery()
			field := reflect.ValueOf(d).Elem().FieldByIndex(f.Index)
			field = reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem() // it may be unexported
			fill(t, field)
			without, with := saved(t, newDelivery()), saved(t, d)
			if with == without {
				t.Fatalf("a snapshot says nothing of delivery.%s: %s", f.Name, with)
			}
			e := newEngine(t)
			var state State
			if err := json.Unmarshal([]byte(with), &state); err != nil {
				t.Fatal(err)
			}
			e.Replace([]Webhook{{ID: 7, Archived: true}}, state)
			if again := stateOf(t, e); again == without {
				t.Errorf("delivery.%s is lost when a snapshot is restored", f.Name)
			}
		})
	}
}

// newDelivery is one that is not going to be attempted any more.
func newDelivery() *delivery {
	return &delivery{webhookID: 7, Delivery: record.Delivery{ID: ID(1), WebhookID: "7", State: record.DeliveryFailed}}
}

// fill sets a field to something that is not its zero value.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		return
	case record.Text:
		v.Set(reflect.ValueOf(record.Text("{}")))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Struct:
		fill(t, v.Field(0))
	default:
		t.Fatalf("no value for a %s", v.Type())
	}
}

func newEngine(t *testing.T) *Engine {
	changes, work := &activity.Feed{}, &activity.Work{}
	e := New(Options{Changes: changes, Clock: clock.New(clock.Options{Changes: changes, Work: work}), Work: work})
	t.Cleanup(e.Close)
	return e
}

// saved returns the state of an engine that has one delivery.
func saved(t *testing.T, d *delivery) string {
	t.Helper()
	e := newEngine(t)
	e.history.add(d)
	return stateOf(t, e)
}

func stateOf(t *testing.T, e *Engine) string {
	t.Helper()
	return string(jsonOf(t, e.Snapshot()))
}
