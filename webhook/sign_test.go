package webhook

import (
	"io"
	"net/http"
	"testing"
)

func TestNewRequest(t *testing.T) {
	req, err := NewRequest(t.Context(), "http://127.0.0.1/hook?a=b", testSecret, []byte("{}"))
	fatal(t, err)
	body, err := io.ReadAll(req.Body)
	if err != nil || string(body) != "{}" || req.ContentLength != 2 {
		t.Errorf("body %q of length %d, %v", body, req.ContentLength, err)
	}
	if req.Method != http.MethodPost || req.URL.Path != "/hook" || req.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %s %v", req.Method, req.URL, req.Header)
	}
	if err := newVerifier(t, testSecret).Verify(body, req.Header.Get(DefaultSignatureHeader)); err != nil {
		t.Error(err)
	}
}

func TestNewRequestRejects(t *testing.T) {
	if _, err := NewRequest(t.Context(), "/hook", Secret{}, nil); err == nil {
		t.Error("an empty secret is accepted")
	}
	if _, err := NewRequest(t.Context(), "http://[::1", testSecret, nil); err == nil {
		t.Error("a malformed URL is accepted")
	}
}

func TestSignRejectsInvalidSecrets(t *testing.T) {
	if got, err := Sign(Secret{}, nil); got != "" || err == nil || err.Error() != "webhook: the secret is empty" {
		t.Errorf("an empty secret signs %q, error %v", got, err)
	}
}
