package control

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// streamRoutes are what tells of changes.
func (c *Control) streamRoutes() section {
	return section{
		title: "The stream",
		routes: []route{{
			pattern: "GET stream",
			does:    "Changes as server-sent events.",
			handler: serving("text/event-stream", c.serveStream),
		}},
		after: "It begins with `event: hello` and then sends `event: change` with " +
			"`{\"seq\":n,\"kind\":k,\"record\":…}`: kind `message`, `delivery`, `event`, `request` or `fault` with the " +
			"summary that the list would show, or `clock` with the clock when it was set, stopped or let pass; without " +
			"one, `fault` when rules came, went or began anew, `records` when lists, contacts, webhooks or the like may " +
			"have changed, and `state` when everything may have. A reader that is too slow is disconnected and should " +
			"load anew.",
	}
}

// heartbeat keeps proxies from closing a quiet stream.
const heartbeat = 15 * time.Second

// serveStream sends changes as server-sent events.
func (c *Control) serveStream(w http.ResponseWriter, r *request) {
	from, seq := c.Changes.Subscribe()
	defer c.Changes.Unsubscribe(from)
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
