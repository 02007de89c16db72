package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
)

// maxImportBatch is how many contacts one request may hold. (Specification:
// Limits.)
const maxImportBatch = 1000

// ImportOptions says how [Contacts.Import] goes about it. The zero value is a
// good default. The functions are called one at a time, from several
// goroutines, and hold the import up while they run.
type ImportOptions struct {
	// ImportTo is the status that the contacts get. Default active.
	ImportTo ImportTo

	// BatchSize is how many contacts one request holds, from 1 to 1,000.
	// Default 1,000.
	BatchSize int

	// Concurrency is how many requests are under way at a time. Default 1.
	Concurrency int

	// Skip is how many contacts at the beginning of the source are passed
	// over, for an import that resumes at a checkpoint of another one. A
	// source with fewer contacts than that is an error.
	Skip int64

	// Progress is called when a batch is finished, well or not.
	Progress func(ImportProgress)

	// Checkpoint is called when the confirmed prefix has grown: the platform
	// has answered for all of the first confirmed contacts of the source. Kept
	// in a safe place, it is what Skip takes after a crash. Batches behind it
	// may be confirmed too, at most Concurrency-1 when nothing fails, and are
	// then imported again. An error ends the import.
	Checkpoint func(confirmed int64) error

	// OnRejected gets the contacts that the platform does not take, as they
	// become known. Default: they are collected in the report, which takes
	// memory if there are many.
	OnRejected func(ImportRejection)

	// OnBatchError is called for a batch whose request failed for good. If it
	// returns nil, the import goes on with the next batch; else no further
	// batch is sent. Default: the import ends.
	OnBatchError func(ImportFailure) error
}

// ContinueOnError is an OnBatchError that goes on, whatever failed.
func ContinueOnError(ImportFailure) error { return nil }

// ImportFailure is a batch whose request failed.
type ImportFailure struct {
	From, To int64 // the contacts From to To-1 of the source
	Err      error // an *Error; with ErrOutcomeUnknown they may be on the list
}

// Import puts any number of contacts on a list, in batches of 1,000. It reads
// the source as it goes and keeps no more than the batches under way, so memory
// does not depend on the number of contacts. Importing a contact again creates
// nothing twice, but makes active again anybody who has unsubscribed in the
// meantime, unless ImportTo says otherwise: resume soon. See
// [Contacts.ImportBatch] for what becomes of each.
//
// The report is never nil. The error is nil if the source was read to its end
// and the platform answered for all of it, also if it rejected some contacts.
// Else the error, which is not an [*Error] itself, wraps all of: the source's
// error, which ends the import after what came before it was sent; the error of
// the first batch that failed; the context's error. A cancelled context ends the
// import promptly, unless the source is waiting for something else: what was
// under way is then unknown.
// (Specification: Lists and contacts, Limits.)
func (s *Contacts) Import(ctx context.Context, listID int64, contacts iter.Seq2[ImportContact, error], opts ImportOptions) (*ImportReport, error) {
	im := &importer{opts: opts, report: newImportReport(opts.Skip)}
	if err := im.configure(); err != nil {
		e := newError(importContactsRequest(listID, ContactImport{}), err)
		e.badRequest = true
		return im.report, e
	}
	im.send = func(batch []ImportContact) (batchResult, error) {
		return s.importBatch(ctx, listID, ContactImport{Contacts: batch, ImportTo: opts.ImportTo})
	}
	defer im.wg.Wait() // also if the source panics
	sourceErr := im.read(ctx, contacts)
	im.wg.Wait()
	if sourceErr != nil {
		sourceErr = fmt.Errorf("source, after %d contacts: %w", im.report.Read, sourceErr)
	}
	if im.report.Complete {
		return im.report, joinImport(im.failure())
	}
	return im.report, joinImport(sourceErr, im.failure(), ctx.Err())
}

