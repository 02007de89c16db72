package main

import (
	"errors"
	"syscall"
)

const (
	sharingViolation  = syscall.Errno(32)
	flagDeleteOnClose = 0x04000000
)

// lock locks a file for this process until the returned function is called or the process
// ends. It opens the file without sharing, so no other process can open it. Because of
// flagDeleteOnClose, Windows deletes the file when it is closed. lock does not follow a
// symbolic link.
func lock(name string) (unlock func() error, err error) {
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	handle, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS,
		syscall.FILE_ATTRIBUTE_NORMAL|syscall.FILE_FLAG_OPEN_REPARSE_POINT|flagDeleteOnClose, 0)
	if errors.Is(err, sharingViolation) {
		return nil, errInUse
	}
	if err != nil {
		return nil, err
	}
	return func() error { return syscall.CloseHandle(handle) }, nil
}
