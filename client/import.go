package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// maxImportBatch is the maximum number of contacts in one request. (Specification:
// Limits.)
const maxImportBatch = 1000

// Limits on the contacts in memory, in bytes as defined by ImportContact.size. The value
// of maxBatchBytes leaves room for the escapes in JSON, because the platform limits bodies.
const (
	maxBatchBytes  = 4 << 20
	maxImportBytes = 16 << 20
)

// maxConcurrency is higher than any platform needs.
const maxConcurrency = 10_000

// ImportOptions configures [Contacts.Import]. The zero value is a good default.
//
// An import calls the callbacks from several goroutines, but only one at a time. It waits
// for each callback, so a slow callback delays the import.
type ImportOptions struct {
	// ImportTo is the status for imported contacts. The default is active.
	ImportTo ImportTo

	// BatchSize is the maximum number of contacts per request, from 1 to 1,000, which is the
	// default. A batch of several contacts is also limited to 4 MiB.
	BatchSize int

	// Concurrency is the maximum number of batches in flight, from 1 to 10,000. Each
	// batch is one request. The default is 1. If two batches contain the same address,
	// the second batch waits until the first has finished. If the batches in flight
	// contain 16 MiB of contacts, the next batch waits.
	Concurrency int

	// Skip is the number of contacts to skip at the beginning of the source. To resume
	// an import, set Skip to the last value that the import passed to OnCheckpoint. If
	// the source contains fewer contacts than Skip, the import fails.
	//
	// Skip counts all contacts in the source, including contacts that Filter excludes. To
	// exclude contacts from a resumed import, use Filter. If you remove them from the
	// source, the positions of the remaining contacts change, so the import skips the
	// wrong contacts.
	Skip int64

	// Filter, if not nil, is called for each contact that is not skipped. If
	// Filter returns false, the contact is not sent, but it still counts toward
	// Skip, OnCheckpoint and the indexes in the [ImportReport].
	Filter func(ImportContact) bool

	// Resubscribe activates unsubscribed and pending contacts in an import whose ImportTo is
	// active. By default, these contacts keep their status. If a response is lost, the
	// client sends the batch again, so a contact that unsubscribed after the first attempt
	// becomes active. To prevent this, set NoRepeat.
	Resubscribe bool

	// NoRepeat prevents the client from sending a batch again if the platform may have
	// processed it. By default, the client sends the batch again. The second request then
	// activates contacts that were deleted after the first request. If Resubscribe is set, it
	// also activates contacts that unsubscribed after the first request. With NoRepeat, the
	// contacts in such a batch have the status [ImportUnknown] instead. Check whether the
	// list contains these contacts before you import them again.
	NoRepeat bool

	// OnProgress, if not nil, is called after each batch, even if the batch
	// failed.
	OnProgress func(ImportProgress)

	// OnCheckpoint, if not nil, is called each time the checkpoint increases. If the
	// checkpoint is n, the first n contacts of the source are confirmed. A contact is
	// confirmed if it was imported, rejected, skipped or filtered. OnCheckpoint must store
	// the checkpoint, because you set Skip to it after a crash. If OnCheckpoint returns an
	// error, the import ends.
	//
	// A resumed import repeats the batches that were imported after the checkpoint. If no
	// batch failed, these are at most Concurrency-1 batches.
	OnCheckpoint func(confirmed int64) error

	// OnRejected, if not nil, is called for each contact that the platform rejects. By
	// default, Import appends the rejection to [ImportReport.Rejections].
	OnRejected func(ImportRejection)

	// OnBatchError, if not nil, is called for each batch whose request failed
	// after all retries. If OnBatchError returns nil, the import continues. If
	// OnBatchError returns an error, the import sends no more batches. By
	// default, the import stops at the first failed batch; see [ContinueOnError].
	OnBatchError func(ImportFailure) error
}

// ContinueOnError continues an import after failed batches. Assign
// ContinueOnError to [ImportOptions.OnBatchError].
func ContinueOnError(ImportFailure) error { return nil }

// ImportFailure is a batch whose request failed.
type ImportFailure struct {
	From, To int64 // the contacts From to To-1 in the source, without filtered contacts
	Err      error // an *Error; if it matches ErrOutcomeUnknown, the list may contain the contacts
}