// joinImport makes one line of the errors that are there.
func joinImport(errs ...error) error {
	var all error
	for _, err := range errs {
		switch {
		case err == nil || errors.Is(all, err):
		case all == nil:
			all = fmt.Errorf("import: %w", err)
		default:
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}

// importer is one import under way. The goroutine that reads the source fills
// batches; each batch is sent by a goroutine of its own.
type importer struct {
	opts ImportOptions // its functions are called with mu held
	send func([]ImportContact) (batchResult, error)

	slots chan struct{}        // holds a value for each batch under way
	spare chan []ImportContact // buffers to use again
	wg    sync.WaitGroup

	mu      sync.Mutex // guards the rest, and is held during callbacks
	report  *ImportReport
	batches int
	failed  int
	first   error // of the first batch that failed
	stopped error // why no further batch is to be sent
}

func (im *importer) configure() error {
	o := &im.opts
	o.BatchSize = orDefault(o.BatchSize, maxImportBatch)
	o.Concurrency = orDefault(o.Concurrency, 1)
	switch {
	case o.BatchSize < 1 || o.BatchSize > maxImportBatch:
		return fmt.Errorf("want a BatchSize of 1 to %d, not %d", maxImportBatch, o.BatchSize)
	case o.Concurrency < 1:
		return fmt.Errorf("want a Concurrency of at least 1, not %d", o.Concurrency)
	case o.Skip < 0:
		return fmt.Errorf("want a Skip of at least 0, not %d", o.Skip)
	}
	if o.OnBatchError == nil {
		o.OnBatchError = func(f ImportFailure) error { return f.Err }
	}
	if o.OnRejected == nil {
		o.OnRejected = func(r ImportRejection) { im.report.Rejections = append(im.report.Rejections, r) }
	}
	im.slots = make(chan struct{}, o.Concurrency)
	im.spare = make(chan []ImportContact, o.Concurrency+1)
	return nil
}

// read sends the source in batches until it ends, fails, or no further batch
// is to be sent. The error is the source's.
func (im *importer) read(ctx context.Context, contacts iter.Seq2[ImportContact, error]) error {
	batch := im.buffer()
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
		if batch = append(batch, contact); len(batch) < im.opts.BatchSize {
			continue
		}
		if done = im.start(ctx, n, batch); !done {
			break
		}
		batch = im.buffer()
	}
	if done && len(batch) > 0 {
		done = im.start(ctx, n, batch)
	}
	if failed == nil && done && n < im.opts.Skip {
		failed = fmt.Errorf("it ends before the %d contacts to skip; is it the same source?", im.opts.Skip)
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	im.report.Read = n
	im.report.Complete = done && failed == nil
	return failed
}

func (im *importer) buffer() []ImportContact {
	select {
	case b := <-im.spare:
		return b[:0]
	default:
		return make([]ImportContact, 0, im.opts.BatchSize)
	}
}

// start sends the batch that ends before the contact to, once there is a slot
// for it, and reports whether the import goes on.
func (im *importer) start(ctx context.Context, to int64, batch []ImportContact) bool {
	select {
	case im.slots <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	im.mu.Lock()
	stopped := im.stopped != nil || ctx.Err() != nil
	im.mu.Unlock()
	if stopped {
		<-im.slots
		return false
	}
	im.wg.Go(func() {
		result, err := im.send(batch)
		im.finish(to-int64(len(batch)), batch, result, err)
		im.spare <- batch
		<-im.slots
	})
	return true
}

// finish takes down what became of the batch that begins with the contact from.
func (im *importer) finish(from int64, batch []ImportContact, result batchResult, err error) {
	im.mu.Lock()
	defer im.mu.Unlock()
	before := im.report.Confirmed
	if err != nil {
		im.fail(ImportFailure{From: from, To: from + int64(len(batch)), Err: err})
	} else {
		for _, r := range im.report.confirm(from, batch, result) {
			im.opts.OnRejected(r)
		}
	}
	im.batches++
	if im.opts.Checkpoint != nil && im.report.Confirmed > before {
		if err := im.opts.Checkpoint(im.report.Confirmed); err != nil {
			im.opts.Checkpoint = nil
			im.stopped = fmt.Errorf("checkpoint: %w", err)
		}
	}
	if im.opts.Progress != nil {
		im.opts.Progress(ImportProgress{ImportCounts: im.report.ImportCounts, Batches: im.batches, Confirmed: im.report.Confirmed})
	}
}

func (im *importer) fail(f ImportFailure) {
	im.report.fail(f)
	if im.failed++; im.failed == 1 {
		im.first = fmt.Errorf("contacts %d to %d: %w", f.From, f.To-1, f.Err)
	}
	if err := im.opts.OnBatchError(f); err != nil && im.stopped == nil {
		im.stopped = err
	}
}

// failure returns the error of the batches.
func (im *importer) failure() error {
	err := im.first
	if im.failed > 1 {
		err = fmt.Errorf("%d of %d batches failed, first %w", im.failed, im.batches, err)
	}
	if im.stopped == nil || errors.Is(err, im.stopped) {
		return err
	}
	if err == nil {
		return im.stopped
	}
	return fmt.Errorf("%w; %w", err, im.stopped)
}

// batchResult is the answer to a batch. If again is set, an earlier attempt may
// have been carried out, so that what counts as updated may have been new.
type batchResult struct {
	ImportResult

	again bool
}

// importBatch is ImportBatch for an import, which needs an answer that fits.
func (s *Contacts) importBatch(ctx context.Context, listID int64, batch ContactImport) (result batchResult, err error) {
	c := &call{request: importContactsRequest(listID, batch)}
	c.decode = func(body []byte) error {
		if result.ImportResult, err = decode(body, readImportResult); err != nil {
			return err
		}
		return checkImport(result.ImportResult, len(batch.Contacts))
	}
	err = s.x(ctx, c)
	result.again = c.maybeDone
	return result, err
}

// checkImport refuses an answer that does not fit a batch of n contacts:
// nobody could say then which of them are on the list.
func checkImport(result ImportResult, n int) error {
	for _, e := range result.Errors {
		if e.Index < 0 || e.Index >= int64(n) {
			return fmt.Errorf("it reports on entry %d of a batch of %d", e.Index, n)
		}
	}
	return nil
}
