package quirk

import (
	"maps"
	"net/http"

	"example.com/emailplatform/mockserver/internal/inprocess"
)

// maxBuffer is the maximum size in bytes of a response that quirks change. Some
// responses repeat the request, so it is larger than the largest request body.
const maxBuffer = 16 << 20

// buffered stores a response so that quirks can change it. If a response is flushed or
// larger than maxBuffer, it goes to the client unchanged, because the action oversize
// of fault rules writes gigabytes.
type buffered struct {
	inprocess.Recording

	to     http.ResponseWriter
	passed bool // the response goes to the client
}

// Write implements [http.ResponseWriter].
func (b *buffered) Write(p []byte) (int, error) {
	if !b.passed && b.Body.Len()+len(p) > maxBuffer {
		b.pass()
	}
	if b.passed {
		return b.to.Write(p)
	}
	return b.Recording.Write(p)
}

// Flush implements [http.Flusher].
func (b *buffered) Flush() {
	if !b.passed {
		b.pass()
	}
	_ = http.NewResponseController(b.to).Flush() // not every writer supports it
}

// pass sends the stored response.
func (b *buffered) pass() {
	b.passed = true
	clear(b.to.Header())
	maps.Copy(b.to.Header(), b.Header())
	b.to.WriteHeader(b.Status)
	_, _ = b.to.Write(b.Body.Bytes())
	b.Body.Reset()
}
