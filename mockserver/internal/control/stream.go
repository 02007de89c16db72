package control

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// heartbeat keeps proxies from closing a quiet stream.
const heartbeat = 15 * time.Second

// serveStream sends changes as server-sent events.
func (c *Control) serveStream(w http.ResponseWriter, r *http.Request) {
	from, seq := c.Changes.Listen()
	defer c.Changes.Leave(from)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_, _ = fmt.Fprintf(w, "retry: 1000\nevent: hello\ndata: {\"seq\":%d}\n\n", seq)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for out.Flush() == nil {
		var err error
		select {
		case line, more := <-from:
			if !more {
				return
			}
			_, err = fmt.Fprintf(w, "event: change\ndata: %s\n\n", line)
		case <-beat.C:
			_, err = io.WriteString(w, ": still here\n\n")
		case <-r.Context().Done():
			return
		}
		if err != nil {
			return
		}
	}
}
