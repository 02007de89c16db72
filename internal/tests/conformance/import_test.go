package conformance_test

import (
	"fmt"
	"strings"
	"testing"
)

// batch returns n entries of an import.
func batch(n int) string {
	var entries []string
	for i := range n {
		entries = append(entries, f(`{"email":"c%d@example.org"}`, i))
	}
	return strings.Join(entries, ",")
}

// count returns the number of contacts on a list.
func count(l *lab, list int64) string {
	l.Helper()
	page := l.get(f("/lists/%d/contacts?with_count=true&per_page=1", list)).json().(map[string]any)
	return fmt.Sprint(page["pagination"].(map[string]any)["count"])
}

func TestImport(t *testing.T) {
	t.Run("import", inLab(func(l *lab) {
		proves(l, "endpoints/contacts/import", "service/contact-operations", "decision/14/result", "decision/2/ok")
		list := l.list()
		l.contact(list, ada)
		path := f("/lists/%d/contacts/import", list)
		l.post(path, f(`{"contacts":[{"email":"bob@example.org"},{"email":%q},{"email":"x"}]}`, ada)).
			is(200, `{"imported":1,"updated":1,"errors":[
				{"index":2,"email":"x","loc":["body","contacts",2,"email"],"msg":"<string>","type":"value_error"}]}`)
		l.post(path, `{}`).problem(422, "missing", "body.contacts")
	}))
	t.Run("at most 1,000", inLab(func(l *lab) {
		proves(l, "limits/import", "decision/14/too-many")
		list := l.list()
		path := f("/lists/%d/contacts/import", list)
		l.post(path, `{"contacts":[`+batch(1001)+`]}`).problem(422, "too_many_contacts", "body.contacts")
		want(l, "contacts", count(l, list), "0")
		l.post(path, `{"contacts":[`+batch(1000)+`]}`).is(200, `{"imported":1000,"updated":0,"errors":[]}`)
		want(l, "contacts", count(l, list), "1000")
	}))
	t.Run("the same batch twice", inLab(func(l *lab) {
		proves(l, "decision/14/twice")
		list := l.list()
		l.listen("Contact.Added")
		body := `{"contacts":[` + batch(3) + `,{"email":"C0@example.org"}]}`
		l.post(f("/lists/%d/contacts/import", list), body).is(200, `{"imported":3,"updated":1,"errors":[]}`)
		l.fires("Contact.Added", "Contact.Added", "Contact.Added")
		l.post(f("/lists/%d/contacts/import", list), body).is(200, `{"imported":0,"updated":4,"errors":[]}`)
		want(l, "contacts", count(l, list), "3")
		l.fires()
	}))
	t.Run("what entries hold", inLab(func(l *lab) {
		proves(l, "decision/14/per-contact")
		path := f("/lists/%d/contacts", l.list())
		created := l.post(path, `{"email":"ada@example.org","tags":["x"],
			"custom_attributes":[{"name":"a","value":"1"},{"name":"b","value":"2"}]}`)
		l.post(path+"/import", `{"contacts":[{"email":"ada@example.org","tags":["x","y"],"interests":["z"],
			"custom_attributes":[{"name":"b","value":"3"}]}]}`).ok()
		l.get(f("%s/%d", path, created.int("id"))).is(200, `{"tags":["x","y"],"interests":["z"],
			"custom_attributes":[{"name":"a","value":"1"},{"name":"b","value":"3"}],"…":0}`)
	}))
	t.Run("a bad entry", inLab(func(l *lab) {
		proves(l, "decision/14/bad-entry")
		list := l.list()
		l.post(f("/lists/%d/contacts/import", list), `{"contacts":[
			{"email":"a"},{"email":"bob@example.org"},{},{"email":"carl@example.org","tags":[""]},{"email":7},7]}`).
			is(200, `{"imported":1,"updated":0,"errors":[
				{"index":0,"email":"a","loc":["body","contacts",0,"email"],"msg":"<string>","type":"value_error"},
				{"index":2,"loc":["body","contacts",2,"email"],"msg":"<string>","type":"missing","…":0},
				{"index":3,"email":"carl@example.org","loc":["body","contacts",3,"tags",0],"msg":"<string>","type":"value_error"},
				{"index":4,"loc":["body","contacts",4,"email"],"msg":"<string>","type":"value_error","…":0},
				{"index":5,"loc":["body","contacts",5],"msg":"<string>","type":"value_error","…":0}]}`)
		want(l, "on the list", names(l, f("/lists/%d/contacts", list)), "bob")
	}))
}

