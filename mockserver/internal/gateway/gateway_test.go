package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver/internal/record"
)

func TestBearer(t *testing.T) {
	for header, want := range map[string]string{
		"Bearer secret":  "secret",
		"bearer secret":  "secret",
		"Basic secret":   "",
		"secret":         "",
		"Bearer":         "",
		"Bearer a b":     "a b",
		"Bearer  secret": " secret",
		"":               "",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("Authorization", header)
		if got := Bearer(r); got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}

// TestLogLimits: the log forgets the oldest requests, by their number and by
// what clients made it hold.
func TestLogLimits(t *testing.T) {
	var many Log
	for i := range maxRequests + 5 {
		many.add(record.Request{ID: fmt.Sprint(i)})
	}
	if all := many.All(); len(all) != maxRequests || all[0].ID != "5" {
		t.Errorf("%d requests from %s on, want %d from 5 on", len(all), all[0].ID, maxRequests)
	}
	var large Log
	body := make([]byte, maxRequestBody+1)
	for i := range maxRequestLog/maxRequestBody + 1 {
		large.add(record.Request{ID: fmt.Sprint(i), Body: body})
	}
	if all := large.All(); len(all) != maxRequestLog/maxRequestBody || all[0].ID != "1" ||
		len(all[0].Body) != maxRequestBody {
		t.Errorf("%d requests from %s on with %d bytes each", len(all), all[0].ID, len(all[0].Body))
	}
	large.Clear()
	large.add(record.Request{Answer: make([]byte, 9)})
	if large.bytes != 9 {
		t.Errorf("%d bytes are counted after it was cleared, want 9", large.bytes)
	}
}

// What the log has forgotten is not shown again, and takes no memory that grows,
// however long the log goes on.
func TestLogGoesOn(t *testing.T) {
	var l Log
	add := func(from, to int) {
		for i := from; i < to; i++ {
			l.add(record.Request{ID: fmt.Sprint(i), AccountID: int64(i % 2), Path: "/"})
		}
	}
	add(0, 2*maxRequests+2)
	room := cap(l.all)
	add(2*maxRequests+2, 5*maxRequests)
	if all := l.All(); len(all) != maxRequests || all[0].ID != fmt.Sprint(4*maxRequests) || l.bytes != maxRequests {
		t.Errorf("%d requests from %s on, of %d bytes, want %d from %d on", len(all), all[0].ID, l.bytes, maxRequests, 4*maxRequests)
	}
	if cap(l.all) > room {
		t.Errorf("room for %d requests, and for %d before", cap(l.all), room)
	}
	add(5*maxRequests, 5*maxRequests+10) // some of the first are forgotten, but still there
	l.ClearAccount(1)
	if all := l.All(); len(all) != maxRequests/2 || all[0].ID != fmt.Sprint(4*maxRequests+10) || l.bytes != maxRequests/2 {
		t.Errorf("%d requests from %s on, of %d bytes", len(all), all[0].ID, l.bytes)
	}
	for r := range l.Newest() {
		if r.ID != fmt.Sprint(5*maxRequests+8) {
			t.Errorf("the newest is %s", r.ID)
		}
		break
	}
}

// What a caller does with its copy, or with the body that it sent, is not seen
// by others.
func TestLogCopies(t *testing.T) {
	var l Log
	l.add(record.Request{ID: "1", Body: []byte("body")})
	l.All()[0].Body[0] = 'X'
	if got := string(l.All()[0].Body); got != "body" {
		t.Errorf("the log holds %q", got)
	}
}

func TestLogRecord(t *testing.T) {
	var l Log
	l.add(record.Request{ID: "1", Method: http.MethodGet, Path: "/list", Duration: 1500})
	l.add(record.Request{ID: "2", Method: http.MethodGet, Path: "/lists", Operation: "listLists"})
	if got := l.Record("1"); got == nil || got.Closest == nil || got.Closest.Operation != "listLists" ||
		got.DurationMS != 1500 {
		t.Errorf("the record of an unknown path is %+v", got)
	}
	if got := l.Record("2"); got == nil || got.Closest != nil {
		t.Errorf("the record of a known one is %+v", got)
	}
	if got := l.Record("3"); got != nil {
		t.Errorf("there is a record of nothing: %+v", got)
	}
}

// An answer that has begun is not begun again, and of an error the log holds the
// beginning.
func TestCallNotesTheAnswer(t *testing.T) {
	rec := httptest.NewRecorder()
	c := &call{ResponseWriter: rec}
	c.WriteHeader(http.StatusTeapot)
	if _, err := c.Write([]byte(strings.Repeat("x", maxAnswer+1))); err != nil {
		t.Fatal(err)
	}
	AnswerError(c, nil, fmt.Errorf("too late"))
	if c.Status != http.StatusTeapot || len(c.Answer) != maxAnswer || rec.Body.Len() != maxAnswer+1 {
		t.Errorf("status %d, %d bytes noted, %d sent", c.Status, len(c.Answer), rec.Body.Len())
	}
}
