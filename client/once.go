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

// once ensures that the transport sends a request only once, and records whether the
// request was sent.
//
// Over HTTP/2, net/http and x/net/http2 resend a request if its stream was
// refused or reset, and after GOAWAY, even if the platform may have processed
// it. The retry layer cannot detect this, so the type once prevents it. If
// a request without a body gets a second connection, it cancels the context of
// the request, and the transport checks this context before it writes. A request with a body has no GetBody, so
// the transport returns an error with the reason. The transport sends the same
// body again only if the connection was unusable before a stream began; see
// payloadReader.
//
// Over HTTP/1, these packages resend a body only if the connection was idle
// and no byte of the request was written. This is safe but requires GetBody.
// So the client sets GetBody only if the last response came over HTTP/1. If
// the connection then uses HTTP/2, once aborts the request in the same way as
// a request without a body.
type once struct {
	stop       context.CancelFunc
	asked, got atomic.Bool // whether a connection was requested, and obtained
	h2         atomic.Bool
	written    atomic.Bool // the request was written, and no response has arrived
	stopped    atomic.Bool
	informed   atomic.Int64 // bytes of 1xx responses
	trace      httptrace.ClientTrace
}

// watch returns a context for the request. http1 means that the last response
// came over HTTP/1. In that case once detects HTTP/2 only by the negotiated TLS
// protocol, because a hook for header fields costs an allocation for each field
// over HTTP/1.
func (o *once) watch(ctx context.Context, http1 bool) context.Context {
	o.trace = httptrace.ClientTrace{
		GetConn: func(string) { o.asked.Store(true) },
		GotConn: o.gotConn,
		// A wrapping transport may send another request first, and a 1xx is not
		// the final response.
		GotFirstResponseByte: func() { o.written.Store(false) },
		Got1xxResponse:       o.got1xx,
	}
	if http1 {
		o.trace.WroteHeaders = func() { o.written.Store(true) }
	} else {
		o.trace.WroteHeaderField = func(name string, _ []string) {
			if strings.HasPrefix(name, ":") { // only HTTP/2 has pseudo-header fields
				o.h2.Store(true)
				o.written.Store(true)
			}
		}
	}
	return httptrace.WithClientTrace(ctx, &o.trace)
}

func (o *once) gotConn(info httptrace.GotConnInfo) {
	o.got.Store(true)
	if o.written.Load() && (o.h2.Load() || settledHTTP2(info.Conn)) {
		o.h2.Store(true)
		o.stopped.Store(true)
		o.stop()
	}
}

// settledHTTP2 reports whether TLS negotiated HTTP/2.
func settledHTTP2(conn net.Conn) bool {
	c, ok := conn.(interface{ ConnectionState() tls.ConnectionState })
	return ok && c.ConnectionState().NegotiatedProtocol == "h2"
}

// maxInformed is the maximum number of bytes of all 1xx responses to a request.
const maxInformed = 1 << 20

// got1xx aborts a request with too many 1xx responses. net/http does not limit
// them if the Got1xxResponse hook is set.
func (o *once) got1xx(_ int, header textproto.MIMEHeader) error {
	o.written.Store(true)
	size := len("HTTP/1.1 103 \r\n\r\n")
	for name, values := range header {
		for _, v := range values {
			size += len(name) + len(v) + len(": \r\n")
		}
	}
	if o.informed.Add(int64(size)) > maxInformed {
		return fmt.Errorf("1xx responses %w of %d bytes", errResponseTooLarge, maxInformed)
	}
	return nil
}

// errNotTwice is the error of an aborted request.
var errNotTwice = errors.New("the HTTP/2 stream was refused or reset")

// Texts of errors from net/http and x/net/http2 whose types are not exported.
// If a text changes, the client reports an unknown outcome instead of a known
// one.
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

// reason returns errNotTwice if o aborted the request. If err says why net/http
// could not retry, reason returns only that part. Otherwise it returns err.
func (o *once) reason(err error) error {
	if o.stopped.Load() {
		return errNotTwice
	}
	if m := cannotRetry.FindStringSubmatch(err.Error()); m != nil {
		return errors.New(m[1])
	}
	return err
}

// mayHaveSent reports whether the platform may have processed a request that
// failed with err. The platform cannot have processed it if there was no
// connection, or if HTTP/2 reports that the stream was refused or not
// processed. If the transport does not support tracing, only the error is
// known.
func (o *once) mayHaveSent(err error) bool {
	for e := err; e != nil && !o.stopped.Load(); e = errors.Unwrap(e) {
		if notProcessed.MatchString(o.reason(e).Error()) {
			return false
		}
	}
	if o.asked.Load() {
		return o.got.Load()
	}
	return !isDialError(err)
}

// isDialError reports whether err means that there was no connection.
func isDialError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
