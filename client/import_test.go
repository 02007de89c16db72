package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// importServer accepts imports. It rejects addresses without an @.
type importServer struct {
	mu       sync.Mutex
	list     map[string]int // number of times that each address was accepted
	requests int
	batches  []int
	before   func(request int) (status int) // 0 processes the request
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

// run imports contacts with a new client.
func (s *importServer) run(t *testing.T, contacts iter.Seq2[ImportContact, error], opts ImportOptions) (*ImportReport, error) {
	t.Helper()
	return newTestClient(t, s.ServeHTTP).Contacts.Import(t.Context(), 1, contacts, opts)
}

func (s *importServer) take(in ImportBatch) ImportResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := ImportResult{Errors: []RejectedEntry{}}
	if s.list == nil {
		s.list = map[string]int{}
	}
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
			srv := &importServer{}
			var progress []ImportProgress
			var checkpoints []int64
			report, err := srv.run(t, numbered(tc.n, tc.bad), ImportOptions{
				Concurrency: tc.concurrency, BatchSize: tc.batch,
				OnProgress:   func(p ImportProgress) { progress = append(progress, p) },
				OnCheckpoint: func(n int64) error { checkpoints = append(checkpoints, n); return nil },
			})
			require.NoError(t, err)
			rejected := 0
			if tc.bad > 0 {
				rejected = tc.n / tc.bad
			}
			assert.Equal(t, tc.requests, srv.requests)
			assert.Len(t, progress, tc.requests)
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
				require.Equal(t, want, report.Status(int64(i)), "Status(%d)", i)
			}
			if tc.n > 0 && tc.bad == 0 && len(report.spans) != 1 {
				t.Errorf("%d spans of one status", len(report.spans))
			}
			for _, r := range report.Rejections {
				assert.Equal(t, fmt.Sprintf("bad%d", r.Index), r.Contact.Email, "%+v", r)
				assert.Equal(t, int(r.Index)+2, r.Contact.Line, "%+v", r)
				assert.Equal(t, "value_error", r.Detail.Type, "%+v", r)
			}
			assert.Equal(t, ImportNotSent, report.Status(int64(tc.n)), "Status after the end")
		})
	}
}

func TestImportStatuses(t *testing.T) {
	srv := &importServer{list: map[string]int{"c0@example.com": 1, "c3@example.com": 1, "c4@example.com": 1, "c5@example.com": 1}}
	srv.before = func(n int) int { return map[int]int{3: 422, 4: 500, 5: 500, 6: 500}[n] }
	var failures []ImportFailure
	report, err := srv.run(t, numbered(15, 0), ImportOptions{
		BatchSize: 3, OnBatchError: func(f ImportFailure) error { failures = append(failures, f); return nil },
	})
	var e *Error
	assert.ErrorIs(t, err, ErrValidation)
	require.ErrorAs(t, err, &e)
	assert.NotContains(t, err.Error(), "\n")
	// The first batch contains new and existing contacts, and the second contains only existing contacts. The
	// third is rejected with 422, the fourth fails three times with 500, and the fifth is imported.
	want := []ImportStatus{4, 4, 4, 3, 3, 3, 6, 6, 6, 7, 7, 7, 2, 2, 2, 0}
	for i, w := range want {
		assert.Equal(t, w, report.Status(int64(i)), "Status(%d)", i)
	}
	if want := (ImportCounts{Imported: 5, Updated: 4, Failed: 3, Unknown: 3}); report.ImportCounts != want {
		t.Errorf("counts %+v, want %+v", report.ImportCounts, want)
	}
	assert.EqualValues(t, 6, report.Confirmed)
	require.Len(t, failures, 2)
	assert.EqualValues(t, 9, failures[1].From)
	assert.ErrorIs(t, failures[1].Err, ErrOutcomeUnknown)
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
				require.NoError(t, err)
				if got = append(got, c.Email); len(got) == stop {
					break
				}
			}
			assert.Equal(t, []string{"a@x", "b@x", "c@x"}[:stop], got, name)
		}
	}
	for s := ImportNotSent; s <= ImportFiltered; s++ {
		if strings.HasPrefix(s.String(), "ImportStatus") {
			t.Errorf("status %d has no name", int(s))
		}
	}
	a, b := ImportStatus(-1).String(), (ImportFiltered + 1).String()
	assert.Equal(t, "ImportStatus(-1)", a)
	assert.Equal(t, "ImportStatus(9)", b)
}

