package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// importServer accepts imports. It rejects addresses without an @.
type importServer struct {
	mu       sync.Mutex
	list     map[string]int // how often an address was sent and taken
	requests int
	batches  []int
	before   func(request int) (status int) // 0 goes on
	after    func(request int) (abort bool)
}

func (s *importServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in ImportBatch
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), 400)
		return
	}
	s.mu.Lock()
	s.requests++
	n := s.requests
	s.mu.Unlock()
	if s.before != nil {
		if status := s.before(n); status != 0 {
			w.WriteHeader(status)
			return
		}
	}
	out := s.take(in)
	if s.after != nil && s.after(n) {
		panic(http.ErrAbortHandler)
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (s *importServer) take(in ImportBatch) ImportResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := ImportResult{Errors: []RejectedEntry{}}
	s.batches = append(s.batches, len(in.Contacts))
	for i, c := range in.Contacts {
		switch {
		case !strings.Contains(c.Email, "@"):
			out.Errors = append(out.Errors, RejectedEntry{Index: int64(i), Email: c.Email, Loc: Location{"body", "contacts"}, Msg: "bad", Type: "value_error"})
			continue
		case s.list[c.Email] > 0:
			out.Updated++
		default:
			out.Imported++
		}
		s.list[c.Email]++
	}
	return out
}

// numbered yields n contacts; every bad-th is rejected.
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

func TestImport(t *testing.T) {
	for _, tc := range []struct {
		n, bad, concurrency, batch int
		requests                   int
	}{
		{0, 0, 1, 0, 0},
		{1, 0, 1, 0, 1},
		{999, 7, 4, 0, 1},
		{1000, 0, 1, 0, 1},
		{1001, 0, 2, 0, 2},
		{25_000, 100, 4, 0, 25},
		{95, 10, 3, 10, 10},
	} {
		t.Run(fmt.Sprintf("%d by %d", tc.n, tc.concurrency), func(t *testing.T) {
			srv := &importServer{list: map[string]int{}}
			c := newTestClient(t, srv.ServeHTTP)
			var progress []ImportProgress
			var checkpoints []int64
			report, err := c.Contacts.Import(t.Context(), 1, numbered(tc.n, tc.bad), ImportOptions{
				Concurrency: tc.concurrency, BatchSize: tc.batch,
				OnProgress:   func(p ImportProgress) { progress = append(progress, p) },
				OnCheckpoint: func(n int64) error { checkpoints = append(checkpoints, n); return nil },
			})
			fatal(t, err)
			rejected := 0
			if tc.bad > 0 {
				rejected = tc.n / tc.bad
			}
			if srv.requests != tc.requests || len(progress) != tc.requests {
				t.Errorf("%d requests and %d calls of OnProgress, want %d", srv.requests, len(progress), tc.requests)
			}
			want := ImportCounts{Imported: int64(tc.n - rejected), Rejected: int64(rejected)}
			if report.ImportCounts != want || len(report.Rejections) != rejected || !report.Complete || report.Read != int64(tc.n) || report.Confirmed != int64(tc.n) {
				t.Errorf("report %+v, want %+v", report.ImportCounts, want)
			}
			if !slices.IsSorted(checkpoints) || tc.n > 0 && checkpoints[len(checkpoints)-1] != int64(tc.n) {
				t.Errorf("checkpoints %v", checkpoints)
			}
			for i := range tc.n {
				want := ImportImported
				if tc.bad > 0 && i%tc.bad == tc.bad-1 {
					want = ImportRejected
				}
				if got := report.Status(int64(i)); got != want {
					t.Fatalf("Status(%d) = %v, want %v", i, got, want)
				}
			}
			if tc.n > 0 && tc.bad == 0 && len(report.spans) != 1 {
				t.Errorf("%d spans of one status", len(report.spans))
			}
			for _, r := range report.Rejections {
				if r.Contact.Email != fmt.Sprintf("bad%d", r.Index) || r.Contact.Line != int(r.Index)+2 || r.Detail.Type != "value_error" {
					t.Errorf("rejection %+v", r)
				}
			}
			if got := report.Status(int64(tc.n)); got != ImportNotSent {
				t.Errorf("Status after the end = %v", got)
			}
		})
	}
}

