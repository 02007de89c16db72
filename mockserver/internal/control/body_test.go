package control

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver/internal/problem"
)

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

// A body that says that it is larger than the limit is refused before it is
// read, one that does not say so at the limit; one of the limit is taken.
func TestLimited(t *testing.T) {
	_, err := limited(&http.Request{ContentLength: 11, Body: io.NopCloser(unread{t})}, 10)
	if p := (*problem.Error)(nil); !errors.As(err, &p) || p.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("got %v", err)
	}
	for length, want := range map[int]int{10: 0, 11: http.StatusRequestEntityTooLarge} {
		body, err := limited(&http.Request{ContentLength: -1, Body: io.NopCloser(strings.NewReader(strings.Repeat(" ", length)))}, 10)
		if err != nil {
			t.Fatal(err)
		}
		status := 0
		if _, err := io.ReadAll(body); err != nil {
			status = bodyProblem(err, "").Status
		}
		if status != want {
			t.Errorf("%d bytes: %d, want %d", length, status, want)
		}
	}
}
