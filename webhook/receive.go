package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/emailplatform/events"
)

// ErrTooOld means that an event is older than [Options].MaxAge.
var ErrTooOld = errors.New("webhook: event too old")

var (
	errMethod    = errors.New("webhook: request method must be POST")
	errTooLarge  = errors.New("webhook: body too large")
	errBrokenOff = errors.New("webhook: incomplete body")
	errNoEvent   = errors.New("webhook: body is not an event")
	errConsumed  = errors.New("webhook: another handler has already read the body")
	errEmpty     = errors.New("webhook: another handler has already read the body, or the sender sent none")
	errChanged   = errors.New("webhook: another handler has changed the body")
	errEncoded   = errors.New("webhook: body must not be compressed")
)

// Delivery is a verified delivery.
type Delivery struct {
	// Event is the decoded event.
	Event *events.Event
	// Body contains the exact bytes that the platform signed. Do not change it.
	Body []byte
	// Key identifies the event; see [Options].KeyPrefix and [Options].Key.
	Key string
}

type deliveryKey struct{}

// FromContext returns the verified delivery in a context from [NewHandler] or
// [Middleware]. For any other context, FromContext returns false.
func FromContext(ctx context.Context) (Delivery, bool) {
	d, ok := ctx.Value(deliveryKey{}).(*Delivery)
	if !ok {
		return Delivery{}, false
	}
	return *d, true
}

type rejection struct {
	status int
	reason error // text of the response
	detail error // only logged; may be nil
}

func (r *rejection) Error() string {
	if r.detail == nil {
		return r.reason.Error()
	}
	return r.reason.Error() + ": " + r.detail.Error()
}

func (r *rejection) Unwrap() []error {
	if r.detail == nil {
		return []error{r.reason}
	}
	return []error{r.reason, r.detail}
}

type receiver struct {
	verifier *Verifier
	opts     Options
}

func newReceiver(v *Verifier, opts Options) *receiver {
	if v == nil {
		panic("webhook: a Verifier is needed")
	}
	if opts.SignatureHeader == "" {
		opts.SignatureHeader = DefaultSignatureHeader
	}
	if opts.MaxBodyBytes <= 0 {
		opts.MaxBodyBytes = 1 << 20
	}
	return &receiver{v, opts}
}

// receive makes the cheap checks first, and verifies the signature before it
// parses the body.
func (rc *receiver) receive(w http.ResponseWriter, r *http.Request) (*Delivery, error) {
	if r.Method != http.MethodPost {
		return nil, &rejection{http.StatusMethodNotAllowed, errMethod, fmt.Errorf("method %q", r.Method)}
	}
	signature, err := rc.signature(r)
	if err != nil {
		return nil, err
	}
	body, err := rc.read(w, r)
	if err != nil {
		return nil, err
	}
	if err := rc.verifier.Verify(body, signature); err != nil {
		return nil, rc.diagnose(r, body, signature, err)
	}
	event, err := events.Parse(body)
	if err != nil {
		return nil, &rejection{http.StatusBadRequest, errNoEvent, err}
	}
	d := &Delivery{Event: event, Body: body, Key: defaultKey(event, body)}
	if rc.opts.Key != nil {
		d.Key = cmp.Or(rc.opts.Key(*d), d.Key)
	}
	d.Key = rc.opts.KeyPrefix + d.Key
	return d, nil
}

// diagnose returns the rejection for a body whose verification failed with err. If the
// receiver's configuration could be the cause of the failure, the status is 503, because
// a platform could drop the event after a 4xx status.
func (rc *receiver) diagnose(r *http.Request, body []byte, signature string, err error) error {
	encoding := strings.Join(headers(r, "Content-Encoding"), ", ")
	switch {
	case errors.Is(err, ErrNoSecrets):
		return &rejection{http.StatusServiceUnavailable, err, nil}
	case len(body) == 0 && r.ContentLength < 0:
		return &rejection{http.StatusServiceUnavailable, errEmpty, nil}
	case encoding != "" && encoding != "identity":
		return &rejection{http.StatusServiceUnavailable, errEncoded, fmt.Errorf("Content-Encoding is %.20q", encoding)}
	case bytes.HasPrefix(body, []byte("\x1f\x8b")): // the magic number of gzip
		return &rejection{http.StatusServiceUnavailable, errEncoded, errors.New("the body is in gzip format")}
	case r.ContentLength > 0 && int64(len(body)) > r.ContentLength:
		detail := fmt.Errorf("Content-Length is %d, but the body has %d bytes", r.ContentLength, len(body))
		return &rejection{http.StatusServiceUnavailable, errChanged, detail}
	case len(body) == 0:
		return &rejection{http.StatusUnauthorized, err, errors.New("the body is empty")}
	case rc.isBase64(body, signature):
		return &rejection{http.StatusServiceUnavailable, errChanged, errors.New("the body is in base64")}
	}
	return &rejection{http.StatusUnauthorized, err, nil}
}

