package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"time"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/internal/checksum"
)

const (
	// saveEvery is the interval between saves. A crash loses at most one second
	// of changes, as documented.
	saveEvery = 250 * time.Millisecond
	// tryAgain is the delay after an error before the next save.
	tryAgain = 5 * time.Second
	// minChanges is the minimum size of the appended changes before the file is
	// rewritten.
	minChanges = 1 << 20
)

// stateFile stores the state of a server in a file, for one process at a time.
// The file contains a whole state, followed by lines with later changes. When
// the changes are as long as the state, stateFile writes the whole state to a
// new file, which atomically replaces the old file. Therefore, the file is
// always readable.
type stateFile struct {
	name   string
	unlock func() error
	srv    *mockserver.Server
	log    *slog.Logger

	current *segment
	next    chan *segment // the segment that is being written; nil if there is none
	pause   time.Time     // after an error, no new segment begins before this time
	stop    chan struct{}
	stopped chan struct{}
}

// segment is a file with a whole state and its later changes.
type segment struct {
	file        *os.File
	follower    *mockserver.Follower
	whole, size int64
	err         error // of writing the whole state
}

// openState locks the state file, so a second process with the same file cannot
// overwrite changes. If the name is empty, the server does not load or store
// its state.
func openState(name string, log *slog.Logger) (*stateFile, error) {
	if name == "" {
		return &stateFile{unlock: func() error { return nil }}, nil
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // lock the target of a symbolic link, because the target is replaced
	}
	unlock, err := lock(name + ".lock")
	if err != nil {
		return nil, fmt.Errorf("-state %s: %w", name, err)
	}
	return &stateFile{name: name, unlock: unlock, log: log}, nil
}

// errInUse means that another process has locked the file.
var errInUse = errors.New("another process is using this file")

// load restores the state from the file if the file exists. It omits the last change
// if a killed process did not write it completely. Any other damage is an error, and
// load does not change the file.
func (s *stateFile) load(srv *mockserver.Server) error {
	file, err := openRegular(s.name)
	if s.name == "" || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err = srv.Restore(file); err == nil {
		return nil
	}
	size, intact, damage := intactPart(file)
	if damage == nil && intact < size {
		if damage = srv.Restore(io.NewSectionReader(file, 0, intact)); damage == nil {
			s.log.Warn("ignored an incomplete change at the end of the state file", "file", s.name, "bytes", size-intact)
			return nil
		}
	}
	return fmt.Errorf("-state %s: %w; use -state-salvage to copy the readable part", s.name, cmp.Or(damage, err))
}

// openRegular opens a file for reading. It returns an error for a pipe, because
// opening a pipe would wait for the writer.
func openRegular(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("-state %s: must be a regular file", name)
	}
	return os.Open(name)
}

// intactPart returns the size of a file, and its size without an incomplete last change.
// It returns an error if another part is damaged.
func intactPart(file *os.File) (size, intact int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return 0, 0, err
	}
	size = info.Size()
	parts := checksum.NewReader(io.NewSectionReader(file, 0, size))
	if _, err = io.Copy(io.Discard, parts); !errors.Is(err, checksum.ErrNone) {
		return size, size, err
	}
	tail := make([]byte, size-parts.Verified)
	if _, readErr := file.ReadAt(tail, parts.Verified); readErr != nil || !checksum.IsTorn(tail) {
		return size, size, errors.Join(readErr, err)
	}
	return size, parts.Verified, nil
}

// keep saves the state and then its changes, until close is called.
func (s *stateFile) keep(srv *mockserver.Server) error {
	if s.srv = srv; s.name == "" {
		return nil
	}
	if err := s.rewrite(); err != nil {
		return fmt.Errorf("-state: %w", err)
	}
	s.stop, s.stopped = make(chan struct{}), make(chan struct{})
	go s.run()
	return nil
}

func (s *stateFile) run() {
	defer close(s.stopped)
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case made := <-s.next:
			s.next = nil
			s.check(s.publish(made))
		case <-tick.C:
			s.check(s.save())
		}
	}
}

// check logs an error and schedules a rewrite of the whole state, because the
// content of the file is uncertain.
func (s *stateFile) check(err error) {
	if err == nil {
		return
	}
	s.log.Error("state not saved", "file", s.name, "error", err)
	s.current.discard()
	s.current, s.pause = nil, time.Now().Add(tryAgain)
}

