package conformance_test

import (
	"strings"
	"testing"
	"time"
)

func TestContacts(t *testing.T) {
	t.Run("create and get", inLab(func(l *lab) {
		proves(l, "endpoints/contacts/create", "service/contact-operations", "decision/11/fields", "decision/11/get", "decision/2/created", "decision/3/id-names", "decision/3/unix-seconds",
			"resources/contact/id", "resources/contact/email", "resources/contact/subscribed_on", "resources/contact/status")
		path := f("/lists/%d/contacts", l.list())
		created := l.post(path, `{"email":"ada+list@mail.example.org","tags":["vip"],"interests":["books"],
			"custom_attributes":[{"name":"a","value":"1"},{"name":"b","value":"2"},{"name":"a","value":"3"}]}`).
			is(201, `{"id":"<integer>","email":"ada+list@mail.example.org","status":"active","subscribed_on":"<unix>",
				"custom_attributes":[{"name":"a","value":"3"},{"name":"b","value":"2"}],"tags":["vip"],"interests":["books"],
				"last_bounce_type":"none","bounces_count":0}`)
		l.get(f("%s/%d", path, created.int("id"))).is(200, string(created.raw))
		l.post(path, `{}`).problem(422, "missing", "body.email")
		l.post(path, `{"email":"ada@example..org"}`).problem(422, "value_error", "body.email")
		l.post(path, `{"email":"bob@example.org","tags":["a",""]}`).problem(422, "value_error", "body.tags.1")
	}))
	t.Run("delete", inLab(func(l *lab) {
		proves(l, "endpoints/contacts/delete", "decision/2/no-content", "service/contact-operations", "states/contact/delete",
			"states/contact/delete/fires", "removed/delete", "decision/36/deleted", "decision/11/deleted")
		l.listen("Contact.Removed", "Contact.Unsubscribed")
		list := l.list()
		id := l.contact(list, ada)
		path := f("/lists/%d/contacts/%d", list, id)
		l.delete(path).is(204, "")
		want(l, "status", l.status(list, id), "deleted")
		l.fires("Contact.Removed")
		for _, res := range []reply{l.delete(path), l.post(path+"/unsubscribe", ""), l.patch(path, `{}`)} {
			res.problem(404, "not_found", "path.contact_id")
		}
		l.fires()
	}))
	t.Run("every status", inLab(func(l *lab) {
		proves(l, "decision/11/status", "resources/contact/status")
		list := l.list()
		for _, status := range []string{"active", "pending", "unsubscribed", "deleted", "spam", "bounced"} {
			id := l.member(list, status+"@example.org", status)
			want(l, "status", l.status(list, id), status)
			want(l, "found", names(l, f("/lists/%d/contacts?filter=status:%s", list, status)), status)
		}
		want(l, "suppressed", names(l, f("/lists/%d/contacts?filter=status:suppressed", list)), "")
	}))
}

func TestContactAttributes(t *testing.T) {
	inLab(func(l *lab) {
		proves(l, "endpoints/contacts/update", "decision/2/ok", "service/contact-operations", "resources/contact/custom_attributes",
			"decision/16/set", "decision/16/null")
		list := l.list()
		path := f("/lists/%d/contacts/%d", list, l.contact(list, ada))
		for _, step := range []struct{ set, all string }{
			{`[{"name":"city","value":"London"},{"name":"age","value":"36"}]`, `[{"name":"city","value":"London"},{"name":"age","value":"36"}]`},
			{`[{"name":"age","value":""}]`, `[{"name":"city","value":"London"},{"name":"age","value":""}]`},
			{`[]`, `[{"name":"city","value":"London"},{"name":"age","value":""}]`},
			{`[{"name":"city","value":null},{"name":"unknown","value":null}]`, `[{"name":"age","value":""}]`},
		} {
			updated := l.patch(path, `{"custom_attributes":`+step.set+`}`).is(200, `{"custom_attributes":`+step.all+`,"…":0}`)
			l.patch(path, `{}`).is(200, string(updated.raw))
		}
		l.patch(path, `{"custom_attributes":[{"value":"x"}]}`).problem(422, "missing", "body.custom_attributes.0.name")
		l.patch(path, `{"custom_attributes":[{"name":"x"}]}`).problem(422, "missing", "body.custom_attributes.0.value")
	})(t)
}

