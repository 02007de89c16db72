//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file for this process until the returned function is called or
// the process ends. It does not follow a symbolic link.
func lock(name string) (unlock func() error, err error) {
	for {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		if err := flock(file); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if isNamed(file, name) {
			return func() error { return errors.Join(os.Remove(name), file.Close()) }, nil
		}
		_ = file.Close() // the previous holder removed the file in the meantime
	}
}

func flock(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errInUse
		case !errors.Is(err, syscall.EINTR):
			return err
		}
	}
}

func isNamed(file *os.File, name string) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(mine, there)
}
