package conformance_test

import (
	"strings"
	"testing"
)

// paged are the endpoints that answer in pages, each with a way to add an item.
var paged = []struct {
	name, path string // with %d for a list
	add        func(l *lab, list int64, i int)
}{
	{
		name: "templates",
		path: "/templates",
		add:  func(l *lab, _ int64, i int) { l.post("/templates", f(`{"name":"T%d"}`, i)).ok() },
	},
	{name: "lists", path: "/lists", add: func(l *lab, _ int64, i int) { l.post("/lists", f(`{"name":"L%d"}`, i)).ok() }},
	{
		name: "contacts",
		path: "/lists/%d/contacts",
		add:  func(l *lab, list int64, i int) { l.contact(list, f("c%d@example.org", i)) },
	},
	{
		name: "tags",
		path: "/tags",
		add: func(l *lab, list int64, i int) {
			l.post(f("/lists/%d/contacts", list), f(`{"email":"c%d@example.org","tags":["t%03d"]}`, i, i)).ok()
		},
	},
	{name: "campaigns", path: "/campaigns", add: func(l *lab, list int64, _ int) { l.campaign(list) }},
	{name: "workflows", path: "/workflows", add: func(l *lab, list int64, _ int) { l.workflow(list) }},
	{
		name: "suppressed emails",
		path: "/suppressed-emails",
		add: func(l *lab, _ int64, i int) {
			l.post("/suppressed-emails", f(`{"email":"c%d@example.org"}`, i)).ok()
		},
	},
	{name: "webhooks", path: "/webhooks", add: func(l *lab, _ int64, _ int) { l.listen() }},
}

func TestPages(t *testing.T) {
	for _, p := range paged {
		setUp := func(l *lab, n int) string {
			list := l.list()
			if p.name == "lists" {
				n-- // this list is one
			}
			for i := range n {
				p.add(l, list, i)
			}
			path := p.path
			if strings.Contains(path, "%d") {
				path = f(path, list)
			}
			return path + "?"
		}
		t.Run(p.name+" in pages", inLab(func(l *lab) {
			proves(l, "decision/4/envelope", "decision/4/past-the-end")
			path := setUp(l, 5)
			first := l.get(path+"per_page=2").is(200, `{"data":["<any>","<any>"],"pagination":{"page":1,"per_page":2}}`)
			l.get(path+"per_page=2&page=1").is(200, string(first.raw))
			l.get(path+"page=3&per_page=2").is(200, `{"data":["<any>"],"pagination":{"page":3,"per_page":2}}`)
			l.get(path+"page=4&per_page=2").is(200, `{"data":[],"pagination":{"page":4,"per_page":2}}`)
			l.get(path+"page=9000000000000000000&per_page=100").is(200, `{"data":[],"…":0}`)
			whole := l.get(path).json().(map[string]any)["data"].([]any)
			var pages []any
			for page := range 3 {
				pages = append(pages, l.get(f("%sper_page=2&page=%d", path, page+1)).json().(map[string]any)["data"].([]any)...)
			}
			want(l, "the pages together", show(pages), show(whole))
		}))
		t.Run(p.name+" counted", inLab(func(l *lab) {
			proves(l, "decision/4/count")
			path := setUp(l, 3)
			l.get(path+"per_page=1&with_count=true").is(200, `{"data":"<array>","pagination":{"page":1,"per_page":1,"count":3}}`)
			l.get(path+"page=7&with_count=true").is(200, `{"data":[],"pagination":{"page":7,"per_page":50,"count":3}}`)
			l.get(path+"with_count=false").is(200, `{"data":"<array>","pagination":{"page":1,"per_page":50}}`)
		}))
		t.Run(p.name+" by default and at most", inLab(func(l *lab) {
			proves(l, "decision/4/per_page")
			path := setUp(l, 101)
			for query, n := range map[string]int{
				"": 50, "page=1": 50, "page=2": 50, "page=3": 1, "per_page=100": 100, "page=2&per_page=100": 1,
			} {
				page := l.get(path + query).json().(map[string]any)
				want(l, path+query, len(page["data"].([]any)), n)
			}
			l.get(path+"per_page=101").problem(422, "value_error", "query.per_page")
			l.get(path+"per_page=0").problem(422, "value_error", "query.per_page")
		}))
		t.Run(p.name+" start at page 1", inLab(func(l *lab) {
			proves(l, "limits/pages")
			path := setUp(l, 1)
			l.get(path+"page=1").is(200, `{"data":["<any>"],"…":0}`)
			for _, page := range []string{"0", "-1", "x", "1.5"} {
				l.get(path+"page="+page).problem(422, "value_error", "query.page")
			}
		}))
	}
}