func TestDuplicateAddress(t *testing.T) {
	t.Run("an address is on a list once", inLab(func(l *lab) {
		proves(l, "decision/12/once", "decision/12/active", "decision/12/bad")
		l.contact(l.list(), ada) // does not affect other lists
		for _, status := range []string{"active", "pending", "spam", "bounced"} {
			list := l.list()
			id := l.member(list, "Ada@Example.org", status)
			l.post(f("/lists/%d/contacts", list), f(`{"email":%q}`, ada)).problem(409, "contact_exists", "body.email")
			want(l, "status", l.status(list, id), status)
			want(l, "on the list", names(l, f("/lists/%d/contacts", list)), "Ada")
		}
	}))
	t.Run("a contact that left is added again", inLab(func(l *lab) {
		proves(l, "decision/12/gone", "decision/12/resubscribe")
		path := f("/lists/%d/contacts", l.list())
		create := func(query string) reply { return l.post(path+query, f(`{"email":%q}`, ada)) }
		id := create("?resubscribe=false").is(201, `{"status":"active","…":0}`).int("id")
		again := f(`{"id":%d,"status":"active","…":0}`, id)
		l.delete(f("%s/%d", path, id)).is(204, "")
		create("?resubscribe=false").is(201, again)
		l.delete(f("%s/%d", path, id)).is(204, "")
		create("").is(201, again)
		l.post(f("%s/%d/unsubscribe", path, id), "").is(204, "")
		create("").is(201, again)
		l.post(f("%s/%d/unsubscribe", path, id), "").is(204, "")
		create("?resubscribe=false").problem(409, "contact_exists", "body.email")
		l.delete(f("%s/%d", path, id)).is(204, "")
		create("?resubscribe=false").problem(409, "contact_exists", "body.email")
		create("?resubscribe=false&send_double_opt_in=true").problem(409, "contact_exists", "body.email")
		create("?resubscribe=maybe").problem(422, "value_error", "query.resubscribe")
		create("?resubscribe=true").is(201, again)
		want(l, "contacts", names(l, path), "ada")
	}))
}

func TestSortAndFilter(t *testing.T) {
	inLab(func(l *lab) {
		proves(l, "decision/5/sort", "decision/5/filter", "decision/5/else", "endpoints/contacts/list", "service/contact-operations")
		path := f("/lists/%d/contacts", l.list())
		for i, more := range []string{
			`"carl@example.org","tags":["vip","a:b"]`, `"ada@example.org","interests":["books"]`,
			`"bob@example.org","tags":["vip"],"interests":["books","shoes"]`, `"dora@example.org"`,
		} {
			id := l.post(path, `{"email":`+more+`}`).int("id")
			if i == 0 {
				l.post(f("%s/%d/unsubscribe", path, id), "").ok()
			}
			time.Sleep(time.Second)
		}
		for query, found := range map[string]string{
			"":                                        "carl ada bob dora",
			"sort=id:asc":                             "carl ada bob dora",
			"sort=id:desc":                            "dora bob ada carl",
			"sort=email:asc":                          "ada bob carl dora",
			"sort=email:desc":                         "dora carl bob ada",
			"sort=subscribed_on:asc":                  "carl ada bob dora",
			"sort=subscribed_on:desc":                 "dora bob ada carl",
			"sort=email:desc&per_page=3&page=2":       "ada",
			"sort=status:asc&per_page=3&page=2":       "carl",
			"sort=status:desc&per_page=1":             "carl",
			"filter=status:active":                    "ada bob dora",
			"filter=status:unsubscribed":              "carl",
			"filter=status:":                          "",
			"filter=email:bob@EXAMPLE.org":            "bob",
			"filter=email:nobody@example.org":         "",
			"filter=tag:vip":                          "carl bob",
			"filter=tag:a:b":                          "carl",
			"filter=interest:books&sort=email:desc":   "bob ada",
			"filter=interest:books&per_page=1&page=2": "bob",
			"filter=interest:vip":                     "",
		} {
			want(l, query, names(l, path+"?"+query), found)
		}
		for _, query := range []string{
			"sort=email", "sort=email:up", "sort=tags:asc", "sort=:asc", "sort=email:asc:desc", "sort=Email:asc",
			"filter=status", "filter=id:1", "filter=:active", "filter=Status:active", "filter=active",
		} {
			field, _, _ := strings.Cut(query, "=")
			l.get(path+"?"+query).problem(422, "value_error", "query."+field)
		}
		l.get("/suppressed-emails?filter=status:active").problem(422, "value_error", "query.filter")
	})(t)
}