func TestImportOptions(t *testing.T) {
	for _, tc := range []struct {
		opts  ImportOptions
		valid bool
	}{
		{ImportOptions{BatchSize: 1}, true},
		{ImportOptions{BatchSize: 1000}, true},
		{ImportOptions{BatchSize: 1001}, false},
		{ImportOptions{BatchSize: -1}, false},
		{ImportOptions{Concurrency: 1}, true},
		{ImportOptions{Concurrency: maxConcurrency}, true},
		{ImportOptions{Concurrency: maxConcurrency + 1}, false},
		{ImportOptions{Concurrency: math.MaxInt}, false},
		{ImportOptions{Concurrency: -1}, false},
		{ImportOptions{Skip: -1}, false},
	} {
		srv := &importServer{}
		report, err := srv.run(t, numbered(3, 0), tc.opts)
		if report == nil || tc.valid && (err != nil || report.Imported != 3) || !tc.valid && (!errors.Is(err, ErrValidation) || srv.requests != 0) {
			t.Errorf("%+v: report %v, error %v", tc.opts, report, err)
		}
	}
}

func TestImportCanceled(t *testing.T) {
	srv := &importServer{}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	report, err := newTestClient(t, srv.ServeHTTP).Contacts.Import(ended, 1, numbered(3, 0), ImportOptions{})
	if !errors.Is(err, context.Canceled) || report.Failed+report.Unknown != 0 || report.Status(0) != ImportNotSent || report.Complete || srv.requests != 0 {
		t.Errorf("before the import: %v, %+v", err, report)
	}
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
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, ErrOutcomeUnknown)
		if report.Confirmed != 20 || report.Imported != 20 || report.Unknown != 10 || report.Status(29) != ImportUnknown || report.Status(30) != ImportNotSent {
			t.Errorf("report %+v", report)
		}
	})
}

// TestImportResumes stops an import at each of 25 batches, and resumes it from its last checkpoint.
func TestImportResumes(t *testing.T) {
	t.Parallel()
	const batches = 25
	for _, concurrency := range []int{1, 4} {
		for _, when := range []string{"canceled before", "canceled during", "connection lost", "canceled after"} {
			t.Run(fmt.Sprintf("%s, %d at a time", when, concurrency), func(t *testing.T) {
				for _, at := range []int{1, 2, batches / 2, batches - 1, batches} {
					stopAndResume(t, ImportOptions{BatchSize: 10, Concurrency: concurrency}, 10*batches, at, when)
				}
			})
		}
	}
}

// stopAndResume imports n contacts. The first import stops at the batch with the given number.
func stopAndResume(t *testing.T, opts ImportOptions, n, at int, when string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	srv := &importServer{}
	srv.before = func(n int) int {
		if n == at && when == "canceled before" {
			cancel()
			return 503
		}
		return 0
	}
	srv.after = func(n int) bool {
		if n == at && when == "canceled during" {
			cancel()
		}
		return n == at && (when == "canceled during" || when == "connection lost")
	}
	checkpoint, finished := int64(0), 0
	observed := opts
	observed.OnCheckpoint = func(n int64) error { checkpoint = n; return nil }
	observed.OnProgress = func(ImportProgress) {
		if finished++; finished == at && when == "canceled after" {
			cancel()
		}
	}
	c := newTestClient(t, srv.ServeHTTP, withoutRetries)
	first, err := c.Contacts.Import(ctx, 1, numbered(n, 7), observed)
	if err == nil && (when != "canceled after" || !first.Complete) || checkpoint != first.Confirmed {
		t.Fatalf("batch %d: %v, checkpoint %d, confirmed %d", at, err, checkpoint, first.Confirmed)
	}
	opts.Skip = checkpoint
	second, err := c.Contacts.Import(t.Context(), 1, numbered(n, 7), opts)
	require.NoError(t, err, "batch %d", at)
	require.Equal(t, int64(n), second.Confirmed, "batch %d", at)
	srv.mu.Lock()
	defer srv.mu.Unlock()
	for i := range int64(n) {
		report := first // of the contacts before the checkpoint
		if i >= checkpoint {
			report = second
		}
		status := report.Status(i)
		want := i%7 != 6 // the address is valid
		on := srv.list[fmt.Sprintf("c%d@example.com", i)] > 0
		require.Equal(t, want, on, "%+v", i)
		require.True(t, status.confirmed(), "%+v", i)
		require.Equal(t, want, status != ImportRejected, "%+v", i)
		require.Equal(t, i < checkpoint, second.Status(i) == ImportSkipped, "%+v", i)
	}
}

