package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/mailgun/mailgun-go/v4"

	"example.com/emailplatform/client"
)

const (
	perBatch    = 1000
	inFlight    = 4 // batches
	importPath  = "/lists/1/contacts/import"
	mailgunList = "customers@mail.example.org"
)

func importContests() []contest {
	imports := func(name string, pause time.Duration, concurrency, contacts int) contest {
		return contest{name: name, items: contacts, unit: "contacts", setup: func(a *arena) ([]contender, error) {
			return importers(a, pause, concurrency, contacts)
		}}
	}
	return []contest{
		imports("import, one batch at a time", 0, 1, 20_000),
		imports("import, four batches at a time, server takes 20 ms", 20*time.Millisecond, inFlight, 40_000),
	}
}

// importer sends n contacts. It calls drawn for each that it takes.
type importer struct {
	name string
	want float64
	run  func(ctx context.Context, n int, drawn func(i int)) error
}

func importers(a *arena, pause time.Duration, concurrency, contacts int) (out []contender, err error) {
	all, err := newImporters(a, pause, concurrency)
	for _, im := range all {
		out = append(out, contender{name: im.name, want: im.want, op: func() error {
			return im.run(a.ctx, contacts, func(int) {})
		}})
	}
	return out, err
}

func newImporters(a *arena, pause time.Duration, concurrency int) ([]importer, error) {
	srv := a.serve(slow(pause, http.HandlerFunc(answerImport)))
	c, err := client.New(client.Config{BaseURL: srv.URL, Token: "t", HTTPClient: srv.Client()})
	if err != nil {
		return nil, err
	}
	var beforehand, drawn, byHand, mailgun float64 // the targets
	if pause > 0 {
		beforehand = 0.8
	} else {
		drawn, byHand, mailgun = 0.5, 1.4, 3.5
	}
	return []importer{
		{name: "this SDK", run: func(ctx context.Context, n int, drawn func(int)) error {
			report, err := c.Contacts.Import(ctx, 1, source(n, drawn), client.ImportOptions{Concurrency: concurrency})
			if err == nil && report.Imported != int64(n) {
				err = fmt.Errorf("%d imported, want %d", report.Imported, n)
			}
			return err
		}},
		{name: "net/http, encoded beforehand", want: beforehand, run: rawImport(srv.URL, srv.Client(), concurrency)},
		{name: "net/http, encoded beforehand, contacts drawn", want: drawn, run: drawnImport(srv.URL, srv.Client(), concurrency)},
		{name: "net/http, encoding/json", want: byHand, run: byHandImport(srv.URL, srv.Client(), concurrency)},
		{name: "mailgun-go", want: mailgun, run: mailgunImport(srv.URL, srv.Client(), concurrency)},
	}, nil
}

// answerImport answers in the formats of the platform and of Mailgun.
func answerImport(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == importPath {
		fmt.Fprintf(w, `{"imported":%d,"updated":0,"errors":[]}`, perBatch)
		return
	}
	fmt.Fprint(w, `{"message":"Mailing list has been updated","list":{"address":"`+mailgunList+`"}}`)
}

func newContact(i int) client.ImportContact {
	return client.ImportContact{
		Email:            "contact" + strconv.Itoa(i) + "@example.com",
		CustomAttributes: []client.CustomAttribute{{Name: "first_name", Value: "Ann"}, {Name: "city", Value: "Bonn"}},
	}
}

func source(n int, drawn func(int)) iter.Seq2[client.ImportContact, error] {
	return func(yield func(client.ImportContact, error) bool) {
		for i := range n {
			drawn(i)
			if !yield(newContact(i), nil) {
				return
			}
		}
	}
}

// rawImport sends one batch over and over.
func rawImport(url string, c *http.Client, concurrency int) func(context.Context, int, func(int)) error {
	return sendImport(url, c, concurrency, func() func(int) { return func(int) {} })
}

// drawnImport is rawImport, but makes the contacts of each batch as the others do,
// which are no part of what an SDK costs.
func drawnImport(url string, c *http.Client, concurrency int) func(context.Context, int, func(int)) error {
	return sendImport(url, c, concurrency, func() func(int) {
		contacts := make([]client.ImportContact, perBatch)
		return func(n int) {
			for i := range contacts {
				contacts[i] = newContact(n*perBatch + i)
			}
		}
	})
}

// sendImport sends one batch over and over, and before each has a function make
// what is not sent, of which each worker has its own.
func sendImport(url string, c *http.Client, concurrency int, worker func() func(n int)) func(context.Context, int, func(int)) error {
	body, err := json.Marshal(batch(0))
	return func(ctx context.Context, n int, drawn func(int)) error {
		if err != nil {
			return err
		}
		return parallel(ctx, concurrency, n/perBatch, func() func(int) error {
			draw := worker()
			return func(i int) error {
				drawn(i * perBatch)
				draw(i)
				return post(ctx, c, url+importPath, body)
			}
		})
	}
}

// byHandImport is what one writes with care: a buffer for each worker, used again.
func byHandImport(url string, c *http.Client, concurrency int) func(context.Context, int, func(int)) error {
	return func(ctx context.Context, n int, drawn func(int)) error {
		return parallel(ctx, concurrency, n/perBatch, func() func(int) error {
			var body bytes.Buffer
			return func(i int) error {
				drawn(i * perBatch)
				body.Reset()
				if err := json.NewEncoder(&body).Encode(batch(i)); err != nil {
					return err
				}
				return post(ctx, c, url+importPath, body.Bytes())
			}
		})
	}
}

func batch(n int) (b client.ContactImport) {
	for i := range perBatch {
		b.Contacts = append(b.Contacts, newContact(n*perBatch+i))
	}
	return b
}

func post(ctx context.Context, c *http.Client, url string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	return call(c, req)
}

// mailgunImport adds to a mailing list by up to 1,000 members, as Mailgun has it.
func mailgunImport(url string, c *http.Client, concurrency int) func(context.Context, int, func(int)) error {
	mg := mailgun.NewMailgun("mail.example.org", "key")
	mg.SetAPIBase(url + "/v3")
	mg.SetClient(c)
	return func(ctx context.Context, n int, drawn func(int)) error {
		upsert := true
		return parallel(ctx, concurrency, n/perBatch, func() func(int) error {
			return func(i int) error {
				drawn(i * perBatch)
				members := make([]any, perBatch)
				for j := range members {
					contact := newContact(i*perBatch + j)
					vars := map[string]any{}
					for _, a := range contact.CustomAttributes {
						vars[a.Name] = a.Value
					}
					members[j] = mailgun.Member{Address: contact.Email, Vars: vars}
				}
				return mg.CreateMemberList(ctx, &upsert, mailgunList, members)
			}
		})
	}
}
