package conformance_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// repeatables are the POSTs that set a state, which may be set again. What
// follows the last slash of the route is left off to see the state.
var repeatables = []struct {
	route    string
	body     string // "" where none is sent
	make     func(l *lab) (path string)
	hasState bool // the path itself shows the state
}{
	{
		route: "/lists/{list_id}/contacts/{contact_id}/unsubscribe",
		make: func(l *lab) string {
			list := l.list()
			return f("/lists/%d/contacts/%d/unsubscribe", list, l.contact(list, ada))
		},
	},
	{
		route: "/lists/{list_id}/contacts/import",
		body:  `{"contacts":[{"email":"ada@example.org","tags":["vip"]}]}`,
		make: func(l *lab) string {
			list := l.list()
			l.contact(list, ada) // so that the first answer says "updated" too
			return f("/lists/%d/contacts/import", list)
		},
	},
	{
		route: "/lists/{list_id}/contacts/tag",
		body:  `{"contact_ids":[2],"tags":["vip"]}`,
		make: func(l *lab) string {
			list := l.list()
			want(l, "the contact", l.contact(list, ada), 2)
			return f("/lists/%d/contacts/tag", list)
		},
	},
	{
		route: "/lists/{list_id}/accept-policy",
		make:  func(l *lab) string { return f("/lists/%d/accept-policy", l.closedList()) },
	},
	{
		route: "/workflows/{workflow_id}/activate",
		make:  func(l *lab) string { return f("/workflows/%d/activate", l.workflow(l.list())) },
	},
	{
		route: "/workflows/{workflow_id}/deactivate",
		make:  func(l *lab) string { return f("/workflows/%d/deactivate", l.workflow(l.list())) },
	},
	{
		route: "/webhooks/{webhook_id}/archive",
		make:  func(l *lab) string { return "/webhooks/" + l.listen("Email.Error") + "/archive" },
	},
	{
		route: "/webhooks/{webhook_id}/unarchive",
		make:  func(l *lab) string { return "/webhooks/" + l.listen("Email.Error") + "/unarchive" },
	},
	{
		route:    "/suppressed-emails",
		body:     `{"email":"ada@example.org"}`,
		make:     func(*lab) string { return "/suppressed-emails" },
		hasState: true,
	},
}

func TestRepeating(t *testing.T) {
	for _, row := range repeatables {
		t.Run(row.route, inLab(func(l *lab) {
			proves(l, "decision/36/nothing")
			path := row.make(l)
			state := path
			if !row.hasState {
				state = path[:strings.LastIndex(path, "/")]
			}
			first := l.post(path, row.body).ok()
			before := string(l.get(state).ok().raw)
			l.deliveries()
			l.listen()
			time.Sleep(time.Minute)
			for range 3 {
				again := l.post(path, row.body).ok()
				want(l, "the answer", f("%d %s", again.status, again.raw), f("%d %s", first.status, first.raw))
			}
			l.fires()
			want(l, "the state", string(l.get(state).raw), before)
		}))
	}
	t.Run("the same address in another case", inLab(func(l *lab) {
		proves(l, "decision/36/nothing")
		l.post("/suppressed-emails", f(`{"email":%q}`, ada)).ok()
		l.listen()
		l.post("/suppressed-emails", `{"email":"ADA@example.org"}`).ok()
		l.fires()
	}))
}

// Every POST that the document calls repeatable is repeated above, and no other.
func TestRepeatables(t *testing.T) {
	var want, got []string
	for _, r := range routes(t) {
		if r.method == http.MethodPost && r.operation.Extensions["x-repeatable"] == true {
			want = append(want, r.path)
		}
	}
	for _, row := range repeatables {
		got = append(got, row.route)
	}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("repeated are %q, the document calls repeatable %q", got, want)
	}
}
