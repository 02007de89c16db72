package mockserver_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/emailplatform/mockserver"
)

// leaver is a client that has left by the time the body of its answer is written.
type leaver struct {
	http.ResponseWriter
	statuses []int
}

func (l *leaver) WriteHeader(status int) { l.statuses = append(l.statuses, status) }

func (*leaver) Write([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestClientLeavesWhileItIsAnswered(t *testing.T) {
	srv := mockserver.New(mockserver.Config{OnViolation: func(err error) { t.Errorf("a violation: %v", err) }})
	defer srv.Close()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/lists", http.NoBody)
	req.Header.Set("Authorization", "Bearer "+srv.Token())
	l := &leaver{ResponseWriter: httptest.NewRecorder()}
	srv.ServeHTTP(l, req)
	if len(l.statuses) != 1 || l.statuses[0] != http.StatusOK {
		t.Errorf("it was answered %v, want one 200", l.statuses)
	}
}
