package client

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
)

func TestImportResponses(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want ImportStatus
		fail error
	}{
		"empty":                      {``, ImportUnknown, ErrInvalidResponse},
		"no contact":                 {`{"imported":0,"updated":0,"errors":[]}`, ImportUnknown, ErrOutcomeUnknown},
		"no other contact":           {`{"imported":0,"updated":0,"errors":[{"index":1}]}`, ImportUnknown, ErrOutcomeUnknown},
		"true":                       {`{"imported":true,"errors":[]}`, ImportUnknown, ErrInvalidResponse},
		"a list":                     {`{"imported":[1,2],"errors":[]}`, ImportUnknown, ErrInvalidResponse},
		"true, and a count":          {`{"imported":true,"updated":2}`, ImportUpdated, nil},
		"an error":                   {`{"error":"no"}`, ImportUnknown, ErrInvalidResponse},
		"null":                       {`null`, ImportUnknown, ErrInvalidResponse},
		"another object":             {`{"job":7}`, ImportUnknown, ErrInvalidResponse},
		"number in location":         {`{"imported":1,"updated":0,"errors":[{"loc":["body","contacts",1,"email",0],"msg":"no"}]}`, ImportRejected, nil},
		"number as text":             {`{"imported":1,"updated":0,"errors":[{"index":null,"loc":["1"]}]}`, ImportRejected, nil},
		"index before number":        {`{"imported":1,"updated":0,"errors":[{"loc":["body",0],"index":1}]}`, ImportRejected, nil},
		"no index":                   {`{"imported":1,"updated":0,"errors":[{"loc":["body","email"],"msg":"no","type":"t"}]}`, ImportUnknown, ErrOutcomeUnknown},
		"no location":                {`{"imported":1,"updated":0,"errors":[{"msg":"no"}]}`, ImportUnknown, ErrInvalidResponse},
		"invalid fields of an error": {`{"imported":1,"updated":0,"errors":[{"index":1,"msg":{},"type":7,"loc":5.5,"email":[]}]}`, ImportRejected, nil},
		"one contact is missing":     {`{"imported":1,"updated":0,"errors":[]}`, ImportUnknown, ErrOutcomeUnknown},
		"2, and details":             {`{"imported":2,"detail":[{"msg":"no"}]}`, ImportUnknown, ErrInvalidResponse},
		"2, and no error":            {`{"imported":2,"error":null,"detail":[]}`, ImportImported, nil},
		"index out of range":         {`{"imported":1,"updated":0,"errors":[{"index":2}]}`, ImportUnknown, ErrOutcomeUnknown},
		"negative index":             {`{"imported":1,"updated":0,"errors":[{"index":-1}]}`, ImportUnknown, ErrInvalidResponse},
		"same index twice":           {`{"imported":0,"updated":0,"errors":[{"index":1},{"index":0},{"index":1}]}`, ImportRejected, nil},
		"same index only":            {`{"imported":0,"updated":0,"errors":[{"index":1},{"index":1}]}`, ImportUnknown, ErrOutcomeUnknown},
		"numbers in location":        {`{"imported":0,"updated":0,"errors":[{"index":1,"loc":["body",1]},{"index":0}]}`, ImportRejected, nil},
		"not JSON":                   {`<`, ImportUnknown, ErrOutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestClient(t, respondWith(200, "application/json", tc.body))
			report, err := c.Contacts.Import(t.Context(), 1, numbered(2, 0), ImportOptions{})
			assert.ErrorIs(t, err, tc.fail)
			assert.Equal(t, tc.fail == nil, err == nil)
			sum := report.Imported + report.Updated + report.Accepted + report.Rejected + report.Failed + report.Unknown
			got := report.Status(1)
			assert.Equal(t, tc.want, got)
			assert.EqualValues(t, 2, sum)
		})
	}
}

func TestImportBatchAccepted(t *testing.T) {
	three := ImportBatch{Contacts: []ImportContact{{Email: "a@x"}, {Email: "b@x"}, {Email: "c@x"}}}
	for name, tc := range map[string]struct {
		first, body string
		want        ImportResult
	}{
		"counted":               {"", `{"imported":1,"updated":1,"errors":[{"index":2}]}`, ImportResult{Imported: 1, Updated: 1, Errors: []RejectedEntry{{Index: 2}}}},
		"a code":                {"", `{"imported":2,"errors":[{"x":{"y":[]},"loc":["body",1],"code":8001}]}`, ImportResult{Imported: 2, Errors: []RejectedEntry{{Index: 1, Loc: Location{"body", "1"}, Type: "8001"}}}},
		"counts as text":        {"", `{"imported":"1","updated":"2"}`, ImportResult{Imported: 1, Updated: 2}},
		"none imported":         {"", `{"imported":-1,"updated":4}`, ImportResult{Accepted: 3}},
		"none updated":          {"", `{"imported":4,"updated":-1}`, ImportResult{Accepted: 3}},
		"another sum":           {"", `{"imported":9,"updated":1}`, ImportResult{Accepted: 3}},
		"truncated, then valid": {`{"imported":3`, `{"imported":1,"updated":2}`, ImportResult{Imported: 1, Accepted: 2}},
		"no index, then valid":  {`{"imported":2,"errors":[{"msg":"no"}]}`, `{"imported":3,"updated":0}`, ImportResult{Imported: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			responses := []*http.Response{respond(200, tc.body)}
			if tc.first != "" {
				responses = []*http.Response{respond(200, tc.first), respond(200, tc.body)}
			}
			c := newBubbleClient(t, inOrder(responses...), withoutPauses)
			got, err := c.Contacts.ImportBatch(t.Context(), 1, three)
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprint(tc.want), fmt.Sprint(got))
		})
	}
}

