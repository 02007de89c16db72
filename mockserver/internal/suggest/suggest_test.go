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
		{"value", "faild", states, "did you mean failed? There are delivered, delivering, dropped, failed, queued, retrying"},
		{"value", "FAILED", states, "did you mean failed?"},
		{"field", "tgas", []string{"tags"}, "did you mean tags?"}, // swapped letters are one edit
		{"field", "tugs", []string{"tags"}, "did you mean tags?"},
		{"field", "abcd", []string{"abxy"}, "no such field: there are abxy"}, // half of the letters differ
		{"parameter", "account", []string{"to", "account_id"}, "did you mean account_id?"},
		{"parameter", "id", []string{"to", "url"}, "no such parameter: there are to, url"},
		{"parameter", "x", nil, "no such parameter: there is none here"},
		{"value", "bounce", []string{"delivered", "bounced"}, "did you mean bounced?"},
		{"value", strings.Repeat("failed", 1000), states, "no such value: there are delivered,"},
		{"value", "", states, "no such value: there are delivered,"},
	} {
		if got := Unknown(tt.what, tt.name, tt.known); !strings.Contains(got, tt.want) {
			t.Errorf("%.20s: got %q, want %q in it", tt.name, got, tt.want)
		}
	}
}
