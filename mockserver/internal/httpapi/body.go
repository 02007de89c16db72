package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
)

// MaxBody is the maximum size of a request body, in bytes.
const MaxBody = 10 << 20

// maxDrained is the maximum number of bytes that are read after MaxBody.
const maxDrained = 64 << 20

// TooLarge returns the error for a body that is larger than MaxBody. It first reads the rest of
// the body, because many clients read the response only after they have sent the whole body.
func TooLarge(r *http.Request) *apierror.Error {
	_, _ = io.CopyN(io.Discard, r.Body, maxDrained)
	return apierror.New(http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body is larger than %d bytes", MaxBody), "body")
}

// ReadBody returns the JSON body of a request, or nil if an optional body is
// omitted. If nul is false, a string with U+0000 is an error.
func ReadBody(r *http.Request, required, nul bool) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if err = CheckBody(r, body, err, required, nul); err != nil || len(body) == 0 {
		return nil, err
	}
	return body, nil
}

// CheckBody returns an error for an invalid body, as [ReadBody] does. If unread is not nil, the body could not be read.
func CheckBody(r *http.Request, body []byte, unread error, required, nul bool) error {
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch {
	case unread != nil:
		return apierror.New(http.StatusBadRequest, "json_invalid", "the body could not be read", "body")
	case len(body) > MaxBody:
		return TooLarge(r)
	case len(body) == 0 && !required:
		return nil
	case CheckCompression(r, body) != nil:
		return CheckCompression(r, body)
	case !strings.EqualFold(strings.TrimSpace(media), "application/json"):
		return apierror.New(http.StatusUnsupportedMediaType, "unsupported_media_type", "must be application/json", "header", "content-type")
	case contract.IsUTF16(body):
		return apierror.New(http.StatusBadRequest, "json_invalid", "must be UTF-8, got UTF-16", "body")
	case bytes.HasPrefix(body, []byte(contract.ByteOrderMark)):
		return apierror.New(http.StatusBadRequest, "json_invalid", "must not begin with a byte order mark", "body")
	case !json.Valid(body):
		var value any
		return apierror.New(http.StatusBadRequest, "json_invalid", fmt.Sprint(json.Unmarshal(body, &value)), "body")
	}
	if err := contract.CheckText(body, nul); err != nil {
		return err
	}
	return nil
}

// CheckCompression returns an error if a body is compressed. It looks at the first bytes too,
// because the Content-Encoding header may be missing.
func CheckCompression(r *http.Request, body []byte) error {
	name := strings.ToLower(r.Header.Get("Content-Encoding"))
	for _, format := range []struct{ start, name string }{{"\x1f\x8b", "gzip"}, {"\x78\x9c", "deflate"}, {"\x28\xb5\x2f\xfd", "zstd"}} {
		if bytes.HasPrefix(body, []byte(format.start)) {
			name = format.name
		}
	}
	if name == "" || name == "identity" {
		return nil
	}
	msg := fmt.Sprintf("the body must not be compressed, got %.20s", name)
	return apierror.New(http.StatusUnsupportedMediaType, "unsupported_media_type", msg, "header", "content-encoding")
}
