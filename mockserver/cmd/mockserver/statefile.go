package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

const (
	// checkEvery is the interval between checks for changes.
	checkEvery = 500 * time.Millisecond
	// restAfter is the pause after a save relative to its duration, so saving takes at
	// most a tenth of the time.
	restAfter = 9
	// tryAgain is the delay after an error before the next save.
	tryAgain = 5 * time.Second
)

// stateFile stores the state of a server in a file, for one process at a time. It writes
// the whole state to a new file, which then replaces the old file, so the file is readable
// at any time.
type stateFile struct {
	name   string
	unlock func() error
	log    *slog.Logger

	srv     storable
	saved   uint64 // revision of the state in the file
	stop    chan struct{}
	stopped chan struct{}
}

// storable is the part of a [mockserver.Server] that a state file stores.
type storable interface {
	Snapshot(w io.Writer) error
	Restore(r io.Reader) error
	Revision() uint64
}

// openState locks the state file, so a second process with the same file cannot
// overwrite changes. If the name is empty, the server does not load or store
// its state.
func openState(name string, log *slog.Logger) (*stateFile, error) {
	if name == "" {
		return &stateFile{unlock: func() error { return nil }}, nil
	}
	if info, err := os.Lstat(name); err == nil && info.Mode()&os.ModeSymlink != 0 {
		target, err := filepath.EvalSymlinks(name)
		if err != nil {
			return nil, fmt.Errorf("the target of the symbolic link %s must exist: %w", name, err)
		}
		name = target // because save replaces the target
	}
	locked := lockName(name)
	if info, err := os.Lstat(locked); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s must be a regular file", locked)
	}
	unlock, err := lock(locked)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &stateFile{name: name, unlock: unlock, log: log}, nil
}

// lockName returns the name of the lock file of a state file. The lock is beside the target of a symbolic link, so
// each link to a state file has the same lock.
func lockName(state string) string { return target(state) + ".lock" }

// newSuffix is the end of the name of the file that a save writes. This file then replaces the state file.
const newSuffix = ".new"

func target(name string) string {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		return target
	}
	return name
}

// errInUse means that another process has locked the file.
var errInUse = errors.New("another process is using this file")

// load restores the state from the file, or creates the file if it does not exist.
func (s *stateFile) load(srv storable) error {
	if s.srv = srv; s.name == "" {
		return nil
	}
	info, err := os.Stat(s.name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = s.save()
	case err == nil && !info.Mode().IsRegular(): // opening a pipe would wait for the writer
		err = errors.New("must be a regular file")
	case err == nil && info.Size() == 0:
		err = errors.New("the file is empty; remove it to start without data")
	case err == nil:
		err = s.restore()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

func (s *stateFile) restore() error {
	file, err := os.Open(s.name)
	if err != nil {
		return err
	}
	s.saved = s.srv.Revision() + 1 // Restore adds 1, and may already have resumed work when it returns
	err = s.srv.Restore(file)
	return errors.Join(err, file.Close())
}

// keep saves changes until close is called.
func (s *stateFile) keep() {
	if s.name == "" {
		return
	}
	s.stop, s.stopped = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(s.stopped)
		for pause := checkEvery; ; pause = s.saveChanges() {
			select {
			case <-time.After(pause):
			case <-s.stop:
				return
			}
		}
	}()
}

// saveChanges saves the state if it has changed. It returns the pause before the next call.
func (s *stateFile) saveChanges() time.Duration {
	if s.saved == s.srv.Revision() {
		return checkEvery
	}
	start := time.Now()
	if err := s.save(); err != nil {
		s.log.Error("state not saved", "file", s.name, "error", err)
		return tryAgain
	}
	return pauseAfter(time.Since(start))
}

func pauseAfter(save time.Duration) time.Duration { return max(checkEvery, restAfter*save) }

// save replaces the file with the current state.
func (s *stateFile) save() error {
	revision := s.srv.Revision() // before Snapshot, which may miss later changes
	file, err := create(s.name + newSuffix)
	if err != nil {
		return err
	}
	if err = s.srv.Snapshot(file); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil { // on Windows, only closed files can be renamed
		return errors.Join(err, os.Remove(file.Name()))
	}
	if err := s.replace(file.Name()); err != nil {
		return fmt.Errorf("the latest changes are only in %s, which the next save replaces: %w", file.Name(), err)
	}
	s.saved = revision
	return nil
}

// replace replaces the file with a new file. On Windows, this fails while another process,
// such as an editor or a virus scanner, has opened the file.
func (s *stateFile) replace(name string) (err error) {
	for _, pause := range []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond, 600 * time.Millisecond} {
		time.Sleep(pause)
		if err = os.Rename(name, s.name); err == nil {
			return nil
		}
	}
	return err
}

// create creates a file that only the owner can read. If a killed process has left the
// file, create replaces it. It does not follow a symbolic link.
func create(name string) (*os.File, error) {
	if info, err := os.Lstat(name); err == nil && !info.IsDir() {
		_ = os.Remove(name)
	}
	return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

// close saves the latest changes and releases the lock.
func (s *stateFile) close() error {
	var err error
	if s.stop != nil {
		close(s.stop)
		<-s.stopped
		if s.saved != s.srv.Revision() {
			s.log.Info("saving the state; a second Ctrl-C exits immediately", "file", s.name)
			err = s.save()
		}
	}
	return errors.Join(err, s.unlock())
}
