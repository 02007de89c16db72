package conformance_test

import (
	"bytes"
	"cmp"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/emailplatform/mockserver"
)

// before contains what an operation needs besides the records of furnish.
var before = map[string]string{
	"acceptListPolicy":   `POST /lists {"name":"Closed"}`,
	"createContact":      `POST /lists {"name":"Which the example's contact is not on"}`,
	"updateCampaign":     `POST /lists {"name":"Which it does not go to yet"}`,
	"addSuppressedEmail": "DELETE /suppressed-emails/{email}",
	"activateWorkflow":   "POST /workflows/{workflow_id}/deactivate",
	"unarchiveWebhook":   "POST /webhooks/{webhook_id}/archive",
}

// furnishFor creates the records that an operation needs, and returns their ids.
func furnishFor(l *lab, r route) map[string]string {
	l.Helper()
	ids := furnish(l)
	if call := before[r.operation.OperationID]; call != "" {
		method, rest, _ := strings.Cut(resolve(call, ids), " ")
		path, body, _ := strings.Cut(rest, " ")
		made := l.do(method, path, body).ok()
		ids["list_id"] = cmp.Or(made.id("list_id"), ids["list_id"])
	}
	return ids
}

// Each operation except GET changes the state.
func TestEveryWriteDoesSomething(t *testing.T) {
	for _, r := range routes(t) {
		if r.method == http.MethodGet {
			continue
		}
		t.Run(r.operation.OperationID, inLab(func(l *lab) {
			ids := furnishFor(l, r)
			untouched := state(l)
			l.do(r.method, resolve(r.path, ids), r.exampleOf(ids)).ok()
			if state(l) == untouched {
				l.Errorf("%s changes nothing; if something must have happened before it, say so in the variable before", r)
			}
		}, recordEvents))
	}
}

// A repeated POST that openapi.yaml calls repeatable has the same response, changes nothing and creates no event.
func TestRepeatableOperations(t *testing.T) {
	for _, r := range routes(t) {
		if r.method != http.MethodPost || r.operation.Extensions["x-repeatable"] != true {
			continue
		}
		t.Run(r.operation.OperationID, inLab(func(l *lab) {
			proves(l, "decision/36/nothing")
			ids := furnishFor(l, r)
			path, body := resolve(r.path, ids), r.exampleOf(ids)
			first := l.post(path, body).ok()
			if r.operation.OperationID == "importContacts" { // what was imported is updated
				first = l.post(path, body).ok()
			}
			was := state(l)
			time.Sleep(time.Minute)
			for range 2 {
				again := l.post(path, body).ok()
				want(l, "the answer", f("%d %s", again.status, again.raw), f("%d %s", first.status, first.raw))
			}
			line, before, after := differ(was, state(l))
			want(l, f("line %d of the state", line), after, before)
		}, recordEvents))
	}
	t.Run("the same address in another case", inLab(func(l *lab) {
		proves(l, "decision/36/nothing")
		l.post("/suppressed-emails", f(`{"email":%q}`, ada)).ok()
		l.listen()
		l.post("/suppressed-emails", `{"email":"ADA@example.org"}`).ok()
		l.fires()
	}))
}

func recordEvents(c *mockserver.Config) { c.RecordEvents = true }

// state returns the state after all deliveries.
func state(l *lab) string {
	l.Helper()
	l.deliveries()
	var out bytes.Buffer
	l.must(l.srv.Snapshot(&out))
	return out.String()
}

// differ returns the first line that is different.
func differ(a, b string) (line int, inA, inB string) {
	linesA, linesB := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(linesA), len(linesB)) {
		if linesA[i] != linesB[i] {
			return i + 1, linesA[i], linesB[i]
		}
	}
	return 0, "", ""
}
