package delivery

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/work"
	"example.com/emailplatform/mockserver/model"
	"example.com/emailplatform/webhook"
)

// dispatcherTo returns a dispatcher that delivers to a handler in process.
func dispatcherTo(t *testing.T, receiver http.HandlerFunc) *Dispatcher {
	t.Helper()
	changes, work := &changes.Feed{}, &work.Pending{}
	faults := fault.New(1, slog.New(slog.DiscardHandler), changes)
	d := New(Options{
		Schedule: []time.Duration{time.Second}, Concurrency: 1,
		Targets: map[string]http.Handler{"receiver.example": receiver},
		Faults:  faults,
		Changes: changes,
		Clock:   clock.New(clock.Options{Changes: changes, Work: work}),
		Work:    work,
	})
	t.Cleanup(func() {
		faults.Close()
		d.Close()
	})
	return d
}

var hook = Webhook{ID: 7, AccountID: 1, URL: "http://receiver.example/", Secret: "s", Hash: webhook.SHA256}

// jsonOf returns a snapshot as JSON.
func jsonOf(t *testing.T, now Snapshot) []byte {
	t.Helper()
	out := State{Events: now.Events, LastEvent: now.LastEvent}
	for dlv := range now.Deliveries() {
		out.Deliveries = append(out.Deliveries, dlv)
	}
	text, err := json.Marshal(out)
	require.NoError(t, err)
	return text
}

// read returns the state of a dispatcher, decoded from JSON.
func read(t *testing.T, d *Dispatcher) (out State) {
	t.Helper()
	require.NoError(t, json.Unmarshal(jsonOf(t, d.Snapshot()), &out))
	return out
}

func send(t *testing.T, d *Dispatcher, body string) {
	t.Helper()
	if _, err := d.Send("7", []byte(body)); err != nil {
		t.Fatal(err)
	}
}

// Later attempts do not change a snapshot, and a restored dispatcher continues from it.
func TestSnapshotIsImmutable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		respond := make(chan int)
		d := dispatcherTo(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(<-respond) })
		d.Open(hook)
		id, err := d.Send("7", []byte(`{"event":"own"}`))
		require.NoError(t, err)
		respond <- http.StatusBadGateway
		synctest.Wait()
		state := d.Snapshot()
		time.Sleep(time.Second)
		respond <- http.StatusOK
		synctest.Wait()
		got := d.Details(id)
		require.Equal(t, model.DeliveryDelivered, got.State)
		require.Len(t, got.Attempts, 2)
		text := jsonOf(t, state)
		var back State
		require.NoError(t, json.Unmarshal(text, &back))
		saved := back.Deliveries[0]
		assert.Equal(t, model.DeliveryRetrying, saved.State)
		require.Len(t, saved.Attempts, 1)
		assert.Equal(t, 1, saved.Tries)
		tries := 0
		other := dispatcherTo(t, func(http.ResponseWriter, *http.Request) { tries++ })
		other.Replace([]Webhook{hook}, back)
		synctest.Wait()
		if got := other.Details(id); tries != 1 || got.State != model.DeliveryDelivered ||
			got.Attempts[0].Status != http.StatusBadGateway {
			t.Errorf("after a restore: %d attempts, %+v", tries, got)
		}
	})
}

// A deleted delivery keeps its id in the history and is not listed.
func TestStateWithDeletedDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		d := dispatcherTo(t, func(http.ResponseWriter, *http.Request) { tries++ })
		d.Replace([]Webhook{hook}, State{Deliveries: []Saved{
			{Delivery: model.Delivery{ID: "dlv-1"}, progress: progress{Deleted: true}},
			{Delivery: model.Delivery{ID: "dlv-2", WebhookID: "7", URL: hook.URL, State: model.DeliveryQueued}},
		}})
		synctest.Wait()
		got := d.Details("dlv-2")
		assert.Equal(t, 1, tries)
		assert.Equal(t, model.DeliveryDelivered, got.State)
		n, newest := d.NewestDeliveries()
		for dlv := range newest {
			assert.Equal(t, "dlv-2", dlv.ID, "%+v", dlv)
			assert.Equal(t, 1, n, "%+v", dlv)
		}
	})
}

func TestClosedDispatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dispatcherTo(t, func(http.ResponseWriter, *http.Request) {})
		d.Open(hook)
		d.Close()
		send(t, d, "{}")
		synctest.Wait()
		got := d.Deliveries()[0]
		assert.Equal(t, model.DeliveryQueued, got.State)
		assert.Empty(t, got.Attempts)
	})
}

