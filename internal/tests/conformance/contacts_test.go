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
		created := l.post(path, `{"email":"ada@example.org","tags":["vip"],"interests":["books"],
			"custom_attributes":[{"name":"city","value":"London"}]}`).
			is(201, `{"id":"<integer>","email":"ada@example.org","status":"active","subscribed_on":"<unix>",
				"custom_attributes":[{"name":"city","value":"London"}],"tags":["vip"],"interests":["books"],
				"last_bounce_type":"none","bounces_count":0}`)
		l.get(f("%s/%d", path, created.int("id"))).is(200, string(created.raw))
		l.post(path, `{}`).problem(422, "missing", "body.email")
		l.post(path, `{"email":"bob@example.org","tags":["a",""]}`).problem(422, "value_error", "body.tags.1")
	}))
	t.Run("an address that is none", inLab(func(l *lab) {
		proves(l, "resources/contact/email")
		list := l.list()
		for _, email := range []string{
			"", "ada", "ada@", "@example.org", "a da@example.org", "ada@example..org", "ada@example",
			"a@b@example.org", "ada@example.org\n",
		} {
			l.post(f("/lists/%d/contacts", list), `{"email":`+quoted(email)+`}`).problem(422, "value_error", "body.email")
		}
		for _, email := range []string{"ada+list@example.org", "a.d-a_1@mail.example.co.uk", "o'hara@example.org"} {
			l.contact(list, email)
		}
	}))
	t.Run("unsubscribe", inLab(func(l *lab) {
		proves(l, "endpoints/contacts/unsubscribe", "decision/2/no-content", "service/contact-operations", "states/contact/unsubscribe-endpoint",
			"states/contact/unsubscribe-endpoint/fires", "removed/api", "decision/32")
		l.listen("Contact.Removed", "Contact.Unsubscribed", "Email.Unsubscribed")
		list := l.list()
		id := l.contact(list, ada)
		l.post(f("/lists/%d/contacts/%d/unsubscribe", list, id), "").is(204, "")
		want(l, "status", l.status(list, id), "unsubscribed")
		l.fires("Contact.Removed", "Contact.Unsubscribed")
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
		for i, status := range []string{"active", "pending", "unsubscribed", "deleted", "spam", "bounced"} {
			email := f("c%d@example.org", i)
			id := l.member(list, email, status)
			want(l, "status", l.status(list, id), status)
			found := l.get(f("/lists/%d/contacts?filter=status:%s", list, status)).column("email")
			want(l, status, strings.Join(found, " "), email)
		}
		found := l.get(f("/lists/%d/contacts?filter=status:suppressed", list)).column("email")
		want(l, "how many are suppressed", len(found), 0)
	}))
}

func TestContactAttributes(t *testing.T) {
	t.Run("an update leaves the others", inLab(func(l *lab) {
		proves(l, "endpoints/contacts/update", "decision/2/ok", "service/contact-operations", "resources/contact/custom_attributes",
			"decision/16/set")
		list := l.list()
		path := f("/lists/%d/contacts/%d", list, l.contact(list, ada))
		l.patch(path, `{"custom_attributes":[{"name":"city","value":"London"},{"name":"age","value":"36"}]}`).
			is(200, `{"custom_attributes":[{"name":"city","value":"London"},{"name":"age","value":"36"}],"…":0}`)
		updated := l.patch(path, `{"custom_attributes":[{"name":"age","value":"37"}]}`).
			is(200, `{"custom_attributes":[{"name":"city","value":"London"},{"name":"age","value":"37"}],"…":0}`)
		l.patch(path, `{}`).is(200, string(updated.raw))
		l.patch(path, `{"custom_attributes":[]}`).is(200, string(updated.raw))
		l.patch(path, `{"custom_attributes":[{"value":"x"}]}`).problem(422, "missing", "body.custom_attributes.0.name")
		l.patch(path, `{"custom_attributes":[{"name":"x"}]}`).problem(422, "missing", "body.custom_attributes.0.value")
	}))
	t.Run("null removes one", inLab(func(l *lab) {
		proves(l, "decision/16/null")
		list := l.list()
		path := f("/lists/%d/contacts/%d", list, l.contact(list, ada))
		l.patch(path, `{"custom_attributes":[{"name":"city","value":"London"},{"name":"age","value":""}]}`).ok()
		l.patch(path, `{"custom_attributes":[{"name":"city","value":null},{"name":"unknown","value":null}]}`).
			is(200, `{"custom_attributes":[{"name":"age","value":""}],"…":0}`)
	}))
	t.Run("the last of two with a name", inLab(func(l *lab) {
		l.post(f("/lists/%d/contacts", l.list()), `{"email":"ada@example.org","custom_attributes":[
			{"name":"a","value":"1"},{"name":"b","value":"2"},{"name":"a","value":"3"}]}`).
			is(201, `{"custom_attributes":[{"name":"a","value":"3"},{"name":"b","value":"2"}],"…":0}`)
	}))
}

