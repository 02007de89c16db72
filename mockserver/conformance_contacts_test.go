package mockserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestConformanceContacts(t *testing.T) {
	conform(t, []rule{
		{"create", "endpoints/contacts/create resources/contact/id resources/contact/email resources/contact/subscribed_on resources/contact/status decision/11/fields", func(w *world) {
			list := w.list()
			created := w.post(f("/lists/%d/contacts", list), f(`{"email":%q,"custom_attributes":[{"name":"city","value":"London"}],
				"tags":["vip"],"interests":["books"]}`, ada)).is(201, f(`{"id":"<integer>","email":%q,"status":"active","subscribed_on":"<unix>",
				"custom_attributes":[{"name":"city","value":"London"}],"tags":["vip"],"interests":["books"],"last_bounce_type":"none","bounces_count":0}`, ada))
			w.get(f("/lists/%d/contacts/%d", list, created.int("id"))).is(200, string(created.raw))
			w.post(f("/lists/%d/contacts", list), `{}`).problem(422, "missing", "body.email")
		}},
		{"an address that is none", "resources/contact/email", func(w *world) {
			list := w.list()
			for _, email := range []string{"", "ada", "ada@", "@example.org", "a da@example.org", "ada@example..org", "ada@example", "a@b@example.org", "ada@example.org\n"} {
				w.post(f("/lists/%d/contacts", list), `{"email":`+quoted(email)+`}`).problem(422, "value_error", "body.email")
			}
			for _, email := range []string{"ada+list@example.org", "a.d-a_1@mail.example.co.uk", "o'hara@example.org"} {
				w.contact(list, email)
			}
		}},
		{"get", "decision/11/get", func(w *world) {
			list := w.list()
			id := w.contact(list, ada)
			w.get(f("/lists/%d/contacts/%d", list, id)).is(200, f(`{"id":%d,"email":%q,"…":0}`, id, ada))
		}},
		{"list", "endpoints/contacts/list", func(w *world) {
			list := w.list()
			for _, email := range []string{"carl@example.org", ada, "bob@example.org"} {
				w.contact(list, email)
				time.Sleep(time.Second)
			}
			emails := func(query string) string {
				return strings.Join(w.get(f("/lists/%d/contacts?%s", list, query)).column("email"), " ")
			}
			want(w, "by creation", emails(""), "carl@example.org ada@example.org bob@example.org")
			want(w, "by address", emails("sort=email:asc"), "ada@example.org bob@example.org carl@example.org")
			want(w, "filtered", emails("filter=status:active&sort=email:desc&per_page=2"), "carl@example.org bob@example.org")
			want(w, "page 2", emails("page=2&per_page=2"), "bob@example.org")
		}},
		{"update", "endpoints/contacts/update resources/contact/custom_attributes", func(w *world) {
			list := w.list()
			path := f("/lists/%d/contacts/%d", list, w.contact(list, ada))
			w.patch(path, `{"custom_attributes":[{"name":"city","value":"London"},{"name":"age","value":"36"}]}`).
				is(200, `{"custom_attributes":[{"name":"city","value":"London"},{"name":"age","value":"36"}],"…":0}`)
			w.patch(path, `{"custom_attributes":[{"value":"x"}]}`).problem(422, "missing", "body.custom_attributes.0.name")
			w.patch(path, `{"custom_attributes":[{"name":"x"}]}`).problem(422, "missing", "body.custom_attributes.0.value")
		}},
		{"an update leaves the others", "decision/16/set", func(w *world) {
			list := w.list()
			path := f("/lists/%d/contacts/%d", list, w.contact(list, ada))
			w.patch(path, `{"custom_attributes":[{"name":"city","value":"London"},{"name":"age","value":"36"}]}`).ok()
			updated := w.patch(path, `{"custom_attributes":[{"name":"age","value":"37"}]}`).
				is(200, `{"custom_attributes":[{"name":"city","value":"London"},{"name":"age","value":"37"}],"…":0}`)
			w.patch(path, `{}`).is(200, string(updated.raw))
			w.patch(path, `{"custom_attributes":[]}`).is(200, string(updated.raw))
		}},
		{"null removes an attribute", "decision/16/null", func(w *world) {
			list := w.list()
			path := f("/lists/%d/contacts/%d", list, w.contact(list, ada))
			w.patch(path, `{"custom_attributes":[{"name":"city","value":"London"},{"name":"age","value":""}]}`).ok()
			w.patch(path, `{"custom_attributes":[{"name":"city","value":null},{"name":"unknown","value":null}]}`).
				is(200, `{"custom_attributes":[{"name":"age","value":""}],"…":0}`)
		}},
		{"unsubscribe", "endpoints/contacts/unsubscribe states/contact/unsubscribe-endpoint states/contact/unsubscribe-endpoint/fires removed/api decision/32", func(w *world) {
			w.listen("Contact.Removed", "Contact.Unsubscribed", "Email.Unsubscribed")
			list := w.list()
			id := w.contact(list, ada)
			w.post(f("/lists/%d/contacts/%d/unsubscribe", list, id), "").is(204, "")
			want(w, "status", w.status(list, id), "unsubscribed")
			w.fires("Contact.Removed", "Contact.Unsubscribed")
		}},
		{"delete", "endpoints/contacts/delete states/contact/delete states/contact/delete/fires removed/delete decision/36/deleted", func(w *world) {
			w.listen("Contact.Removed", "Contact.Unsubscribed")
			list := w.list()
			id := w.contact(list, ada)
			path := f("/lists/%d/contacts/%d", list, id)
			w.delete(path).is(204, "")
			want(w, "status", w.status(list, id), "deleted")
			w.fires("Contact.Removed")
			for _, res := range []reply{w.delete(path), w.post(path+"/unsubscribe", ""), w.patch(path, `{}`)} {
				res.problem(404, "not_found", "path.contact_id")
			}
			w.fires()
		}},
		{"every operation", "service/contact-operations", func(w *world) {
			list := w.list()
			id := w.contact(list, ada)
			w.post(f("/lists/%d/contacts/import", list), `{"contacts":[{"email":"bob@example.org"}]}`).is(200, `{"imported":1,"…":0}`)
			w.post(f("/lists/%d/contacts/tag", list), f(`{"contact_ids":[%d],"tags":["vip"]}`, id)).is(204, "")
			w.patch(f("/lists/%d/contacts/%d", list, id), `{"custom_attributes":[{"name":"a","value":"1"}]}`).is(200, `{"…":0}`)
			w.post(f("/lists/%d/contacts/%d/unsubscribe", list, id), "").is(204, "")
			want(w, "listed", len(w.get(f("/lists/%d/contacts", list)).column("id")), 2)
			w.delete(f("/lists/%d/contacts/%d", list, id)).is(204, "")
		}},
		{"an address is on a list once", "decision/12/once decision/12/active", func(w *world) {
			list := w.list()
			w.contact(list, "Ada@Example.org")
			w.post(f("/lists/%d/contacts", list), f(`{"email":%q}`, ada)).problem(409, "contact_exists", "body.email")
			w.member(list, "bob@example.org", "pending")
			w.post(f("/lists/%d/contacts", list), `{"email":"BOB@example.org"}`).problem(409, "contact_exists", "body.email")
			w.contact(w.list(), ada)
			want(w, "on the list", strings.Join(w.get(f("/lists/%d/contacts", list)).column("email"), " "), "Ada@Example.org bob@example.org")
		}},
		{"one that left comes back", "decision/12/gone", func(w *world) {
			for _, status := range []string{"unsubscribed", "deleted"} {
				list := w.list()
				id := w.member(list, ada, status)
				w.post(f("/lists/%d/contacts", list), `{"email":"ADA@example.org"}`).is(201, f(`{"id":%d,"status":"active","…":0}`, id))
				want(w, "contacts", len(w.get(f("/lists/%d/contacts", list)).column("id")), 1)
			}
		}},
		{"one that bounced or complained does not", "decision/12/bad", func(w *world) {
			for _, status := range []string{"spam", "bounced"} {
				list := w.list()
				id := w.member(list, ada, status)
				w.post(f("/lists/%d/contacts", list), f(`{"email":%q}`, ada)).problem(409, "contact_exists", "body.email")
				want(w, "status", w.status(list, id), status)
			}
		}},
		{"every status", "decision/11/status resources/contact/status", func(w *world) {
			list := w.list()
			for i, status := range []string{"active", "pending", "unsubscribed", "deleted", "spam", "bounced"} {
				email := f("c%d@example.org", i)
				id := w.member(list, email, status)
				want(w, "status", w.status(list, id), status)
				want(w, status, strings.Join(w.get(f("/lists/%d/contacts?filter=status:%s", list, status)).column("email"), " "), email)
			}
			want(w, "nobody", len(w.get(f("/lists/%d/contacts?filter=status:suppressed", list)).column("email")), 0)
		}},
	})
}