// Import adds any number of contacts to a list, in batches of up to
// [ImportOptions].BatchSize contacts and 4 MiB. A contact larger than 4 MiB is a batch of
// its own. If the platform still rejects a batch as too large ([ErrTooLarge]), Import
// divides the batch and makes later batches smaller.
//
// Importing a contact again does not create a duplicate; see [Contacts.ImportBatch].
// However, if the contact was deleted in the meantime, it is added and activated again.
// This can happen within one import, because the client sends a batch again after a lost
// response, and the contact may have been deleted between the two requests. To prevent
// this, set [ImportOptions].NoRepeat.
//
// If the source yields the same address several times, in any letter case, Import
// imports these contacts in the order of the source. Therefore, the last imported value
// of each field replaces earlier values.
//
// An import limits its memory, unless a single contact exceeds the limits:
//
//   - The contacts in flight take at most 16 MiB, their JSON at most 16 MiB more, and the
//     next batch at most 4 MiB. The size of a contact is its text plus 128 bytes, 32 bytes
//     for each attribute and 16 bytes for each tag or interest.
//   - Each concurrent request has an array of BatchSize contacts, with at most 128 bytes for
//     each contact.
//   - The report stores one entry for each group of consecutive contacts with the same
//     status. Unless [ImportOptions].OnRejected is set, it also stores the rejected contacts.
//
// The error is nil if Import read the whole source and all batches succeeded, even if the
// platform rejected some contacts. If an option is invalid or the source is nil, the error is
// [ErrValidation], and Import does not read the source. The report is never nil.
//
// If the import fails later, the error is not an [*Error], because it can wrap several
// errors: from the source, from the first failed batch, and from the context. If the source
// yields an error, Import first sends the contacts that precede the error.
//
// Import keeps the slices in a contact until its batch has been sent, so the source must not
// change them after it has yielded the contact.
//
// If the context is canceled, Import sends no more batches, and the outcome of the
// batches in flight is unknown. Import cannot interrupt the source, so a source that can
// block must check the context itself. (Specification: Lists and contacts, Limits.)
func (s *Contacts) Import(
	ctx context.Context, listID int64, contacts iter.Seq2[ImportContact, error], opts ImportOptions,
) (*ImportReport, error) {
	im := &importer{opts: opts, report: newImportReport(opts.Skip)}
	err := im.configure(ctx)
	if err == nil && contacts == nil {
		err = errNilSource
	}
	if err != nil {
		return im.report, newBadRequest(importContactsRequest(listID, ImportBatch{}), err)
	}
	im.send = func(contacts []ImportContact) (ImportResult, error) {
		batch := ImportBatch{Contacts: contacts, ImportTo: opts.ImportTo, Resubscribe: opts.Resubscribe}
		return s.importBatch(ctx, listID, batch, !opts.NoRepeat)
	}
	defer im.wg.Wait() // even if the source panics
	sourceErr := im.read(ctx, contacts)
	im.wg.Wait()
	im.exit.raise()
	im.report.Complete = im.report.Complete && !im.unsent
	if sourceErr != nil {
		sourceErr = fmt.Errorf("source failed after %d contacts: %w", im.report.Read, sourceErr)
	}
	if im.failed > 1 {
		im.firstError = fmt.Errorf("%d of %d batches failed; first error: %w", im.failed, im.batches, im.firstError)
	}
	err = join(sourceErr, im.firstError, im.stopped)
	if !im.report.Complete {
		err = join(err, ctx.Err(), context.Cause(ctx))
	}
	if err != nil {
		err = &lineError{fmt.Errorf("import: %w", err)}
	}
	return im.report, err
}

// importer is an import in progress. The calling goroutine reads the source into batches,
// and a goroutine for each batch sends it.
type importer struct {
	opts ImportOptions // callbacks run while mu is held
	send func([]ImportContact) (ImportResult, error)

	seed  maphash.Seed
	wg    sync.WaitGroup
	limit atomic.Int64 // maximum size of a batch with several contacts

	mu            sync.Mutex // guards the fields below, and is held during callbacks
	report        *ImportReport
	window        []*batch            // the batches from the first unfinished batch on, at most Concurrency
	inFlight      map[uint64]struct{} // hashes of the addresses in unfinished batches
	bytes         int64               // size of the unfinished batches
	progress      sync.Cond           // signals that window, inFlight and bytes have changed
	unusedBatches []*batch            // batches for reuse
	batches       int                 // number of finished batches
	failed        int
	firstError    error        // error from the first batch that failed
	stopped       error        // reason why the import sends no more batches
	unsent        bool         // a part of a divided batch was not sent
	exit          callbackExit // of a callback
}

// batch is the part of the source that one request imports. The request omits
// filtered contacts.
type batch struct {
	from, to      int64
	contacts      []ImportContact
	sourceIndexes []int64  // indexes of the contacts in the source
	hashes        []uint64 // of the addresses; empty if Concurrency is 1
	size          int64    // of the contacts, in bytes
	finished      bool
}

// size estimates the memory and the JSON of a contact in bytes.
func (c *ImportContact) size() int64 {
	n := 128 + len(c.Email)
	for _, a := range c.CustomAttributes {
		n += 32 + len(a.Name) + len(a.Value)
	}
	for _, texts := range [][]string{c.Tags, c.Interests} {
		for _, text := range texts {
			n += 16 + len(text)
		}
	}
	return int64(n)
}