// TestImportErrors: an import of 20 contacts in batches of 2 stops at the first error, unless OnBatchError continues.
func TestImportErrors(t *testing.T) {
	stop, full := errors.New("stop here"), errors.New("disk full")
	const one = "contacts 2 to 3: importContacts: POST /lists/1/contacts/import: 422 Unprocessable Entity"
	first := strings.Replace(one, "2 to 3", "0 to 1", 1)
	for name, tc := range map[string]struct {
		fail     []int // numbers of the requests that get a 422
		opts     ImportOptions
		want     string
		requests int
	}{
		"one fails":     {[]int{2}, ImportOptions{}, "import: " + one, 2},
		"one of ten":    {[]int{2}, ImportOptions{OnBatchError: ContinueOnError}, "import: " + one, 10},
		"two of ten":    {[]int{2, 3}, ImportOptions{OnBatchError: ContinueOnError}, "import: 2 of 10 batches failed; first error: " + one, 10},
		"two of two":    {[]int{1, 2}, ImportOptions{OnBatchError: ContinueOnError, Filter: func(c ImportContact) bool { return c.Line < 6 }}, "import: 2 of 2 batches failed; first error: " + first, 2},
		"stopped":       {[]int{2}, ImportOptions{OnBatchError: func(ImportFailure) error { return stop }}, "import: " + one + "; stop here", 2},
		"no checkpoint": {nil, ImportOptions{OnCheckpoint: func(int64) error { return full }}, "import: checkpoint: disk full", 1},
		"too many":      {nil, ImportOptions{Skip: 21}, "import: source failed after 20 contacts: must contain at least 21 contacts, because Skip is 21", 0},
		"nothing left":  {nil, ImportOptions{Skip: 20}, "<nil>", 0},
	} {
		t.Run(name, func(t *testing.T) {
			srv := &importServer{before: func(n int) int {
				if slices.Contains(tc.fail, n) {
					return 422
				}
				return 0
			}}
			tc.opts.BatchSize = 2
			report, err := srv.run(t, numbered(20, 0), tc.opts)
			got := fmt.Sprint(err)
			assert.Equal(t, tc.want, got)
			assert.Equal(t, tc.requests, srv.requests)
			stopped := name == "one fails" || name == "stopped" || name == "no checkpoint"
			if stopped && (report.Complete || report.Read > 8 || report.Confirmed != 2) {
				t.Errorf("read %d contacts, confirmed %d, complete: %v", report.Read, report.Confirmed, report.Complete)
			}
		})
	}
}

func TestImportEndsAtSourceError(t *testing.T) {
	broken := errors.New("unreadable")
	for _, skip := range []int64{0, 5} {
		srv := &importServer{}
		report, err := srv.run(t, func(yield func(ImportContact, error) bool) {
			_ = yield(ImportContact{Email: "a@x"}, nil) && yield(ImportContact{}, broken) && yield(ImportContact{Email: "b@x"}, nil)
		}, ImportOptions{Skip: skip})
		if !errors.Is(err, broken) || strings.Contains(err.Error(), "skip") || report.Read != 1 || report.Complete || srv.list["b@x"] != 0 || (srv.list["a@x"] == 1) != (skip == 0) {
			t.Errorf("skipping %d: %v, %+v", skip, err, report)
		}
	}
}

