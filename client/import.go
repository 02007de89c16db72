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

// maxConcurrency is more than any platform takes, and fewer batches than memory.
const maxConcurrency = 10_000

// ImportOptions says how [Contacts.Import] goes about it. The zero value is a
// good default. The functions are called one at a time, from several
// goroutines, and hold the import up while they run.
type ImportOptions struct {
	// ImportTo is the status that the contacts get. Default active.
	ImportTo ImportTo

	// BatchSize is how many contacts one request holds, from 1 to 1,000.
	// Default 1,000.
	BatchSize int

	// Concurrency is how many requests are under way at a time, up to 10,000.
	// Default 1.
	Concurrency int

	// Skip is how many contacts at the beginning of the source are passed
	// over, for an import that resumes at a checkpoint of another one. A
	// source with fewer contacts than that is an error. It counts all that
	// the source gives, so what has to be left out is left out by Filter: a
	// source that gives fewer contacts than the time before would have others
	// in their places, and lose them.
	Skip int64

	// Filter is asked of each contact that is not skipped. One for which it is
	// false is left out, but keeps its place in the source, so that Skip,
	// Checkpoint and [ImportReport.Remaining] stay right. Default: none is.
	Filter func(ImportContact) bool

	// Resubscribe has an import to active make contacts active that had
	// unsubscribed or are pending. Default: they stay as they are.
	Resubscribe bool

	// Progress is called when a batch is finished, well or not.
	Progress func(ImportProgress)

	// Checkpoint is called when the confirmed prefix has grown: the platform
	// has answered for all of the first confirmed contacts of the source. Kept
	// in a safe place, it is what Skip takes after a crash. Batches behind it
	// may be confirmed too, and are then imported again: at most Concurrency-1
	// of them when nothing fails, as no batch is sent that is further ahead of
	// the first unfinished one. An error ends the import.
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
	From, To int64 // the contacts From to To-1 of the source, but for those left out
	Err      error // an *Error; with ErrOutcomeUnknown they may be on the list
}

// Import puts any number of contacts on a list, in batches of 1,000. It reads
// the source as it goes and keeps no more than the batches under way, so memory
// does not depend on the number of contacts; the report takes some for each run
// of contacts that fared alike. Importing a contact again creates nothing twice
// and, but by Resubscribe, makes nobody active who has unsubscribed in the
// meantime. See [Contacts.ImportBatch] for what becomes of each.
//
// The report is never nil. The error is nil if the source was read to its end
// and the platform answered for all of it, also if it rejected some contacts.
// Else the error, which is not an [*Error] itself, wraps all of: the source's
// error, which ends the import after what came before it was sent; the error of
// the first batch that failed; the context's error. A cancelled context ends the
// import promptly, unless the source is waiting for something else: what was
// under way is then unknown.
// (Specification: Lists and contacts, Limits.)
func (s *Contacts) Import(
	ctx context.Context, listID int64, contacts iter.Seq2[ImportContact, error], opts ImportOptions,
) (*ImportReport, error) {
	im := &importer{opts: opts, report: newImportReport(opts.Skip)}
	if err := im.configure(); err != nil {
		e := newError(importContactsRequest(listID, ContactImport{}), err)
		e.badRequest = true
		return im.report, e
	}
	im.send = func(contacts []ImportContact) (ImportResult, error) {
		batch := ContactImport{Contacts: contacts, ImportTo: opts.ImportTo, Resubscribe: opts.Resubscribe}
		return s.ImportBatch(ctx, listID, batch)
	}
	defer im.wg.Wait() // also if the source panics
	sourceErr := im.read(ctx, contacts)
	im.wg.Wait()
	im.crash.raise()
	if sourceErr != nil {
		sourceErr = fmt.Errorf("source, after %d contacts: %w", im.report.Read, sourceErr)
	}
	if im.report.Complete {
		return im.report, joinImport(im.failure())
	}
	return im.report, joinImport(sourceErr, im.failure(), ctx.Err(), context.Cause(ctx))
}

// joinImport makes one error of those that are there.
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
	if all == nil {
		return nil
	}
	return &lineError{all}
}