func TestImportStatuses(t *testing.T) {
	srv := &importServer{list: map[string]int{"c0@example.com": 1, "c3@example.com": 1, "c4@example.com": 1, "c5@example.com": 1}}
	srv.before = func(n int) int { return map[int]int{3: 422, 4: 500, 5: 500, 6: 500}[n] }
	c := newTestClient(t, srv.ServeHTTP)
	var failures []ImportFailure
	report, err := c.Contacts.Import(t.Context(), 1, numbered(15, 0), ImportOptions{
		BatchSize: 3, OnBatchError: func(f ImportFailure) error { failures = append(failures, f); return nil },
	})
	var e *Error
	if !errors.Is(err, ErrValidation) || !errors.As(err, &e) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want the first batch's", err)
	}
	// Batches: mixed; updated; refused; failed three times; imported.
	want := []ImportStatus{4, 4, 4, 3, 3, 3, 6, 6, 6, 7, 7, 7, 2, 2, 2, 0}
	for i, w := range want {
		if got := report.Status(int64(i)); got != w {
			t.Errorf("Status(%d) = %v, want %v", i, got, w)
		}
	}
	if want := (ImportCounts{Imported: 5, Updated: 4, Failed: 3, Unknown: 3}); report.ImportCounts != want {
		t.Errorf("counts %+v, want %+v", report.ImportCounts, want)
	}
	if report.Confirmed != 6 || len(failures) != 2 || failures[1].From != 9 || !errors.Is(failures[1].Err, ErrOutcomeUnknown) {
		t.Errorf("confirmed %d, failures %v", report.Confirmed, failures)
	}
	var left []string
	for c, err := range report.Remaining(numbered(16, 0)) {
		fatal(t, err)
		left = append(left, c.Email[:strings.Index(c.Email, "@")])
	}
	if got := strings.Join(left, " "); got != "c6 c7 c8 c9 c10 c11 c15" {
		t.Errorf("left %s", got)
	}
}

func TestImportInvalidResponse(t *testing.T) {
	c := newTestClient(t, respondWith(202, "application/json", `{"imported":1,"updated":0,"errors":[{"index":2}]}`))
	_, err := c.Contacts.Import(t.Context(), 73, numbered(2, 0), ImportOptions{})
	var e *Error
	if !errors.As(err, &e) || e.Path != "/lists/73/contacts/import" || e.StatusCode != 202 || e.Attempts != 3 || e.RequestID != "req-1" {
		t.Errorf("error %v", err)
	}
}