func TestConformanceSortAndFilter(t *testing.T) {
	fill := func(w *world) (path string) {
		list := w.list()
		for i, c := range []struct{ email, more string }{
			{"carl@example.org", `,"tags":["vip","a:b"]`},
			{"ada@example.org", `,"interests":["books"]`},
			{"bob@example.org", `,"tags":["vip"],"interests":["books","shoes"]`},
			{"dora@example.org", ``},
		} {
			id := w.post(f("/lists/%d/contacts", list), f(`{"email":%q%s}`, c.email, c.more)).int("id")
			if i == 0 {
				w.post(f("/lists/%d/contacts/%d/unsubscribe", list, id), "").ok()
			}
			time.Sleep(time.Second)
		}
		return f("/lists/%d/contacts?", list)
	}
	var rules []rule
	for _, test := range []struct{ query, names string }{
		{"", "carl ada bob dora"},
		{"sort=id:asc", "carl ada bob dora"},
		{"sort=id:desc", "dora bob ada carl"},
		{"sort=email:asc", "ada bob carl dora"},
		{"sort=email:desc", "dora carl bob ada"},
		{"sort=subscribed_on:asc", "carl ada bob dora"},
		{"sort=subscribed_on:desc", "dora bob ada carl"},
	} {
		rules = append(rules, rule{"sorted " + test.query, "decision/5/sort", func(w *world) {
			want(w, test.query, names(w, fill(w)+test.query), test.names)
		}})
	}
	for direction, statuses := range map[string]string{"asc": "active active active unsubscribed", "desc": "unsubscribed active active active"} {
		rules = append(rules, rule{"sorted by status " + direction, "decision/5/sort", func(w *world) {
			want(w, direction, strings.Join(w.get(fill(w)+"sort=status:"+direction).column("status"), " "), statuses)
		}})
	}
	for _, test := range []struct{ query, names string }{
		{"filter=status:active", "ada bob dora"},
		{"filter=status:unsubscribed", "carl"},
		{"filter=status:", ""},
		{"filter=email:ada@example.org", "ada"},
		{"filter=email:bob@EXAMPLE.org", "bob"},
		{"filter=email:nobody@example.org", ""},
		{"filter=tag:vip", "carl bob"},
		{"filter=tag:a:b", "carl"},
		{"filter=interest:books&sort=email:desc", "bob ada"},
		{"filter=interest:books&per_page=1&page=2", "bob"},
		{"filter=interest:vip", ""},
	} {
		rules = append(rules, rule{"filtered " + test.query, "decision/5/filter", func(w *world) {
			want(w, test.query, names(w, fill(w)+test.query), test.names)
		}})
	}
	for _, query := range []string{
		"sort=email", "sort=email:up", "sort=tags:asc", "sort=:asc", "sort=email:asc:desc", "sort=Email:asc",
		"filter=status", "filter=id:1", "filter=:active", "filter=Status:active", "filter=active",
	} {
		rules = append(rules, rule{"refused " + query, "decision/5/else", func(w *world) {
			field, _, _ := strings.Cut(query, "=")
			w.get(fill(w)+query).problem(422, "value_error", "query."+field)
		}})
	}
	rules = append(rules, rule{"refused on the suppression list", "decision/5/else", func(w *world) {
		w.get("/suppressed-emails?filter=status:active").problem(422, "value_error", "query.filter")
	}})
	conform(t, rules)
}