func TestImportBatchPartialResult(t *testing.T) {
	one := ImportBatch{Contacts: []ImportContact{{Email: "a@x"}}}
	for body, want := range map[string]int64{`{"imported":1,"errors":"none"}`: 1, `{"imported":1`: 0} {
		c := newTestClient(t, respondWith(200, "application/json", body), withoutRetries)
		got, err := c.Contacts.ImportBatch(t.Context(), 1, one)
		assert.ErrorIs(t, err, ErrInvalidResponse, body)
		assert.Equal(t, want, got.Imported, body)
	}
}

// TestImportDuplicateAddressesInBatch: the platform may count a duplicate address of a batch once.
func TestImportDuplicateAddressesInBatch(t *testing.T) {
	batch := ImportBatch{Contacts: []ImportContact{{Email: "a@x"}, {Email: "A@x"}, {Email: "b@x"}, {Email: "no"}}}
	for body, want := range map[string]error{
		`{"imported":2,"updated":0,"errors":[{"index":3}]}`: nil,
		`{"imported":1,"updated":1,"errors":[{"index":3}]}`: nil,
		`{"imported":1,"updated":0,"errors":[{"index":3}]}`: ErrInvalidResponse,
		`{"imported":2,"updated":0,"errors":[]}`:            ErrInvalidResponse,
	} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(200, body), nil }, withoutRetries)
		if got, err := c.Contacts.ImportBatch(t.Context(), 1, batch); !errors.Is(err, want) || err == nil && got.Accepted != 3 && got.Imported+got.Updated != 3 {
			t.Errorf("%s: %+v, %v; want %v", body, got, err, want)
		}
	}
}

func TestResubscribe(t *testing.T) {
	var sent []string
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		sent = append(sent, r.URL.RawQuery+" "+strings.TrimSpace(string(b)))
		respondWith(http.StatusOK, "application/json", `{"id":1,"status":"pending","imported":1,"updated":0,"errors":[]}`)(w, r)
	})
	one := ImportContact{Email: "a@x"}
	for _, resubscribe := range []bool{false, true} {
		check.Need(c.Contacts.Import(t.Context(), 1, ContactsFromSlice([]ImportContact{one}), ImportOptions{Resubscribe: resubscribe}))(t)
		check.Need(c.Contacts.ImportBatch(t.Context(), 1, ImportBatch{Contacts: []ImportContact{one}, Resubscribe: resubscribe}))(t)
	}
	for _, contact := range []ContactCreate{
		{Email: "a@x"}, {Email: "a@x", Resubscribe: true}, {Email: "a@x", DoubleOptIn: true}, {Email: "a@x", Resubscribe: true, DoubleOptIn: true},
	} {
		check.Need(c.Contacts.Create(t.Context(), 1, contact))(t)
	}
	want := []string{
		` {"contacts":[{"email":"a@x"}]}`, ` {"contacts":[{"email":"a@x"}]}`,
		` {"contacts":[{"email":"a@x"}],"resubscribe":true}`, ` {"contacts":[{"email":"a@x"}],"resubscribe":true}`,
		`resubscribe=false {"email":"a@x"}`, ` {"email":"a@x"}`,
		`send_double_opt_in=true&resubscribe=false {"email":"a@x"}`, `send_double_opt_in=true {"email":"a@x"}`,
	}
	assert.Equal(t, want, sent, "sent")
}

// FuzzImportResponse: a valid response accounts for each contact.
func FuzzImportResponse(f *testing.F) {
	f.Add(`{"imported":1,"updated":1,"errors":[{"index":2,"loc":["body",0],"msg":"m","type":"t"}]}`)
	f.Add(`{"imported":true,"errors":[{"loc":["body",1],"code":8001}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		const n = 3
		batch := []ImportContact{{Email: "a@x"}, {Email: "b@x"}, {Email: "B@x"}}
		response, err := decode([]byte(body), readImportResponse)
		if err != nil || response.check(batch) != nil {
			return
		}
		r := response.result(n, false)
		reported := map[int64]bool{}
		for _, e := range r.Errors {
			reported[e.Index] = 0 <= e.Index && e.Index < n
		}
		rejected := int64(len(reported))
		if r.Imported < 0 || r.Updated < 0 || r.Imported+r.Updated+r.Accepted+rejected != n {
			t.Fatalf("the counts in %+v do not add up to %d", r, n)
		}
	})
}

// TestImportJob: a response without a result has an unknown outcome after one request.
func TestImportJob(t *testing.T) {
	for body, once := range map[string]bool{
		`{"job_id":7}`: true, `{"job_id":7,"errors":[]}`: true, `{"job_id":7,"errors":null,"error":null,"detail":[]}`: true, `{"imported":null,"updated":null}`: true,
		`{"id":"j","status":"pending"}`: true, `"job-7"`: true, `17`: true, `{}`: true, `{"imported":0}`: false, `{"imported"`: false,
	} {
		requests := 0
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			requests++
			return respond(202, body), nil
		}, withoutPauses)
		_, err := c.Contacts.ImportBatch(t.Context(), 1, ImportBatch{Contacts: []ImportContact{{Email: "a@x"}}})
		assert.ErrorIs(t, err, ErrOutcomeUnknown, body)
		assert.ErrorIs(t, err, ErrInvalidResponse, body)
		assert.Equal(t, once, requests == 1, body)
	}
}

// numbered yields n contacts. Every bad-th contact has an invalid address.
func numbered(n, bad int) iter.Seq2[ImportContact, error] {
	return func(yield func(ImportContact, error) bool) {
		for i := range n {
			c := ImportContact{Email: fmt.Sprintf("c%d@example.com", i), Line: i + 2}
			if bad > 0 && i%bad == bad-1 {
				c.Email = fmt.Sprintf("bad%d", i)
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}
