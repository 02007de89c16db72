package client

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNullable(t *testing.T) {
	for text, want := range map[string]Nullable[string]{`{}`: {}, `{"text":null}`: Null[string](), `{"text":""}`: Value(""), `{"text":"x"}`: Value("x")} {
		var got TemplateContentUpdate
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Text != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got.Text, err, want)
		}
		if b, err := json.Marshal(got); err != nil || string(b) != text {
			t.Errorf("%s becomes %s, %v", text, b, err)
		}
		v, ok := got.Text.Get()
		assert.Equal(t, want == Value(v), ok, "%s: Get", text)
	}
	if b, err := json.Marshal(CustomAttributeUpdate{Name: "a"}); err == nil {
		t.Errorf("without the required value: got %s, want an error", b)
	}
}
