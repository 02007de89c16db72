package client

import (
	"cmp"
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
	// attempt at the same batch whose answer was lost. Counts of too many say
	// neither, nor those of too few if some addresses are in the batch again;
	// counts of fewer than it has addresses are no answer: ImportUnknown.
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
	// ImportFiltered: ImportOptions.Filter left it out.
	ImportFiltered
)

// String returns for example "imported".
func (s ImportStatus) String() string {
	names := []string{
		"not sent", "skipped", "imported", "updated", "accepted", "rejected", "failed", "unknown", "filtered",
	}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("ImportStatus(%d)", int(s))
	}
	return names[s]
}

// confirmed reports whether the platform has answered for the contact, or need not.
func (s ImportStatus) confirmed() bool {
	return ImportSkipped <= s && s <= ImportRejected || s == ImportFiltered
}

// ImportCounts counts the contacts of the batches that are finished.
type ImportCounts struct {
	Imported int64 // were new to the list
	Updated  int64 // were on the list already
	Accepted int64 // were taken; the answer did not say which of the two
	Rejected int64 // the platform does not take them
	Failed   int64 // their request failed, and did nothing
	Unknown  int64 // their request failed, and they may be on the list
	Filtered int64 // ImportOptions.Filter left them out
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
// numbered by their place in the source, from 0, all included. It is
// complete when Import returns, and must not be changed.
type ImportReport struct {
	ImportCounts

	// Read is how many contacts the source gave, those included that were
	// skipped or left out.
	Read int64

	// Complete is whether the source was read to its end and all was sent.
	Complete bool

	// Confirmed is the length of the confirmed prefix: the platform has
	// answered for the contacts 0 to Confirmed-1, or they were skipped or left
	// out. It is what ImportOptions.Skip takes.
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

// Remaining returns those contacts of the same source that are to be given to the
// next call: all that were not sent, failed or are unknown. The next report
// numbers them anew, from 0.
func (r *ImportReport) Remaining(contacts iter.Seq2[ImportContact, error]) iter.Seq2[ImportContact, error] {
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

// confirm takes down the answer to a batch, which fits it, and returns whom the
// platform rejects.
func (r *ImportReport) confirm(b *batch, result ImportResult) []ImportRejection {
	var rejections []ImportRejection
	slices.SortStableFunc(result.Errors, func(a, b ImportError) int { return cmp.Compare(a.Index, b.Index) })
	for _, e := range slices.CompactFunc(result.Errors, func(a, b ImportError) bool { return a.Index == b.Index }) {
		rejections = append(rejections, ImportRejection{
			Index: b.places[e.Index], Contact: b.contacts[e.Index], Detail: ErrorDetail{Loc: e.Loc, Msg: e.Msg, Type: e.Type},
		})
	}
	r.Imported += result.Imported
	r.Updated += result.Updated
	r.Accepted += result.Accepted
	r.Rejected += int64(len(rejections))
	status, left := result.status(), rejections
	r.take(b, func(place int64) ImportStatus {
		if len(left) > 0 && left[0].Index == place {
			left = left[1:]
			return ImportRejected
		}
		return status
	})
	return rejections
}

// status returns what became of those that were not rejected.
func (r ImportResult) status() ImportStatus {
	switch {
	case r.Updated == 0 && r.Accepted == 0:
		return ImportImported
	case r.Imported == 0 && r.Accepted == 0:
		return ImportUpdated
	}
	return ImportAccepted
}

// fail takes down a batch whose request failed.
func (r *ImportReport) fail(b *batch, err error) {
	status, n := ImportFailed, &r.Failed
	if errors.Is(err, ErrOutcomeUnknown) {
		status, n = ImportUnknown, &r.Unknown
	}
	*n += int64(len(b.contacts))
	r.take(b, func(int64) ImportStatus { return status })
}

// take notes the status of each contact of a batch, by their places in order.
func (r *ImportReport) take(b *batch, status func(place int64) ImportStatus) {
	var spans []span
	next := b.from
	for _, place := range b.places {
		spans = appendSpan(spans, span{next, place, ImportFiltered})
		spans = appendSpan(spans, span{place, place + 1, status(place)})
		next = place + 1
	}
	r.Filtered += b.to - b.from - int64(len(b.places))
	r.add(appendSpan(spans, span{next, b.to, ImportFiltered}))
}

// appendSpan appends a span, and joins it to the last one if it can.
func appendSpan(spans []span, s span) []span {
	last := len(spans) - 1
	switch {
	case s.from == s.to:
		return spans
	case last >= 0 && spans[last].to == s.from && spans[last].status == s.status:
		spans[last].to = s.to
		return spans
	}
	return append(spans, s)
}

// add puts neighbouring spans in their place, joins what has the same status,
// and moves the end of the confirmed prefix.
func (r *ImportReport) add(spans []span) {
	i := sort.Search(len(r.spans), func(i int) bool { return r.spans[i].from >= spans[0].from })
	tail := slices.Clone(r.spans[i:])
	r.spans = r.spans[:i]
	for _, s := range append(spans, tail...) {
		r.spans = appendSpan(r.spans, s)
	}
	i = sort.Search(len(r.spans), func(i int) bool { return r.spans[i].to > r.Confirmed })
	for ; i < len(r.spans) && r.spans[i].from <= r.Confirmed && r.spans[i].status.confirmed(); i++ {
		r.Confirmed = r.spans[i].to
	}
}