// importer is one import under way. The goroutine that reads the source fills
// batches; each batch is sent by a goroutine of its own.
type importer struct {
	opts ImportOptions // its functions are called with mu held
	send func([]ImportContact) (ImportResult, error)

	slots chan struct{} // holds a value for each batch from the first unfinished one on
	spare chan *batch   // to use again
	wg    sync.WaitGroup

	mu       sync.Mutex // guards the rest, and is held during callbacks
	report   *ImportReport
	started  int
	finished []bool // of the batches in slots, each at its number modulo their count
	inOrder  int    // batches that are finished, and all before them
	batches  int    // finished
	failed   int
	first    error // of the first batch that failed
	stopped  error // why no further batch is to be sent
	crash    crash // of a callback
}

// batch is a part of the source, of which one request sends what is not left out.
type batch struct {
	number   int
	from, to int64
	contacts []ImportContact
	places   []int64 // of contacts in the source
}

func (im *importer) configure() error {
	o := &im.opts
	o.BatchSize = orDefault(o.BatchSize, maxImportBatch)
	o.Concurrency = orDefault(o.Concurrency, 1)
	switch {
	case o.BatchSize < 1 || o.BatchSize > maxImportBatch:
		return fmt.Errorf("want a BatchSize of 1 to %d, not %d", maxImportBatch, o.BatchSize)
	case o.Concurrency < 1 || o.Concurrency > maxConcurrency:
		return fmt.Errorf("want a Concurrency of 1 to %d, not %d", maxConcurrency, o.Concurrency)
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
	im.finished = make([]bool, o.Concurrency)
	im.spare = make(chan *batch, o.Concurrency+1)
	return nil
}

// read sends the source in batches until it ends, fails, or no further batch
// is to be sent. The error is the source's.
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
		b.to = n
		if !im.wants(contact) {
			continue
		}
		b.contacts, b.places = append(b.contacts, contact), append(b.places, n-1)
		if len(b.contacts) < im.opts.BatchSize {
			continue
		}
		if done = im.start(ctx, b); !done {
			break
		}
		b = im.batch(n)
	}
	if done && b.to > b.from {
		done = im.start(ctx, b)
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

// wants reports whether a contact is to be sent.
func (im *importer) wants(contact ImportContact) bool {
	if im.opts.Filter == nil {
		return true
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.opts.Filter(contact)
}

// batch returns an empty batch.
func (im *importer) batch(from int64) *batch {
	var b *batch
	select {
	case b = <-im.spare:
	default:
		b = &batch{contacts: make([]ImportContact, 0, im.opts.BatchSize), places: make([]int64, 0, im.opts.BatchSize)}
	}
	b.from, b.to, b.contacts, b.places = from, from, b.contacts[:0], b.places[:0]
	return b
}

// start sends a batch, once there is a slot for it, and reports whether the
// import goes on.
func (im *importer) start(ctx context.Context, b *batch) bool {
	select {
	case im.slots <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	im.mu.Lock()
	stopped := im.stopped != nil || ctx.Err() != nil
	b.number = im.started
	im.started++
	im.mu.Unlock()
	if stopped {
		<-im.slots
		return false
	}
	im.wg.Go(func() {
		number := b.number
		run(func() { im.sendBatch(b) }, func(c crash) {
			im.crashed(c)
			im.release(number)
		})
	})
	return true
}

func (im *importer) sendBatch(b *batch) {
	var result ImportResult
	var err error
	if len(b.contacts) > 0 {
		result, err = im.send(b.contacts)
	}
	im.finish(b, result, err)
	im.spare <- b // before another batch may be started, or there were more of them than places
}

// crashed has the import end as the first callback that crashed did.
func (im *importer) crashed(c crash) {
	if c.none() {
		return
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	if im.crash.none() {
		im.crash = c
	}
	im.stopped = errAbandoned
}

// finish takes down what became of a batch.
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
	if im.opts.Checkpoint != nil && im.report.Confirmed > before {
		if err := im.opts.Checkpoint(im.report.Confirmed); err != nil {
			im.opts.Checkpoint = nil
			im.stopped = fmt.Errorf("checkpoint: %w", err)
		}
	}
	if im.opts.Progress != nil && len(b.contacts) > 0 {
		im.opts.Progress(ImportProgress{im.report.ImportCounts, im.batches, im.report.Confirmed})
	}
}

// release gives the slots of all batches back that are finished and have only
// finished ones before them.
func (im *importer) release(number int) {
	im.mu.Lock()
	defer im.mu.Unlock()
	n := len(im.finished)
	im.finished[number%n] = true
	for im.finished[im.inOrder%n] {
		im.finished[im.inOrder%n] = false
		im.inOrder++
		<-im.slots
	}
}

func (im *importer) fail(f ImportFailure) {
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
