package simulation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// importJob is an import that goes on until it is done, whatever becomes of its process.
type importJob struct {
	Import

	c      *caller
	id     string
	listID int64

	mu   sync.Mutex
	kept int64 // the checkpoint file
	runs int
	done bool
	left int // how often it is done once more
}

func (a Import) act(w *world, id string) {
	c := w.callers[a.From]
	if !c.proc.isUp() {
		return
	}
	job := &importJob{Import: a, c: c, id: id, listID: w.importLists[id]}
	if a.Again {
		job.left = 1
	}
	c.mu.Lock()
	c.imports = append(c.imports, job)
	c.mu.Unlock()
	w.record.inTheEnd(func(map[string][]mockserver.Message) { job.check() })
	job.resume(c.proc.life())
}

func (j *importJob) email(i int) string {
	if j.isBad(i) {
		return fmt.Sprintf("%s-%d is no address", j.id, i)
	}
	return fmt.Sprintf("%s-%d@example.net", j.id, i)
}

func (j *importJob) isBad(i int) bool { return j.Bad > 0 && i%j.Bad == j.Bad-1 }

// source reads the file of contacts, which takes a little while for each batch. After a canceled import, the client may still be
// reading it: it therefore gets the number of the run as an argument.
func (j *importJob) source(l *life, run int) iter.Seq2[client.ImportContact, error] {
	return func(yield func(client.ImportContact, error) bool) {
		for i := range j.Contacts {
			if i%j.Batch == 0 {
				name := fmt.Sprintf("read %s %d %d %d", j.id, i, run, l.n)
				time.Sleep(j.c.w.chance.brief(name))
				j.c.proc.ready(name)
			}
			if !yield(client.ImportContact{Email: j.email(i)}, nil) {
				return
			}
		}
	}
}

// resume goes on from the checkpoint file until all is done or the process dies.
func (j *importJob) resume(l *life) {
	j.c.w.busy(j.id, func() {
		for l.lives() && !j.isDone() {
			j.once(l)
			j.mu.Lock()
			j.runs++
			name := fmt.Sprintf("again %s %d", j.id, j.runs)
			j.mu.Unlock()
			_ = pause(l.ctx, j.c.w.chance.between(time.Second, 20*time.Second, name))
			j.again()
		}
	})
}

// again begins anew what is done and is to be done once more.
func (j *importJob) again() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.done && j.left > 0 {
		j.left--
		j.done, j.kept = false, 0
	}
}

func (j *importJob) isDone() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.done
}

// checkpoint returns what the file says.
func (j *importJob) checkpoint() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.kept
}

// once runs the import from the checkpoint on.
func (j *importJob) once(l *life) {
	w, from := j.c.w, j.checkpoint()
	first := from == 0 && j.runs == 0
	report, err := j.c.client().Contacts.Import(l.ctx, j.listID, j.source(l, j.runs), client.ImportOptions{
		BatchSize: j.Batch, Concurrency: j.Concurrency, Skip: from,
		OnCheckpoint: func(confirmed int64) error { return j.keep(l, confirmed) },
	})
	if !l.lives() {
		return // nobody is there to hear of it
	}
	w.trace.add(j.c.proc.name, "%s imports from %d: %d confirmed, %+v: %v", j.id, from, report.Confirmed, report.ImportCounts, err)
	j.checkReport(from, first, report)
	if err == nil {
		j.mu.Lock()
		j.done = true
		j.mu.Unlock()
		if !report.Complete || report.Confirmed != int64(j.Contacts) {
			w.violate(nilIsDone, "%s: no error, but complete is %t and %d are confirmed", j.id, report.Complete, report.Confirmed)
		}
	}
}

// keep writes the checkpoint file. It takes no time: the import holds a mutex
// meanwhile, which a bubble does not take for waiting.
func (j *importJob) keep(l *life, confirmed int64) error {
	if !l.lives() {
		return errors.New("killed")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if confirmed <= j.kept {
		j.c.w.violate(checkpoints, "%s: %d after %d", j.id, confirmed, j.kept)
	}
	j.kept = confirmed
	j.c.w.trace.add(j.c.proc.name, "%s keeps %d", j.id, confirmed)
	return nil
}

// checkReport holds what is said of each contact against what the job knows.
func (j *importJob) checkReport(from int64, first bool, report *client.ImportReport) {
	var saved []byte
	if first && report.Failed > 0 {
		saved = j.c.w.platform.state()
	}
	rejected := 0
	for i := range j.Contacts {
		s := report.Status(int64(i))
		wrong := false
		switch s {
		case client.ImportSkipped:
			wrong = int64(i) >= from
		case client.ImportImported, client.ImportUpdated, client.ImportAccepted:
			wrong = j.isBad(i)
		case client.ImportRejected:
			wrong = !j.isBad(i)
			rejected++
		case client.ImportFailed:
			wrong = bytes.Contains(saved, []byte(`"`+j.email(i)+`"`))
		}
		if wrong || int64(i) < report.Confirmed && (s == client.ImportFailed || s == client.ImportUnknown || s == client.ImportNotSent) {
			j.c.w.violate(reportsTruth, "%s: contact %d (%s) is said to be %s", j.id, i, j.email(i), s)
			return
		}
	}
	if rejected != len(report.Rejections) {
		j.c.w.violate(reportsTruth, "%s: %d are rejected, %d rejections", j.id, rejected, len(report.Rejections))
	}
}

// check looks for everybody in the end.
func (j *importJob) check() {
	w := j.c.w
	type contact struct {
		Email  string
		Status events.ContactStatus
	}
	found, err := all[contact](w.platform, fmt.Sprintf("/lists/%d/contacts", j.listID))
	if err != nil {
		w.violate(importsComplete, "%s: %v", j.id, err)
		return
	}
	status := map[string]events.ContactStatus{}
	for _, c := range found {
		if status[c.Email] != "" {
			w.violate(neverTwice, "%s: %s is on the list twice", j.id, c.Email)
		}
		status[c.Email] = c.Status
	}
	for i := range j.Contacts {
		if s := status[j.email(i)]; j.isBad(i) == (s != "") {
			w.violate(importsComplete, "%s: contact %d (%s) has the status %q", j.id, i, j.email(i), s)
			return
		}
	}
}

// checkImport holds a request that leaves a process against the checkpoint file: who is confirmed is not sent again.
func (c *caller) checkImport(body []byte) {
	var batch struct{ Contacts []struct{ Email string } }
	if json.Unmarshal(body, &batch) != nil || len(batch.Contacts) == 0 {
		return
	}
	first := batch.Contacts[0].Email
	c.mu.Lock()
	imports := slices.Clone(c.imports)
	c.mu.Unlock()
	for _, j := range imports {
		kept := j.checkpoint()
		if kept > 0 && strings.HasPrefix(first, j.id+"-") && slices.ContainsFunc(j.confirmed(kept), func(e string) bool { return e == first }) {
			c.w.violate(checkpoints, "%s: %s is sent again, though %d are confirmed", j.id, first, kept)
		}
	}
}

// confirmed returns the addresses before a checkpoint.
func (j *importJob) confirmed(kept int64) []string {
	emails := make([]string, kept)
	for i := range emails {
		emails[i] = j.email(i)
	}
	return emails
}