// Restores keep the order of deliveries, including a reordered delivery that waits for the next delivery, and a
// redelivery at the end of the queue.
func TestStateKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrived []string
		receive := func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			arrived = append(arrived, string(body))
		}
		archived := hook
		archived.Archived = true
		d := dispatcherTo(t, receive)
		d.Open(archived)
		if _, err := d.Faults.Add([]model.Fault{{Action: model.FaultReorder, Delay: time.Hour}}); err != nil {
			t.Fatal(err)
		}
		for _, bodies := range []string{"held", "next last", "after"} {
			for body := range strings.FieldsSeq(bodies) {
				send(t, d, body)
			}
			if bodies == "after" {
				require.NoError(t, d.Redeliver(ID(3)))
			}
			state := read(t, d)
			d = dispatcherTo(t, receive)
			d.Replace([]Webhook{archived}, state)
		}
		d.Archive(hook.ID, false)
		synctest.Wait()
		assert.Equal(t, "next held after last", strings.Join(arrived, " "))
	})
}

// JSON keeps the duration of an attempt to the nanosecond.
func TestAttemptsOnWire(t *testing.T) {
	in := []model.Attempt{{Time: start, Duration: 1234567 * time.Nanosecond, Status: 200}}
	text, err := json.Marshal(attemptsToJSON(in))
	require.NoError(t, err)
	assert.Equal(t, `[{"time":"2026-01-02T03:04:05Z","status":200,"duration_ms":1.234567}]`, string(text))
	var back []AttemptJSON
	if err := json.Unmarshal(text, &back); err != nil || attemptsFromJSON(back)[0] != in[0] {
		t.Errorf("read back: %+v, %v", back, err)
	}
}

// If a delivery was deleted during an attempt, the end of the attempt is not published, because another
// delivery may have its id.
func TestDeletedDeliveryIsNotPublished(t *testing.T) {
	attempted, respond := make(chan bool), make(chan bool)
	d := dispatcherTo(t, func(http.ResponseWriter, *http.Request) { attempted <- true; <-respond })
	for name, forget := range map[string]func(){
		"all":           func() { d.Replace(nil, State{}) },
		"of an account": func() { d.ReplaceAccount(hook.AccountID, nil) },
	} {
		d.Open(hook)
		if _, err := d.Send(hook.Name(), []byte("{}")); err != nil {
			t.Fatal(err)
		}
		<-attempted
		forget()
		changes, _ := d.Changes.Subscribe()
		respond <- true
		d.Work.Finish()
		d.Changes.Unsubscribe(changes)
		for line := range changes {
			t.Errorf("%s: published %s", name, line)
		}
	}
}

// A reset of an account also ends its deliveries to URLs, but not the deliveries of other accounts.
func TestReplaceAccountEndsURLDeliveries(t *testing.T) {
	attempted, respond := make(chan string), make(chan bool)
	d := dispatcherTo(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		attempted <- string(body)
		<-respond
	})
	secret, err := webhook.ParseSecret("s", "")
	require.NoError(t, err)
	d.SendTo(1, hook.URL, secret, []byte(`"in flight"`))
	assert.Equal(t, `"in flight"`, <-attempted)
	d.SendTo(1, hook.URL, secret, []byte(`"pending"`))
	d.ReplaceAccount(1, nil)
	d.SendTo(2, hook.URL, secret, []byte(`"other"`))
	assert.Equal(t, `"other"`, <-attempted)
	respond <- true
	respond <- true
	d.Work.Finish()
	select {
	case body := <-attempted:
		t.Errorf("delivered %s after the reset", body)
	default:
	}
	assert.Len(t, d.Deliveries(), 1)
}

// Each field of a delivery is saved and restored.
func TestSnapshotHasEveryField(t *testing.T) {
	derived := map[string]bool{
		"webhookID": true, // from WebhookID
		"ID":        true, // from its position in the history
		"n":         true, // from its position in the history
	}
	typ := reflect.TypeFor[delivery]()
	for _, f := range reflect.VisibleFields(typ) {
		if f.Anonymous || derived[f.Name] {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			dlv := newDelivery()
			field := reflect.ValueOf(dlv).Elem().FieldByIndex(f.Index)
			field = reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem() // the field may be unexported
			fill(t, field)
			without, with := saved(t, newDelivery()), saved(t, dlv)
			if with == without {
				t.Fatalf("a snapshot does not contain delivery.%s: %s", f.Name, with)
			}
			d := dispatcherTo(t, nil)
			var state State
			require.NoError(t, json.Unmarshal([]byte(with), &state))
			d.Replace([]Webhook{{ID: 7, Archived: true}}, state)
			if again := stateOf(t, d); again == without {
				t.Errorf("delivery.%s is lost when a snapshot is restored", f.Name)
			}
		})
	}
}

// newDelivery returns a delivery in a terminal state.
func newDelivery() *delivery {
	return &delivery{webhookID: 7, Delivery: model.Delivery{ID: ID(1), WebhookID: "7", State: model.DeliveryFailed}}
}

// fill sets a field to a non-zero value.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		return
	case model.Text:
		v.Set(reflect.ValueOf(model.Text("{}")))
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

// saved returns the state of a dispatcher with one delivery.
func saved(t *testing.T, dlv *delivery) string {
	t.Helper()
	d := dispatcherTo(t, nil)
	d.history.add(dlv)
	return stateOf(t, d)
}

func stateOf(t *testing.T, d *Dispatcher) string {
	t.Helper()
	return string(jsonOf(t, d.Snapshot()))
}