func TestImportResponses(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want ImportStatus
		fail error
	}{
		"empty":               {``, ImportUnknown, ErrInvalidResponse},
		"nobody":              {`{"imported":0,"updated":0,"errors":[]}`, ImportUnknown, ErrOutcomeUnknown},
		"nobody else":         {`{"imported":0,"updated":0,"errors":[{"index":1}]}`, ImportUnknown, ErrOutcomeUnknown},
		"refused":             {`{"imported":false,"errors":[]}`, ImportUnknown, ErrInvalidResponse},
		"an error":            {`{"error":"no"}`, ImportUnknown, ErrInvalidResponse},
		"null":                {`null`, ImportUnknown, ErrInvalidResponse},
		"other shape":         {`{"job":7}`, ImportUnknown, ErrInvalidResponse},
		"true":                {`{"import_id":7,"id":[1,2],"imported":true,"data":[{"id":1},{"id":2}],"errors":[]}`, ImportAccepted, nil},
		"true but for one":    {`{"imported":true,"errors":[{"loc":["body","contacts",1,"email"],"msg":"no","code":8001}]}`, ImportRejected, nil},
		"counts as text":      {`{"imported":"2","updated":"0"}`, ImportImported, nil},
		"number in location":  {`{"imported":1,"updated":0,"errors":[{"loc":["body","contacts",1,"email",0],"msg":"no"}]}`, ImportRejected, nil},
		"number as text":      {`{"imported":1,"updated":0,"errors":[{"index":null,"loc":["1"]}]}`, ImportRejected, nil},
		"index before number": {`{"imported":1,"updated":0,"errors":[{"loc":["body",0],"index":1}]}`, ImportRejected, nil},
		"no place":            {`{"imported":1,"updated":0,"errors":[{"loc":["body","email"],"msg":"no","type":"t"}]}`, ImportUnknown, ErrOutcomeUnknown},
		"no location":         {`{"imported":1,"updated":0,"errors":[{"msg":"no"}]}`, ImportUnknown, ErrInvalidResponse},
		"odd error":           {`{"imported":1,"updated":0,"errors":[{"index":1,"msg":{},"type":7,"loc":5.5,"email":[]}]}`, ImportRejected, nil},
		"not all":             {`{"imported":1,"updated":0,"errors":[]}`, ImportUnknown, ErrOutcomeUnknown},
		"empty list":          {`{"imported":[],"updated":[],"errors":[]}`, ImportUnknown, ErrOutcomeUnknown},
		"empty object":        {`{"imported":{}}`, ImportUnknown, ErrInvalidResponse},
		"object":              {`{"imported":{"job":7}}`, ImportAccepted, nil},
		"list":                {`{"imported":["a","b"]}`, ImportImported, nil},
		"shorter list":        {`{"imported":["a"]}`, ImportUnknown, ErrInvalidResponse},
		"empty text":          {`{"imported":""}`, ImportUnknown, ErrInvalidResponse},
		"false as text":       {`{"imported":"false"}`, ImportUnknown, ErrInvalidResponse},
		"true as text":        {`{"imported":"true"}`, ImportAccepted, nil},
		"true, and an error":  {`{"imported":true,"error":"no"}`, ImportUnknown, ErrOutcomeUnknown},
		"two, and details":    {`{"imported":2,"detail":[{"msg":"no"}]}`, ImportUnknown, ErrInvalidResponse},
		"two, and no error":   {`{"imported":2,"error":null,"detail":[]}`, ImportImported, nil},
		"wrong sum":           {`{"imported":9,"updated":0,"errors":[]}`, ImportAccepted, nil},
		"negative":            {`{"imported":3,"updated":-1,"errors":[]}`, ImportAccepted, nil},
		"index out of range":  {`{"imported":1,"updated":0,"errors":[{"index":2}]}`, ImportUnknown, ErrOutcomeUnknown},
		"negative index":      {`{"imported":1,"updated":0,"errors":[{"index":-1}]}`, ImportUnknown, ErrInvalidResponse},
		"same index twice":    {`{"imported":0,"updated":0,"errors":[{"index":1},{"index":0},{"index":1}]}`, ImportRejected, nil},
		"numbers in location": {`{"imported":0,"updated":0,"errors":[{"index":1,"loc":["body",1]},{"index":0}]}`, ImportRejected, nil},
		"not JSON":            {`<`, ImportUnknown, ErrOutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestClient(t, respondWith(200, "application/json", tc.body))
			report, err := c.Contacts.Import(t.Context(), 1, numbered(2, 0), ImportOptions{})
			if !errors.Is(err, tc.fail) || (err == nil) != (tc.fail == nil) {
				t.Errorf("error %v, want %v", err, tc.fail)
			}
			sum := report.Imported + report.Updated + report.Accepted + report.Rejected + report.Failed + report.Unknown
			if got := report.Status(1); got != tc.want || sum != 2 {
				t.Errorf("Status = %v, want %v; counts %+v", got, tc.want, report.ImportCounts)
			}
		})
	}
}

