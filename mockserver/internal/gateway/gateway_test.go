package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/internal/httpapi"
	"example.com/emailplatform/mockserver/model"
)

// The log removes the oldest requests when it has too many requests or too many bytes.
func TestLogLimits(t *testing.T) {
	var many Log
	for i := range maxRequests + 5 {
		many.add(model.Request{ID: fmt.Sprint(i)})
	}
	all := many.All()
	require.Len(t, all, maxRequests)
	assert.Equal(t, "5", all[0].ID)
	var large Log
	body := make([]byte, MaxLoggedBody+1)
	for i := range maxRequestLog/MaxLoggedBody + 1 {
		large.add(model.Request{ID: fmt.Sprint(i), Body: body})
	}
	if all := large.All(); len(all) != maxRequestLog/MaxLoggedBody || all[0].ID != "1" ||
		len(all[0].Body) != MaxLoggedBody {
		t.Errorf("%d requests, the first is %s, with %d bytes each", len(all), all[0].ID, len(all[0].Body))
	}
	var queries Log
	for i := range 40 {
		queries.add(model.Request{ID: fmt.Sprint(i), Path: "/", Query: strings.Repeat("x", 1<<20)})
	}
	queries.add(model.Request{ID: "last", Path: strings.Repeat("x", 1<<20)})
	if all := queries.All(); len(all) < 25 || len(all) > maxRequestLog>>20 || all[len(all)-1].ID != "last" {
		t.Errorf("%d requests with large queries are kept, want 25 or more, and the last one", len(all))
	}
	large.Clear(0)
	large.add(model.Request{Response: make([]byte, 9)})
	assert.Equal(t, 9, large.bytes, "bytes are counted after the log was cleared")
}

// Changes of a copy do not change the log.
func TestLogCopies(t *testing.T) {
	var l Log
	l.add(model.Request{ID: "1", Body: []byte("body")})
	l.All()[0].Body[0] = 'X'
	assert.Equal(t, "body", string(l.All()[0].Body), "the log")
}

func TestLogRecord(t *testing.T) {
	var l Log
	l.add(model.Request{ID: "1", Method: http.MethodGet, Path: "/list", Duration: 1500})
	l.add(model.Request{ID: "2", Method: http.MethodGet, Path: "/lists", Operation: "listLists"})
	got := l.Details("1")
	require.NotNil(t, got)
	require.NotNil(t, got.Closest)
	assert.Equal(t, "listLists", got.Closest.ID)
	assert.EqualValues(t, 1500, got.DurationMS)
	if got := l.Details("2"); got == nil || got.Closest != nil {
		t.Errorf("the log record of a known path is %+v", got)
	}
	if got := l.Details("3"); got != nil {
		t.Errorf("an unknown id has the log record %+v", got)
	}
}

// If a response has started, an error does not replace it. The log contains the first bytes of an error
// response.
func TestCallRecordsResponse(t *testing.T) {
	rec := httptest.NewRecorder()
	c := &call{ResponseWriter: rec}
	c.WriteHeader(http.StatusTeapot)
	if _, err := c.Write([]byte(strings.Repeat("x", maxErrorBody+1))); err != nil {
		t.Fatal(err)
	}
	httpapi.WriteError(c, nil, fmt.Errorf("too late"))
	assert.Equal(t, http.StatusTeapot, c.Status)
	require.Len(t, c.Response, maxErrorBody)
	assert.Equal(t, maxErrorBody+1, rec.Body.Len())
}