func TestDuplicateAddress(t *testing.T) {
	t.Run("an address is on a list once", inLab(func(l *lab) {
		proves(l, "decision/12/once", "decision/12/active")
		list := l.list()
		l.contact(list, "Ada@Example.org")
		l.post(f("/lists/%d/contacts", list), f(`{"email":%q}`, ada)).problem(409, "contact_exists", "body.email")
		bob := l.member(list, "bob@example.org", "pending")
		l.post(f("/lists/%d/contacts", list), `{"email":"BOB@example.org"}`).problem(409, "contact_exists", "body.email")
		want(l, "Bob's status", l.status(list, bob), "pending")
		l.contact(l.list(), ada)
		found := l.get(f("/lists/%d/contacts", list)).column("email")
		want(l, "on the list", strings.Join(found, " "), "Ada@Example.org bob@example.org")
	}))
	t.Run("one that left comes back", inLab(func(l *lab) {
		proves(l, "decision/12/gone")
		for _, status := range []string{"unsubscribed", "deleted"} {
			list := l.list()
			id := l.member(list, ada, status)
			l.post(f("/lists/%d/contacts", list), `{"email":"ADA@example.org"}`).
				is(201, f(`{"id":%d,"status":"active","…":0}`, id))
			want(l, "contacts", len(l.get(f("/lists/%d/contacts", list)).column("id")), 1)
		}
	}))
	t.Run("one that unsubscribed comes back if it may", inLab(func(l *lab) {
		proves(l, "decision/12/resubscribe")
		path := f("/lists/%d/contacts", l.list())
		create := func(query string) reply { return l.post(path+query, f(`{"email":%q}`, ada)) }
		id := create("?resubscribe=false").is(201, `{"status":"active","…":0}`).int("id")
		l.delete(f("%s/%d", path, id)).is(204, "")
		create("?resubscribe=false").is(201, f(`{"id":%d,"status":"active","…":0}`, id))
		l.post(f("%s/%d/unsubscribe", path, id), "").is(204, "")
		create("?resubscribe=false").problem(409, "contact_exists", "body.email")
		l.delete(f("%s/%d", path, id)).is(204, "")
		create("?resubscribe=false").problem(409, "contact_exists", "body.email")
		create("?resubscribe=false&send_double_opt_in=true").problem(409, "contact_exists", "body.email")
		create("?resubscribe=maybe").problem(422, "value_error", "query.resubscribe")
		create("?resubscribe=true").is(201, f(`{"id":%d,"status":"active","…":0}`, id))
	}))
	t.Run("one that bounced or complained does not", inLab(func(l *lab) {
		proves(l, "decision/12/bad")
		for _, status := range []string{"spam", "bounced"} {
			list := l.list()
			id := l.member(list, ada, status)
			l.post(f("/lists/%d/contacts", list), f(`{"email":%q}`, ada)).problem(409, "contact_exists", "body.email")
			want(l, "status", l.status(list, id), status)
		}
	}))
}

