package suggest

import (
	"strings"
	"testing"
)

func TestUnknown(t *testing.T) {
	states := []string{"queued", "retrying", "delivering", "delivered", "failed", "dropped"}
	for _, tt := range []struct {
		what, name string
		known      []string
		want       string
	}{
		{"value", "faild", states, "did you mean failed? Must be one of delivered, delivering, dropped, failed, queued, retrying"},
		{"value", "FAILED", states, "did you mean failed?"},
		{"field", "tgas", []string{"tags"}, "did you mean tags?"}, // swapped letters are one edit
		{"field", "tugs", []string{"tags"}, "did you mean tags?"},
		{"field", "abcd", []string{"abxy"}, "unknown field: must be one of abxy"}, // half of the letters differ
		{"parameter", "account", []string{"to", "account_id"}, "did you mean account_id?"},
		{"parameter", "id", []string{"to", "url"}, "unknown parameter: must be one of to, url"},
		{"parameter", "x", nil, "unknown parameter: none is allowed here"},
		{"value", "bounce", []string{"delivered", "bounced"}, "did you mean bounced?"},
		{"value", strings.Repeat("failed", 1000), states, "unknown value: must be one of delivered,"},
		{"value", "", states, "unknown value: must be one of delivered,"},
	} {
		if got := Unknown(tt.what, tt.name, tt.known); !strings.Contains(got, tt.want) {
			t.Errorf("%.20s: got %q, want %q in it", tt.name, got, tt.want)
		}
	}
}
