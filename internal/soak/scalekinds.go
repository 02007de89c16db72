package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

func kinds() []kind {
	return []kind{
		{name: "contacts", fill: scaleContacts},
		{name: "messages", fill: scaleMessages},
		{name: "deliveries", fill: scaleDeliveries},
		{name: "lists", most: 100_000, fill: scaleLists},
		{name: "templates", fill: scaleTemplates},
		{name: "suppressed", fill: scaleSuppressed},
		{name: "webhooks", most: 100_000, fill: scaleWebhooks},
	}
}

// email is the body of an email; more is put behind its members.
func email(to, more string) string {
	return fmt.Sprintf(`{"email":%q,"sender":{"name":"Shop","email":"shop@example.com"},"content":{"subject":"Hello","text":"Hi"}%s}`, to, more)
}

// page is what is needed of a page of contacts.
type page struct {
	Data []struct {
		ID    int64  `json:"id"`
		Email string `json:"email"`
	} `json:"data"`
}

func scaleContacts(w *scaleWorld, n int) []operation {
	list := w.create("/lists", "list_id", `{"name":"L"}`)
	w.do(http.MethodPost, "/lists/"+list+"/accept-policy", "")
	base := "/lists/" + list + "/contacts"
	for i := 0; i < n; i += 1000 {
		entries := make([]string, min(1000, n-i))
		for j := range entries {
			k := i + j
			entries[j] = fmt.Sprintf(`{"email":"c%d.%d@example.com","custom_attributes":[{"name":"city","value":"Bonn"}],"tags":["t%d","vip"]}`,
				k*7919%1_000_003, k, k%10)
		}
		w.do(http.MethodPost, base+"/import", `{"contacts":[`+strings.Join(entries, ",")+`]}`)
	}
	var middle page
	w.must(json.Unmarshal(w.do(http.MethodGet, fmt.Sprintf("%s?per_page=100&page=%d", base, n/200), ""), &middle))
	return append(scalePages(w, base, n, middle.Data[0].Email), scaleContactChanges(w, list, base, middle)...)
}

func scalePages(w *scaleWorld, base string, n int, address string) []operation {
	last := n / 100
	return []operation{
		{name: "list, first page", call: w.get("%s?per_page=100", base)},
		{name: "list, last page", call: w.get("%s?per_page=100&page=%d", base, last)},
		{name: "list, last page, sort=email", call: w.get("%s?per_page=100&sort=email:asc&page=%d", base, last)},
		{name: "list, last page, sort=subscribed_on:desc", call: w.get("%s?per_page=100&sort=subscribed_on:desc&page=%d", base, last)},
		{name: "list, last page, sort=status", call: w.get("%s?per_page=100&sort=status:asc&page=%d", base, last)},
		{name: "list, first page, filter=tag", call: w.get("%s?per_page=100&filter=tag:vip", base)},
		{name: "list, last page, filter=tag", call: w.get("%s?per_page=100&filter=tag:vip&page=%d", base, last)},
		{name: "list, filter=email", call: w.get("%s?per_page=100&filter=email:%s", base, address)},
		{name: "list, first page, filter=status", call: w.get("%s?per_page=100&filter=status:active", base)},
		{name: "list, last page, filter=status", call: w.get("%s?per_page=100&filter=status:active&page=%d", base, last)},
		{name: "list, last page, filter=status, sort=email", all: true, call: w.get("%s?per_page=100&filter=status:active&sort=email:asc&page=%d", base, last)},
	}
}

func scaleContactChanges(w *scaleWorld, list, base string, some page) []operation {
	contact := func(i int) string { return fmt.Sprintf("%s/%d", base, some.Data[i%100].ID) }
	post := func(path, format string, args ...any) { w.do(http.MethodPost, path, fmt.Sprintf(format, args...)) }
	return []operation{
		{name: "get", call: func(i int) { w.do(http.MethodGet, contact(i), "") }},
		{name: "create", call: func(i int) { post(base, `{"email":"n%d@example.com"}`, i) }},
		{name: "update", call: func(i int) {
			w.do(http.MethodPatch, contact(i), fmt.Sprintf(`{"custom_attributes":[{"name":"city","value":"B%d"}]}`, i))
		}},
		{name: "tag one, new tag", call: func(i int) { post(base+"/tag", `{"contact_ids":[%d],"tags":["n%d"]}`, some.Data[i%100].ID, i) }},
		{name: "tag one, common tag", call: func(i int) {
			id := some.Data[i%100].ID
			post(base+"/tag", `{"contact_ids":[%d],"tags":["t%d"]}`, id, (int64(i/100)+id+1)%10)
		}},
		{name: "unsubscribe", call: func(i int) { post(contact(i)+"/unsubscribe", "") }},
		{name: "import one that is known", call: func(i int) { post(base+"/import", `{"contacts":[{"email":%q}]}`, some.Data[i%100].Email) }},
		{name: "send, list given", call: func(int) { w.do(http.MethodPost, "/v2/emails", email("n1@example.com", `,"list_id":`+list)) }},
		{name: "send, no list", call: func(int) { w.do(http.MethodPost, "/v2/emails", email("n1@example.com", "")) }},
		{name: "delete", once: true, call: func(i int) { w.do(http.MethodDelete, contact(i), "") }},
		{name: "campaign to all", all: true, once: true, call: func(int) {
			id := w.create("/campaigns", "campaign_id", `{"name":"C","list_id":`+list+`,"sender":{"email":"s@example.com"},"content":{"subject":"S","text":"T"}}`)
			post("/campaigns/"+id+"/schedule", "{}")
			w.must(w.srv.Wait(w.ctx))
		}},
	}
}

