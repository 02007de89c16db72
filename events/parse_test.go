package events_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"example.com/emailplatform/events"
)

// deliveries returns the names of the files in testdata, which are the examples
// of openapi.yaml.
func deliveries(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(filepath.Base(file), ".json")
	}
	return files
}

// delivery returns the body in testdata/name.json.
func delivery(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func mustParse(t testing.TB, body []byte) *events.Event {
	t.Helper()
	ev, err := events.Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// sameJSON fails the test unless a and b are the same JSON value.
func sameJSON(t testing.TB, a, b []byte) {
	t.Helper()
	var va, vb any
	if err := json.Unmarshal(a, &va); err != nil {
		t.Fatalf("%v in %s", err, a)
	}
	if err := json.Unmarshal(b, &vb); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	if !reflect.DeepEqual(va, vb) {
		t.Errorf("not the same JSON value:\n%s\n%s", a, b)
	}
}

// Each example is read in the type that is called as the schema that it fits.
func TestParseShape(t *testing.T) {
	doc := document(t, "3.0.3")
	for _, name := range deliveries(t) {
		t.Run(name, func(t *testing.T) {
			body := delivery(t, name)
			ev := mustParse(t, body)
			if got, want := fmt.Sprintf("%T", ev.Data), "*events."+fitting(t, doc, ev); got != want {
				t.Fatalf("data is %s, want %s: %+v", got, want, ev.Data)
			}
			out, err := json.Marshal(ev)
			if err != nil {
				t.Fatal(err)
			}
			sameJSON(t, out, body)

			// The fields alone hold all of it too, without the body.
			data, err := json.Marshal(ev.Data)
			if err != nil {
				t.Fatal(err)
			}
			sameJSON(t, data, ev.RawData())
			built := events.Event{
				ID:        ev.ID,
				Name:      ev.Name,
				Time:      ev.Time,
				AccountID: ev.AccountID,
				User:      ev.User,
				IP:        ev.IP,
				Data:      ev.Data,
			}
			out, err = json.Marshal(built)
			if err != nil {
				t.Fatal(err)
			}
			sameJSON(t, out, body)
		})
	}
}
