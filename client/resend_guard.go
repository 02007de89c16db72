package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"net/textproto"
	"regexp"
	"strings"
	"sync/atomic"
)

// resendGuard ensures that the platform gets a request from the transport at most once, and records whether the
// request was sent.
//
// An HTTP/2 transport resends a request after GOAWAY or after a refused or reset stream, even if the platform may
// have processed the request. The retry layer cannot detect that the transport resends, so the client prevents it in
// two ways:
//
//   - If the transport has written the request, and then obtains a second HTTP/2
//     connection for it, gotConn cancels the request's context. The transport checks the
//     context before it writes, so it sends nothing on the second connection.
//   - If the client expects HTTP/2, it removes GetBody from the request. Without GetBody,
//     the transport cannot read a body a second time, so it returns an error instead of
//     resending a request with a body.
//
// The transport may send a request on a second connection if the first connection became unusable before the stream of
// the request began, because the platform then received nothing; see payloadReader.
//
// If the client expects HTTP/1, for example because the last response used HTTP/1, it keeps GetBody. Over HTTP/1, a
// resend is safe, because net/http resends a request with a body only if the connection was idle and no byte was
// written.
type resendGuard struct {
	stop           context.CancelFunc
	requested, got atomic.Bool // whether a connection was requested, and obtained
	h2             atomic.Bool
	written        atomic.Bool // the request was written, and no response has arrived
	stopped        atomic.Bool
	informational  atomic.Int64 // bytes of 1xx responses
	trace          httptrace.ClientTrace
}

// watch returns a copy of ctx with hooks that trace a request. They tell the guard whether the
// connection uses HTTP/2, because a resend is unsafe only over HTTP/2:
//
//   - GotConn detects HTTP/2 by the negotiated TLS protocol.
//   - WroteHeaderField detects HTTP/2 by its pseudo-header fields. Over HTTP/1, this hook allocates
//     memory for each header field, so watch omits it if the last response used HTTP/1.
func (g *resendGuard) watch(ctx context.Context, http1 bool) context.Context {
	g.trace = httptrace.ClientTrace{
		GetConn: func(string) { g.requested.Store(true) },
		GotConn: g.gotConn,
		// A custom transport may send several requests in succession, so each response resets the field written. A 1xx
		// response also resets the field, although the final response is still to come, so got1xx sets the field
		// again.
		GotFirstResponseByte: func() { g.written.Store(false) },
		Got1xxResponse:       g.got1xx,
	}
	if http1 {
		g.trace.WroteHeaders = func() { g.written.Store(true) }
	} else {
		g.trace.WroteHeaderField = func(name string, _ []string) {
			if strings.HasPrefix(name, ":") { // only HTTP/2 has pseudo-header fields
				g.h2.Store(true)
				g.written.Store(true)
			}
		}
	}
	return httptrace.WithClientTrace(ctx, &g.trace)
}

func (g *resendGuard) gotConn(info httptrace.GotConnInfo) {
	g.got.Store(true)
	if g.written.Load() && (g.h2.Load() || settledHTTP2(info.Conn)) {
		g.h2.Store(true)
		g.stopped.Store(true)
		g.stop()
	}
}

func settledHTTP2(conn net.Conn) bool {
	c, ok := conn.(interface{ ConnectionState() tls.ConnectionState })
	return ok && c.ConnectionState().NegotiatedProtocol == "h2"
}

// maxInformational is the maximum number of bytes of all 1xx responses to a request.
const maxInformational = 1 << 20

// got1xx aborts a request if its 1xx responses exceed maxInformational bytes, because net/http does not limit their
// number if a Got1xxResponse hook is set.
func (g *resendGuard) got1xx(_ int, header textproto.MIMEHeader) error {
	g.written.Store(true)
	size := len("HTTP/1.1 103 \r\n\r\n")
	for name, values := range header {
		for _, v := range values {
			size += len(name) + len(v) + len(": \r\n")
		}
	}
	if g.informational.Add(int64(size)) > maxInformational {
		return fmt.Errorf("%w: limit %d bytes for 1xx responses", errResponseTooLarge, maxInformational)
	}
	return nil
}

// errResendPrevented means that a request was aborted to prevent a duplicate.
var errResendPrevented = errors.New("the HTTP/2 stream was refused or reset")

// These patterns match the texts of errors from net/http and x/net/http2 that have no exported type. If net/http
// changes such a text, the client reports the outcome as unknown.
var (
	cannotRetry  = regexp.MustCompile(`^http2: Transport: cannot retry err \[(.*)\] after Request\.Body was written`)
	notProcessed = regexp.MustCompile(`^(?:` + strings.Join([]string{
		`stream error: stream ID \d+; REFUSED_STREAM; received from peer`,
		`http2: Transport received Server's graceful shutdown GOAWAY`, // the last processed stream is below this stream
		`http2: Transport received GOAWAY from server ErrCode:[\w ]+`, // the last processed stream is below this stream
		`http2: client conn (?:not usable|could not be established)`,  // before the stream began
		`net/http: cannot rewind body after connection loss`,          // before the stream began, without GetBody
	}, "|") + `)$`)
)

// reason returns the cause of err. If the guard aborted the request to prevent a duplicate, the cause is
// errResendPrevented. If net/http could not retry the request after an earlier error, err quotes this earlier
// error, and the cause is an error with the quoted text. Otherwise, the cause is err itself.
func (g *resendGuard) reason(err error) error {
	if g.stopped.Load() {
		return errResendPrevented
	}
	if m := cannotRetry.FindStringSubmatch(err.Error()); m != nil {
		return errors.New(m[1])
	}
	return err
}

// result reports whether the platform may have processed a request that failed with err. The platform has not
// processed the request if no connection was established, or if HTTP/2 reports that the stream was refused or not
// processed. The trace of the request shows whether there was a connection. If the transport does not support
// tracing, result can check only the error.
func (g *resendGuard) result(err error) attemptResult {
	if g.informational.Load() > maxInformational {
		return unreadable
	}
	for e := err; e != nil && !g.stopped.Load(); e = errors.Unwrap(e) {
		if notProcessed.MatchString(g.reason(e).Error()) {
			return unprocessed
		}
	}
	if g.requested.Load() && !g.got.Load() || !g.requested.Load() && isDialError(err) {
		return notSent
	}
	return responseLost
}

func isDialError(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}