func scaleMessages(w *scaleWorld, n int) []operation {
	w.create("/webhooks", "webhook_id", `{"url":"http://receiver.test/","events":["Email.Opened"]}`)
	var last string
	for range n {
		last = w.create("/v2/emails", "id", email("ann@example.com", ""))
	}
	return []operation{
		{name: "send", call: func(int) { w.do(http.MethodPost, "/v2/emails", email("bea@example.com", "")) }},
		{name: "outbox of the console", call: w.get("/_mock/outbox")},
		{name: "outbox of the console, search", all: true, call: w.get("/_mock/outbox?search=ann")},
		{name: "message of the console", call: w.get("/_mock/outbox/%s", last)},
		{name: "Server.Open", call: func(int) { w.must(w.srv.Open(last)) }},
		{name: "Server.Outbox", all: true, once: true, call: func(int) { w.srv.Outbox() }},
		{name: "Server.Snapshot", all: true, once: true, call: func(int) { w.must(w.srv.Snapshot(io.Discard)) }},
	}
}

func scaleDeliveries(w *scaleWorld, n int) []operation {
	w.create("/webhooks", "webhook_id", `{"url":"http://receiver.test/","events":["Email.Opened"]}`)
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = w.create("/v2/emails", "id", email("ann@example.com", ""))
	}
	for i := range n {
		w.must(w.srv.Open(ids[i%len(ids)]))
	}
	w.must(w.srv.Wait(w.ctx))
	return []operation{
		{name: "fire and deliver", call: func(int) {
			w.must(w.srv.Open(ids[0]))
			w.must(w.srv.Wait(w.ctx))
		}},
		{name: "list of the console", call: w.get("/_mock/deliveries")},
		{name: "list of the console, search", all: true, call: w.get("/_mock/deliveries?search=ann")},
		{name: "events of the console", call: w.get("/_mock/events")},
		{name: "message of the console", call: w.get("/_mock/outbox/%s", ids[0])},
	}
}

func scaleLists(w *scaleWorld, n int) []operation {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = w.create("/lists", "list_id", `{"name":"L"}`)
		w.do(http.MethodPost, "/lists/"+ids[i]+"/contacts", `{"email":"everywhere@example.com"}`)
	}
	return []operation{
		{name: "create", call: func(int) { w.do(http.MethodPost, "/lists", `{"name":"L"}`) }},
		{name: "get", call: w.get("/lists/%s", ids[n/2])},
		{name: "last page", call: w.get("/lists?page=%d&per_page=100", n/100)},
		{name: "send to somebody on none, no list", call: func(int) { w.do(http.MethodPost, "/v2/emails", email("n1@example.com", "")) }},
		{name: "send to somebody on all, no list", call: func(int) { w.do(http.MethodPost, "/v2/emails", email("everywhere@example.com", "")) }},
	}
}

func scaleTemplates(w *scaleWorld, n int) []operation {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = w.create("/templates", "template_id", `{"name":"L","content":{"text":"x"}}`)
	}
	return []operation{
		{name: "delete", call: func(i int) { w.do(http.MethodDelete, "/templates/"+ids[i], "") }},
		{name: "far page", call: w.get("/templates?page=%d&per_page=100", n/100-5)},
	}
}

func scaleSuppressed(w *scaleWorld, n int) []operation {
	add := func(address string) {
		w.do(http.MethodPost, "/suppressed-emails", fmt.Sprintf(`{"email":%q}`, address))
	}
	for i := range n {
		add(fmt.Sprintf("s%d@example.com", i))
	}
	return []operation{
		{name: "last page", call: w.get("/suppressed-emails?page=%d&per_page=100", n/100)},
		{name: "find", call: w.get("/suppressed-emails?filter=email:s%d@example.com", n/2)},
		{name: "add", call: func(i int) { add(fmt.Sprintf("n%d@example.com", i)) }},
		{name: "send", call: func(int) { w.do(http.MethodPost, "/v2/emails", email("ann@example.org", "")) }},
		{name: "remove", call: func(i int) { w.do(http.MethodDelete, fmt.Sprintf("/suppressed-emails/s%d@example.com", i), "") }},
	}
}

func scaleWebhooks(w *scaleWorld, n int) []operation {
	var id string
	for i := range n {
		id = w.create("/webhooks", "webhook_id", fmt.Sprintf(`{"url":"http://receiver.test/%d","events":["Email.Clicked"]}`, i))
	}
	return []operation{
		{name: "get", call: w.get("/webhooks/%s", id)},
		{name: "last page", call: w.get("/webhooks?page=%d&per_page=100", n/100)},
		{name: "an event that none wants", call: func(i int) {
			w.do(http.MethodPost, "/suppressed-emails", fmt.Sprintf(`{"email":"n%d@example.com"}`, i))
		}},
		{name: "archive and unarchive", call: func(int) {
			w.do(http.MethodPost, "/webhooks/"+id+"/archive", "")
			w.do(http.MethodPost, "/webhooks/"+id+"/unarchive", "")
		}},
	}
}