// names returns the local parts of the addresses on a page.
func names(l *lab, path string) string {
	l.Helper()
	var out []string
	for _, email := range l.get(path).column("email") {
		name, _, _ := strings.Cut(email, "@")
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func TestTags(t *testing.T) {
	inLab(func(l *lab) {
		proves(l, "endpoints/contacts/tag", "decision/2/no-content", "service/contact-operations", "decision/15/all-or-nothing", "decision/15/tags")
		list, other := l.list(), l.list()
		a, b, c := l.contact(list, ada), l.contact(list, "bob@example.org"), l.contact(list, "carl@example.org")
		path := f("/lists/%d/contacts", list)
		for _, unknown := range []int64{999999, l.contact(other, ada), l.member(list, "eve@example.org", "deleted")} {
			l.post(path+"/tag", f(`{"contact_ids":[%d,%d],"tags":["lost"]}`, a, unknown)).
				problem(404, "not_found", "body.contact_ids.1")
		}
		want(l, "tags", len(l.get("/tags").column("name")), 0)
		l.post(path+"/tag", f(`{"contact_ids":[%d,%d],"tags":["vip","new"]}`, a, b)).is(204, "")
		l.post(path+"/tag", f(`{"contact_ids":[%d],"tags":["new","old"]}`, b)).is(204, "")
		l.get(f("%s/%d", path, a)).is(200, `{"tags":["vip","new"],"…":0}`)
		l.get(f("%s/%d", path, b)).is(200, `{"tags":["vip","new","old"],"…":0}`)
		l.get(f("%s/%d", path, c)).is(200, `{"tags":[],"…":0}`)
		l.post(path+"/tag", f(`{"contact_ids":[%d]}`, a)).problem(422, "missing", "body.tags")
		l.post(path+"/tag", `{"tags":["x"]}`).problem(422, "missing", "body.contact_ids")
		l.post(f("/lists/%d/contacts/import", other), f(`{"contacts":[{"email":%q,"tags":["vip","imported"]}]}`, ada)).ok()
		l.get("/tags").is(200, `{"data":[{"name":"imported"},{"name":"new"},{"name":"old"},{"name":"vip"}],
			"pagination":{"page":1,"per_page":50}}`)
		l.get("/tags?page=2&per_page=3").is(200, `{"data":[{"name":"vip"}],"…":0}`)
	})(t)
}

func TestDoubleOptIn(t *testing.T) {
	inLab(func(l *lab) {
		proves(l, "decision/13/pending", "decision/13/email", "shape/workflow/double-opt-in", "states/list/no-policy", "decision/13/policy")
		l.listen("Contact.Added")
		list := l.closedList()
		path := f("/lists/%d/contacts", list)
		create := func(query string) reply { return l.post(path+query, f(`{"email":%q}`, ada)) }
		create("?send_double_opt_in=true").problem(409, "policy_not_accepted", "path.list_id")
		want(l, "contacts", names(l, path), "")
		l.post(f("/lists/%d/accept-policy", list), "").is(204, "")
		create("?send_double_opt_in=maybe").problem(422, "value_error", "query.send_double_opt_in")
		created := create("?send_double_opt_in=true").is(201, `{"status":"pending","…":0}`)
		l.fires()
		m := l.lastMessage()
		want(l, "the confirmation goes to", m.To, ada)
		want(l, "it is a confirmation", m.Confirmation, true)
		l.confirm(m.ID)
		want(l, "status", l.status(list, created.int("id")), "active")
		l.fires("Contact.Added")
		l.post(path+"?send_double_opt_in=false", `{"email":"bob@example.org"}`).is(201, `{"status":"active","…":0}`)
		if err := l.srv.Confirm(l.submit(ada, "").text("id")); err == nil {
			l.Error("a message that is not a confirmation was confirmed")
		}
	})(t)
}

// batch returns n entries of an import.
func batch(n int) string {
	var entries []string
	for i := range n {
		entries = append(entries, f(`{"email":"c%d@example.org"}`, i))
	}
	return strings.Join(entries, ",")
}

func TestImport(t *testing.T) {
	t.Run("import", inLab(func(l *lab) {
		proves(l, "endpoints/contacts/import", "service/contact-operations", "decision/14/result", "decision/2/ok", "decision/14/per-contact", "decision/14/bad-entry")
		path := f("/lists/%d/contacts", l.list())
		created := l.post(path, `{"email":"ada@example.org","tags":["x"],
			"custom_attributes":[{"name":"a","value":"1"},{"name":"b","value":"2"}]}`)
		l.post(path+"/import", `{"contacts":[{"email":"ada@example.org","tags":["x","y"],"interests":["z"],
			"custom_attributes":[{"name":"b","value":"3"}]},
			{"email":"a"},{"email":"bob@example.org"},{},{"email":"carl@example.org","tags":[""]},{"email":7},7]}`).
			is(200, `{"imported":1,"updated":1,"errors":[
				{"index":1,"email":"a","loc":["body","contacts",1,"email"],"msg":"<string>","type":"value_error"},
				{"index":3,"loc":["body","contacts",3,"email"],"msg":"<string>","type":"missing","…":0},
				{"index":4,"email":"carl@example.org","loc":["body","contacts",4,"tags",0],"msg":"<string>","type":"value_error"},
				{"index":5,"loc":["body","contacts",5,"email"],"msg":"<string>","type":"value_error","…":0},
				{"index":6,"loc":["body","contacts",6],"msg":"<string>","type":"value_error","…":0}]}`)
		want(l, "on the list", names(l, path), "ada bob")
		l.get(f("%s/%d", path, created.int("id"))).is(200, `{"tags":["x","y"],"interests":["z"],
			"custom_attributes":[{"name":"a","value":"1"},{"name":"b","value":"3"}],"…":0}`)
		l.post(path+"/import", `{}`).problem(422, "missing", "body.contacts")
	}))
	t.Run("at most 1,000", inLab(func(l *lab) {
		proves(l, "limits/import", "decision/14/too-many")
		path := f("/lists/%d/contacts", l.list())
		l.post(path+"/import", `{"contacts":[`+batch(1001)+`]}`).problem(422, "too_many_contacts", "body.contacts")
		want(l, "contacts", names(l, path), "")
		l.post(path+"/import", `{"contacts":[`+batch(1000)+`]}`).is(200, `{"imported":1000,"updated":0,"errors":[]}`)
	}))
	t.Run("the same batch again", inLab(func(l *lab) {
		proves(l, "decision/14/twice")
		path := f("/lists/%d/contacts", l.list())
		l.listen("Contact.Added")
		body := `{"contacts":[` + batch(3) + `,{"email":"C0@example.org"}]}`
		l.post(path+"/import", body).is(200, `{"imported":3,"updated":1,"errors":[]}`)
		l.fires("Contact.Added", "Contact.Added", "Contact.Added")
		l.post(path+"/import", body).is(200, `{"imported":0,"updated":4,"errors":[]}`)
		want(l, "contacts", names(l, path), "c0 c1 c2")
		l.fires()
	}))
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
	t.Run("to another status", inLab(func(l *lab) {
		proves(l, "decision/14/import_to")
		for _, status := range []string{"pending", "spam"} {
			l.post(f("/lists/%d/contacts/import", l.list()), f(`{"contacts":[],"import_to":%q}`, status)).
				problem(422, "value_error", "body.import_to")
		}
	}))
}