func TestImportSources(t *testing.T) {
	contacts := []ImportContact{{Email: "a@x"}, {Email: "b@x"}, {Email: "c@x"}}
	for name, source := range map[string]iter.Seq2[ImportContact, error]{
		"slice":     ContactsFromSlice(contacts),
		"addresses": ContactsFromAddresses(slices.Values([]string{"a@x", "b@x", "c@x"})),
	} {
		for _, stop := range []int{1, 3} {
			var got []string
			for c, err := range source {
				fatal(t, err)
				if got = append(got, c.Email); len(got) == stop {
					break
				}
			}
			if !slices.Equal(got, []string{"a@x", "b@x", "c@x"}[:stop]) {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
	for s := ImportNotSent; s <= ImportFiltered; s++ {
		if strings.HasPrefix(s.String(), "ImportStatus") {
			t.Errorf("status %d has no name", int(s))
		}
	}
	if got := (ImportFiltered + 1).String(); got != "ImportStatus(9)" {
		t.Errorf("got %s", got)
	}
}

func TestImportSkipBeyondSource(t *testing.T) {
	srv := &importServer{list: map[string]int{}}
	c := newTestClient(t, srv.ServeHTTP)
	if report, err := c.Contacts.Import(t.Context(), 1, numbered(5, 0), ImportOptions{Skip: 5}); err != nil || !report.Complete {
		t.Errorf("nothing left: %v, %+v", err, report)
	}
	if report, err := c.Contacts.Import(t.Context(), 1, numbered(5, 0), ImportOptions{Skip: 6}); err == nil || report.Complete || report.Read != 5 {
		t.Errorf("another source: %v, %+v", err, report)
	}
	if srv.requests != 0 {
		t.Errorf("%d requests", srv.requests)
	}
}

func TestImportStops(t *testing.T) {
	stop := errors.New("enough")
	for name, opts := range map[string]ImportOptions{
		"by default":    {},
		"by callback":   {OnBatchError: func(ImportFailure) error { return stop }},
		"by checkpoint": {OnCheckpoint: func(int64) error { return stop }},
	} {
		t.Run(name, func(t *testing.T) {
			srv := &importServer{list: map[string]int{}, before: func(n int) int { return map[int]int{2: 403}[n] }}
			c := newTestClient(t, srv.ServeHTTP)
			read := 0
			opts.BatchSize = 10
			report, err := c.Contacts.Import(t.Context(), 1, func(yield func(ImportContact, error) bool) {
				for c, err := range numbered(1000, 0) {
					read++
					if !yield(c, err) {
						return
					}
				}
			}, opts)
			if err == nil || report.Complete || srv.requests > 2 || read > 40 {
				t.Errorf("error %v after %d requests and %d contacts, want it to stop", err, srv.requests, read)
			}
			if opts.OnBatchError != nil && !errors.Is(err, stop) || opts.OnCheckpoint != nil && !errors.Is(err, stop) {
				t.Errorf("error %v, want the callback's", err)
			}
			if report.Confirmed != 10 {
				t.Errorf("confirmed %d, want 10", report.Confirmed)
			}
		})
	}
}

func TestImportInvalidOptions(t *testing.T) {
	c := newTestClient(t, func(http.ResponseWriter, *http.Request) { t.Error("sent something") })
	for _, opts := range []ImportOptions{{BatchSize: 1001}, {BatchSize: -1}, {Concurrency: -1}, {Concurrency: maxConcurrency + 1}, {Concurrency: math.MaxInt}, {Skip: -1}} {
		report, err := c.Contacts.Import(t.Context(), 1, numbered(3, 0), opts)
		if !errors.Is(err, ErrValidation) || report == nil {
			t.Errorf("%+v: report %v, error %v", opts, report, err)
		}
	}
}

func TestImportValidOptions(t *testing.T) {
	for _, opts := range []ImportOptions{{BatchSize: 1}, {BatchSize: 1000}, {Concurrency: 1}, {Concurrency: maxConcurrency}} {
		srv := &importServer{list: map[string]int{}}
		report, err := newTestClient(t, srv.ServeHTTP).Contacts.Import(t.Context(), 1, numbered(3, 0), opts)
		if err != nil || report.Imported != 3 {
			t.Errorf("%+v: report %v, error %v", opts, report, err)
		}
	}
}

func TestImportCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var sent atomic.Int64
		c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			if sent.Add(1) == 3 {
				cancel()
			}
			if sent.Load() >= 3 {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return respond(200, `{"imported":10,"updated":0,"errors":[]}`), nil
		})
		report, err := c.Contacts.Import(ctx, 1, numbered(1000, 0), ImportOptions{BatchSize: 10})
		if !errors.Is(err, context.Canceled) || !errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("error %v", err)
		}
		if report.Confirmed != 20 || report.Imported != 20 || report.Unknown != 10 || report.Status(29) != ImportUnknown || report.Status(30) != ImportNotSent {
			t.Errorf("report %+v", report)
		}
	})
}

