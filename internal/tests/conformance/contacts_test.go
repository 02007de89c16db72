package conformance_test

import (
	"strings"
	"testing"
)

func TestImportLimit(t *testing.T) {
	inLab(func(l *lab) {
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

// The result of an import depends on the status of the contact on the list. An import with import_to "active" can resubscribe contacts.
func TestImportTo(t *testing.T) {
	const kept, respects, bad, deleted = "decision/14/stay", "decision/14/respect", "decision/14/bad-stays", "decision/14/deleted"
	for _, row := range []struct {
		was     string // "…, deleted" means deleted by an earlier import
		more    string // further fields of the request
		becomes string // "…, added" means that Contact.Added fires; no other event fires
		pieces  []string
	}{
		{"", ``, "active, added", []string{"decision/33"}},
		{"", `,"import_to":"active"`, "active, added", []string{"decision/33"}},
		{"", `,"import_to":"unsubscribed"`, "unsubscribed", nil},
		{"", `,"import_to":"deleted"`, "deleted", nil},
		{"active", `,"import_to":"active"`, "active", nil},
		{"active", `,"import_to":"unsubscribed"`, "unsubscribed", []string{
			"removed/not-by-import", "states/contact/import-unsubscribes", "states/contact/import-unsubscribes/silent",
		}},
		{"active", `,"import_to":"deleted"`, "deleted", nil},
		{"pending", `,"import_to":"unsubscribed"`, "unsubscribed", nil},
		{"unsubscribed", `,"import_to":"active"`, "unsubscribed", nil},
		{"deleted", `,"import_to":"active"`, "active, added", nil},
		{"active", `,"resubscribe":true`, "active", nil},
		{"pending", ``, "pending", []string{respects, kept}},
		{"pending", `,"resubscribe":true`, "active, added", []string{respects}},
		{"unsubscribed", ``, "unsubscribed", []string{respects, kept}},
		{"unsubscribed", `,"resubscribe":false`, "unsubscribed", []string{respects, kept}},
		{"unsubscribed", `,"resubscribe":true`, "active, added", []string{respects}},
		{"spam", ``, "spam", []string{bad, kept}},
		{"spam", `,"resubscribe":true`, "spam", []string{bad}},
		{"bounced", ``, "bounced", []string{bad, kept}},
		{"bounced", `,"resubscribe":true`, "bounced", []string{bad}},
		{"active, deleted", ``, "active, added", []string{deleted}},
		{"pending, deleted", ``, "deleted", []string{deleted}},
		{"pending, deleted", `,"resubscribe":true`, "active, added", []string{deleted}},
		{"unsubscribed, deleted", ``, "deleted", []string{deleted}},
		{"unsubscribed, deleted", `,"resubscribe":true`, "active, added", []string{deleted}},
		{"spam, deleted", ``, "deleted", []string{deleted}},
		{"spam, deleted", `,"resubscribe":true`, "deleted", []string{deleted}},
		{"bounced, deleted", `,"resubscribe":true`, "deleted", []string{deleted}},
		{", deleted", ``, "active, added", []string{deleted}},
	} {
		t.Run(row.was+row.more, inLab(func(l *lab) {
			proves(l, append(row.pieces, "decision/14/import_to")...)
			list, result, attributes := l.list(), `{"imported":1,"updated":0,"errors":[]}`, `"tags":[],"interests":[]`
			path := f("/lists/%d/contacts", list)
			if row.was != "" {
				result, attributes = `{"imported":0,"updated":1,"errors":[]}`, `"tags":["x"],"interests":["i"]`
				was, byImport := strings.CutSuffix(row.was, ", deleted")
				if was != "" {
					l.member(list, ada, was)
				}
				entry := f(`{"contacts":[{"email":%q,"tags":["x"],"interests":["i"]}]`, ada)
				if byImport || was == "deleted" {
					entry += `,"import_to":"deleted"`
				}
				l.post(path+"/import", entry+`}`).ok()
			}
			l.listen()
			l.post(path+"/import", f(`{"contacts":[{"email":%q}]%s}`, ada, row.more)).is(200, result)
			status, added := strings.CutSuffix(row.becomes, ", added")
			l.get(path).is(200, f(`{"data":[{"status":%q,%s,"…":0}],"…":0}`, status, attributes))
			if added {
				l.fires("Contact.Added")
			}
			l.fires()
		}))
	}
}
