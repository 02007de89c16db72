package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

func newPayload(t *testing.T, e *encoder, b body) *payload {
	t.Helper()
	c := &call{request: request{body: b}}
	fatal(t, e.encode(c))
	return c.payload
}

// TestPayloadReferenceCount: the memory of a body is reused after its last reader has closed it.
func TestPayloadReferenceCount(t *testing.T) {
	p := newPayload(t, newEncoder(), &ListCreate{Name: "Customers"})
	var open []io.ReadCloser
	for range 3 {
		r, err := p.open()
		fatal(t, err)
		open = append(open, r)
	}
	p.release() // the call is over
	for i, r := range open {
		if p.writer == nil {
			t.Fatalf("the memory is given away with %d readers open", len(open)-i)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != `{"name":"Customers"}` {
			t.Errorf("got %s, %v", got, err)
		}
		for range 2 { // the second Close must not count
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, errBodyGone) {
			t.Errorf("a closed body reads %d bytes, %v", n, err)
		}
	}
	if p.writer != nil {
		t.Error("the memory is not given back")
	}
	if r, err := p.open(); !errors.Is(err, errBodyGone) {
		t.Errorf("a body is opened after the call: %v, %v", r, err)
	}
}

// TestPayloadAfterClose reads a closed body. It is readable from its beginning until
// its call ends, if nothing of it was read. Otherwise it must fail, because a transport
// would send the rest of it, or an empty body.
func TestPayloadAfterClose(t *testing.T) {
	const whole = `{"name":"Customers"}`
	for name, tc := range map[string]struct {
		read int  // bytes before Close
		over bool // the call ends before the body is read again
		want string
		err  error
	}{
		"nothing was read":                      {0, false, whole, nil},
		"a part was read":                       {1, false, "", errBodyGone},
		"the whole was read":                    {len(whole), false, "", errBodyGone},
		"nothing was read and the call is over": {0, true, "", errBodyGone},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPayload(t, newEncoder(), &ListCreate{Name: "Customers"})
			r, err := p.open()
			fatal(t, err)
			must(t)(io.ReadFull(r, make([]byte, tc.read)))
			_ = r.Close()
			if tc.over {
				p.release()
			}
			if got, err := io.ReadAll(r); string(got) != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("got %q, %v, want %q, %v", got, err, tc.want, tc.err)
			}
		})
	}
}

// TestPayloadReadAgain keeps the memory of a body that is read after its Close until
// the reader closes it again, even if the call ends in between.
func TestPayloadReadAgain(t *testing.T) {
	p := newPayload(t, newEncoder(), &ListCreate{Name: "Customers"})
	r, err := p.open()
	fatal(t, err)
	_ = r.Close()
	first := make([]byte, 1)
	must(t)(r.Read(first))
	p.release() // the call is over
	if p.writer == nil {
		t.Fatal("the memory is given away during the second reading")
	}
	if rest, err := io.ReadAll(r); err != nil || string(first)+string(rest) != `{"name":"Customers"}` {
		t.Errorf("got %s%s, %v", first, rest, err)
	}
	_ = r.Close()
	if p.writer != nil {
		t.Error("the memory is not given back")
	}
}

// TestGetBody: a transport reads each body two times, as after an idle connection was closed.
func TestGetBody(t *testing.T) {
	var again func() (io.ReadCloser, error)
	c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		if r.ContentLength != int64(len(`{"name":"Customers"}`)) {
			t.Errorf("the length is %d", r.ContentLength)
		}
		again = r.GetBody
		fresh, err := r.GetBody()
		fatal(t, err)
		for _, body := range []io.ReadCloser{r.Body, fresh} {
			if got, err := io.ReadAll(body); err != nil || string(got) != `{"name":"Customers"}` {
				t.Errorf("got %s, %v", got, err)
			}
			_ = body.Close()
		}
		return respond(201, `{"list_id":1}`), nil
	}, func(cfg *Config) { cfg.BaseURL = "http://127.0.0.1" }) // over https HTTP/2 is likely, where there is none
	must(t)(c.Lists.Create(t.Context(), ListCreate{Name: "Customers"}))
	if _, err := again(); !errors.Is(err, errBodyGone) {
		t.Errorf("a body is made when the call is over: %v", err)
	}
}

// TestTransportReadsBodyLate: a transport that reads a body after its response reads only that batch.
func TestTransportReadsBodyLate(t *testing.T) {
	const batch, batches = 50, 200
	var late sync.WaitGroup
	c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		first := make([]byte, 200) // the beginning of the body, which names the batch
		if _, err := io.ReadFull(r.Body, first); err != nil {
			t.Error(err)
		}
		late.Go(func() {
			defer r.Body.Close()
			rest, err := io.ReadAll(r.Body)
			body := append(first, rest...)
			name := body[bytes.IndexByte(body, '<') : bytes.IndexByte(body, '>')+1]
			if n := bytes.Count(body, name); n != batch || int64(len(body)) != r.ContentLength || err != nil {
				t.Errorf("%d of %d contacts are of batch %s, in %d of %d bytes: %v", n, batch, name, len(body), r.ContentLength, err)
			}
		})
		return respond(200, fmt.Sprintf(`{"imported":%d,"updated":0,"errors":[]}`, batch)), nil
	})
	source := func(yield func(ImportContact, error) bool) {
		for i := range batch * batches {
			if !yield(ImportContact{Email: fmt.Sprintf("<%d>%s@example.org", i/batch, strings.Repeat("x", i/batch))}, nil) {
				return
			}
		}
	}
	report, err := c.Contacts.Import(t.Context(), 1, source, ImportOptions{BatchSize: batch, Concurrency: 4})
	if err != nil || report.Imported != batch*batches {
		t.Error(report, err)
	}
	late.Wait()
}

func TestPayloadReleasedWithoutRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &call{request: request{op: "createList", body: &ListCreate{Name: "Customers"}}}
	err := newEncoder().encoded(func(context.Context, *call) error { t.Error("it is sent"); return nil })(ctx, c)
	if !errors.Is(err, context.Canceled) || c.payload.writer != nil {
		t.Errorf("%v, and its memory is %v", err, c.payload.writer)
	}
}