// TestImportResumes stops an import at each of 25 batches, and resumes it from its last checkpoint.
func TestImportResumes(t *testing.T) {
	t.Parallel()
	const n, batch = 250, 10
	for _, concurrency := range []int{1, 4} {
		for _, when := range []string{"canceled before", "canceled during", "connection lost", "canceled after"} {
			t.Run(fmt.Sprintf("%s, %d at a time", when, concurrency), func(t *testing.T) {
				for at := 1; at <= n/batch; at++ {
					killAndResume(t, n, batch, concurrency, at, when)
				}
			})
		}
	}
}

func killAndResume(t *testing.T, n, batch, concurrency, at int, when string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	srv := &importServer{list: map[string]int{}}
	var resumed atomic.Bool
	switch when {
	case "canceled before":
		srv.before = func(n int) int {
			if n == at && !resumed.Load() {
				cancel()
				return 503
			}
			return 0
		}
	case "canceled during", "connection lost":
		srv.after = func(n int) bool {
			if n != at || resumed.Load() {
				return false
			}
			if when == "canceled during" {
				cancel()
			}
			return true
		}
	}
	c := newTestClient(t, srv.ServeHTTP, withoutRetries)
	opts := ImportOptions{BatchSize: batch, Concurrency: concurrency}
	checkpoint := int64(0)
	finished := 0
	opts.OnCheckpoint = func(n int64) error { checkpoint = n; return nil }
	opts.OnProgress = func(ImportProgress) {
		if finished++; finished == at && when == "canceled after" {
			cancel()
		}
	}
	first, err := c.Contacts.Import(ctx, 1, numbered(n, 7), opts)
	if err == nil && (when != "canceled after" || !first.Complete) {
		t.Fatalf("batch %d: the import did not fail", at)
	}
	if checkpoint != first.Confirmed {
		t.Fatalf("batch %d: checkpoint %d, confirmed %d", at, checkpoint, first.Confirmed)
	}
	resumed.Store(true)
	opts.OnProgress, opts.OnCheckpoint = nil, nil
	opts.Skip = checkpoint
	second, err := c.Contacts.Import(t.Context(), 1, numbered(n, 7), opts)
	if err != nil || second.Confirmed != int64(n) {
		t.Fatalf("batch %d: the resumed import: %v, %+v", at, err, second)
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	for i := range n {
		bad := i%7 == 6
		if on := srv.list[fmt.Sprintf("c%d@example.com", i)] > 0; on == bad {
			t.Fatalf("batch %d: contact %d on the list: %v", at, i, on)
		}
		status := second.Status(int64(i))
		if int64(i) < checkpoint { // reported by the first import only
			if status != ImportSkipped || !first.Status(int64(i)).confirmed() {
				t.Fatalf("batch %d: contact %d is %v, then %v", at, i, first.Status(int64(i)), status)
			}
		} else if (status == ImportRejected) != bad || !status.confirmed() || status == ImportSkipped {
			t.Fatalf("batch %d: contact %d is %v", at, i, status)
		}
	}
}

func TestImportErrorText(t *testing.T) {
	stop, full := errors.New("stop here"), errors.New("disk full")
	failing := func(fails ...int) func(int) int {
		return func(n int) int {
			if slices.Contains(fails, n) {
				return 422
			}
			return 0
		}
	}
	one := "contacts 2 to 3: importContacts: POST /lists/1/contacts/import: 422 Unprocessable Entity"
	for name, tc := range map[string]struct {
		before  func(int) int
		opts    ImportOptions
		want    string // without the text after the first status
		batches int
	}{
		"one fails":     {failing(2), ImportOptions{}, "import: " + one, 2},
		"one of three":  {failing(2), ImportOptions{OnBatchError: ContinueOnError}, "import: " + one, 3},
		"two of three":  {failing(2, 3), ImportOptions{OnBatchError: ContinueOnError}, "import: 2 of 3 batches failed; first error: " + one, 3},
		"two of two":    {failing(1, 2), ImportOptions{OnBatchError: ContinueOnError, Filter: func(c ImportContact) bool { return c.Line < 6 }}, "import: 2 of 2 batches failed; first error: " + strings.Replace(one, "2 to 3", "0 to 1", 1), 2},
		"stopped":       {failing(2), ImportOptions{OnBatchError: func(ImportFailure) error { return stop }}, "import: " + one + "; stop here", 2},
		"no checkpoint": {failing(), ImportOptions{OnCheckpoint: func(int64) error { return full }}, "import: checkpoint: disk full", 1},
		"too many":      {failing(), ImportOptions{Skip: 7}, "import: source, after 6 contacts: must contain at least the 7 contacts to skip", 0},
	} {
		t.Run(name, func(t *testing.T) {
			srv := &importServer{list: map[string]int{}, before: tc.before}
			c := newTestClient(t, srv.ServeHTTP)
			tc.opts.BatchSize = 2
			_, err := c.Contacts.Import(t.Context(), 1, numbered(6, 0), tc.opts)
			text := fmt.Sprint(err)
			if before, after, ok := strings.Cut(text, "422 Unprocessable Entity"); ok {
				_, more, _ := strings.Cut(after, ";")
				text = before + "422 Unprocessable Entity"
				if more != "" {
					text += ";" + more
				}
			}
			if text != tc.want || srv.requests != tc.batches {
				t.Errorf("got  %s\nwant %s\nafter %d requests, want %d", text, tc.want, srv.requests, tc.batches)
			}
		})
	}
}

func TestImportEndsAtSourceError(t *testing.T) {
	broken := errors.New("unreadable")
	for _, skip := range []int64{0, 5} {
		srv := &importServer{list: map[string]int{}}
		c := newTestClient(t, srv.ServeHTTP)
		report, err := c.Contacts.Import(t.Context(), 1, func(yield func(ImportContact, error) bool) {
			_ = yield(ImportContact{Email: "a@x"}, nil) && yield(ImportContact{}, broken) && yield(ImportContact{Email: "b@x"}, nil)
		}, ImportOptions{Skip: skip})
		if !errors.Is(err, broken) || strings.Contains(err.Error(), "skip") || report.Read != 1 || report.Complete || srv.list["b@x"] != 0 || (srv.list["a@x"] == 1) != (skip == 0) {
			t.Errorf("skipping %d: %v, %+v", skip, err, report)
		}
	}
}

func TestImportWithCanceledContext(t *testing.T) {
	srv := &importServer{list: map[string]int{}}
	c := newTestClient(t, srv.ServeHTTP)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // a free slot and the end of the context are a choice by chance
		report, err := c.Contacts.Import(ctx, 1, numbered(3, 0), ImportOptions{})
		if !errors.Is(err, context.Canceled) || report.Failed+report.Unknown != 0 || report.Status(0) != ImportNotSent || report.Complete {
			t.Fatalf("%v, %+v", err, report)
		}
	}
	if srv.requests != 0 {
		t.Errorf("%d requests", srv.requests)
	}
}

