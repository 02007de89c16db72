package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"

	"example.com/emailplatform/webhook"
)

// stored is a line of the file of deliveries.
type stored struct {
	Body      []byte `json:"body"` // the exact bytes, because the signature covers them
	Signature string `json:"signature"`
}

// store returns a handler that appends each verified delivery to a file and responds
// when the file is on the disk.
func store(v *webhook.Verifier, file *os.File) http.Handler {
	var mu sync.Mutex
	return webhook.Middleware(v, webhook.Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // Middleware has limited and verified it
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			err = appendLine(file, stored{body, r.Header.Get(webhook.DefaultSignatureHeader)})
		}
		if err != nil { // the platform delivers the event again
			slog.Error("delivery not stored", "error", err)
			http.Error(w, "not stored", http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
}

// appendLine starts with a line break, because a crash can leave an incomplete last line.
func appendLine(file *os.File, d stored) error {
	line, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if _, err := file.Write(append([]byte("\n"), line...)); err != nil {
		return err
	}
	return file.Sync()
}

// replay posts the deliveries of a file to a receiver. It stops at the first delivery
// that fails. You can repeat the replay, because the receiver deduplicates the
// deliveries.
func replay(ctx context.Context, c *http.Client, file io.Reader, url string) (n int, err error) {
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 4<<20) // a body has at most 1 MiB, and its base64 encoding 4/3 of that
	for lines.Scan() {
		var d stored
		if json.Unmarshal(lines.Bytes(), &d) != nil {
			continue // empty, or cut off by a crash: it was not acknowledged, so the platform delivered it again
		}
		if err := post(ctx, c, url, d); err != nil {
			return n, fmt.Errorf("after %d deliveries: %w", n, err)
		}
		n++
	}
	return n, lines.Err()
}

func post(ctx context.Context, c *http.Client, url string, d stored) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(d.Body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(webhook.DefaultSignatureHeader, d.Signature)
	resp, err := c.Do(r)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the receiver responded with %q", resp.Status)
	}
	return nil
}
