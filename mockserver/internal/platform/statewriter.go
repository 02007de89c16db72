package platform

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strconv"
)

// stateWriter writes one JSON object record by record, so at most one encoded
// record is in memory.
type stateWriter struct {
	out     *bufio.Writer
	record  bytes.Buffer
	encode  *json.Encoder // encodes into record
	apart   string        // separator between records
	records int           // number of records written so far
	begun   bool
	err     error // the encoder's first error; out keeps its own error
}

func newStateWriter(w io.Writer, apart string) *stateWriter {
	s := &stateWriter{out: bufio.NewWriterSize(w, 64<<10), apart: apart}
	s.encode = json.NewEncoder(&s.record)
	s.encode.SetEscapeHTML(false)
	return s
}

func (s *stateWriter) text(t string) { _, _ = s.out.WriteString(t) }

func (s *stateWriter) value(v any) {
	s.record.Reset()
	if err := s.encode.Encode(v); err != nil {
		s.err = errors.Join(s.err, err)
	}
	_, _ = s.out.Write(bytes.TrimSuffix(s.record.Bytes(), []byte("\n")))
}

func (s *stateWriter) name(name string) {
	if s.begun {
		s.text("," + s.apart)
	} else {
		s.text("{")
	}
	s.begun = true
	s.text(strconv.Quote(name) + ":")
}

func (s *stateWriter) member(name string, v any) {
	s.name(name)
	s.value(v)
}

// failed reports whether an earlier write failed.
func (s *stateWriter) failed() bool {
	_, err := s.out.Write(nil)
	return s.err != nil || err != nil
}

// writeList writes records as an array.
func writeList[T any](s *stateWriter, name string, records iter.Seq[T]) {
	s.name(name)
	before := "[" + s.apart
	for record := range records {
		s.text(before)
		s.value(record)
		before = "," + s.apart
		if s.records++; s.failed() {
			return
		}
	}
	if before[0] == '[' {
		s.text("[")
	}
	s.text("]")
}

// close ends the object and its line.
func (s *stateWriter) close() error {
	s.text("}\n")
	return errors.Join(s.err, s.out.Flush())
}
