package benchmarks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/mailgun/mailgun-go/v4"

	"example.com/emailplatform/client"
)

const (
	perBatch    = 1000
	importPath  = "/lists/1/contacts/import"
	mailgunList = "customers@mail.example.org"
)

// BenchmarkImport imports 20,000 contacts, one batch at a time, to a server that does almost no work.
func BenchmarkImport(b *testing.B) { compareImports(b, 0, 1, 20) }

// BenchmarkImportSlow imports 40,000 contacts, four batches at a time. The server delays each response by 20 ms.
func BenchmarkImportSlow(b *testing.B) { compareImports(b, 20*time.Millisecond, 4, 40) }

func compareImports(b *testing.B, pause time.Duration, concurrency, batches int) {
	url, pool := serve(b, slow(pause, http.HandlerFunc(serveImport))), newPool()
	post := func(body []byte) {
		check(send(pool, newRequest(http.MethodPost, url+importPath, "t", "application/json", bytes.NewReader(body))))
	}
	c := must(client.New(client.Config{BaseURL: url, Token: "t", HTTPClient: pool}))
	compare(b, "sdk", func() {
		report := must(c.Contacts.Import(b.Context(), 1, source(batches*perBatch), client.ImportOptions{Concurrency: concurrency}))
		expect("contacts imported", int(report.Imported), batches*perBatch)
	})
	each := func(impl string, do func(worker, batch int)) {
		compare(b, impl, func() { parallel(concurrency, batches, do) })
	}
	// This is the lower bound, because every batch sends the same bytes.
	encoded := must(json.Marshal(newBatch(0)))
	each("net/http-encoded", func(int, int) { post(encoded) })
	// This lower bound includes creating the contacts.
	contacts := make([][perBatch]client.ImportContact, concurrency)
	each("net/http-encoded-contacts", func(worker, batch int) {
		for i := range perBatch {
			contacts[worker][i] = newContact(batch*perBatch + i)
		}
		post(encoded)
	})
	// This is efficient code without an SDK, because each worker reuses its buffer.
	bodies := make([]bytes.Buffer, concurrency)
	each("net/http+json", func(worker, batch int) {
		body := &bodies[worker]
		body.Reset()
		check(json.NewEncoder(body).Encode(newBatch(batch)))
		post(body.Bytes())
	})
	mg := newMailgun(url, pool)
	each("mailgun-go", func(_, batch int) { check(mg.CreateMemberList(b.Context(), new(true), mailgunList, newMembers(batch))) })
}

// BenchmarkImportMemory reports how much more memory client and server use for 10,000,000 contacts than for 10,000.
func BenchmarkImportMemory(b *testing.B) {
	many := 10_000_000
	if testing.Short() {
		many = 100_000
	}
	c := must(client.New(client.Config{BaseURL: serve(b, http.HandlerFunc(serveImport)), Token: "t", HTTPClient: newPool()}))
	peak := func(n int) (mib float64) {
		must(c.Contacts.Import(b.Context(), 1, source(n), client.ImportOptions{Concurrency: 4, OnProgress: func(p client.ImportProgress) {
			if p.Batches%(n/perBatch/10) == 0 {
				mib = max(mib, heapInUse())
			}
		}}))
		return mib
	}
	reportGrowth(b, peak, 10_000, many)
}

// reportGrowth reports how much more memory is in use with many items than with few.
func reportGrowth(b *testing.B, peak func(n int) (mib float64), few, many int) {
	b.Run("impl=sdk", func(b *testing.B) {
		for b.Loop() {
			least := peak(few)
			b.ReportMetric(max(0, peak(many)-least), "growth-MiB")
			b.ReportMetric(0, "ns/op")
		}
	})
}

func heapInUse() (mib float64) {
	runtime.GC()
	runtime.GC() // objects in a sync.Pool survive the first collection
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// serveImport responds in the formats of the platform and of Mailgun.
func serveImport(w http.ResponseWriter, r *http.Request) {
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
		CustomAttributes: client.Attributes{{Name: "first_name", Value: "Ann"}, {Name: "city", Value: "Bonn"}},
	}
}

func source(n int) iter.Seq2[client.ImportContact, error] {
	return func(yield func(client.ImportContact, error) bool) {
		for i := 0; i < n && yield(newContact(i), nil); i++ {
		}
	}
}

func newBatch(batch int) (body client.ImportBatch) {
	for i := range perBatch {
		body.Contacts = append(body.Contacts, newContact(batch*perBatch+i))
	}
	return body
}

func newMembers(batch int) []any {
	members := make([]any, perBatch)
	for i := range members {
		contact, vars := newContact(batch*perBatch+i), map[string]any{}
		for _, a := range contact.CustomAttributes {
			vars[a.Name] = a.Value
		}
		members[i] = mailgun.Member{Address: contact.Email, Vars: vars}
	}
	return members
}

func newMailgun(url string, c *http.Client) *mailgun.MailgunImpl {
	mg := mailgun.NewMailgun("mail.example.org", "key")
	mg.SetAPIBase(url + "/v3")
	mg.SetClient(c)
	return mg
}