// isBase64 reports whether the body is a signed body in base64. Some adapters for serverless
// functions pass such a body without decoding it.
func (rc *receiver) isBase64(body []byte, signature string) bool {
	decoded, err := base64.StdEncoding.AppendDecode(nil, body)
	return err == nil && matches(rc.verifier.current(), decoded, signature) // Verify has already asked for newer secrets
}

// headers returns the values of a header. It ignores letter case, because some adapters,
// for example for serverless functions, do not convert names to the canonical form.
func headers(r *http.Request, name string) []string {
	values := r.Header.Values(name)
	if len(values) > 0 {
		return values
	}
	for other, more := range r.Header {
		if strings.EqualFold(other, name) {
			values = append(values, more...)
		}
	}
	return values
}

// signature returns the only signature header. It rejects a request with several
// signature headers, because a proxy and the receiver could choose different headers.
func (rc *receiver) signature(r *http.Request) (string, error) {
	values := headers(r, rc.opts.SignatureHeader)
	switch {
	case len(values) == 0 || len(values) == 1 && values[0] == "":
		return "", &rejection{http.StatusUnauthorized, ErrMissingSignature, nil}
	case len(values) > 1:
		err := fmt.Errorf("header %s must appear exactly once, got %d values", rc.opts.SignatureHeader, len(values))
		return "", &rejection{http.StatusUnauthorized, ErrInvalidSignature, err}
	}
	return values[0], nil
}

func (rc *receiver) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	const firstBytes = 64 << 10 // a Content-Length without a body can cause this allocation
	limit := rc.opts.MaxBodyBytes
	if r.ContentLength > limit {
		err := fmt.Errorf("%d bytes, limit %d", r.ContentLength, limit)
		return nil, &rejection{http.StatusRequestEntityTooLarge, errTooLarge, err}
	}
	if r.Body == nil {
		return nil, nil
	}
	// If at least bytes.MinRead bytes are free, ReadFrom detects the end of the
	// body without growing the buffer.
	buf := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0), firstBytes)+bytes.MinRead))
	if _, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, limit)); err != nil {
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) { // from this reader or from an outer handler
			return nil, &rejection{http.StatusRequestEntityTooLarge, errTooLarge, fmt.Errorf("limit %d bytes", tooLarge.Limit)}
		}
		if errors.Is(err, http.ErrBodyReadAfterClose) {
			return nil, &rejection{http.StatusServiceUnavailable, errConsumed, err}
		}
		return nil, &rejection{http.StatusBadRequest, errBrokenOff, err}
	}
	if int64(buf.Len()) < r.ContentLength { // net/http returns an error for a truncated body
		err := fmt.Errorf("Content-Length is %d, but %d bytes are left", r.ContentLength, buf.Len())
		return nil, &rejection{http.StatusServiceUnavailable, errConsumed, err}
	}
	return buf.Bytes(), nil
}

// defaultKey uses the id only if it can distinguish events. An id of zeros, such as the nil UUID, is the
// zero value of a field that the platform did not set.
func defaultKey(event *events.Event, body []byte) string {
	unset := strings.Trim(event.ID, "0- ") == ""
	if !unset && !strings.ContainsRune(event.ID, utf8.RuneError) { // RuneError replaces invalid UTF-8
		return event.ID
	}
	sum := sha256.Sum256(body)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// context returns the context for the function.
func (rc *receiver) context(r *http.Request, d *Delivery) (context.Context, context.CancelFunc) {
	ctx := context.WithValue(r.Context(), deliveryKey{}, d)
	if rc.opts.Timeout > 0 {
		return context.WithTimeout(ctx, rc.opts.Timeout)
	}
	return ctx, func() {}
}

// fresh returns an error if the event is older than the age limit. It accepts an event
// without a time, because the platform would retry a rejected event without success until
// the event is lost.
func (rc *receiver) fresh(event *events.Event) error {
	if rc.opts.MaxAge <= 0 || event.Time.IsZero() {
		return nil
	}
	if time.Since(event.Time) > rc.opts.MaxAge {
		err := fmt.Errorf("%s, limit %v", event.Time.Format(time.RFC3339), rc.opts.MaxAge)
		return &rejection{http.StatusBadRequest, ErrTooOld, err}
	}
	return nil
}
