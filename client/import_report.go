package client

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
)

// ImportStatus is what became of a contact of an import.
type ImportStatus int

// What can become of a contact of an import.
const (
	// ImportNotSent: it was never sent. Give it to the next call.
	ImportNotSent ImportStatus = iota
	// ImportSkipped: ImportOptions.Skip passed it over.
	ImportSkipped
	// ImportImported: it was new to the list.
	ImportImported
	// ImportUpdated: it was on the list already, and was updated.
	ImportUpdated
	// ImportAccepted: the platform took its batch and did not reject it. It
	// does not say whether a contact was imported or updated when a batch has
	// both, and counts one as updated that came to the list by an earlier
	// attempt at the same batch whose answer was lost. Counts that do not add
	// up say nothing at all.
	ImportAccepted
	// ImportRejected: the platform does not take it. Correct it before giving
	// it to a call again.
	ImportRejected
	// ImportFailed: its request failed, and certainly did nothing. Give it to
	// the next call.
	ImportFailed
	// ImportUnknown: its request failed, and it may be on the list or not.
	// Give it to the next call; that creates nothing twice.
	ImportUnknown
)

// String returns for example "imported".
func (s ImportStatus) String() string {
	names := []string{"not sent", "skipped", "imported", "updated", "accepted", "rejected", "failed", "unknown"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("ImportStatus(%d)", int(s))
	}
	return names[s]
}

// confirmed reports whether the platform has answered for the contact.
func (s ImportStatus) confirmed() bool { return ImportSkipped <= s && s <= ImportRejected }

// ImportCounts counts the contacts of the batches that are finished.
type ImportCounts struct {
	Imported int64 // were new to the list
	Updated  int64 // were on the list already
	Accepted int64 // were taken; the answer did not say which of the two
	Rejected int64 // the platform does not take them
	Failed   int64 // their request failed, and did nothing
	Unknown  int64 // their request failed, and they may be on the list
}

// ImportProgress is how far an import has come.
type ImportProgress struct {
	ImportCounts
	Batches   int   // finished, well or not
	Confirmed int64 // the length of the confirmed prefix of the source
}

// ImportRejection is a contact that the platform does not take.
type ImportRejection struct {
	Index   int64         // its place in the source, from 0
	Contact ImportContact // as it was sent
	Detail  ErrorDetail   // what is wrong with it
}

// ImportReport says what became of each contact of an import. Contacts are
// numbered by their place in the source, from 0, skipped ones included. It is
// complete when Import returns, and must not be changed.
type ImportReport struct {
	ImportCounts

	// Read is how many contacts the source gave, skipped ones included.
	Read int64

	// Complete is whether the source was read to its end and all was sent.
	Complete bool

	// Confirmed is the length of the confirmed prefix: the platform has
	// answered for the contacts 0 to Confirmed-1. It is what
	// ImportOptions.Skip takes.
	Confirmed int64

	// Rejections are the contacts that the platform does not take, in no
	// order; empty if ImportOptions.OnRejected takes them.
	Rejections []ImportRejection

	spans []span // in order, neighbours having different statuses
}

// span is a run of contacts that share a status.
type span struct {
	from, to int64
	status   ImportStatus
}

func newImportReport(skip int64) *ImportReport {
	r := &ImportReport{Confirmed: max(skip, 0)}
	if skip > 0 {
		r.spans = []span{{0, skip, ImportSkipped}}
	}
	return r
}

// Status returns what became of the contact at index.
func (r *ImportReport) Status(index int64) ImportStatus {
	i := sort.Search(len(r.spans), func(i int) bool { return r.spans[i].to > index })
	if i < len(r.spans) && r.spans[i].from <= index {
		return r.spans[i].status
	}
	return ImportNotSent
}

// Left returns those contacts of the same source that are to be given to the
// next call: all that were not sent, failed or are unknown. The next report
// numbers them anew, from 0.
func (r *ImportReport) Left(contacts iter.Seq2[ImportContact, error]) iter.Seq2[ImportContact, error] {
	return func(yield func(ImportContact, error) bool) {
		index := int64(-1)
		for c, err := range contacts {
			if err == nil {
				index++
			}
			if (err != nil || !r.Status(index).confirmed()) && !yield(c, err) {
				return
			}
		}
	}
}

// confirm takes down the answer to the batch that begins with the contact
// from, and returns whom the platform rejects.
func (r *ImportReport) confirm(from int64, batch []ImportContact, result batchResult) []ImportRejection {
	var rejections []ImportRejection
	slices.SortStableFunc(result.Errors, func(a, b ImportError) int { return int(a.Index - b.Index) })
	for _, e := range slices.CompactFunc(result.Errors, func(a, b ImportError) bool { return a.Index == b.Index }) {
		rejections = append(rejections, ImportRejection{
			Index: from + e.Index, Contact: batch[e.Index], Detail: ErrorDetail{Loc: e.Loc, Msg: e.Msg, Type: e.Type},
		})
	}
	status := r.count(result, int64(len(batch)), int64(len(rejections)))
	var spans []span
	next := from
	for _, rej := range rejections {
		spans = append(spans, span{next, rej.Index, status}, span{rej.Index, rej.Index + 1, ImportRejected})
		next = rej.Index + 1
	}
	r.add(append(spans, span{next, from + int64(len(batch)), status}))
	return rejections
}

// count adds up a batch of n contacts and returns the status of those that
// were not rejected.
func (r *ImportReport) count(result batchResult, n, rejected int64) ImportStatus {
	r.Rejected += rejected
	if result.Imported < 0 || result.Updated < 0 || result.Imported+result.Updated != n-rejected {
		r.Accepted += n - rejected
		return ImportAccepted
	}
	r.Imported += result.Imported
	if result.again {
		r.Accepted += result.Updated
	} else {
		r.Updated += result.Updated
	}
	switch {
	case result.Updated == 0:
		return ImportImported
	case result.Imported == 0 && !result.again:
		return ImportUpdated
	}
	return ImportAccepted
}

// fail takes down a batch whose request failed.
func (r *ImportReport) fail(f ImportFailure) {
	if errors.Is(f.Err, ErrOutcomeUnknown) {
		r.Unknown += f.To - f.From
		r.add([]span{{f.From, f.To, ImportUnknown}})
		return
	}
	r.Failed += f.To - f.From
	r.add([]span{{f.From, f.To, ImportFailed}})
}

// add puts neighbouring spans in their place, joins what has the same status,
// and moves the end of the confirmed prefix.
func (r *ImportReport) add(spans []span) {
	i := sort.Search(len(r.spans), func(i int) bool { return r.spans[i].from >= spans[0].from })
	tail := slices.Clone(r.spans[i:])
	r.spans = r.spans[:i]
	for _, s := range append(spans, tail...) {
		last := len(r.spans) - 1
		switch {
		case s.from == s.to:
		case last >= 0 && r.spans[last].to == s.from && r.spans[last].status == s.status:
			r.spans[last].to = s.to
		default:
			r.spans = append(r.spans, s)
		}
	}
	i = sort.Search(len(r.spans), func(i int) bool { return r.spans[i].to > r.Confirmed })
	for ; i < len(r.spans) && r.spans[i].from <= r.Confirmed && r.spans[i].status.confirmed(); i++ {
		r.Confirmed = r.spans[i].to
	}
}
