package client

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
)

// ImportStatus is the result for one contact in an import.
type ImportStatus int

const (
	// ImportNotSent means that the contact was never sent. Include the contact in
	// the next import.
	ImportNotSent ImportStatus = iota
	// ImportSkipped means that the contact was skipped because of
	// ImportOptions.Skip.
	ImportSkipped
	// ImportImported means that the contact is new on the list.
	ImportImported
	// ImportUpdated means that the contact was on the list and was updated.
	ImportUpdated
	// ImportAccepted means that the contact was either imported or updated, but the
	// response does not show which of the two. This is the status if the batch contains
	// both new and existing contacts, or if an earlier attempt may have imported the
	// contact.
	ImportAccepted
	// ImportRejected means that the platform rejected the contact. Correct the
	// contact before you import it again.
	ImportRejected
	// ImportFailed means that the request for the contact failed and had no
	// effect. Include the contact in the next import.
	ImportFailed
	// ImportUnknown means that the request for the contact failed, but the list may
	// contain the contact. Include the contact in the next import, which does not create a
	// duplicate. However, if the contact was deleted in the meantime, the next import
	// activates it (see [ImportOptions].NoRepeat).
	ImportUnknown
	// ImportFiltered means that ImportOptions.Filter excluded the contact.
	ImportFiltered
)

// String returns text such as "imported".
func (s ImportStatus) String() string {
	names := []string{
		"not sent", "skipped", "imported", "updated", "accepted", "rejected", "failed", "unknown", "filtered",
	}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("ImportStatus(%d)", int(s))
	}
	return names[s]
}

func (s ImportStatus) confirmed() bool {
	return ImportSkipped <= s && s <= ImportRejected || s == ImportFiltered
}

// ImportCounts counts the contacts in finished batches by status.
type ImportCounts struct {
	Imported int64 // new on the list
	Updated  int64 // were on the list
	Accepted int64 // imported or updated
	Rejected int64 // the platform rejected them
	Failed   int64 // their request failed and had no effect
	Unknown  int64 // their request failed, and the list may contain them
	Filtered int64 // ImportOptions.Filter excluded them
}

// ImportProgress is the progress of an import.
type ImportProgress struct {
	ImportCounts
	Batches   int   // finished batches, including failed ones
	Confirmed int64 // confirmed contacts at the beginning of the source
}

// ImportRejection is a contact that the platform rejected.
type ImportRejection struct {
	Index   int64         // index in the source, from 0
	Contact ImportContact // as it was sent
	Detail  ErrorDetail   // the reason
}

// ImportReport contains the result for each contact in an import. The index of
// a contact is its position among all contacts in the source, from 0. Do not
// change a report.
type ImportReport struct {
	ImportCounts

	// Read is the number of contacts that the source yielded, including skipped
	// and filtered contacts.
	Read int64

	// Complete reports whether the whole source was read and sent.
	Complete bool

	// Confirmed is the number of consecutive confirmed contacts at the
	// beginning of the source (see [ImportOptions].OnCheckpoint). To resume
	// the import, set [ImportOptions].Skip to Confirmed.
	Confirmed int64

	// Rejections contains the rejected contacts in no particular order. Rejections
	// is empty if ImportOptions.OnRejected is set.
	Rejections []ImportRejection

	spans []span // in order; adjacent spans have different statuses
}

// span is a group of consecutive contacts with the same status.
type span struct {
	from, to int64
	status   ImportStatus
}

func newImportReport(skip int64) *ImportReport {
	skip = max(skip, 0)
	return &ImportReport{Confirmed: skip, spans: appendSpan(nil, span{0, skip, ImportSkipped})}
}

// Status returns the result for the contact with the given index.
func (r *ImportReport) Status(index int64) ImportStatus { return r.at(index).status }

// at returns the span that contains the given index, or the zero span if
// there is none.
func (r *ImportReport) at(index int64) span {
	i := r.after(index)
	if i < len(r.spans) && r.spans[i].from <= index {
		return r.spans[i]
	}
	return span{}
}

// after returns the position in r.spans of the first span whose end is
// greater than the given index.
func (r *ImportReport) after(index int64) int {
	return sort.Search(len(r.spans), func(i int) bool { return r.spans[i].to > index })
}

// Remaining returns the contacts that the next import must send: the contacts with the
// status ImportNotSent, ImportFailed or ImportUnknown. Pass the source of the previous
// import to Remaining. In the report for the next import, the indexes start at 0 again.
func (r *ImportReport) Remaining(contacts iter.Seq2[ImportContact, error]) iter.Seq2[ImportContact, error] {
	return func(yield func(ImportContact, error) bool) {
		if contacts == nil {
			yield(ImportContact{}, errNilSource)
			return
		}
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

// confirm records the response to a batch and returns the rejected contacts.
func (r *ImportReport) confirm(b *batch, result ImportResult) []ImportRejection {
	var rejections []ImportRejection
	slices.SortStableFunc(result.Errors, func(a, b RejectedEntry) int { return cmp.Compare(a.Index, b.Index) })
	for _, e := range slices.CompactFunc(result.Errors, func(a, b RejectedEntry) bool { return a.Index == b.Index }) {
		rejections = append(rejections, ImportRejection{
			Index: b.sourceIndexes[e.Index], Contact: b.contacts[e.Index], Detail: ErrorDetail{Loc: e.Loc, Msg: e.Msg, Type: e.Type},
		})
	}
	r.Imported += result.Imported
	r.Updated += result.Updated
	r.Accepted += result.Accepted
	r.Rejected += int64(len(rejections))
	status, left := result.status(), rejections
	r.setStatuses(b, func(sourceIndex int64) ImportStatus {
		if len(left) > 0 && left[0].Index == sourceIndex {
			left = left[1:]
			return ImportRejected
		}
		return status
	})
	return rejections
}

// status returns the status of the contacts that the platform did not reject.
func (r ImportResult) status() ImportStatus {
	switch {
	case r.Updated == 0 && r.Accepted == 0:
		return ImportImported
	case r.Imported == 0 && r.Accepted == 0:
		return ImportUpdated
	}
	return ImportAccepted
}

func (r *ImportReport) fail(b *batch, err error) {
	status, n := ImportFailed, &r.Failed
	if errors.Is(err, ErrOutcomeUnknown) {
		status, n = ImportUnknown, &r.Unknown
	}
	*n += int64(len(b.contacts))
	r.setStatuses(b, func(int64) ImportStatus { return status })
}

func (r *ImportReport) setStatuses(b *batch, status func(sourceIndex int64) ImportStatus) {
	var spans []span
	next := b.from
	for _, sourceIndex := range b.sourceIndexes {
		spans = appendSpan(spans, span{next, sourceIndex, ImportFiltered})
		spans = appendSpan(spans, span{sourceIndex, sourceIndex + 1, status(sourceIndex)})
		next = sourceIndex + 1
	}
	r.Filtered += b.to - b.from - int64(len(b.sourceIndexes))
	r.add(appendSpan(spans, span{next, b.to, ImportFiltered}))
}

// appendSpan appends a span, or extends the last span if both have the same
// status.
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

// add inserts adjacent spans, merges spans with the same status, and updates
// Confirmed.
func (r *ImportReport) add(spans []span) {
	i := r.after(spans[0].from)
	tail := slices.Clone(r.spans[i:])
	r.spans = r.spans[:i]
	for _, s := range append(spans, tail...) {
		r.spans = appendSpan(r.spans, s)
	}
	for s := r.at(r.Confirmed); s.status.confirmed(); s = r.at(r.Confirmed) {
		r.Confirmed = s.to
	}
}