func TestSortAndFilter(t *testing.T) {
	fill := func(l *lab) (path string) {
		list := l.list()
		for i, c := range []struct{ email, more string }{
			{"carl@example.org", `,"tags":["vip","a:b"]`},
			{"ada@example.org", `,"interests":["books"]`},
			{"bob@example.org", `,"tags":["vip"],"interests":["books","shoes"]`},
			{"dora@example.org", ``},
		} {
			id := l.post(f("/lists/%d/contacts", list), f(`{"email":%q%s}`, c.email, c.more)).int("id")
			if i == 0 {
				l.post(f("/lists/%d/contacts/%d/unsubscribe", list, id), "").ok()
			}
			time.Sleep(time.Second)
		}
		return f("/lists/%d/contacts?", list)
	}
	found := func(piece string, rows []struct{ query, names string }) func(*testing.T) {
		return inLab(func(l *lab) {
			proves(l, piece, "endpoints/contacts/list", "service/contact-operations")
			path := fill(l)
			for _, row := range rows {
				want(l, row.query, names(l, path+row.query), row.names)
			}
		})
	}
	t.Run("sorted", found("decision/5/sort", []struct{ query, names string }{
		{"", "carl ada bob dora"},
		{"sort=id:asc", "carl ada bob dora"},
		{"sort=id:desc", "dora bob ada carl"},
		{"sort=email:asc", "ada bob carl dora"},
		{"sort=email:desc", "dora carl bob ada"},
		{"sort=subscribed_on:asc", "carl ada bob dora"},
		{"sort=subscribed_on:desc", "dora bob ada carl"},
		{"sort=email:desc&per_page=3&page=2", "ada"},
	}))
	t.Run("sorted by status", inLab(func(l *lab) {
		proves(l, "decision/5/sort")
		path := fill(l)
		for direction, statuses := range map[string]string{
			"asc": "active active active unsubscribed", "desc": "unsubscribed active active active",
		} {
			found := l.get(path + "sort=status:" + direction).column("status")
			want(l, direction, strings.Join(found, " "), statuses)
		}
	}))
	t.Run("filtered", found("decision/5/filter", []struct{ query, names string }{
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
	}))
	t.Run("refused", inLab(func(l *lab) {
		proves(l, "decision/5/else")
		path := fill(l)
		for _, query := range []string{
			"sort=email", "sort=email:up", "sort=tags:asc", "sort=:asc", "sort=email:asc:desc", "sort=Email:asc",
			"filter=status", "filter=id:1", "filter=:active", "filter=Status:active", "filter=active",
		} {
			field, _, _ := strings.Cut(query, "=")
			l.get(path+query).problem(422, "value_error", "query."+field)
		}
		l.get("/suppressed-emails?filter=status:active").problem(422, "value_error", "query.filter")
	}))
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
	t.Run("tag", inLab(func(l *lab) {
		proves(l, "endpoints/contacts/tag", "decision/2/no-content", "service/contact-operations")
		list := l.list()
		a, b, c := l.contact(list, ada), l.contact(list, "bob@example.org"), l.contact(list, "carl@example.org")
		path := f("/lists/%d/contacts", list)
		l.post(path+"/tag", f(`{"contact_ids":[%d,%d],"tags":["vip","new"]}`, a, b)).is(204, "")
		l.post(path+"/tag", f(`{"contact_ids":[%d],"tags":["new","old"]}`, b)).is(204, "")
		l.get(f("%s/%d", path, a)).is(200, `{"tags":["vip","new"],"…":0}`)
		l.get(f("%s/%d", path, b)).is(200, `{"tags":["vip","new","old"],"…":0}`)
		l.get(f("%s/%d", path, c)).is(200, `{"tags":[],"…":0}`)
		l.post(path+"/tag", f(`{"contact_ids":[%d]}`, a)).problem(422, "missing", "body.tags")
		l.post(path+"/tag", `{"tags":["x"]}`).problem(422, "missing", "body.contact_ids")
	}))
	t.Run("all or nothing", inLab(func(l *lab) {
		proves(l, "decision/15/all-or-nothing")
		list, other := l.list(), l.list()
		a, elsewhere := l.contact(list, ada), l.contact(other, ada)
		deleted := l.member(list, "bob@example.org", "deleted")
		path := f("/lists/%d/contacts", list)
		for _, unknown := range []int64{999999, elsewhere, deleted} {
			l.post(path+"/tag", f(`{"contact_ids":[%d,%d],"tags":["vip"]}`, a, unknown)).
				problem(404, "not_found", "body.contact_ids.1")
		}
		l.get(f("%s/%d", path, a)).is(200, `{"tags":[],"…":0}`)
		want(l, "tags", len(l.get("/tags").column("name")), 0)
	}))
	t.Run("the account's tags", inLab(func(l *lab) {
		proves(l, "decision/15/tags")
		a, b := l.list(), l.list()
		l.post(f("/lists/%d/contacts", a), f(`{"email":%q,"tags":["vip","new"]}`, ada)).ok()
		l.post(f("/lists/%d/contacts/import", b), f(`{"contacts":[{"email":%q,"tags":["vip","imported"]}]}`, ada)).ok()
		l.get("/tags").is(200, `{"data":[{"name":"imported"},{"name":"new"},{"name":"vip"}],
			"pagination":{"page":1,"per_page":50}}`)
		l.get("/tags?page=2&per_page=2").is(200, `{"data":[{"name":"vip"}],"…":0}`)
	}))
}

func TestDoubleOptIn(t *testing.T) {
	t.Run("the link confirms", inLab(func(l *lab) {
		proves(l, "decision/13/pending", "decision/13/email", "shape/workflow/double-opt-in")
		l.listen("Contact.Added")
		list := l.list()
		path := f("/lists/%d/contacts", list)
		created := l.post(path+"?send_double_opt_in=true", f(`{"email":%q}`, ada)).is(201, `{"status":"pending","…":0}`)
		l.fires()
		m := l.lastMessage()
		want(l, "the confirmation goes to", m.To, ada)
		want(l, "it is a confirmation", m.Confirmation, true)
		l.confirm(m.ID)
		want(l, "status", l.status(list, created.int("id")), "active")
		l.fires("Contact.Added")
		l.post(path+"?send_double_opt_in=maybe", `{"email":"bob@example.org"}`).
			problem(422, "value_error", "query.send_double_opt_in")
		l.post(path+"?send_double_opt_in=false", `{"email":"bob@example.org"}`).is(201, `{"status":"active","…":0}`)
	}))
	t.Run("of a list that may not be sent to", inLab(func(l *lab) {
		proves(l, "states/list/no-policy", "decision/13/policy")
		list := l.closedList()
		l.post(f("/lists/%d/contacts?send_double_opt_in=true", list), f(`{"email":%q}`, ada)).
			problem(409, "policy_not_accepted", "path.list_id")
		want(l, "contacts", len(l.get(f("/lists/%d/contacts", list)).column("id")), 0)
	}))
	t.Run("another message confirms nothing", inLab(func(l *lab) {
		if err := l.srv.Confirm(l.submit(ada, "").text("id")); err == nil {
			l.Error("a message that is no confirmation was confirmed")
		}
	}))
}