// TestImportReportOutOfOrder: if a batch completes before an earlier batch, its contacts are confirmed only when
// the earlier batch completes.
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
		assert.Equal(t, step.want, state(), "after %v", step.add)
	}
	assert.Len(t, r.spans, 4, "spans: skipped, imported, failed and updated")
	broken := errors.New("unreadable")
	var left []string
	for c, err := range r.Remaining(func(yield func(ImportContact, error) bool) {
		for c, err := range numbered(13, 0) {
			if !yield(c, err) || c.Line == 2 && !yield(ImportContact{}, broken) { // after the first contact
				return
			}
		}
		yield(ImportContact{}, broken)
	}) {
		left = append(left, fmt.Sprint(c.Email, err))
	}
	assert.Equal(t, "unreadable c9@example.com<nil> c10@example.com<nil> c12@example.com<nil> unreadable", strings.Join(left, " "), "left")
}

// TestImportFilter: the filter excludes contacts and does not change the indexes of other contacts.
func TestImportFilter(t *testing.T) {
	srv := &importServer{before: func(n int) int { return map[int]int{2: 400}[n] }}
	var failures []ImportFailure
	var checkpoints []int64
	opts := ImportOptions{
		Skip: 2, BatchSize: 3,
		Filter:       func(c ImportContact) bool { return (c.Line-2)%3 != 0 && c.Line-2 < 20 }, // excludes 3, 6, … and 20 to 24
		OnBatchError: func(f ImportFailure) error { failures = append(failures, f); return nil },
		OnCheckpoint: func(n int64) error { checkpoints = append(checkpoints, n); return nil },
	}
	report, err := srv.run(t, numbered(25, 8), opts)
	require.ErrorIs(t, err, ErrValidation)
	require.True(t, report.Complete)
	require.EqualValues(t, 25, report.Read)
	// The batches contain the contacts 2 4 5, 7 8 10, 11 13 14, and 16 17 19. The second batch is rejected with
	// 400, and contact 7 is invalid.
	var got []ImportStatus
	for i := range int64(26) {
		got = append(got, report.Status(i))
	}
	const n, s, i, r, f, l = ImportNotSent, ImportSkipped, ImportImported, ImportRejected, ImportFailed, ImportFiltered
	assert.Equal(t, []ImportStatus{s, s, i, l, i, i, l, f, f, l, f, i, l, i, i, l, i, i, l, i, l, l, l, l, l, n}, got)
	if want := (ImportCounts{Imported: 9, Failed: 3, Filtered: 11}); report.ImportCounts != want {
		t.Errorf("counts %+v, want %+v", report.ImportCounts, want)
	}
	if report.Confirmed != 7 || !slices.Equal(checkpoints, []int64{6, 7}) || len(failures) != 1 || failures[0].From != 6 || failures[0].To != 11 {
		t.Errorf("confirmed %d, checkpoints %v, failures %v", report.Confirmed, checkpoints, failures)
	}
	opts.Skip, opts.OnCheckpoint = report.Confirmed, nil
	second, err := srv.run(t, numbered(25, 8), opts)
	require.NoError(t, err, "resumed")
	assert.Equal(t, r, second.Status(7), "resumed")
	assert.Equal(t, "bad7", second.Rejections[0].Contact.Email, "resumed")
	assert.EqualValues(t, 25, second.Confirmed, "resumed")
	for i := range 25 {
		wanted := i >= 2 && i < 20 && i%3 != 0 && i%8 != 7
		assert.Equal(t, wanted, srv.list[fmt.Sprintf("c%d@example.com", i)] > 0, "contact %d on the list", i)
	}
}

// TestImportFilterAll: if all contacts are filtered, no request is sent, and there is a checkpoint at the end.
func TestImportFilterAll(t *testing.T) {
	c := newTestClient(t, func(http.ResponseWriter, *http.Request) { t.Error("sent something") })
	var at int64
	report, err := c.Contacts.Import(t.Context(), 1, numbered(5000, 0), ImportOptions{
		Filter:       func(ImportContact) bool { return false },
		OnCheckpoint: func(n int64) error { at = n; return nil },
		OnProgress:   func(ImportProgress) { t.Error("progress") },
	})
	if err != nil || !report.Complete || report.Filtered != 5000 || report.Confirmed != 5000 || at != 5000 {
		t.Errorf("%v, %+v, checkpoint %d", err, report, at)
	}
}