func (im *importer) configure(ctx context.Context) error {
	o := &im.opts
	o.BatchSize = cmp.Or(o.BatchSize, maxImportBatch)
	o.Concurrency = cmp.Or(o.Concurrency, 1)
	switch {
	case ctx == nil:
		return errNilContext
	case o.BatchSize < 1 || o.BatchSize > maxImportBatch:
		return fmt.Errorf("batch size must be between 1 and %d, got %d", maxImportBatch, o.BatchSize)
	case o.Concurrency < 1 || o.Concurrency > maxConcurrency:
		return fmt.Errorf("concurrency must be between 1 and %d, got %d", maxConcurrency, o.Concurrency)
	case o.Skip < 0:
		return fmt.Errorf("skip must not be negative, got %d", o.Skip)
	}
	if o.OnBatchError == nil {
		o.OnBatchError = func(f ImportFailure) error { return f.Err }
	}
	if o.OnRejected == nil {
		o.OnRejected = func(r ImportRejection) { im.report.Rejections = append(im.report.Rejections, r) }
	}
	im.progress.L = &im.mu
	im.limit.Store(maxBatchBytes)
	im.inFlight, im.seed = map[uint64]struct{}{}, maphash.MakeSeed()
	return nil
}

// read sends the source in batches until the source ends or fails, or the import
// stops. read returns the error from the source, if any.
func (im *importer) read(ctx context.Context, contacts iter.Seq2[ImportContact, error]) error {
	b := im.batch(im.opts.Skip)
	n := int64(0)
	done := true
	var failed error
	for contact, err := range contacts {
		if failed = err; err != nil {
			break
		}
		if n++; n <= im.opts.Skip {
			continue
		}
		if b, done = im.add(ctx, b, contact, n-1); !done {
			break
		}
	}
	if done && b.to > b.from {
		done = im.start(ctx, b)
	}
	if failed == nil && done && n < im.opts.Skip {
		failed = fmt.Errorf("must contain at least %d contacts, because Skip is %[1]d", im.opts.Skip)
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	im.report.Read = n
	im.report.Complete = done && failed == nil
	return failed
}

// add adds a contact to a batch, sends the batch if it is full, and returns the batch for
// the next contact. If the import must stop, add returns false.
func (im *importer) add(ctx context.Context, b *batch, contact ImportContact, sourceIndex int64) (*batch, bool) {
	if !im.isIncluded(contact) {
		b.to = sourceIndex + 1
		return b, true
	}
	size := contact.size()
	if len(b.contacts) > 0 && b.size+size > im.limit.Load() {
		if !im.start(ctx, b) {
			return b, false
		}
		b = im.batch(sourceIndex)
	}
	b.add(contact, sourceIndex, size)
	if len(b.contacts) < im.opts.BatchSize {
		return b, true
	}
	ok := im.start(ctx, b)
	return im.batch(sourceIndex + 1), ok
}

func (b *batch) add(contact ImportContact, sourceIndex, size int64) {
	b.contacts, b.sourceIndexes = append(b.contacts, contact), append(b.sourceIndexes, sourceIndex)
	b.to, b.size = sourceIndex+1, b.size+size
}

func (im *importer) isIncluded(contact ImportContact) bool {
	if im.opts.Filter == nil {
		return true
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.opts.Filter(contact)
}

func (im *importer) batch(from int64) *batch {
	im.mu.Lock()
	defer im.mu.Unlock()
	last := len(im.unusedBatches) - 1
	if last < 0 {
		size := im.opts.BatchSize
		return &batch{from: from, to: from, contacts: make([]ImportContact, 0, size), sourceIndexes: make([]int64, 0, size)}
	}
	b := im.unusedBatches[last]
	im.unusedBatches = im.unusedBatches[:last]
	*b = batch{from: from, to: from, contacts: b.contacts[:0], sourceIndexes: b.sourceIndexes[:0], hashes: b.hashes[:0]}
	return b
}

// start sends a batch on its own goroutine. Before that, it waits until Concurrency and
// the memory limit allow another batch, and no batch with one of the same addresses is in
// flight. If the import must stop in the meantime, start returns false.
func (im *importer) start(ctx context.Context, b *batch) bool {
	if im.opts.Concurrency > 1 {
		for _, c := range b.contacts { // different addresses with the same hash only delay a batch
			b.hashes = append(b.hashes, maphash.String(im.seed, strings.ToLower(c.Email)))
		}
	}
	inFlight := func(h uint64) bool { _, found := im.inFlight[h]; return found }
	im.mu.Lock()
	defer im.mu.Unlock()
	for len(im.window) == im.opts.Concurrency || im.bytes > 0 && im.bytes+b.size > maxImportBytes ||
		slices.ContainsFunc(b.hashes, inFlight) {
		im.progress.Wait()
	}
	if im.stopped != nil || ctx.Err() != nil {
		return false
	}
	im.window, im.bytes = append(im.window, b), im.bytes+b.size
	for _, h := range b.hashes {
		im.inFlight[h] = struct{}{}
	}
	im.wg.Go(func() {
		runCallback(func() { im.sendBatch(ctx, b) }, func(c callbackExit) { im.release(b, c) })
	})
	return true
}

// sendBatch sends a batch. If the platform responds with 413, it has imported nothing, so
// sendBatch divides the batch.
func (im *importer) sendBatch(ctx context.Context, b *batch) {
	var result ImportResult
	var err error
	if len(b.contacts) > 0 {
		result, err = im.send(b.contacts)
	}
	half := len(b.contacts) / 2
	if half == 0 || !errors.Is(err, ErrTooLarge) || errors.Is(err, ErrOutcomeUnknown) {
		im.finish(b, result, err)
		return
	}
	middle, left := b.sourceIndexes[half], int64(0)
	for i := range half {
		left += b.contacts[i].size()
	}
	right := b.size - left
	im.limit.Store(min(im.limit.Load(), max(left, right))) // another batch may store a larger value, which costs one more 413
	im.sendBatch(ctx, &batch{from: b.from, to: middle, contacts: b.contacts[:half], sourceIndexes: b.sourceIndexes[:half], size: left})
	im.mu.Lock()
	ended := im.stopped != nil || ctx.Err() != nil
	im.unsent = im.unsent || ended
	im.mu.Unlock()
	if !ended {
		im.sendBatch(ctx, &batch{from: middle, to: b.to, contacts: b.contacts[half:], sourceIndexes: b.sourceIndexes[half:], size: right})
	}
}

func (im *importer) finish(b *batch, result ImportResult, err error) {
	im.mu.Lock()
	defer im.mu.Unlock()
	before := im.report.Confirmed
	if err != nil {
		im.report.fail(b, err)
		im.fail(ImportFailure{From: b.from, To: b.to, Err: err})
	} else {
		for _, r := range im.report.confirm(b, result) {
			im.opts.OnRejected(r)
		}
	}
	if len(b.contacts) > 0 {
		im.batches++
	}
	if im.opts.OnCheckpoint != nil && im.report.Confirmed > before {
		if err := im.opts.OnCheckpoint(im.report.Confirmed); err != nil {
			im.opts.OnCheckpoint = nil
			im.stopped = fmt.Errorf("checkpoint: %w", err)
		}
	}
	if im.opts.OnProgress != nil && len(b.contacts) > 0 {
		im.opts.OnProgress(ImportProgress{im.report.ImportCounts, im.batches, im.report.Confirmed})
	}
}

// release frees the addresses of a finished batch, and removes the finished batches at
// the beginning of the window. If a callback panicked or exited, release records this,
// so that Import can panic or exit in the same way.
func (im *importer) release(b *batch, c callbackExit) {
	im.mu.Lock()
	defer im.mu.Unlock()
	if !c.none() {
		if im.exit.none() {
			im.exit = c
		}
		im.stopped = errAbandoned
	}
	for _, h := range b.hashes {
		delete(im.inFlight, h)
	}
	b.finished = true
	im.bytes -= b.size
	clear(b.contacts) // the batch may wait for earlier batches, or for reuse
	for len(im.window) > 0 && im.window[0].finished {
		im.unusedBatches = append(im.unusedBatches, im.window[0])
		im.window = im.window[1:]
	}
	im.progress.Broadcast()
}

func (im *importer) fail(f ImportFailure) {
	if im.failed++; im.failed == 1 {
		im.firstError = fmt.Errorf("contacts %d to %d: %w", f.From, f.To-1, f.Err)
	}
	if err := im.opts.OnBatchError(f); err != nil && im.stopped == nil {
		im.stopped = err
	}
}

// ContactsFromSlice returns contacts as a source for [Contacts.Import].
func ContactsFromSlice(contacts []ImportContact) iter.Seq2[ImportContact, error] {
	return func(yield func(ImportContact, error) bool) {
		for _, c := range contacts {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// ContactsFromAddresses returns addresses as a source for [Contacts.Import].
func ContactsFromAddresses(addresses iter.Seq[string]) iter.Seq2[ImportContact, error] {
	return func(yield func(ImportContact, error) bool) {
		if addresses == nil {
			yield(ImportContact{}, errors.New("the addresses must not be nil"))
			return
		}
		for a := range addresses {
			if !yield(ImportContact{Email: a}, nil) {
				return
			}
		}
	}
}