// The result of an import depends on the status of the contact on the list.
func TestImportTo(t *testing.T) {
	for _, row := range []struct {
		was, to, becomes string
		added            bool     // whether Contact.Added fires; nothing else ever does
		pieces           []string // what it proves beside what all do
	}{
		{was: "", to: "", becomes: "active", added: true, pieces: []string{"decision/33"}},
		{was: "", to: "active", becomes: "active", added: true, pieces: []string{"decision/33"}},
		{was: "", to: "unsubscribed", becomes: "unsubscribed"},
		{was: "", to: "deleted", becomes: "deleted"},
		{was: "active", to: "active", becomes: "active"},
		{was: "active", to: "unsubscribed", becomes: "unsubscribed", pieces: []string{
			"removed/not-by-import", "states/contact/import-unsubscribes", "states/contact/import-unsubscribes/silent",
		}},
		{was: "active", to: "deleted", becomes: "deleted"},
		{was: "pending", to: "active", becomes: "pending"},
		{was: "pending", to: "unsubscribed", becomes: "unsubscribed"},
		{was: "unsubscribed", to: "", becomes: "unsubscribed"},
		{was: "unsubscribed", to: "active", becomes: "unsubscribed"},
		{was: "deleted", to: "active", becomes: "active", added: true},
		{was: "spam", to: "active", becomes: "spam", pieces: []string{"decision/14/bad-stays"}},
		{was: "bounced", to: "active", becomes: "bounced", pieces: []string{"decision/14/bad-stays"}},
	} {
		t.Run(row.was+" to "+row.to, inLab(func(l *lab) {
			proves(l, append(row.pieces, "decision/14/import_to")...)
			list, result := l.list(), `{"imported":1,"updated":0,"errors":[]}`
			if row.was != "" {
				l.member(list, ada, row.was)
				result = `{"imported":0,"updated":1,"errors":[]}`
			}
			l.listen()
			body := f(`{"contacts":[{"email":%q}]}`, ada)
			if row.to != "" {
				body = f(`{"contacts":[{"email":%q}],"import_to":%q}`, ada, row.to)
			}
			l.post(f("/lists/%d/contacts/import", list), body).is(200, result)
			l.get(f("/lists/%d/contacts", list)).is(200, f(`{"data":[{"status":%q,"…":0}],"…":0}`, row.becomes))
			if row.added {
				l.fires("Contact.Added")
			}
			l.fires()
		}))
	}
	t.Run("to anything else", inLab(func(l *lab) {
		proves(l, "decision/14/import_to")
		for _, status := range []string{"pending", "spam"} {
			l.post(f("/lists/%d/contacts/import", l.list()), f(`{"contacts":[],"import_to":%q}`, status)).
				problem(422, "value_error", "body.import_to")
		}
	}))
}

// An import to active can resubscribe contacts, including deleted ones.
func TestImportResubscribes(t *testing.T) {
	for _, row := range []struct {
		was, kept, asked string
		piece            string // what it proves beside what all do
	}{
		{was: "active", kept: "active", asked: "active", piece: "decision/14/import_to"},
		{was: "pending", kept: "pending", asked: "active, added", piece: "decision/14/respect"},
		{was: "unsubscribed", kept: "unsubscribed", asked: "active, added", piece: "decision/14/respect"},
		{was: "spam", kept: "spam", asked: "spam", piece: "decision/14/bad-stays"},
		{was: "bounced", kept: "bounced", asked: "bounced", piece: "decision/14/bad-stays"},
		{was: "active, deleted", kept: "active, added", asked: "active, added", piece: "decision/14/deleted"},
		{was: "pending, deleted", kept: "deleted", asked: "active, added", piece: "decision/14/deleted"},
		{was: "unsubscribed, deleted", kept: "deleted", asked: "active, added", piece: "decision/14/deleted"},
		{was: "spam, deleted", kept: "deleted", asked: "deleted", piece: "decision/14/deleted"},
		{was: "bounced, deleted", kept: "deleted", asked: "deleted", piece: "decision/14/deleted"},
		{was: "nobody, deleted", kept: "active, added", asked: "active, added", piece: "decision/14/deleted"},
	} {
		for body, becomes := range map[string]string{``: row.kept, `,"resubscribe":false`: row.kept, `,"resubscribe":true`: row.asked} {
			t.Run(row.was+body, inLab(func(l *lab) {
				proves(l, row.piece, "decision/14/stay")
				list := l.list()
				path := f("/lists/%d/contacts", list)
				was, deleted := strings.CutSuffix(row.was, ", deleted")
				if was != "nobody" {
					l.member(list, ada, was)
				}
				entry := f(`{"contacts":[{"email":%q,"tags":["x"],"interests":["i"]}]`, ada)
				if deleted {
					l.post(path+"/import", entry+`,"import_to":"deleted"}`).ok()
				}
				if was != "nobody" && !deleted {
					l.post(path+"/import", entry+`}`).ok()
				}
				l.listen()
				l.post(path+"/import", f(`{"contacts":[{"email":%q}]%s}`, ada, body)).is(200, `{"imported":0,"updated":1,"errors":[]}`)
				status, added := strings.CutSuffix(becomes, ", added")
				l.get(path).is(200, f(`{"data":[{"status":%q,"tags":["x"],"interests":["i"],"…":0}],"…":0}`, status))
				if added {
					l.fires("Contact.Added")
				}
				l.fires()
			}))
		}
	}
}
