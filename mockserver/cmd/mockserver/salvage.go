package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/internal/checksum"
)

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
		whole := wholeState(lines)
		n = whole + sort.Search(len(lines)-whole, func(k int) bool { return restore(whole+k+1) != nil })
		if restore(n) != nil {
			return fmt.Errorf("-state %s: %w; nothing can be salvaged", from, damage)
		}
	}
	if err := writeNew(srv, to); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s contains the state of %d of %d lines of %s.\n", to, n, len(lines), from)
	return err
}

// wholeState returns the number of lines before the first change.
func wholeState(lines [][]byte) int {
	for i, line := range lines {
		if bytes.HasPrefix(line, []byte(`{"change":`)) {
			return i
		}
	}
	return len(lines)
}

// writeNew creates a state file. It returns an error if the file exists.
func writeNew(srv *mockserver.Server, name string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("-state-salvage: %w", err)
	}
	e := edition{file: file, follower: srv.Follow()}
	err = e.write()
	e.follower.Close()
	return errors.Join(err, file.Close())
}
