package client

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"sync"
)

// maxImportBatch is the maximum number of contacts in one request. (Specification:
// Limits.)
const maxImportBatch = 1000

// maxConcurrency is more than any platform accepts. It limits the memory.
const maxConcurrency = 10_000

// ImportOptions configures [Contacts.Import]. The zero value is a good default.
//
// The import calls the functions from several goroutines, but only one at a time,
// and waits for each to return. A slow function therefore slows down the import.
type ImportOptions struct {
	// ImportTo is the status that imported contacts get. The default is active.
	ImportTo ImportTo

	// BatchSize is the number of contacts per request, from 1 to 1,000. The
	// default is 1,000.
	BatchSize int

	// Concurrency is the maximum number of concurrent requests, from 1 to
	// 10,000. The default is 1. A batch waits for the batches in flight that
	// contain one of its addresses.
	Concurrency int

	// Skip is the number of contacts to skip at the beginning of the source. To resume
	// an import, set it to the last value that OnCheckpoint got. If the source has
	// fewer contacts, the import fails.
	//
	// Skip counts all contacts of the source, including contacts that Filter excludes.
	// Exclude contacts with Filter instead of removing them from the source. Otherwise
	// other contacts have their positions after a resume and are not imported.
	Skip int64

	// Filter, if not nil, is called for each contact that is not skipped. If it
	// returns false, the contact is not sent. The contact still counts toward
	// Skip, OnCheckpoint and the indexes in the [ImportReport].
	Filter func(ImportContact) bool

	// Resubscribe allows an import with status active to activate contacts that have
	// unsubscribed or are pending. By default these contacts keep their status.
	Resubscribe bool

	// OnProgress, if not nil, is called after each batch that was sent, whether it
	// succeeded or failed.
	OnProgress func(ImportProgress)

	// OnCheckpoint, if not nil, is called when the confirmed prefix of the source
	// grows. The platform has responded for each of the first confirmed contacts of the
	// source. Store this number in a safe place and set Skip to it after a crash. An
	// error ends the import.
	//
	// Batches after the checkpoint may have been imported too, and are then sent again.
	// If no batch fails, at most Concurrency-1 batches are sent again, because the
	// import starts no batch that is Concurrency or more batches after the first
	// unfinished batch.
	OnCheckpoint func(confirmed int64) error

	// OnRejected, if not nil, is called for each contact that the platform rejects. By
	// default, Import collects the rejections in [ImportReport.Rejections], which needs
	// memory for each rejection.
	OnRejected func(ImportRejection)

	// OnBatchError, if not nil, is called for each batch whose request failed
	// after all retries. If it returns nil, the import continues with the next
	// batch. If it returns an error, no further batch is sent. The default is to
	// stop at the first failed batch; see [ContinueOnError].
	OnBatchError func(ImportFailure) error
}

// ContinueOnError is an OnBatchError that always continues.
func ContinueOnError(ImportFailure) error { return nil }

// ImportFailure is a batch whose request failed.
type ImportFailure struct {
	From, To int64 // the contacts From to To-1 of the source, except the filtered ones
	Err      error // an *Error; with ErrOutcomeUnknown the contacts may be on the list
}

