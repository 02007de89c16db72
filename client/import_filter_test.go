package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestImportFilter: the filter excludes contacts and does not change the places of others.
func TestImportFilter(t *testing.T) {
	srv := &importServer{list: map[string]int{}, before: func(n int) int { return map[int]int{2: 400}[n] }}
	c := newTestClient(t, srv.ServeHTTP)
	var failures []ImportFailure
	var checkpoints []int64
	opts := ImportOptions{
		Skip: 2, BatchSize: 3,
		Filter:       func(c ImportContact) bool { return (c.Line-2)%3 != 0 && c.Line-2 < 20 }, // not 3, 6, …, nor from 20 on
		OnBatchError: func(f ImportFailure) error { failures = append(failures, f); return nil },
		OnCheckpoint: func(n int64) error { checkpoints = append(checkpoints, n); return nil },
	}
	report, err := c.Contacts.Import(t.Context(), 1, numbered(25, 8), opts)
	if !errors.Is(err, ErrValidation) || !report.Complete || report.Read != 25 {
		t.Fatalf("%v, %+v", err, report)
	}
	// The batches hold 2 4 5, 7 8 10, 11 13 14, 16 17 19; the second is refused, 7 is bad.
	var got []ImportStatus
	for i := range int64(26) {
		got = append(got, report.Status(i))
	}
	const n, s, i, r, f, l = ImportNotSent, ImportSkipped, ImportImported, ImportRejected, ImportFailed, ImportFiltered
	if want := []ImportStatus{s, s, i, l, i, i, l, f, f, l, f, i, l, i, i, l, i, i, l, i, l, l, l, l, l, n}; !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if want := (ImportCounts{Imported: 9, Failed: 3, Filtered: 11}); report.ImportCounts != want {
		t.Errorf("counts %+v, want %+v", report.ImportCounts, want)
	}
	if report.Confirmed != 7 || !slices.Equal(checkpoints, []int64{6, 7}) || len(failures) != 1 || failures[0].From != 6 || failures[0].To != 11 {
		t.Errorf("confirmed %d, checkpoints %v, failures %v", report.Confirmed, checkpoints, failures)
	}
	opts.Skip, opts.OnCheckpoint = report.Confirmed, nil
	second, err := c.Contacts.Import(t.Context(), 1, numbered(25, 8), opts)
	if err != nil || second.Status(7) != r || second.Rejections[0].Contact.Email != "bad7" || second.Confirmed != 25 {
		t.Errorf("resumed: %v, %+v", err, second)
	}
	for i := range 25 {
		wanted := i >= 2 && i < 20 && i%3 != 0 && i%8 != 7
		if on := srv.list[fmt.Sprintf("c%d@example.com", i)] > 0; on != wanted {
			t.Errorf("contact %d on the list: %v", i, on)
		}
	}
}

// TestImportRemainingWithFilter: the remaining contacts can be imported without the filter.
func TestImportRemainingWithFilter(t *testing.T) {
	srv := &importServer{list: map[string]int{}, before: func(n int) int { return map[int]int{2: 400}[n] }}
	c := newTestClient(t, srv.ServeHTTP)
	opts := ImportOptions{BatchSize: 10, OnBatchError: ContinueOnError, Filter: func(c ImportContact) bool { return c.Line%2 == 0 }}
	report, err := c.Contacts.Import(t.Context(), 1, numbered(95, 0), opts)
	if err == nil || report.Filtered != 47 || report.Failed != 10 {
		t.Fatalf("%v, %+v", err, report)
	}
	second, err := c.Contacts.Import(t.Context(), 1, report.Remaining(numbered(95, 0)), ImportOptions{})
	if err != nil || second.Read != 10 || second.Imported != 10 || len(srv.list) != 48 {
		t.Errorf("%v, %+v, %d on the list", err, second, len(srv.list))
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

// TestImportCheckpointDistance: while the first batch is slow, at most the documented number of batches completes after
// the checkpoint. A batch with an address from the first batch waits for it.
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
					fatal(t, err)
					contacts = append(contacts, contact)
				}
				contacts[20].Email = tc.third
				var wg sync.WaitGroup
				wg.Go(func() {
					report, err := c.Contacts.Import(t.Context(), 1, ContactsFromSlice(contacts), ImportOptions{
						BatchSize: 10, Concurrency: tc.concurrency, OnProgress: func(ImportProgress) { done.Add(1) },
					})
					if err != nil || report.Imported != 1000 {
						t.Errorf("%v, %+v", err, report)
					}
				})
				synctest.Wait()
				if got := done.Load(); got != tc.want {
					t.Errorf("%d batches completed after the checkpoint, want %d", got, tc.want)
				}
				close(slow)
				wg.Wait()
			})
		})
	}
}