// names returns the local parts of the addresses on a page.
func names(w *world, path string) string {
	w.Helper()
	var out []string
	for _, email := range w.get(path).column("email") {
		name, _, _ := strings.Cut(email, "@")
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func TestConformanceTags(t *testing.T) {
	conform(t, []rule{
		{"tag", "endpoints/contacts/tag", func(w *world) {
			list := w.list()
			a, b, c := w.contact(list, ada), w.contact(list, "bob@example.org"), w.contact(list, "carl@example.org")
			path := f("/lists/%d/contacts", list)
			w.post(path+"/tag", f(`{"contact_ids":[%d,%d],"tags":["vip","new"]}`, a, b)).is(204, "")
			w.post(path+"/tag", f(`{"contact_ids":[%d],"tags":["new","old"]}`, b)).is(204, "")
			w.get(f("%s/%d", path, a)).is(200, `{"tags":["vip","new"],"…":0}`)
			w.get(f("%s/%d", path, b)).is(200, `{"tags":["vip","new","old"],"…":0}`)
			w.get(f("%s/%d", path, c)).is(200, `{"tags":[],"…":0}`)
			w.post(path+"/tag", f(`{"contact_ids":[%d]}`, a)).problem(422, "missing", "body.tags")
			w.post(path+"/tag", `{"tags":["x"]}`).problem(422, "missing", "body.contact_ids")
		}},
		{"all or nothing", "decision/15/all-or-nothing", func(w *world) {
			list, other := w.list(), w.list()
			a, elsewhere := w.contact(list, ada), w.contact(other, ada)
			deleted := w.member(list, "bob@example.org", "deleted")
			path := f("/lists/%d/contacts", list)
			for _, unknown := range []int64{999999, elsewhere, deleted} {
				w.post(path+"/tag", f(`{"contact_ids":[%d,%d],"tags":["vip"]}`, a, unknown)).problem(404, "not_found", "body.contact_ids.1")
			}
			w.get(f("%s/%d", path, a)).is(200, `{"tags":[],"…":0}`)
			want(w, "tags", len(w.get("/tags").column("name")), 0)
		}},
		{"the account's tags", "decision/15/tags", func(w *world) {
			a, b := w.list(), w.list()
			w.post(f("/lists/%d/contacts", a), f(`{"email":%q,"tags":["vip","new"]}`, ada)).ok()
			w.post(f("/lists/%d/contacts/import", b), f(`{"contacts":[{"email":%q,"tags":["vip","imported"]}]}`, ada)).ok()
			w.get("/tags").is(200, `{"data":[{"name":"imported"},{"name":"new"},{"name":"vip"}],"pagination":{"page":1,"per_page":50}}`)
			w.get("/tags?page=2&per_page=2").is(200, `{"data":[{"name":"vip"}],"…":0}`)
		}},
		{"a double opt-in", "decision/13/pending decision/13/email shape/workflow/double-opt-in", func(w *world) {
			w.listen("Contact.Added")
			list := w.list()
			created := w.post(f("/lists/%d/contacts?send_double_opt_in=true", list), f(`{"email":%q}`, ada)).is(201, `{"status":"pending","…":0}`)
			w.fires()
			m := w.lastMessage()
			want(w, "the confirmation goes to", m.To, ada)
			w.confirm(m.ID)
			want(w, "status", w.status(list, created.int("id")), "active")
			w.fires("Contact.Added")
			w.post(f("/lists/%d/contacts?send_double_opt_in=maybe", list), `{"email":"bob@example.org"}`).
				problem(422, "value_error", "query.send_double_opt_in")
			w.post(f("/lists/%d/contacts?send_double_opt_in=false", list), `{"email":"bob@example.org"}`).is(201, `{"status":"active","…":0}`)
		}},
	})
}

func TestConformanceImport(t *testing.T) {
	batch := func(n int) string {
		var entries []string
		for i := range n {
			entries = append(entries, f(`{"email":"c%d@example.org"}`, i))
		}
		return strings.Join(entries, ",")
	}
	count := func(w *world, list int64) string {
		page := w.get(f("/lists/%d/contacts?with_count=true&per_page=1", list)).json().(map[string]any)
		return fmt.Sprint(page["pagination"].(map[string]any)["count"])
	}
	conform(t, []rule{
		{"import", "endpoints/contacts/import decision/14/result", func(w *world) {
			list := w.list()
			w.contact(list, ada)
			w.post(f("/lists/%d/contacts/import", list), f(`{"contacts":[{"email":"bob@example.org"},{"email":%q},{"email":"x"}]}`, ada)).
				is(200, `{"imported":1,"updated":1,"errors":[{"index":2,"email":"x","loc":["body","contacts",2,"email"],"msg":"<string>","type":"value_error"}]}`)
			w.post(f("/lists/%d/contacts/import", list), `{}`).problem(422, "missing", "body.contacts")
		}},
		{"at most 1,000", "limits/import decision/14/too-many", func(w *world) {
			list := w.list()
			path := f("/lists/%d/contacts/import", list)
			w.post(path, `{"contacts":[`+batch(1001)+`]}`).problem(422, "too_many_contacts", "body.contacts")
			want(w, "contacts", count(w, list), "0")
			w.post(path, `{"contacts":[`+batch(1000)+`]}`).is(200, `{"imported":1000,"updated":0,"errors":[]}`)
			want(w, "contacts", count(w, list), "1000")
		}},
		{"the same batch twice", "decision/14/twice", func(w *world) {
			list := w.list()
			w.listen("Contact.Added")
			body := `{"contacts":[` + batch(3) + `,{"email":"C0@example.org"}]}`
			w.post(f("/lists/%d/contacts/import", list), body).is(200, `{"imported":3,"updated":1,"errors":[]}`)
			w.fires("Contact.Added", "Contact.Added", "Contact.Added")
			w.post(f("/lists/%d/contacts/import", list), body).is(200, `{"imported":0,"updated":4,"errors":[]}`)
			want(w, "contacts", count(w, list), "3")
			w.fires()
		}},
		{"the status that contacts get", "decision/14/import_to", func(w *world) {
			for importTo, status := range map[string]string{
				``: "active", `,"import_to":"active"`: "active", `,"import_to":"unsubscribed"`: "unsubscribed", `,"import_to":"deleted"`: "deleted",
			} {
				list := w.list()
				w.contact(list, ada)
				w.post(f("/lists/%d/contacts/import", list), f(`{"contacts":[{"email":%q},{"email":"bob@example.org"}]%s}`, ada, importTo)).
					is(200, `{"imported":1,"updated":1,"errors":[]}`)
				want(w, importTo, f("%v", w.get(f("/lists/%d/contacts", list)).column("status")), f("[%s %[1]s]", status))
			}
			w.post(f("/lists/%d/contacts/import", w.list()), `{"contacts":[],"import_to":"pending"}`).problem(422, "value_error", "body.import_to")
		}},
		{"what entries hold", "decision/14/per-contact", func(w *world) {
			list := w.list()
			first := w.post(f("/lists/%d/contacts", list), f(`{"email":%q,"custom_attributes":[{"name":"a","value":"1"},{"name":"b","value":"2"}],"tags":["x"]}`, ada))
			w.post(f("/lists/%d/contacts/import", list), f(`{"contacts":[{"email":%q,"custom_attributes":[{"name":"b","value":"3"}],"tags":["x","y"],"interests":["z"]}]}`, ada)).ok()
			w.get(f("/lists/%d/contacts/%d", list, first.int("id"))).
				is(200, `{"custom_attributes":[{"name":"a","value":"1"},{"name":"b","value":"3"}],"tags":["x","y"],"interests":["z"],"…":0}`)
		}},
		{"a bad entry", "decision/14/bad-entry", func(w *world) {
			list := w.list()
			w.post(f("/lists/%d/contacts/import", list), `{"contacts":[{"email":"a"},{"email":"bob@example.org"},{},{"email":"carl@example.org","tags":[""]},{"email":7},7]}`).
				is(200, `{"imported":1,"updated":0,"errors":[
					{"index":0,"email":"a","loc":["body","contacts",0,"email"],"msg":"<string>","type":"value_error"},
					{"index":2,"loc":["body","contacts",2,"email"],"msg":"<string>","type":"missing","…":0},
					{"index":3,"email":"carl@example.org","loc":["body","contacts",3,"tags",0],"msg":"<string>","type":"value_error"},
					{"index":4,"loc":["body","contacts",4,"email"],"msg":"<string>","type":"value_error","…":0},
					{"index":5,"loc":["body","contacts",5],"msg":"<string>","type":"value_error","…":0}]}`)
			want(w, "on the list", names(w, f("/lists/%d/contacts", list)), "bob")
		}},
		{"it unsubscribes silently", "states/contact/import-unsubscribes states/contact/import-unsubscribes/silent removed/not-by-import", func(w *world) {
			list := w.list()
			id := w.contact(list, ada)
			w.listen()
			w.post(f("/lists/%d/contacts/import", list), f(`{"contacts":[{"email":%q}],"import_to":"unsubscribed"}`, ada)).ok()
			want(w, "status", w.status(list, id), "unsubscribed")
			w.fires()
		}},
		{"who complained or bounced stays so", "decision/12/bad", func(w *world) {
			for _, status := range []string{"spam", "bounced"} {
				list := w.list()
				id := w.member(list, ada, status)
				w.post(f("/lists/%d/contacts/import", list), f(`{"contacts":[{"email":%q}]}`, ada)).is(200, `{"imported":0,"updated":1,"errors":[]}`)
				want(w, "status", w.status(list, id), status)
			}
		}},
	})
}
