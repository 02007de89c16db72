package control

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// streamRoutes notify of changes.
func (c *Control) streamRoutes() section {
	return section{
		title:  "The stream",
		routes: []route{handle("GET stream", rawResponse("text/event-stream", c.serveStream), "Changes as server-sent events.")},
		notes: "It begins with `event: hello` and then sends `event: change` with " +
			"`{\"seq\":n,\"kind\":k,\"record\":…}`. Kind `message`, `delivery`, `event`, `request` or `fault` has the " +
			"summary that the list shows, and `clock` has the clock after it was set, stopped or advanced. Without a " +
			"record, `fault` means that rules were added, removed or restarted, `records` that lists, contacts, webhooks or " +
			"the like may have changed, and `state` that everything may have changed. A reader that is too slow is " +
			"disconnected and should reload.",
	}
}

// heartbeat keeps proxies from closing a quiet stream.
const heartbeat = 15 * time.Second

func (c *Control) serveStream(w http.ResponseWriter, r *request) error {
	from, seq := c.Changes.Subscribe()
	defer c.Changes.Unsubscribe(from)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep the events back
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
