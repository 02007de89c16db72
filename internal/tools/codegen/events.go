package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"go/format"
	"slices"
	"strings"
	"text/template"

	"example.com/emailplatform/internal/tools/try"
)

//go:embed events.tmpl methods.tmpl mock.tmpl reference.tmpl
var templates embed.FS

// execute executes a template and formats the result as Go code.
func execute(name string, data any) []byte { return try.Get(format.Source(fill(name, data))) }

func fill(name string, data any) []byte {
	functions := template.FuncMap{
		"general": general, "anchor": anchor, "code": code, "codes": codes, "brief": brief, "rows": rowsOf, "comment": comment,
	}
	var out bytes.Buffer
	try.OK(try.Get(template.New("").Funcs(functions).ParseFS(templates, "*.tmpl")).ExecuteTemplate(&out, name, data))
	return out.Bytes()
}

// general returns the events that come in the general envelope.
func general(all []event) []event {
	return slices.DeleteFunc(slices.Clone(all), func(e event) bool { return !e.General })
}

// eventFiles returns the files of package events that list events, and its
// testdata, by their paths.
func eventFiles(doc *document) map[string][]byte {
	var shapes []shape
	files := map[string][]byte{}
	for _, e := range doc.events {
		shapes = append(shapes, e.Shapes...)
		for _, x := range e.Examples {
			var indented bytes.Buffer
			try.OK(json.Indent(&indented, []byte(x.Body+"\n"), "", "  "))
			files["testdata/"+x.Name+".json"] = indented.Bytes()
		}
	}
	files["events.gen.go"] = execute("events.tmpl", map[string]any{
		"Events":    doc.events,
		"General":   general(doc.events),
		"Table":     table(doc.events),
		"Shapes":    shapes,
		"Questions": questions(shapes),
	})
	return files
}

// table lists the types of data by event, as the documentation shows them.
func table(events []event) (rows []string) {
	row := func(event, types string) { rows = append(rows, fmt.Sprintf("%-26s %s", event, types)) }
	row("Event", "Data")
	for _, e := range events {
		var types []string
		for _, s := range e.Shapes {
			types = append(types, "[*"+s.Name+"]")
		}
		row(e.Name, strings.Join(types, " "))
	}
	row("any other", "[*Unknown]")
	return rows
}

// question describes a method of an event that needs no type switch. It returns the
// first of these data fields that is present.
type question struct {
	Func, Doc, Type string
	members         []member
	Cases           []answer // by shape
}

// member is a data field with two Go expressions for its value: one for a required
// field, and one for an optional field.
type member struct{ name, value, optional string }

type answer struct{ Shape, Value string }

// questions returns the methods of the shapes.
func questions(shapes []shape) []question {
	all := []question{
		{Func: "recipientOf", Doc: "the address of the contact that data is about, if it has one.", Type: "string", members: []member{
			{"contact", "d.Contact.Email", "addressOf(d.Contact)"},
			{"email_address", "d.EmailAddress", ""},
			{"suppressedEmail", "d.SuppressedEmail.Email", ""},
		}},
		{Func: "emailOf", Doc: "the id of the email that data is about, if it has one.", Type: "string", members: []member{
			{"transactional_email", "d.TransactionalEmail.ID", ""},
			{"email", "d.Email.ID", ""},
			{"email_id", "d.EmailID.String()", ""},
		}},
		{Func: "listOf", Doc: "the id of the list that data is about, if it has one.", Type: "ID", members: []member{
			{"list", "d.List.ID", "idOf(d.List)"},
			{"list_id", "d.ListID", ""},
		}},
		{Func: "campaignOf", Doc: "the id of the campaign that data is about, if it has one.", Type: "ID", members: []member{
			{"campaign", "d.Campaign.ID", ""},
			{"campaign_id", "d.CampaignID", ""},
		}},
		{Func: "bounceOf", Doc: "how an email bounced, if data tells.", Type: "BounceDetail", members: []member{
			{"bounce", "d.Bounce", ""},
		}},
	}
	for i := range all {
		for _, s := range shapes {
			if value := all[i].answer(s); value != "" {
				all[i].Cases = append(all[i].Cases, answer{s.Name, value})
			}
		}
	}
	return all
}

func (q question) answer(s shape) string {
	for _, m := range q.members {
		if s.at("properties", m.name).Node == nil {
			continue
		}
		if m.optional != "" && !s.requires(m.name) {
			return m.optional
		}
		return m.value
	}
	return ""
}

// mockFiles returns the files of the mock server that oapi-codegen does not write.
func mockFiles(doc *document) map[string][]byte {
	return map[string][]byte{
		"api/events.gen.go":          execute("events", doc.events),
		"contract/table.gen.go":      try.Get(contractTable(doc)),
		"platform/operations.gen.go": execute("operations", doc.operations),
		"samples/examples.gen.go":    execute("samples", doc.events),
	}
}
