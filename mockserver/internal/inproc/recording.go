package inproc

import (
	"bytes"
	"net/http"
)

// Recording is an answer that has not been sent.
type Recording struct {
	header http.Header
	Status int
	wrote  bool
	Body   bytes.Buffer
}

func (a *Recording) Header() http.Header { return a.header }

func (a *Recording) WriteHeader(status int) {
	if !a.wrote {
		a.Status, a.wrote = status, true
	}
}

func (a *Recording) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.Body.Write(b)
}

// NewRecording returns an answer that nothing has been written to, with a copy of the header.
func NewRecording(header http.Header) *Recording {
	return &Recording{header: header.Clone(), Status: http.StatusOK}
}