// TestImportCheckpointDistance: while the first batch is slow, at most the documented number of batches completes
// after the checkpoint. A batch that contains an address of the first batch waits until the first batch is
// complete.
func TestImportCheckpointDistance(t *testing.T) {
	for _, tc := range []struct {
		concurrency int
		third       string // first address of the third batch
		want        int64
	}{
		{1, "c20@example.com", 0}, {2, "c20@example.com", 1}, {5, "c20@example.com", 4}, {5, "C0@EXAMPLE.com", 1},
	} {
		t.Run(fmt.Sprintf("%d, %s", tc.concurrency, tc.third), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var done atomic.Int64
				slow := make(chan struct{})
				c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
					if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte("c0@")) {
						<-slow
					}
					return respond(200, `{"imported":10,"updated":0,"errors":[]}`), nil
				})
				var contacts []ImportContact
				for contact, err := range numbered(1000, 0) {
					require.NoError(t, err)
					contacts = append(contacts, contact)
				}
				contacts[20].Email = tc.third
				var wg sync.WaitGroup
				wg.Go(func() {
					report, err := c.Contacts.Import(t.Context(), 1, ContactsFromSlice(contacts), ImportOptions{
						BatchSize: 10, Concurrency: tc.concurrency, OnProgress: func(ImportProgress) { done.Add(1) },
					})
					require.NoError(t, err)
					assert.EqualValues(t, 1000, report.Imported)
				})
				synctest.Wait()
				assert.Equal(t, tc.want, done.Load(), "batches completed after the checkpoint")
				close(slow)
				wg.Wait()
			})
		})
	}
}

// sized yields n contacts with attributes of the given size.
func sized(n, size int) iter.Seq2[ImportContact, error] {
	return func(yield func(ImportContact, error) bool) {
		for c, err := range numbered(n, 0) {
			if c.CustomAttributes = (Attributes{{Name: "note", Value: strings.Repeat("n", size)}}); !yield(c, err) {
				return
			}
		}
	}
}

// TestImportTooLarge: Import divides batches that the platform rejects as too large, and makes later batches smaller. A
// single contact that is too large fails alone.
func TestImportTooLarge(t *testing.T) {
	for name, tc := range map[string]struct {
		limit, large int // of the platform, in bytes; index of the large contact, or -1
		filter       bool
		opts         ImportOptions
		want         ImportCounts
		complete     bool
		tooLarge     int // rejected requests
	}{
		"no limit":       {1 << 30, -1, false, ImportOptions{}, ImportCounts{Imported: 100}, true, 0},
		"half":           {60_000, -1, false, ImportOptions{}, ImportCounts{Imported: 100}, true, 1},
		"filtered":       {30_000, -1, true, ImportOptions{}, ImportCounts{Imported: 50, Filtered: 50}, true, 1},
		"one contact":    {60_000, 30, false, ImportOptions{OnBatchError: ContinueOnError}, ImportCounts{Imported: 99, Failed: 1}, true, 8},
		"stops":          {60_000, 0, false, ImportOptions{}, ImportCounts{Failed: 1}, false, 7},
		"several fail":   {1, -1, false, ImportOptions{BatchSize: 4, OnBatchError: ContinueOnError}, ImportCounts{Failed: 100}, true, -1},
		"at once, small": {1500, -1, false, ImportOptions{Concurrency: 4, BatchSize: 10, Resubscribe: true}, ImportCounts{Imported: 100}, true, -1},
	} {
		t.Run(name, func(t *testing.T) {
			tooLarge := 0
			srv := &importServer{}
			c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if r.Body = io.NopCloser(bytes.NewReader(body)); len(body) > tc.limit {
					srv.mu.Lock()
					tooLarge++
					srv.mu.Unlock()
					w.WriteHeader(http.StatusRequestEntityTooLarge)
					return
				}
				srv.ServeHTTP(w, r)
			})
			source := func(yield func(ImportContact, error) bool) {
				i := 0
				for c, err := range sized(100, 1000) {
					if i == tc.large {
						c.CustomAttributes[0].Value = strings.Repeat("n", 70_000)
					}
					if i++; !yield(c, err) {
						return
					}
				}
			}
			if tc.filter {
				tc.opts.Filter = func(c ImportContact) bool { return c.Line%2 == 0 }
			}
			report, err := c.Contacts.Import(t.Context(), 1, source, tc.opts)
			failed := report.Failed > 0
			assert.Equal(t, errors.Is(err, ErrTooLarge), failed)
			assert.NotErrorIs(t, err, ErrOutcomeUnknown)
			assert.Equal(t, tc.want, report.ImportCounts)
			assert.Equal(t, tc.complete, report.Complete)
			if tc.tooLarge >= 0 {
				assert.Equal(t, tc.tooLarge, tooLarge)
			}
			for i := range int64(100) {
				status := report.Status(i)
				on := srv.list[fmt.Sprintf("c%d@example.com", i)] == 1
				assert.Equal(t, on, status == ImportImported, "contact %d is %v", i, status)
				assert.Equal(t, tc.complete || i == 0, status != ImportNotSent, "contact %d is %v", i, status)
			}
		})
	}
}

