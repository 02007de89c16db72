package benchmarks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

func BenchmarkMockNew(b *testing.B) {
	compare(b, "sdk", func() { mockserver.New(mockserver.Config{}).Close() })
}

// BenchmarkMockImport imports 1,000 contacts with validation and without sockets.
func BenchmarkMockImport(b *testing.B) {
	mock := mockserver.New(mockserver.Config{})
	defer mock.Close()
	listRequest(mock.HTTPClient(), http.MethodPost, "http://127.0.0.1")()
	contacts := newBatch(0)
	compare(b, "sdk", func() {
		body := bytes.NewReader(must(json.Marshal(contacts)))
		check(send(mock.HTTPClient(), newRequest(http.MethodPost, "http://127.0.0.1"+importPath, mockserver.DefaultToken, "application/json", body)))
	})
}

// BenchmarkMock compares the mock server without validation with a handler that writes the same bytes.
func BenchmarkMock(b *testing.B) {
	mock := mockserver.Start(mockserver.Config{SkipValidation: true})
	defer mock.Close()
	constant := serve(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			must(io.Copy(io.Discard, r.Body))
			w.WriteHeader(http.StatusCreated)
		}
		fmt.Fprintln(w, `{"list_id":1,"name":"Customers","policy_accepted":false,"created_on":1760000000}`)
	}))
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		b.Run(method, func(b *testing.B) {
			compare(b, "sdk", listRequest(newPool(), method, mock.URL()))
			compare(b, "constant", listRequest(newPool(), method, constant))
		})
	}
}

// listRequest returns a function that creates a list (POST) or reads a list that listRequest has created (GET).
func listRequest(c *http.Client, method, url string) func() {
	post := func() {
		check(send(c, newRequest(http.MethodPost, url+"/lists", mockserver.DefaultToken, "application/json", strings.NewReader(`{"name":"Customers"}`))))
	}
	if method == http.MethodPost {
		return post
	}
	post()
	return func() {
		check(send(c, newRequest(http.MethodGet, url+"/lists/1", mockserver.DefaultToken, "", http.NoBody)))
	}
}
