package conformance_test

import (
	"strings"
	"testing"
)

func TestImportLimit(t *testing.T) {
	withFixture(func(l *fixture) {
		proves(l, "limits/import", "decision/14/too-many")
		path := f("/lists/%d/contacts", l.list())
		batch := func(n int) string {
			return `{"contacts":[` + strings.TrimSuffix(strings.Repeat(`{"email":"ada@example.org"},`, n), ",") + `]}`
		}
		l.post(path+"/import", batch(1001)).problem(422, "too_many_contacts", "body.contacts")
		l.get(path).is(200, `{"data":[],"…":0}`)
		l.post(path+"/import", batch(1000)).is(200, `{"imported":1,"updated":999,"errors":[]}`)
	})(t)
}