// TestImportMemory: while the platform does not respond, an import reads only the documented amount. No batch of
// several contacts is larger than 4 MiB.
func TestImportMemory(t *testing.T) {
	for size, want := range map[int]int{1_000_000: 21, 5 << 20: 5, 10 << 20: 3} {
		contacts := want + 3
		synctest.Test(t, func(t *testing.T) {
			respondNow := make(chan struct{})
			c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
				body, _ := io.ReadAll(r.Body)
				assert.LessOrEqual(t, len(body), max(maxBatchBytes, size+1000))
				<-respondNow
				return respond(200, fmt.Sprintf(`{"imported":%d,"updated":0,"errors":[]}`, bytes.Count(body, []byte(`"email"`)))), nil
			})
			read := 0
			var wg sync.WaitGroup
			wg.Go(func() {
				report, err := c.Contacts.Import(t.Context(), 1, func(yield func(ImportContact, error) bool) {
					for contact, err := range sized(contacts, size) {
						if read++; !yield(contact, err) {
							return
						}
					}
				}, ImportOptions{Concurrency: 100})
				assert.NoError(t, err)
				assert.Equal(t, int64(contacts), report.Imported)
			})
			synctest.Wait()
			assert.Equal(t, want, read, "contacts of %d bytes in memory", size)
			close(respondNow)
			wg.Wait()
		})
	}
}

// TestImportArrays: the arrays of a batch need at most the documented size for each contact.
func TestImportArrays(t *testing.T) {
	size := reflect.TypeFor[ImportContact]().Size() + reflect.TypeFor[int64]().Size() + reflect.TypeFor[uint64]().Size() // contacts, places, hashes
	assert.LessOrEqual(t, size, uintptr(128))
}

// TestImportNoRepeat: with NoRepeat, a batch that the platform may have processed is not sent again, but other failed
// batches are sent again.
func TestImportNoRepeat(t *testing.T) {
	for noRepeat, want := range map[bool]ImportCounts{false: {Accepted: 10}, true: {Unknown: 10}} {
		srv := &importServer{
			before: func(n int) int { return map[int]int{1: 429}[n] },
			after:  func(n int) bool { return n == 2 },
		}
		report, err := srv.run(t, numbered(10, 0), ImportOptions{NoRepeat: noRepeat})
		assert.Equal(t, noRepeat, errors.Is(err, ErrOutcomeUnknown), "%v", err)
		assert.Equal(t, want, report.ImportCounts)
		srv.mu.Lock() // an aborted request does not synchronize the server with the client
		assert.Equal(t, map[bool]int{false: 3, true: 2}[noRepeat], srv.requests)
		srv.mu.Unlock()
	}
}
