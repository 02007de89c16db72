package webhook

import (
	"bytes"
	"crypto/sha256"
	"testing"
)

// BenchmarkVerify stands beside BenchmarkSHA256, which is what no verification can do without.
func BenchmarkVerify(b *testing.B) {
	body := bytes.Repeat([]byte("x"), 1024)
	v, signature := newVerifier(b, testSecret), Sign(testSecret, body)
	b.ReportAllocs()
	for b.Loop() {
		if err := v.Verify(body, signature); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSHA256(b *testing.B) {
	body := bytes.Repeat([]byte("x"), 1024)
	b.ReportAllocs()
	for b.Loop() {
		sha256.Sum256(body)
	}
}