// TestImportProgressCountsBatches: a batch whose contacts are all filtered is not counted, and its places are
// confirmed.
func TestImportProgressCountsBatches(t *testing.T) {
	srv := &importServer{list: map[string]int{}}
	c := newTestClient(t, srv.ServeHTTP)
	var got []string
	opts := ImportOptions{
		BatchSize: 2, Filter: func(c ImportContact) bool { return c.Line < 6 },
		OnProgress: func(p ImportProgress) { got = append(got, fmt.Sprintf("%d:%d", p.Batches, p.Confirmed)) },
	}
	report, err := c.Contacts.Import(t.Context(), 1, numbered(9, 0), opts)
	if err != nil || report.Filtered != 5 || report.Confirmed != 9 || fmt.Sprint(got) != "[1:2 2:4]" {
		t.Errorf("%v, %+v, progress %v", err, report, got)
	}
	for i, want := range []ImportStatus{ImportImported, ImportImported, ImportImported, ImportImported, ImportFiltered, ImportFiltered, ImportFiltered, ImportFiltered, ImportFiltered, ImportNotSent} {
		if s := report.Status(int64(i)); s != want {
			t.Errorf("contact %d is %v, want %v", i, s, want)
		}
	}
}

// TestImportReportOutOfOrder: a batch that completes before an earlier one confirms nothing until the earlier one
// completes.
func TestImportReportOutOfOrder(t *testing.T) {
	r := newImportReport(2)
	state := func() string {
		text := ""
		for i := range int64(13) {
			text += string(r.Status(i).String()[0])
		}
		return fmt.Sprintf("%s %d", text, r.Confirmed)
	}
	for _, step := range []struct {
		add  span
		want string
	}{
		{span{7, 9, ImportImported}, "ssnnnnniinnnn 2"},
		{span{11, 12, ImportUpdated}, "ssnnnnniinnun 2"},
		{span{9, 11, ImportFailed}, "ssnnnnniiffun 2"},
		{span{2, 5, ImportImported}, "ssiiinniiffun 5"},
		{span{5, 7, ImportImported}, "ssiiiiiiiffun 9"},
	} {
		r.add([]span{step.add})
		if got := state(); got != step.want {
			t.Errorf("after %v: %s, want %s", step.add, got, step.want)
		}
	}
	if len(r.spans) != 4 {
		t.Errorf("%d spans, want skipped, imported, failed and updated: %v", len(r.spans), r.spans)
	}
	broken := errors.New("unreadable")
	var left []string
	for c, err := range r.Remaining(func(yield func(ImportContact, error) bool) {
		_ = yield(ImportContact{}, broken)
		for c, err := range numbered(13, 0) {
			if !yield(c, err) {
				return
			}
		}
		yield(ImportContact{}, broken)
	}) {
		left = append(left, fmt.Sprint(c.Email, err))
	}
	if got, want := strings.Join(left, " "), "unreadable c9@example.com<nil> c10@example.com<nil> c12@example.com<nil> unreadable"; got != want {
		t.Errorf("left %s, want %s", got, want)
	}
	if a, b, c := ImportStatus(-1).String(), ImportFiltered.String(), (ImportFiltered + 1).String(); a != "ImportStatus(-1)" || b != "filtered" || c != "ImportStatus(9)" {
		t.Errorf("statuses print as %s, %s, %s", a, b, c)
	}
}
