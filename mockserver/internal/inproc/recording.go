package inproc

import (
	"bytes"
	"maps"
	"net/http"
)

// Recording is an [http.ResponseWriter] that stores a response.
type Recording struct {
	Status int
	Body   bytes.Buffer

	header http.Header
	wrote  bool
}

// NewRecording returns an empty response with a copy of header.
func NewRecording(header http.Header) *Recording {
	return &Recording{Status: http.StatusOK, header: header.Clone()}
}

// Header implements [http.ResponseWriter].
func (a *Recording) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *Recording) WriteHeader(status int) {
	if !a.wrote {
		a.Status, a.wrote = status, true
	}
}

// Write implements [http.ResponseWriter].
func (a *Recording) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.Body.Write(b)
}

// Send writes the stored response to w.
func (a *Recording) Send(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body.Bytes())
}