// save appends the changes to the segment. If there is no segment or the
// changes are large, it begins a new segment.
func (s *stateFile) save() error {
	enough := s.current == nil
	if s.current != nil {
		if err := s.current.write(); err != nil {
			return err
		}
		enough = s.current.size-s.current.whole > max(s.current.whole, minChanges)
	}
	if enough && s.next == nil && time.Now().After(s.pause) {
		s.next = s.begin()
	}
	return nil
}

// begin writes the whole state to a new file in the background, which may take
// seconds. In the meantime, save appends changes to the old file.
func (s *stateFile) begin() chan *segment {
	made := make(chan *segment, 1)
	go func() {
		file, err := os.OpenFile(s.name+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		e := &segment{file: file, follower: s.srv.Follow(), err: err}
		if err == nil {
			e.err = e.write()
			e.whole = e.size
		}
		made <- e
	}()
	return made
}

// publish replaces the file with the new file, after adding the changes since
// begin.
func (s *stateFile) publish(made *segment) error {
	err := made.err
	if err == nil {
		err = made.write()
	}
	if err == nil {
		err = s.replace(made.file)
	}
	if err != nil {
		made.discard()
		_ = os.Remove(s.name + ".new")
		return err
	}
	made.file, err = os.OpenFile(s.name, os.O_APPEND|os.O_WRONLY, 0)
	s.current.discard()
	s.current = made
	return err
}

// replace renames a file to the name of the state file. On Windows, both files
// must be closed first.
func (s *stateFile) replace(file *os.File) error {
	if err := file.Close(); err != nil {
		return err
	}
	if s.current != nil {
		_ = s.current.file.Close() // its content is already on the disk
	}
	if err := os.Rename(s.name+".new", s.name); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(s.name))
}

// rewrite writes the whole state to the file, and waits for the result.
func (s *stateFile) rewrite() error {
	if s.next == nil {
		s.next = s.begin()
	}
	made := <-s.next
	s.next = nil
	return s.publish(made)
}

// close writes all changes, rewrites the file as one whole state, and releases
// the lock.
func (s *stateFile) close() error {
	var err error
	if s.stop != nil {
		s.log.Info("saving the state; a second Ctrl-C exits immediately", "file", s.name)
		close(s.stop)
		<-s.stopped
		err = s.finish()
		s.current.discard()
	}
	return errors.Join(err, s.unlock())
}

func (s *stateFile) finish() error {
	if s.current != nil {
		s.check(s.current.write())
	}
	var err error
	for n := 0; n < 2 && err == nil && (s.current == nil || s.current.size > s.current.whole); n++ {
		err = s.rewrite() // the first segment may have begun before the last changes
	}
	return err
}

// write appends the changes and their checksum, and waits until they are on the
// disk.
func (e *segment) write() error {
	part := checksum.NewWriter(e.file)
	if err := e.follower.Write(part); err != nil || part.Bytes == 0 {
		return err
	}
	if err := part.End(); err != nil {
		return err
	}
	e.size += part.Bytes
	return e.file.Sync()
}

// discard closes an segment, if there is one.
func (e *segment) discard() {
	if e != nil {
		e.follower.Close()
		_ = e.file.Close()
	}
}

// salvage copies the readable part of the state file "from" to the new file
// "to". It ignores checksums. If it cannot apply a change, it omits this change
// and all later changes, because each change depends on the previous changes.
func salvage(from, to string, out io.Writer) error {
	file, err := openRegular(from)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	parts := checksum.NewReader(file)
	parts.Unverified = true
	text, err := io.ReadAll(parts)
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	restore := func(n int) error { return srv.Restore(bytes.NewReader(bytes.Join(lines[:n], nil))) }
	n := len(lines)
	if damage := restore(n); damage != nil {
		isChange := func(line []byte) bool { return bytes.HasPrefix(line, []byte(`{"change":`)) }
		whole := slices.IndexFunc(lines, isChange)
		if whole < 0 {
			whole = len(lines)
		}
		n = whole + sort.Search(len(lines)-whole, func(k int) bool { return restore(whole+k+1) != nil })
		if restore(n) != nil {
			return fmt.Errorf("-state %s: %w; nothing can be salvaged", from, damage)
		}
	}
	if err := writeNew(srv, to); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Copied the state from %d of %d lines of %s to %s.\n", n, len(lines), from, to)
	return err
}

// writeNew creates a state file. It returns an error if the file exists.
func writeNew(srv *mockserver.Server, name string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("-state-salvage: %w", err)
	}
	e := segment{file: file, follower: srv.Follow()}
	err = e.write()
	e.follower.Close()
	return errors.Join(err, file.Close())
}