// Import adds any number of contacts to a list, in batches of 1,000. It keeps only the
// batches in flight in memory. The report needs memory for each group of consecutive
// contacts with the same status. Importing a contact again does not create a duplicate.
// [Contacts.ImportBatch] describes the effect on a contact. If the source contains an
// address several times, ignoring case, Import sends these contacts in their order, so
// the last one that succeeds determines the fields that it contains.
//
// The report is never nil. Invalid options are [ErrValidation], and Import then does
// not read the source. The error is nil if Import read the whole source and the
// platform responded for all contacts, even if it rejected some of them. Otherwise the
// error is not an [*Error]. It wraps the error of the source, the error of the first
// batch that failed and the context's error, if they occurred. An error of the source
// ends the import after the contacts before it were sent.
//
// If the context is canceled, Import returns as soon as the source does. The
// outcome of the batches in flight is then unknown.
// (Specification: Lists and contacts, Limits.)
func (s *Contacts) Import(
	ctx context.Context, listID int64, contacts iter.Seq2[ImportContact, error], opts ImportOptions,
) (*ImportReport, error) {
	im := &importer{opts: opts, report: newImportReport(opts.Skip)}
	if err := im.configure(); err != nil {
		e := newError(importContactsRequest(listID, ImportBatch{}), err)
		e.badRequest = true
		return im.report, e
	}
	im.send = func(contacts []ImportContact) (ImportResult, error) {
		batch := ImportBatch{Contacts: contacts, ImportTo: opts.ImportTo, Resubscribe: opts.Resubscribe}
		return s.ImportBatch(ctx, listID, batch)
	}
	defer im.wg.Wait() // even if the source panics
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

// joinImport joins the errors that are not nil into one.
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

// importer is one running import. The calling goroutine reads the source into
// batches; each batch is sent by its own goroutine.
type importer struct {
	opts ImportOptions // its functions are called with mu held
	send func([]ImportContact) (ImportResult, error)

	seed  maphash.Seed
	slots chan struct{} // one value for each batch from the first unfinished one on
	spare chan *batch   // for reuse
	wg    sync.WaitGroup

	mu       sync.Mutex // guards the fields below, and is held during callbacks
	report   *ImportReport
	started  int
	finished []bool              // for the batches in slots, at the number modulo len(finished)
	inOrder  int                 // number of finished batches at the beginning
	inFlight map[uint64]struct{} // hashes of addresses, each of one batch; nil if Concurrency is 1
	landed   sync.Cond           // signals that inFlight has changed
	batches  int                 // finished
	failed   int
	first    error // of the first batch that failed
	stopped  error // why no further batch is sent
	crash    crash // of a callback
}

// batch is a part of the source that one request sends, except filtered contacts.
type batch struct {
	number   int
	from, to int64
	contacts []ImportContact
	places   []int64 // indexes of the contacts in the source
}

func (im *importer) configure() error {
	o := &im.opts
	o.BatchSize = orDefault(o.BatchSize, maxImportBatch)
	o.Concurrency = orDefault(o.Concurrency, 1)
	switch {
	case o.BatchSize < 1 || o.BatchSize > maxImportBatch:
		return fmt.Errorf("batch size must be from 1 to %d, got %d", maxImportBatch, o.BatchSize)
	case o.Concurrency < 1 || o.Concurrency > maxConcurrency:
		return fmt.Errorf("concurrency must be from 1 to %d, got %d", maxConcurrency, o.Concurrency)
	case o.Skip < 0:
		return fmt.Errorf("skip must not be negative, got %d", o.Skip)
	}
	if o.OnBatchError == nil {
		o.OnBatchError = func(f ImportFailure) error { return f.Err }
	}
	if o.OnRejected == nil {
		o.OnRejected = func(r ImportRejection) { im.report.Rejections = append(im.report.Rejections, r) }
	}
	im.slots = make(chan struct{}, o.Concurrency)
	im.finished = make([]bool, o.Concurrency)
	im.landed.L = &im.mu
	if o.Concurrency > 1 {
		im.inFlight, im.seed = map[uint64]struct{}{}, maphash.MakeSeed()
	}
	im.spare = make(chan *batch, o.Concurrency+1)
	return nil
}

// read sends the source in batches until the source ends or fails, or the import
// stops. It returns the error of the source.
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
		failed = fmt.Errorf("ends before the %d contacts to skip; is it the same source?", im.opts.Skip)
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	im.report.Read = n
	im.report.Complete = done && failed == nil
	return failed
}

// wants reports whether the options select a contact.
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

// start waits for a free slot and sends a batch. It reports whether the import
// continues.
func (im *importer) start(ctx context.Context, b *batch) bool {
	hashes := im.hashes(b) // while other batches are in flight
	select {
	case im.slots <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	im.mu.Lock()
	for slices.ContainsFunc(hashes, func(h uint64) bool { _, found := im.inFlight[h]; return found }) {
		im.landed.Wait()
	}
	for _, h := range hashes {
		im.inFlight[h] = struct{}{}
	}
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
			im.release(number, hashes)
		})
	})
	return true
}

// hashes returns the hashes of the addresses of a batch if batches can be concurrent.
// Equal hashes of different addresses only delay a batch.
func (im *importer) hashes(b *batch) []uint64 {
	if im.inFlight == nil {
		return nil
	}
	hashes := make([]uint64, len(b.contacts))
	for i, c := range b.contacts {
		hashes[i] = maphash.String(im.seed, strings.ToLower(c.Email))
	}
	return hashes
}

func (im *importer) sendBatch(b *batch) {
	var result ImportResult
	var err error
	if len(b.contacts) > 0 {
		result, err = im.send(b.contacts)
	}
	im.finish(b, result, err)
	im.spare <- b // before release starts another batch; otherwise spare could block
}

// crashed makes the import end in the same way as the first callback that crashed.
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

// finish records the result of a batch.
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

// release frees the addresses of a finished batch, and the slots of the finished
// batches that have only finished batches before them.
func (im *importer) release(number int, hashes []uint64) {
	im.mu.Lock()
	defer im.mu.Unlock()
	for _, h := range hashes {
		delete(im.inFlight, h)
	}
	im.landed.Broadcast()
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
