package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"example.com/emailplatform/mcp/internal/rpcid"
)

// The limits for a line are the same as for a request over HTTP.
const (
	maxLine  = 64 << 10 // bytes without the line ending
	maxBatch = 50       // messages
)

// stdio returns a transport that reads and writes lines of JSON. It differs from the
// SDK's transport in two ways. After an invalid line, it responds with a JSON-RPC error
// instead of ending. At the end of the input, it waits for the pending requests before it
// ends. When ctx, the context of the program, is canceled, it stops waiting.
func stdio(ctx context.Context, in io.ReadCloser, out io.Writer) sdk.Transport {
	a := &pending{out: out, open: map[jsonrpc.ID]bool{}}
	a.closed.L = &a.mu
	messages, w := io.Pipe()
	go func() {
		err := a.forward(bufio.NewReaderSize(in, 64<<10), w)
		a.wait(ctx)
		_ = w.CloseWithError(err)
	}()
	return &sdk.IOTransport{
		Reader: struct {
			io.Reader
			io.Closer
		}{messages, in},
		Writer:        a,
		MaxLineLength: maxLine + 1,
	}
}

// forward reads messages from in until the input ends. It writes each valid message to w,
// and responds to each invalid message with an error.
func (a *pending) forward(in *bufio.Reader, w io.Writer) error {
	for {
		line, err := nextLine(in)
		if err != nil {
			return err
		}
		for _, message := range messages(line) {
			if code, reason := a.take(message); reason != "" {
				a.reject(idOf(message), code, reason)
			} else if _, err := w.Write(append(message, '\n')); err != nil {
				return err
			}
		}
	}
}

// messages returns the messages in a line. In protocol versions before 2025-06-18, a line
// can be a batch of several messages. The SDK does not handle every batch: it stops if
// the session uses version 2025-06-18 or a later one, and it never completes a batch that
// contains a notification. Therefore the function splits each batch, and each request
// gets a response.
func messages(line []byte) []json.RawMessage {
	var batch []json.RawMessage
	if line[0] == '[' && len(line) <= maxLine && json.Unmarshal(line, &batch) == nil && 0 < len(batch) && len(batch) <= maxBatch {
		return batch
	}
	return []json.RawMessage{line}
}

// nextLine returns the next line that is not blank. To limit the memory, it removes the
// middle of a line that is too long. The shortened line is still longer than maxLine, so
// the caller rejects it. nextLine keeps the end of the line, because many clients write
// the id last, and the error response needs the id.
func nextLine(in *bufio.Reader) ([]byte, error) {
	const end = 1000 // bytes
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine+end {
			line = append(line[:maxLine], line[len(line)-end:]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) <= maxLine {
			line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff"))) // Windows PowerShell begins with a byte order mark
		}
		if len(line) > 0 {
			return line, nil // the next read returns the error again
		}
		if err != nil {
			return nil, err
		}
	}
}

// pending writes messages and tracks pending requests.
type pending struct {
	mu     sync.Mutex
	out    io.Writer
	open   map[jsonrpc.ID]bool
	closed sync.Cond // whether a request was deleted from open, or the program ends
}

// The error codes of JSON-RPC.
const (
	parseError     = -32700
	invalidRequest = -32600
)

// take tracks a received message, or returns an error for an invalid one.
func (a *pending) take(line []byte) (code int, reason string) {
	switch {
	case len(line) > maxLine:
		return invalidRequest, fmt.Sprintf("a line must be at most %d bytes long", maxLine)
	case !json.Valid(line):
		return parseError, "the line is not JSON"
	case line[0] == '[':
		return invalidRequest, fmt.Sprintf("a batch must contain 1 to %d messages", maxBatch)
	}
	message, err := jsonrpc.DecodeMessage(line)
	response, _ := message.(*jsonrpc.Response)
	if _, wrong := rpcid.Check(line); wrong != nil {
		return invalidRequest, wrong.Error()
	}
	if err != nil || response != nil && response.Result == nil && response.Error == nil {
		return invalidRequest, "the line is not a JSON-RPC message"
	}
	request, ok := message.(*jsonrpc.Request)
	if !ok {
		return 0, ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case request.ID.IsValid():
		a.open[request.ID] = true
	case request.Method == "notifications/cancelled": //nolint:misspell // a name in the protocol
		var params struct {
			RequestID any `json:"requestId"`
		}
		_ = json.Unmarshal(request.Params, &params)
		if id, err := jsonrpc.MakeID(params.RequestID); err == nil {
			a.complete(id) // it needs no response
		}
	}
	return 0, ""
}

func (a *pending) complete(id jsonrpc.ID) {
	delete(a.open, id)
	a.closed.Broadcast()
}

// requestID matches the id of a request at the beginning or the end of a line, where it
// cannot be a part of the parameters.
var requestID = regexp.MustCompile(`^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d+|"[^"\\]*")\s*,|` +
	`"id"\s*:\s*(-?\d+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)

// idOf returns the id of a request that is too long or has an invalid number as the id. For other
// lines, it returns null, as JSON-RPC requires if the id cannot be read.
func idOf(line []byte) json.RawMessage {
	m := requestID.FindSubmatch(line)
	id, err := rpcid.Check(line)
	switch {
	case err != nil:
		return id
	case len(line) <= maxLine || m == nil:
		return json.RawMessage("null")
	case m[1] != nil:
		return m[1]
	}
	return m[2]
}

// reject responds with an error to a line.
func (a *pending) reject(id json.RawMessage, code int, reason string) {
	text, _ := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": reason},
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = a.out.Write(append(text, '\n')) // if this fails, the next response fails too
}

// Write writes a message from the SDK.
func (a *pending) Write(message []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n, err := a.out.Write(message)
	if m, bad := jsonrpc.DecodeMessage(bytes.TrimSpace(message)); bad == nil {
		if response, ok := m.(*jsonrpc.Response); ok {
			a.complete(response.ID)
		}
	}
	return n, err
}

// Close does not close standard output.
func (*pending) Close() error { return nil }

// wait returns when no request is pending, or when ctx ends.
func (a *pending) wait(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.closed.Broadcast()
	})
	defer stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.open) > 0 && ctx.Err() == nil {
		a.closed.Wait()
	}
}
