// Package checksum detects damaged state files. A file consists of parts. Each part
// contains a whole state or some changes, and ends with a line that contains the CRC-32C
// of its bytes:
//
//	{"crc32c":"0123abcd"}
//
// A file without checksums, such as a response to GET /_mock/state, is not
// verified.
package checksum

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	linePrefix = `{"crc32c":"`
	lineLength = len(linePrefix + `00000000"}` + "\n")
)

func update(sum uint32, b []byte) uint32 {
	return crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), b)
}

func lineOf(sum uint32) string { return fmt.Sprintf("%s%08x\"}\n", linePrefix, sum) }

// Writer writes a part, counts its bytes and computes its checksum.
type Writer struct {
	Bytes int64
	to    io.Writer
	sum   uint32
}

// NewWriter returns a Writer that writes one part to w.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

func (c *Writer) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.Bytes += int64(n)
	c.sum = update(c.sum, b[:n])
	return n, err
}

// End writes the checksum line.
func (c *Writer) End() error {
	_, err := io.WriteString(c, lineOf(c.sum))
	return err
}

// ErrNone means that the last part of a file has no checksum, but earlier parts have
// checksums.
var ErrNone = errors.New("the last part has no checksum")

// Reader reads the parts of a state file without their checksums. Read fails at the end
// of a part whose checksum does not match.
type Reader struct {
	Unverified bool // ignore the checksums
	in         *bufio.Reader
	rest       []byte // not yet read by the caller
	inLine     bool   // the previous read ended within a line
	sum        uint32 // checksum of the current part
	offset     int64
	line       int   // number of complete lines before offset
	Verified   int64 // end of the last verified part; 0 if there is none
	after      int   // number of complete lines before Verified
}

// NewReader returns a Reader for a state file.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10)}
}

func (c *Reader) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// next reads a line, or a part of a long line.
func (c *Reader) next() error {
	text, err := c.in.ReadSlice('\n')
	whole := !c.inLine && err == nil
	c.inLine = err != nil
	c.offset += int64(len(text))
	if err == nil {
		c.line++
	}
	isChecksum := whole && len(text) == lineLength && bytes.HasPrefix(text, []byte(linePrefix))
	switch {
	case isChecksum && c.Unverified:
		return nil
	case isChecksum && string(text) != lineOf(c.sum):
		return fmt.Errorf("lines %d to %d: the checksum does not match", c.after+1, c.line)
	case isChecksum:
		c.sum, c.Verified, c.after = 0, c.offset, c.line
		return nil
	case len(text) > 0:
		c.sum = update(c.sum, text)
		c.rest = text
		return nil
	case c.Verified > 0 && c.offset > c.Verified:
		return fmt.Errorf("after line %d: %w", c.after, ErrNone)
	}
	return err
}

// IsTorn reports whether the end of a file may be a change that a killed process wrote
// only partially. An incomplete change ends within its line or within the following
// checksum line.
func IsTorn(tail []byte) bool {
	line, checksum, complete := bytes.Cut(tail, []byte("\n"))
	switch {
	case !complete:
		return true
	case bytes.Contains(checksum, []byte("\n")) || len(checksum) >= lineLength:
		return false
	}
	return !bytes.Contains(line, []byte(linePrefix))
}
