package control

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// heartbeat is the interval between messages that prevent proxies from closing an idle
// stream.
const heartbeat = 15 * time.Second

func (c *Control) serveStream(w http.ResponseWriter, r *request) error {
	from, seq := c.Changes.Subscribe()
	defer c.Changes.Unsubscribe(from)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // otherwise nginx buffers the events
	out := http.NewResponseController(w)
	_, _ = fmt.Fprintf(w, "retry: 1000\nevent: hello\ndata: {\"seq\":%d}\n\n", seq)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for open := true; open && out.Flush() == nil; {
		var line []byte
		select {
		case line, open = <-from:
			if open {
				_, _ = fmt.Fprintf(w, "event: change\ndata: %s\n\n", line)
			}
		case <-beat.C:
			_, _ = io.WriteString(w, ": still here\n\n")
		case <-r.Context().Done():
			open = false
		}
	}
	return nil
}
